//! Proved bounds of the distance between a formula and its Chebyshev series.

use super::Formula;
use super::taylor::{DEGREE, Taylor};
use crate::chebyshev_series::ChebyshevSeries;
use crate::error::{Error, Result};
use crate::interval::{Interval, check_fp_environment};
use crate::number::Number;

/// A box is halved until its remainder is below this part of the largest coefficient.
const TARGET: f64 = 1e-17;

/// Largest number of boxes.
const MAX_BOXES: usize = 6000;

impl Formula {
    /// A proved bound of `|f - p|` on the interval of a series p (with its rounded coefficients).
    ///
    /// On a box about `m = cos(theta)`, f and p are Taylor sums of degree 11 whose coefficients at
    /// m, and whose next coefficient on the whole box, are enclosed in interval arithmetic;
    /// `T_k(m) = cos(k theta)`. Boxes are halved where the remainder is large.
    ///
    /// **Accuracy** the widths of intervals add `1e-14` to `1e-12` of the largest value. **Cost**
    /// about 12 N interval operations per box, some 100 boxes for 100 terms: 0.1 s. **Errors**
    /// arithmetic that is not IEEE, a formula without finite enclosures (a singular point inside or
    /// at an end), more than 6000 boxes (series of about 800 terms or more).
    ///
    /// ```
    /// use metastable::num::{chebyshev_series::ChebyshevSeries, formula::Formula};
    /// let f = Formula::parse("1/(1 + exp(-9*s))", &[])?;
    /// let exact = f.compile::<metastable::num::dd::Dd>()?;
    /// let series = ChebyshevSeries::fit(|s| Ok(exact.at(s)?.value), -1.0, 1.0)?;
    /// assert!(f.proved_distance(&series)? < 1e-13);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn proved_distance(&self, series: &ChebyshevSeries) -> Result<f64> {
        check_fp_environment()?;
        let f = self.compile::<Taylor>()?;
        let p = Polynomial::new(series);
        let ((low, high), mut worst, mut boxes) = (series.interval(), 0.0f64, 0);
        let mut stack = vec![(low, high)];
        while let Some((a, b)) = stack.pop() {
            boxes += 1;
            if boxes > MAX_BOXES {
                return Err(not_proved(a, b));
            }
            let (middle, at) = p.centre(0.5 * (a + b));
            let (left, right) = (middle - Interval::exact(a), Interval::exact(b) - middle);
            let radius = left.hi().max(right.hi()).max(0.0);
            let box_ = Interval::new(a.min(middle.lo()), b.max(middle.hi()));
            let (near, wide) =
                (f.at(Taylor::variable(middle))?.value.0, f.at(Taylor::variable(box_))?.value.0);
            let mut power = Interval::exact(1.0);
            let mut sum = Interval::default();
            for (k, near) in near.iter().enumerate().take(DEGREE) {
                let gap = Interval::exact((*near - p.coefficient(k, &at)).mag());
                sum = sum + gap * power;
                power = power * Interval::exact(radius);
            }
            let rest = (Interval::exact(wide[DEGREE].mag()) + p.largest) * power;
            let (point, rest) = (sum.hi(), rest.hi());
            if rest <= (TARGET * p.size).max(0.1 * point) && point.is_finite() {
                worst = worst.max((Interval::exact(point) + Interval::exact(rest)).hi());
                continue;
            }
            let half = 0.5 * (a + b);
            if !(a < half && half < b) || b - a < 1e-15 * (high - low) {
                // A box of the last digits, where f and p are bounded by themselves.
                let whole = wide[0] - p.values();
                if whole.mag().is_nan() || whole.mag() > 1e-13 * p.size {
                    return Err(not_proved(a, b));
                }
                worst = worst.max(whole.mag());
                continue;
            }
            stack.extend([(a, half), (half, b)]);
        }
        Ok(worst)
    }
}

fn not_proved(a: f64, b: f64) -> Error {
    Error::Numerical { what: format!("no proof of the remainder near s = {}", 0.5 * (a + b)) }
}

