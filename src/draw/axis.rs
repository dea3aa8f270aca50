//! Axes: scales, ticks and their labels.

/// How data map to the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Proportional.
    Linear,
    /// By the decimal logarithm; data at or below 0 are not drawn.
    Log,
}

/// An axis with its range in data units.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Label with units.
    pub label: String,
    /// Scale.
    pub scale: Scale,
    /// Smallest value shown.
    pub low: f64,
    /// Largest value shown.
    pub high: f64,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>, low: f64, high: f64) -> Self {
        Self { label: label.into(), scale: Scale::Linear, low, high }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>, low: f64, high: f64) -> Self {
        Self { label: label.into(), scale: Scale::Log, low, high }
    }

    /// Position of a value in [0, 1] along the axis; NaN outside the domain.
    pub fn position(&self, v: f64) -> f64 {
        match self.scale {
            Scale::Linear => (v - self.low) / (self.high - self.low),
            Scale::Log => (v.log10() - self.low.log10()) / (self.high.log10() - self.low.log10()),
        }
    }

    /// Ticks with labels: multiples of 1, 2 or 5 times a power of ten, at most `most` of them; powers of ten on log axes.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        if self.scale == Scale::Log {
            let (a, b) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
            let every = ((b - a) / most.max(1) as i32 + 1).max(1);
            return (a..=b).filter(|e| (e - a) % every == 0).map(|e| (10f64.powi(e), format!("10{}", superscript(e)))).collect();
        }
        let rough = (self.high - self.low) / most.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].iter().map(|m| m * power).find(|s| *s >= rough * 0.8).unwrap_or(rough);
        let (a, b) = ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        (a..=b).map(|k| (k as f64 * step, format!("{:.decimals$}", k as f64 * step).replace('-', "\u{2212}"))).collect()
    }
}

fn superscript(e: i32) -> String {
    let digits = ['\u{2070}', '\u{b9}', '\u{b2}', '\u{b3}', '\u{2074}', '\u{2075}', '\u{2076}', '\u{2077}', '\u{2078}', '\u{2079}'];
    e.to_string().chars().map(|c| c.to_digit(10).map_or('\u{207b}', |d| digits[d as usize])).collect()
}
