//! Axes: scales, ticks and their labels.

/// The map from data to positions on the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Linear.
    Linear,
    /// Linear with labels at whole numbers only.
    Integer,
    /// Logarithmic; data at or below 0 are not drawn.
    Log,
    /// By sign and logarithm of the magnitude; smaller magnitudes than this are drawn at 0.
    Signed(f64),
    /// By `v / (1 + v)`: from 0 to infinity.
    Saturating,
    /// Linear without ticks, for positions that have no meaning.
    Blank,
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

/// The ticks of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// Labelled ticks.
    pub major: Vec<(f64, String)>,
    /// Short ticks between them.
    pub minor: Vec<f64>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>, low: f64, high: f64) -> Self {
        Self { label: label.into(), scale: Scale::Linear, low, high }
    }

    /// A linear axis with ticks at integers.
    pub fn integer(label: impl Into<String>, low: f64, high: f64) -> Self {
        Self { label: label.into(), scale: Scale::Integer, low, high }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>, low: f64, high: f64) -> Self {
        Self { label: label.into(), scale: Scale::Log, low, high }
    }

    /// An axis from `-high` to `high` by sign and logarithm; magnitudes below `floor` are drawn at
    /// 0.
    pub fn signed(label: impl Into<String>, floor: f64, high: f64) -> Self {
        Self { label: label.into(), scale: Scale::Signed(floor), low: -high, high }
    }

    /// An axis from 0 to infinity, by `v / (1 + v)`.
    pub fn saturating(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Saturating, low: 0.0, high: f64::INFINITY }
    }

    /// An axis from 0 to 1 without ticks and label, for positions that have no meaning.
    pub fn blank() -> Self {
        Self { label: String::new(), scale: Scale::Blank, low: 0.0, high: 1.0 }
    }

    /// Position of a value in [0, 1] along the axis; NaN outside the domain.
    pub fn position(&self, v: f64) -> f64 {
        match self.scale {
            Scale::Linear | Scale::Integer | Scale::Blank => {
                (v - self.low) / (self.high - self.low)
            }
            Scale::Log => (v.log10() - self.low.log10()) / (self.high.log10() - self.low.log10()),
            Scale::Signed(floor) => {
                // The smallest magnitude lies half a decade from 0, which separates it from 0.
                let decades = |v: f64| {
                    if v.abs() < floor {
                        0.0
                    } else {
                        v.signum() * (0.5 + (v.abs() / floor).log10())
                    }
                };
                0.5 + 0.5 * decades(v) / decades(self.high)
            }
            Scale::Saturating if v == f64::INFINITY => 1.0,
            Scale::Saturating => v / (1.0 + v),
        }
    }

    /// Ticks, at most `most` of them labelled, at least three on log axes.
    pub fn ticks(&self, most: usize) -> Ticks {
        match self.scale {
            Scale::Linear => {
                Ticks { major: steps(self.low, self.high, most, 0.0), minor: Vec::new() }
            }
            Scale::Integer => {
                Ticks { major: steps(self.low, self.high, most, 1.0), minor: Vec::new() }
            }
            Scale::Blank => Ticks::default(),
            Scale::Log => self.decades(most.max(3)),
            Scale::Signed(floor) => self.signed_ticks(floor, most),
            Scale::Saturating => {
                let at = [
                    (0.0, "0"),
                    (0.25, "1/4"),
                    (1.0, "1"),
                    (4.0, "4"),
                    (f64::INFINITY, "\u{221e}"),
                ];
                Ticks {
                    major: at.map(|(v, l)| (v, l.to_owned())).to_vec(),
                    minor: vec![1.0 / 9.0, 3.0 / 7.0, 7.0 / 3.0, 9.0],
                }
            }
        }
    }

    fn decades(&self, most: usize) -> Ticks {
        let inside = |v: &f64| *v >= self.low * (1.0 - 1e-9) && *v <= self.high * (1.0 + 1e-9);
        let (a, b) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let times = |mantissas: &[f64]| -> Vec<f64> {
            (a..=b)
                .flat_map(|e| mantissas.iter().map(move |m| m * 10f64.powi(e)))
                .filter(inside)
                .collect()
        };
        let (powers, between) = (times(&[1.0]), times(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]));
        if powers.len() >= 3 {
            // As many labels as fit, at least three: every `every`-th decade from the first.
            let every = (powers.len().div_ceil(most)).min((powers.len() - 1) / 2).max(1);
            let label = |v: f64| (v, format!("10{}", superscript(v.log10().round() as i32)));
            if let Some((round, fine)) = round_steps(&powers, every, most) {
                let multiples = |of: i32| {
                    powers
                        .iter()
                        .copied()
                        .filter(move |v| (v.log10().round() as i32).rem_euclid(of) == 0)
                };
                return Ticks {
                    major: multiples(round).map(label).collect(),
                    minor: multiples(fine).collect(),
                };
            }
            let major = powers.iter().step_by(every).map(|v| label(*v)).collect();
            return Ticks { major, minor: if every > 1 { powers } else { between } };
        }
        for mantissas in [&[1.0, 3.0][..], &[1.0, 2.0, 5.0], &[1.0, 2.0, 3.0, 5.0, 7.0]] {
            let found = times(mantissas);
            if found.len() >= 3 {
                return Ticks {
                    major: found.into_iter().map(|v| (v, plain(v))).collect(),
                    minor: between,
                };
            }
        }
        Ticks { major: steps(self.low, self.high, 4, 0.0), minor: between }
    }

    fn signed_ticks(&self, floor: f64, most: usize) -> Ticks {
        let (a, b) = (floor.log10().ceil() as i32, (self.high.log10() + 1e-9).floor() as i32);
        // One label at 0, the others in pairs.
        let pairs = (most.saturating_sub(1) / 2).max(1) as i32;
        let every = ((b - a) / pairs).max(1);
        let label = |e: i32| if e == 0 { "1".to_owned() } else { format!("10{}", superscript(e)) };
        let shown: Vec<i32> = (a..=b).rev().step_by(every as usize).take(pairs as usize).collect();
        let mut major = vec![(0.0, "0".to_owned())];
        for e in shown {
            major.push((10f64.powi(e), label(e)));
            major.push((-(10f64.powi(e)), format!("\u{2212}{}", label(e))));
        }
        major.sort_by(|p, q| p.0.total_cmp(&q.0));
        let minor = (a..=b).flat_map(|e| [10f64.powi(e), -(10f64.powi(e))]).collect();
        Ticks { major, minor }
    }
}

