//! The kinks of a formula: where an argument of `abs` or `relu` changes its sign.

use super::Formula;
use super::text::{calls, closing};
use crate::error::Result;

/// The functions with a kink where their argument changes its sign.
const KINKED: [&str; 2] = ["abs", "relu"];

/// Points at which signs are compared.
const SAMPLES: u32 = 4096;

impl Formula {
    /// The points of `(low, high)` where an argument of `abs` or `relu` changes its sign,
    /// ascending, each to the nearest double.
    ///
    /// Signs are compared at 4097 points, so two changes within 1/2048 of the interval's half
    /// length may be missed.
    ///
    /// **Errors** an argument that is no formula by itself.
    ///
    /// ```
    /// use metastable::num::formula::Formula;
    /// let kinks = Formula::parse("relu(s) + abs(s - c)", &[("c", 0.25)])?.kinks(-1.0, 1.0)?;
    /// assert_eq!(kinks, [0.0, 0.25]);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn kinks(&self, low: f64, high: f64) -> Result<Vec<f64>> {
        let mut out = Vec::new();
        for argument in self.arguments_of(&KINKED) {
            let argument = argument.compile::<f64>()?;
            let sign = |x: f64| argument.at(x).map(|v| v.value);
            let (mut before, mut value) = (low, sign(low)?);
            for k in 1..=SAMPLES {
                let share = f64::from(k) / f64::from(SAMPLES);
                let x = if k == SAMPLES { high } else { low + share * (high - low) };
                let next = sign(x)?;
                if value * next < 0.0 {
                    out.push(root(&sign, before, x)?);
                    value = next;
                } else if next == 0.0 {
                    // A sign change or an end of the support at this point.
                    if x < high && value != 0.0 {
                        out.push(x);
                    }
                    value = next;
                } else if value == 0.0 {
                    if before > low {
                        out.push(before);
                    }
                    value = next;
                }
                before = x;
            }
        }
        out.sort_by(f64::total_cmp);
        out.dedup();
        Ok(out)
    }

    /// The formula on the piece between two kinks that contains s, as a formula without `abs` and
    /// `relu`: each of them is replaced by the branch that holds at s.
    ///
    /// The double nearest to a kink may lie on either side of it. There the branch is the value of
    /// the piece, and the formula itself may be that of its neighbour.
    ///
    /// **Errors** an argument that is no formula by itself.
    ///
    /// ```
    /// use metastable::num::formula::Formula;
    /// let right = Formula::parse("2*relu(s + 0.9) - abs(s)", &[])?.branch(0.5)?;
    /// // 2 (s + 0.9) - s, on both sides of 0 and of -0.9.
    /// assert!((right.compile::<f64>()?.at(-1.0)?.value - 0.8).abs() < 1e-15);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn branch(&self, s: f64) -> Result<Self> {
        Ok(Self { read: self.branch_text(&self.read, s)?, ..self.clone() })
    }

    fn branch_text(&self, text: &str, s: f64) -> Result<String> {
        let first = KINKED.iter().filter_map(|name| Some((calls(text, name).next()?, *name))).min();
        let Some((start, name)) = first else { return Ok(text.to_owned()) };
        let (before, from) = (&text[..start], start + name.len() + 1);
        let (inner, rest) = text[from..].split_at(closing(&text[from..]));
        let positive = self.part(inner).compile::<f64>()?.at(s)?.value >= 0.0;
        let inner = self.branch_text(inner, s)?;
        let own = match (positive, name) {
            (true, _) => format!("({inner})"),
            (false, "abs") => format!("(0-({inner}))"),
            (false, _) => format!("(0*({inner}))"),
        };
        let rest = self.branch_text(rest.get(1..).unwrap_or_default(), s)?;
        Ok(format!("{before}{own}{rest}"))
    }
}

/// Bisection to the last bit.
fn root(sign: &impl Fn(f64) -> Result<f64>, mut low: f64, mut high: f64) -> Result<f64> {
    let at_low = sign(low)?;
    loop {
        let middle = 0.5 * (low + high);
        if !(low < middle && middle < high) {
            return Ok(high);
        }
        let value = sign(middle)?;
        if value == 0.0 {
            return Ok(middle);
        }
        if value * at_low > 0.0 { low = middle } else { high = middle }
    }
}
