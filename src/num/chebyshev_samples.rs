//! Chebyshev coefficients of a function that is known by its values only.

use crate::error::{Error, Result};
use std::f64::consts::PI;

/// Largest number of terms: the cost is quadratic.
const MAX_TERMS: usize = 4096;

/// Coefficients below this part of the largest value belong to a function that is resolved: values
/// in double precision have errors of this order.
const RESOLVED: f64 = 1e-14;

/// Trailing coefficients below this part of the largest value are rounding errors of the values.
const ROUNDING: f64 = 2.3e-16;

/// A sampled function on [-1, 1] as `sum_k c_k T_k(s)`.
#[derive(Clone, Debug, PartialEq)]
pub struct ChebyshevSamples {
    /// The coefficients.
    pub coefficients: Vec<f64>,
    /// The largest difference between the function and the sum, measured at twice as many other
    /// points. It is no bound.
    pub error: f64,
}

impl ChebyshevSamples {
    /// Samples f at 17, 33, ... Chebyshev points until the last coefficients are rounding errors.
    /// f maps a list of points to the list of its values.
    ///
    /// **Accuracy** [`ChebyshevSamples::error`], about 1e-15 of the largest value for a smooth
    /// function. **Cost** four values per term, and the square of their number.
    /// **Errors** those of f, another number of values, a value that is not finite (with its
    /// place), more than 4096 terms.
    ///
    /// ```
    /// use metastable::num::chebyshev_samples::ChebyshevSamples;
    /// let tanh = |s: &[f64]| Ok(s.iter().map(|s| (3.0 * s).tanh()).collect());
    /// let found = ChebyshevSamples::of(tanh)?;
    /// assert!(found.error < 1e-14 && found.coefficients.len() < 80);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn of(mut f: impl FnMut(&[f64]) -> Result<Vec<f64>>) -> Result<Self> {
        let mut n = 16;
        loop {
            let nodes: Vec<f64> = (0..=n).map(|j| node(j, n)).collect();
            let values = checked(&nodes, f(&nodes)?)?;
            let size = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let mut coefficients = transform(&values);
            let last = coefficients[n - n / 4..].iter().fold(0.0, |m: f64, c| m.max(c.abs()));
            if last <= RESOLVED * size {
                let kept = coefficients.iter().rposition(|c| c.abs() > ROUNDING * size);
                coefficients.truncate(kept.unwrap_or(0) + 1);
                let between: Vec<f64> =
                    (0..2 * n).map(|j| (PI * (j as f64 + 0.5) / (2 * n) as f64).cos()).collect();
                let exact = checked(&between, f(&between)?)?;
                let gaps =
                    between.iter().zip(&exact).map(|(s, v)| (sum(&coefficients, *s) - v).abs());
                return Ok(Self { error: gaps.fold(0.0, f64::max), coefficients });
            }
            n *= 2;
            if n > MAX_TERMS {
                return Err(Error::parameter(
                    "interaction",
                    format!("a function whose series on [-1, 1] needs more than {MAX_TERMS} terms"),
                    "a smooth function; kinks are allowed in formulas with abs and relu",
                ));
            }
        }
    }
}

/// `cos(pi j / n)`, antisymmetric about the middle.
fn node(j: usize, n: usize) -> f64 {
    (0.5 * PI * (n as f64 - 2.0 * j as f64) / n as f64).sin()
}

/// **Errors** another number of values, a value that is not finite.
fn checked(points: &[f64], values: Vec<f64>) -> Result<Vec<f64>> {
    if values.len() != points.len() {
        let expected = format!("{}, one for each s", points.len());
        return Err(Error::parameter("interaction", format!("{} values", values.len()), expected));
    }
    match points.iter().zip(&values).find(|(_, v)| !v.is_finite()) {
        None => Ok(values),
        Some((s, v)) => Err(Error::parameter(
            "interaction",
            format!("{v} at s = {s}"),
            "a function that is finite and real on [-1, 1]",
        )),
    }
}

/// The coefficients of the polynomial through values at `cos(pi j / n)`, j = 0..=n.
fn transform(values: &[f64]) -> Vec<f64> {
    let n = values.len() - 1;
    let cosines: Vec<f64> = (0..2 * n).map(|j| node(j, n)).collect();
    let half = |j: usize| if j == 0 || j == n { 0.5 } else { 1.0 };
    (0..=n)
        .map(|k| {
            let terms =
                values.iter().enumerate().map(|(j, v)| half(j) * v * cosines[j * k % (2 * n)]);
            2.0 * half(k) / n as f64 * terms.sum::<f64>()
        })
        .collect()
}

/// `sum_k c_k T_k(s)`.
fn sum(coefficients: &[f64], s: f64) -> f64 {
    let (mut a, mut b) = (0.0, 0.0);
    for c in coefficients[1..].iter().rev() {
        (a, b) = (c + 2.0 * s * a - b, a);
    }
    coefficients[0] + s * a - b
}