/// A Chebyshev sum with its derivatives, in interval arithmetic.
struct Polynomial {
    low: f64,
    high: f64,
    /// Coefficients of `p^(j)/j!` with respect to s, j = 0..12.
    derivatives: Vec<Vec<Interval>>,
    /// Bound of the last of them.
    largest: Interval,
    /// Sum of the absolute coefficients: a bound of p.
    size: f64,
}

impl Polynomial {
    fn new(series: &ChebyshevSeries) -> Self {
        let (low, high) = series.interval();
        let c: Vec<Interval> = series.coefficients().into_iter().map(Interval::exact).collect();
        let chain = Interval::exact(2.0) / (Interval::exact(high) - Interval::exact(low));
        let mut derivatives = vec![c];
        for j in 1..=DEGREE {
            let before = &derivatives[j - 1];
            let n = before.len() - 1;
            let mut next = vec![Interval::default(); n + 2];
            for k in (1..=n).rev() {
                next[k - 1] = next[k + 1] + Interval::exact(2.0 * k as f64) * before[k];
            }
            next.truncate(n.max(1));
            next[0] = next[0] * Interval::exact(0.5);
            let factor = chain / Interval::exact(j as f64);
            derivatives.push(next.into_iter().map(|c| c * factor).collect());
        }
        let bound = |c: &[Interval]| {
            c.iter().fold(Interval::default(), |s, c| s + Interval::exact(c.mag()))
        };
        let (largest, size) = (bound(&derivatives[DEGREE]), bound(&derivatives[0]).hi());
        let largest = Interval::exact(largest.hi());
        Self { low, high, derivatives, largest, size }
    }

    /// A point near s as an interval, and the enclosures of `T_k` there.
    fn centre(&self, s: f64) -> (Interval, Vec<Interval>) {
        let t = (((s - self.low) - (self.high - s)) / (self.high - self.low)).clamp(-1.0, 1.0);
        let theta = t.acos();
        let at = (0..self.derivatives[0].len())
            .map(|k| {
                let angle = Interval::exact(k as f64) * Interval::exact(theta);
                Number::sin_cos(angle).1
            })
            .collect::<Vec<_>>();
        let half = Interval::exact(0.5);
        let (low, high) = (Interval::exact(self.low), Interval::exact(self.high));
        let cos = Number::sin_cos(Interval::exact(theta)).1;
        (half * (low + high) + half * (high - low) * cos, at)
    }

    /// The Taylor coefficient of degree j at a centre.
    fn coefficient(&self, j: usize, at: &[Interval]) -> Interval {
        let terms = self.derivatives[j].iter().zip(at);
        terms.fold(Interval::default(), |s, (c, t)| s + *c * *t)
    }

    /// An enclosure of all values.
    fn values(&self) -> Interval {
        Interval::symmetric(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::Formula;
    use crate::chebyshev_series::ChebyshevSeries;
    use crate::dd::Dd;

    #[test]
    fn bounds_hold_and_are_sharp() {
        for text in
            ["exp(4*s)", "s^3", "1/(1.1 - s)", "ln(2.1/(1.1 - s))", "exp(2*s) + sin(5*s)*cos(s)"]
        {
            let f = Formula::parse(text, &[]).expect("a formula");
            let exact = f.compile::<Dd>().expect("a formula");
            let fit = |degree_of: &dyn Fn(Dd) -> Dd| {
                ChebyshevSeries::fit(|s| Ok(degree_of(s)), -1.0, 1.0).expect("a series")
            };
            let value = |s: Dd| exact.at(s).expect("a value").value;
            let series = fit(&value);
            let bound = f.proved_distance(&series).expect("a proof");
            let size: f64 = series.coefficients().iter().map(|c| c.abs()).sum();
            assert!(bound >= series.error() && bound < 2e-13 * size, "{text}: {bound:e} {size:e}");
            // The series of another function is at its distance.
            let other = fit(&|s| value(s) + Dd::from(1e-6) * s * s);
            let bound = f.proved_distance(&other).expect("a proof");
            assert!((1e-6..1.2e-6).contains(&bound), "{text}: {bound:e}");
        }
    }
}
