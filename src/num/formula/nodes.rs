//! How many Chebyshev points a formula needs, proved by interval arithmetic in the complex plane.

use super::Formula;
use super::complex::Complex;
use super::kinks::KINKED;
use crate::chebyshev_series::MAX_TERMS;
use crate::error::{Error, Result};
use crate::interval::{Interval, check_fp_environment};
use crate::number::Number;

/// Largest number of boxes in an ellipse.
const MAX_BOXES: usize = 8000;

/// Boxes smaller than this part of the ellipse's height are not halved: a singular point is near.
const SMALLEST: f64 = 1e-3;

/// Boxes whose bound exceeds that of the middle by this factor are halved.
const LOOSE: f64 = 1e6;

/// Most points: twice as many as terms, as the proof needs a few more.
const MAX_POINTS: usize = 2 * MAX_TERMS;

impl Formula {
    /// A number n of intervals, a power of two from 16 on, for which the polynomial through the
    /// n + 1 Chebyshev points of the second kind on `[low, high]` differs from f by at most
    /// `error`, everywhere. `size` is about the largest value of f on the interval, for the speed
    /// only. With `logarithm` the function is log f.
    ///
    /// If f is analytic in the ellipse with foci at the ends whose half axes have the sum rho (for
    /// `[-1, 1]`), and at most M there, the error is at most `4 M rho^{-n} / (rho - 1)` (Trefethen,
    /// Approximation Theory and Approximation Practice, Theorem 8.2). Boxes cover the ellipse, and
    /// complex interval arithmetic bounds f on each of them; where it has a bound, f is analytic.
    /// Several rho are tried.
    ///
    /// **Cost** some microseconds a box, from one box for an entire function to thousands for a
    /// series of thousands of terms. **Errors** arithmetic that is not IEEE, a function that needs
    /// more than 32768 intervals or has no bounds, abs and relu.
    ///
    /// ```
    /// use metastable::num::formula::Formula;
    /// let bump = Formula::parse("1 + exp(-1e4*(s - 0.3)^2)", &[])?;
    /// assert_eq!(bump.chebyshev_points((-1.0, 1.0), (1e-17, 2.0), false)?, 2048);
    /// let cubic = Formula::parse("s^3", &[])?;
    /// assert_eq!(cubic.chebyshev_points((-1.0, 1.0), (1e-17, 2.0), false)?, 32);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn chebyshev_points(
        &self,
        (low, high): (f64, f64),
        (error, size): (f64, f64),
        logarithm: bool,
    ) -> Result<usize> {
        if let Some(series) = &self.series {
            // A polynomial, and exact with as many intervals as its degree.
            return Ok(series.len().next_power_of_two().max(16));
        }
        check_fp_environment()?;
        // A function that is 0 has no scale.
        let size = if size < 1e-290 { 1.0 } else { size };
        let error = error.max(f64::MIN_POSITIVE);
        if !self.arguments_of(&KINKED).is_empty() {
            let what = "a formula with abs or relu is not analytic, only its branches are".into();
            return Err(Error::Numerical { what });
        }
        let compiled = self.compile::<Complex>()?;
        let half = Interval::exact(0.5);
        let (low, high) = (Interval::exact(low), Interval::exact(high));
        let (middle, radius) =
            (half * (low + high), Complex::new(half * (high - low), Interval::ZERO));
        let f = |x: Interval, y: Interval| -> Result<f64> {
            let s = Complex::new(middle, Interval::ZERO) + radius * Complex::new(x, y);
            let value = compiled.value(s)?;
            Ok(if logarithm { Number::ln(value) } else { value }.bound())
        };
        let mut best = f64::INFINITY;
        for halvings in 0..12 {
            let excess = 8.0 * 0.5f64.powi(halvings);
            let Some(bound) = bound_in_ellipse(&f, 1.0 + excess, size)? else { continue };
            // A hundredth more than the rounding of these operations.
            let needed = (4.04 * bound / (error * excess)).ln() / excess.ln_1p();
            if needed > 1.5 * best {
                break;
            }
            best = best.min(needed);
        }
        let n = (best.max(0.0) * (1.0 + 1e-9)).ceil();
        if n > MAX_POINTS as f64 {
            let what = format!("no ellipse around [{}, {}] is enough", low.lo(), high.hi());
            return Err(Error::Numerical { what });
        }
        Ok((n as usize).next_power_of_two().max(16))
    }
}

