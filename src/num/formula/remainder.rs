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
        self.proved_distances(series).map(|[value]| value)
    }

    /// Proved bounds of `|f - p|`, `|f' - p'|`, `|f'' - p''|`, ..., as many as are asked for, as
    /// [`Formula::proved_distance`]. The difference has the Taylor coefficients `g_k`, so its
    /// derivative j has `g_k k!/(k - j)!`.
    ///
    /// **Accuracy** derivative j of p has a sum of absolute coefficients that is up to `N^{2j}`
    /// times larger; the widths of intervals are relative to it.
    pub fn proved_distances<const N: usize>(&self, series: &ChebyshevSeries) -> Result<[f64; N]> {
        const { assert!(0 < N && N < DEGREE) };
        check_fp_environment()?;
        let f = self.compile::<Taylor>()?;
        let p = Polynomial::new(series);
        let ((low, high), mut worst, mut boxes) = (series.interval(), [0.0f64; N], 0);
        let mut stack = vec![(low, high)];
        while let Some((a, b)) = stack.pop() {
            boxes += 1;
            if boxes > MAX_BOXES {
                return Err(not_proved(a, b));
            }
            let (middle, at) = p.centre(0.5 * (a + b));
            let (left, right) = (middle - Interval::exact(a), Interval::exact(b) - middle);
            let radius = Interval::exact(left.hi().max(right.hi()).max(0.0));
            let box_ = Interval::new(a.min(middle.lo()), b.max(middle.hi()));
            let (near, wide) =
                (f.at(Taylor::variable(middle))?.value.0, f.at(Taylor::variable(box_))?.value.0);
            let mut gaps = [Interval::default(); DEGREE + 1];
            for (k, gap) in gaps.iter_mut().enumerate().take(DEGREE) {
                *gap = Interval::exact((near[k] - p.coefficient(k, &at)).mag());
            }
            gaps[DEGREE] = Interval::exact(wide[DEGREE].mag()) + p.largest;
            let bounds: [(f64, f64); N] = std::array::from_fn(|j| derivative(&gaps, j, radius));
            let is_small = |(j, (point, rest)): (usize, &(f64, f64))| {
                *rest <= (TARGET * p.sizes[j]).max(0.1 * point) && point.is_finite()
            };
            if bounds.iter().enumerate().all(is_small) {
                for (worst, (point, rest)) in worst.iter_mut().zip(bounds) {
                    *worst = worst.max((Interval::exact(point) + Interval::exact(rest)).hi());
                }
                continue;
            }
            let half = 0.5 * (a + b);
            if !(a < half && half < b) || b - a < 1e-15 * (high - low) {
                // A box of the last digits, where f and p are bounded by themselves.
                let whole = wide[0] - p.values();
                if N > 1 || whole.mag().is_nan() || whole.mag() > 1e-13 * p.sizes[0] {
                    return Err(not_proved(a, b));
                }
                worst[0] = worst[0].max(whole.mag());
                continue;
            }
            stack.extend([(a, half), (half, b)]);
        }
        Ok(worst)
    }
}

/// Bounds of derivative j of a Taylor sum with these absolute coefficients within a radius: all
/// terms but the last, and the last.
fn derivative(gaps: &[Interval; DEGREE + 1], j: usize, radius: Interval) -> (f64, f64) {
    let term = |(k, power): (usize, Interval)| {
        let factor = (k + 1 - j..=k).map(|i| i as f64).product::<f64>();
        gaps[k] * Interval::exact(factor) * power
    };
    let mut power = Interval::exact(1.0);
    let mut sum = Interval::default();
    for k in j..DEGREE {
        sum = sum + term((k, power));
        power = power * radius;
    }
    (sum.hi(), term((DEGREE, power)).hi())
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
    /// Sums of the absolute coefficients of p and its derivatives: bounds of them.
    sizes: Vec<f64>,
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
        let mut factorial = 1.0;
        let mut sizes = Vec::new();
        for (j, c) in derivatives.iter().enumerate() {
            factorial *= j.max(1) as f64;
            sizes.push((bound(c) * Interval::exact(factorial)).hi());
        }
        let largest = Interval::exact(bound(&derivatives[DEGREE]).hi());
        Self { low, high, derivatives, largest, sizes }
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
        Interval::symmetric(self.sizes[0])
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
            // So are its derivatives: 2e-6 |s| and 2e-6.
            let [value, first, second] = f.proved_distances(&other).expect("a proof");
            assert!((1e-6..1.2e-6).contains(&value), "{text}: {value:e}");
            for bound in [first, second] {
                assert!((2e-6..2.4e-6).contains(&bound), "{text}: {bound:e}");
            }
            let own: [f64; 3] = f.proved_distances(&series).expect("a proof");
            let slopes = [series.derivative(), series.derivative().derivative()];
            for (bound, series) in own[1..].iter().zip(&slopes) {
                let size: f64 = series.coefficients().iter().map(|c| c.abs()).sum();
                assert!(*bound < 1e-12 * size, "{text}: {bound:e} {size:e}");
            }
        }
    }
}
