//! How many Chebyshev points a formula needs, proved by interval arithmetic.

use super::Formula;
use super::taylor::Series;
use crate::chebyshev_series::MAX_TERMS;
use crate::error::{Error, Result};
use crate::interval::{Interval, check_fp_environment};
use crate::number::Number;

/// The order of the derivative that bounds the error.
const ORDER: usize = 24;

/// Taylor coefficients up to this order.
type Long = Series<{ ORDER + 1 }>;

/// Largest number of boxes for all numbers of points.
const MAX_BOXES: usize = 20_000;

/// Points at which the number of points is guessed.
const GUESSES: usize = 24;

/// Most points: twice as many as terms, as the proof needs a few more.
const MAX_POINTS: usize = 2 * MAX_TERMS;

impl Formula {
    /// A number n of intervals, a power of two from 16 on, for which the polynomial through the
    /// n + 1 Chebyshev points of the second kind on `[low, high]` differs from f by at most
    /// `error`, everywhere. With `logarithm` the function is log f.
    ///
    /// In `s = m + h cos(theta)` f is an even function g of theta, and by parts its Chebyshev
    /// coefficients are at most `2 max |g^(M)| / k^M`. The error of the polynomial is at most twice
    /// the sum of the coefficients beyond n, which is at most `4 max |g^(M)| n^{1-M} / (M-1)`, here
    /// with M = 24. Taylor sums in interval arithmetic bound `g^(M)` on boxes of theta. A box on
    /// which all values agree to four roundings of `size` counts as constant: there intermediate
    /// results may overflow.
    ///
    /// **Cost** some ten microseconds a box, from ten boxes for an entire function to a thousand
    /// for a series of thousands of terms. **Errors** arithmetic that is not IEEE, a function that
    /// needs more than 8192 intervals or has no bounds.
    ///
    /// ```
    /// use metastable::num::formula::Formula;
    /// let bump = Formula::parse("1 + exp(-1e4*(s - 0.3)^2)", &[])?;
    /// assert_eq!(bump.chebyshev_intervals((-1.0, 1.0), 1e-17, 2.0, false)?, 1024);
    /// let cubic = Formula::parse("s^3", &[])?;
    /// assert_eq!(cubic.chebyshev_intervals((-1.0, 1.0), 1e-17, 1.0, false)?, 16);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn chebyshev_intervals(
        &self,
        (low, high): (f64, f64),
        error: f64,
        size: f64,
        logarithm: bool,
    ) -> Result<usize> {
        if let Some(series) = &self.series {
            // A polynomial, and exact with as many intervals as its degree.
            return Ok(series.len().next_power_of_two().max(16));
        }
        check_fp_environment()?;
        let compiled = self.compile::<Long>()?;
        let half = Interval::exact(0.5);
        let (low, high) = (Interval::exact(low), Interval::exact(high));
        let (middle, radius) = (half * (low + high), half * (high - low));
        let g = |theta: Interval| -> Result<Long> {
            let cos = Number::sin_cos(Long::variable(theta)).1;
            let s = Long::constant(middle) + Long::constant(radius) * cos;
            let value = compiled.value(s)?;
            Ok(if logarithm { Number::ln(value) } else { value })
        };
        let end = std::f64::consts::PI.next_up();
        let mut guess = 0.0f64;
        for k in 0..=GUESSES {
            let near = g(Interval::exact(end * k as f64 / GUESSES as f64))?.0[ORDER].mig();
            guess = guess.max(near);
        }
        let (mut n, mut boxes) = (16, MAX_BOXES);
        while n <= MAX_POINTS && boxes > 0 {
            let limit = largest_coefficient(n, error);
            let constant = 4.0 * f64::EPSILON * size;
            if guess <= limit && is_below(&g, (limit, constant), end, &mut boxes)? {
                return Ok(n);
            }
            n *= 2;
        }
        Err(Error::Numerical { what: "no number of Chebyshev points is enough".into() })
    }
}

/// The largest Taylor coefficient of order M for which n intervals give this error, rounded down.
fn largest_coefficient(n: usize, error: f64) -> f64 {
    let factorial: f64 = (1..=ORDER).map(|k| k as f64).product();
    let power = (n as f64).powi(ORDER as i32 - 1);
    (1.0 - 1e-12) * error * (ORDER as f64 - 1.0) * power / (4.0 * factorial)
}

/// Whether the coefficient of order M is proved to be at most `limit` from 0 to `end`; values that
/// differ by at most `constant` on a box are no function. Every box is taken from `boxes`; all are
/// taken at a point without bounds, since no limit helps there.
fn is_below(
    g: &impl Fn(Interval) -> Result<Long>,
    (limit, constant): (f64, f64),
    end: f64,
    boxes: &mut usize,
) -> Result<bool> {
    let mut stack = vec![(0.0, end)];
    while let Some((a, b)) = stack.pop() {
        if *boxes == 0 {
            return Ok(false);
        }
        *boxes -= 1;
        let wide = g(Interval::new(a, b))?;
        if wide.0[ORDER].mag() <= limit || wide.0[0].width() <= constant {
            continue;
        }
        let middle = 0.5 * (a + b);
        if g(Interval::exact(middle))?.0[ORDER].mig() > limit {
            return Ok(false);
        }
        if b - a < 1e-12 {
            *boxes = 0;
            return Ok(false);
        }
        stack.extend([(middle, b), (a, middle)]);
    }
    Ok(true)
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
            "1/(1 + exp(-1000*(s-2))) + 1",
        ] {
            let f = Formula::parse(text, &[]).expect("a formula");
            let exact = f.compile::<Dd>().expect("a formula");
            let value = |s: Dd| exact.at(s).map(|v| v.value);
            let n = f.chebyshev_intervals((-1.0, 1.0), 1e-16, 1.0, false).expect("a proof");
            let series = ChebyshevSeries::through(value, (-1.0, 1.0), n, 0.0).expect("a series");
            for _ in 0..400 {
                let x = Dd::from(s.uniform_in(-1.0, 1.0));
                let gap = (series.value_at(x) - value(x).expect("a value")).to_f64().abs();
                assert!(gap <= 1e-15, "{text}: {gap:e}");
            }
        }
    }

    #[test]
    fn functions_without_a_series_are_refused() {
        for text in ["sqrt(1 + s)", "1/(1e-9 + s^2)", "exp(-((s-0.3)/1e-6)^2)", "abs(s)", "ln(1-s)"]
        {
            let f = Formula::parse(text, &[]).expect("a formula");
            assert!(f.chebyshev_intervals((-1.0, 1.0), 1e-16, 1.0, false).is_err(), "{text}");
        }
    }
}