/// A bound of f in the ellipse about [-1, 1] whose half axes have the sum rho; `None` if none is
/// found. f is real on the real line, so the upper half is enough.
fn bound_in_ellipse(
    f: &impl Fn(Interval, Interval) -> Result<f64>,
    rho: f64,
    size: f64,
) -> Result<Option<f64>> {
    let slack = 1.0 + 1e-12;
    let (a, b) = (0.5 * (rho + 1.0 / rho) * slack, 0.5 * (rho - 1.0 / rho) * slack);
    let mut stack = vec![((-a, a), (0.0, b))];
    let (mut bound, mut boxes) = (0.0f64, 0);
    while let Some((x, y)) = stack.pop() {
        // The point nearest to the middle of the ellipse decides whether the box meets it.
        let near = if x.0 <= 0.0 && 0.0 <= x.1 { 0.0 } else { x.0.abs().min(x.1.abs()) };
        if (near / a).powi(2) + (y.0 / b).powi(2) > 1.0 + 1e-9 {
            continue;
        }
        boxes += 1;
        if boxes > MAX_BOXES {
            return Ok(None);
        }
        let own = f(Interval::new(x.0, x.1), Interval::new(y.0, y.1))?;
        let (p, q) = (0.5 * (x.0 + x.1), 0.5 * (y.0 + y.1));
        if own.is_finite() {
            let at = f(Interval::exact(p), Interval::exact(q))?;
            if own <= LOOSE * bound.max(at).max(size) {
                bound = bound.max(own);
                continue;
            }
        }
        let (width, height) = (x.1 - x.0, y.1 - y.0);
        if width.max(height) < SMALLEST * b {
            return Ok(None);
        }
        if width > height {
            stack.extend([((p, x.1), y), ((x.0, p), y)]);
        } else {
            stack.extend([(x, (q, y.1)), (x, (y.0, q))]);
        }
    }
    Ok(Some(bound))
}

#[cfg(test)]
mod tests {
    use super::Formula;
    use crate::chebyshev_series::ChebyshevSeries;
    use crate::dd::Dd;
    use crate::stream::Stream;

    #[test]
    fn polynomials_through_the_points_have_the_error() {
        let mut s = Stream::new(7, &["nodes"]);
        for text in [
            "exp(4*s)",
            "s^3",
            "1/(1.1 - s)",
            "ln(2.1/(1.1 - s))",
            "exp(2*s) + sin(5*s)*cos(s)",
            "1 + exp(-1e4*(s-0.3)^2)",
            "1 - 0.5*exp(-((s+0.7)/0.004)^2)",
            "tanh(50*s)",
            "1+tanh(360*s)",
            "1/(1 + exp(-300*s))",
            "ln(1 + exp(300*s))/300",
            "ln(2.0001/(1.0001 - s))",
            "(s^2 + 0.01)^0.5",
            "sin(s+1e5)+2",
            "1/(1 + exp(-1000*(s-2))) + 1",
        ] {
            let f = Formula::parse(text, &[]).expect("a formula");
            let exact = f.compile::<Dd>().expect("a formula");
            let value = |s: Dd| exact.value(s);
            let n = f.chebyshev_points((-1.0, 1.0), (1e-16, 1.0), false).expect(text);
            let series =
                ChebyshevSeries::interpolate(value, (-1.0, 1.0), n, 0.0).expect("a series");
            for _ in 0..100 {
                let x = Dd::from(s.uniform_in(-1.0, 1.0));
                let gap = (series.value_at(x) - value(x).expect("a value")).to_f64().abs();
                assert!(gap <= 2e-15, "{text}: {gap:e}");
            }
        }
    }

    #[test]
    fn functions_without_a_series_are_refused() {
        for text in ["sqrt(1 + s)", "1/(1e-9 + s^2)", "exp(-((s-0.3)/1e-6)^2)", "ln(1-s)", "abs(s)"]
        {
            let f = Formula::parse(text, &[]).expect("a formula");
            assert!(f.chebyshev_points((-1.0, 1.0), (1e-16, 1.0), false).is_err(), "{text}");
        }
    }
}