/// Numbers of decades between labels and between short ticks, for an axis over many decades. They
/// are round numbers that give from three to `most` labels; `None` if labels are close together or
/// no round number fits.
fn round_steps(powers: &[f64], every: usize, most: usize) -> Option<(i32, i32)> {
    const ROUND: [i32; 9] = [1, 2, 5, 10, 20, 25, 50, 100, 200];
    if every < 4 {
        return None;
    }
    let count =
        |of: i32| powers.iter().filter(|v| (v.log10().round() as i32).rem_euclid(of) == 0).count();
    let round = ROUND.into_iter().find(|of| (3..=most).contains(&count(*of)))?;
    // More short ticks would run into each other.
    let fine = ROUND.into_iter().find(|of| round % of == 0 && count(*of) <= 40)?;
    Some((round, fine))
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten, at least `least` apart; at most `most` of
/// them if three fit.
fn steps(low: f64, high: f64, most: usize, least: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / most.max(1) as f64;
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .iter()
        .map(|m| m * power)
        .find(|s| *s >= rough * 0.8)
        .unwrap_or(rough)
        .max(least);
    let (a, b) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    let decimals = (-(step * (1.0 + 1e-9)).log10().floor()).max(0.0) as usize;
    (a..=b)
        .map(|k| {
            (k as f64 * step, format!("{:.decimals$}", k as f64 * step).replace('-', "\u{2212}"))
        })
        .collect()
}

/// A number of one digit as text: plain between a thousandth and ten thousand, otherwise with a
/// power of ten.
fn plain(v: f64) -> String {
    let e = (v.log10() + 1e-9).floor() as i32;
    if (-3..4).contains(&e) {
        return format!("{v:.0$}", (-e).max(0) as usize);
    }
    let digit = (v / 10f64.powi(e)).round();
    let power = format!("10{}", superscript(e));
    if digit > 1.5 { format!("{digit}\u{b7}{power}") } else { power }
}

/// A formula with its whole powers in superscript digits: s² for `s^2`.
pub fn with_powers(formula: &str) -> String {
    let mut parts = formula.split('^');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        // 2.5 is no whole power.
        let whole = part[..digits].parse().ok().filter(|_| !part[digits..].starts_with('.'));
        match whole {
            Some(power) => out.push_str(&superscript(power)),
            None => out.push_str(&format!("^{}", &part[..digits])),
        }
        out.push_str(&part[digits..]);
    }
    out
}

/// An exponent in superscript digits.
pub fn superscript(e: i32) -> String {
    let digits = [
        '\u{2070}', '\u{b9}', '\u{b2}', '\u{b3}', '\u{2074}', '\u{2075}', '\u{2076}', '\u{2077}',
        '\u{2078}', '\u{2079}',
    ];
    e.to_string()
        .chars()
        .map(|c| c.to_digit(10).map_or('\u{207b}', |d| digits[d as usize]))
        .collect()
}
