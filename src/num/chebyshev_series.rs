//! Chebyshev series of analytic functions, built in double-double arithmetic.

use crate::dd::Dd;
use crate::error::{Error, Result};
use crate::number::Number;

/// Largest number of terms of a series.
pub const MAX_TERMS: usize = 16_384;

/// Dropped coefficients sum to at most this part of the largest value.
const TOLERANCE: f64 = 1e-17;

/// Coefficients below this part of the largest value belong to a function that is resolved.
const RESOLVED: f64 = 1e-20;

/// A function on an interval as `sum_k c_k T_k(t)`, with t in [-1, 1] across the interval.
///
/// The coefficients interpolate at Chebyshev points of the second kind, doubled in number until
/// the last coefficients are below 1e-20 of the largest value and twice as many points change
/// nothing. Values and sums are double-doubles, so the rounded coefficients are exact to one
/// rounding of the largest.
///
/// ```
/// use metastable::num::{chebyshev_series::ChebyshevSeries, dd::Dd};
/// let exp = ChebyshevSeries::fit(|x| Ok(x.exp()), -1.0, 1.0)?;
/// assert!((exp.value(0.3) - 0.3f64.exp()).abs() < 1e-15 && exp.degree() < 20);
/// assert!((exp.integral().value(1.0) - 2.0 * 1f64.sinh()).abs() < 1e-15);
/// assert!((exp.derivative().value(-1.0) - (-1f64).exp()).abs() < 1e-14);
/// # Ok::<(), metastable::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ChebyshevSeries {
    low: f64,
    high: f64,
    coefficients: Vec<Dd>,
    error: f64,
}

impl ChebyshevSeries {
    /// The series of f on `[low, high]`.
    ///
    /// **Accuracy** [`ChebyshevSeries::error`].
    /// **Cost** `N log N` double-double operations and `4 N` values for N terms.
    /// **Errors** those of f, a value that is not finite, more than [`MAX_TERMS`] terms.
    pub fn fit(f: impl Fn(Dd) -> Result<Dd>, low: f64, high: f64) -> Result<Self> {
        Self::fit_within(f, (low, high), 16, 0.0)
    }

    /// [`ChebyshevSeries::fit`] with at least so many intervals between points, a power of two, and
    /// with errors relative to `floor` where the function is smaller.
    pub fn fit_within(
        f: impl Fn(Dd) -> Result<Dd>,
        ends: (f64, f64),
        least: usize,
        floor: f64,
    ) -> Result<Self> {
        let (low, high) = ends;
        let mut found = interpolated(&f, ends, least)?;
        loop {
            let (coefficients, size) = found;
            let (n, size) = (coefficients.len() - 1, size.max(floor));
            let is_last = 2 * n > MAX_TERMS;
            let last = coefficients[n - 3..].iter().fold(0.0, |m: f64, c| m.max(c.to_f64().abs()));
            if is_last && last > RESOLVED * size {
                return Err(too_long(ends));
            }
            // Twice as many points may see what lies between these.
            let next = interpolated(&f, ends, 2 * n)?;
            let (zero, size) = (Dd::default(), next.1.max(size));
            let gaps =
                next.0.iter().enumerate().map(|(k, c)| {
                    (*c - coefficients.get(k).copied().unwrap_or(zero)).to_f64().abs()
                });
            let error: f64 = gaps.sum();
            if last <= RESOLVED * size && error <= TOLERANCE * size {
                return Ok(Self { low, high, coefficients, error }.shortened(TOLERANCE * size));
            }
            if is_last {
                return Err(too_long(ends));
            }
            found = next;
        }
    }

    /// The polynomial through the values at n + 1 Chebyshev points, n a power of two, without its
    /// negligible coefficients. `error` is the known error of the polynomial, as by
    /// [`Formula::chebyshev_points`](crate::formula::Formula::chebyshev_points).
    ///
    /// **Cost** n values and `n log n` operations. **Errors** those of f, a value that is not
    /// finite, more than [`MAX_TERMS`] terms.
    pub fn interpolate(
        f: impl Fn(Dd) -> Result<Dd>,
        (low, high): (f64, f64),
        n: usize,
        error: f64,
    ) -> Result<Self> {
        let (coefficients, size) = interpolated(&f, (low, high), n)?;
        let found = Self { low, high, coefficients, error }.shortened(TOLERANCE * size);
        if found.coefficients.len() > MAX_TERMS {
            return Err(too_long((low, high)));
        }
        Ok(found)
    }

    /// The ends of the interval.
    pub fn interval(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The degree of the polynomial.
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// `c_0, c_1, ...`, rounded.
    pub fn coefficients(&self) -> Vec<f64> {
        self.coefficients.iter().map(|c| c.to_f64()).collect()
    }

    /// Largest difference between the function and its series: proved if the number of points is
    /// ([`ChebyshevSeries::interpolate`]), else measured at twice as many points as the polynomial
    /// has.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The value at x, by Clenshaw's recurrence.
    pub fn value(&self, x: f64) -> f64 {
        let t = ((x - self.low) - (self.high - x)) / (self.high - self.low);
        let (mut a, mut b) = (0.0, 0.0);
        for c in self.coefficients[1..].iter().rev() {
            (a, b) = (c.to_f64() + 2.0 * t * a - b, a);
        }
        self.coefficients[0].to_f64() + t * a - b
    }

    /// The value at `t` in [-1, 1], in double-double arithmetic.
    fn value_dd(&self, t: Dd) -> Dd {
        let (mut a, mut b) = (Dd::default(), Dd::default());
        let twice = t + t;
        for c in self.coefficients[1..].iter().rev() {
            (a, b) = (*c + twice * a - b, a);
        }
        self.coefficients[0] + t * a - b
    }

    /// The value at x, in double-double arithmetic.
    pub fn value_at(&self, x: Dd) -> Dd {
        let (low, high) = (Dd::from(self.low), Dd::from(self.high));
        self.value_dd(((x - low) - (high - x)) / (high - low))
    }

    /// The series of the derivative: `c'_{k-1} = c'_{k+1} + 2 k c_k`.
    #[must_use]
    pub fn derivative(&self) -> Self {
        let n = self.degree();
        let chain = Dd::from(2.0) / (Dd::from(self.high) - Dd::from(self.low));
        let mut out = vec![Dd::default(); n + 2];
        for k in (1..=n).rev() {
            out[k - 1] = out[k + 1] + Dd::from(2.0 * k as f64) * self.coefficients[k];
        }
        out.truncate(n.max(1));
        out[0] = out[0] * Dd::from(0.5);
        out.iter_mut().for_each(|c| *c = *c * chain);
        // A polynomial's derivative is at most n^2 times larger (Markov).
        let error = self.error * (n * n) as f64 * chain.to_f64();
        Self { coefficients: out, error, ..*self }
    }

    /// The series of the integral from the lower end: `C_k = (c_{k-1} - c_{k+1}) / 2k`.
    #[must_use]
    pub fn integral(&self) -> Self {
        let half = (Dd::from(self.high) - Dd::from(self.low)) * Dd::from(0.5);
        let c = |k: usize| self.coefficients.get(k).copied().unwrap_or_default();
        let mut out = vec![Dd::default(); self.degree() + 2];
        for (k, out) in out.iter_mut().enumerate().skip(1) {
            let before = if k == 1 { c(0) + c(0) } else { c(k - 1) };
            *out = half * (before - c(k + 1)) / Dd::from(2.0 * k as f64);
        }
        // T_k(-1) = (-1)^k.
        let at_low = out
            .iter()
            .enumerate()
            .fold(Dd::default(), |s, (k, c)| if k % 2 == 0 { s + *c } else { s - *c });
        out[0] = -at_low;
        Self { coefficients: out, error: 2.0 * half.to_f64() * self.error, ..*self }
    }

    /// The same function plus a number.
    #[must_use]
    pub fn plus(mut self, shift: Dd) -> Self {
        self.coefficients[0] = self.coefficients[0] + shift;
        self
    }

    /// The series without its last coefficients, of which the sum of absolute values is at most
    /// `tolerance`.
    #[must_use]
    pub fn shortened(mut self, tolerance: f64) -> Self {
        let mut dropped = 0.0;
        while self.coefficients.len() > 1 {
            let last = self.coefficients[self.coefficients.len() - 1].to_f64().abs();
            if dropped + last > tolerance {
                break;
            }
            dropped += last;
            self.coefficients.pop();
        }
        self.error += dropped;
        self
    }

    /// `a_0, a_1, ...` of the same polynomial as a Legendre series `sum_l a_l P_l(t)`, rounded.
    ///
    /// **Accuracy** each to its last digits: Clenshaw's recurrence in double-doubles, with `t`
    /// as the matrix `t P_l = ((l + 1) P_{l+1} + l P_{l-1}) / (2l + 1)`. **Cost** `3 N^2`
    /// double-double operations for N terms.
    ///
    /// ```
    /// use metastable::num::chebyshev_series::ChebyshevSeries;
    /// // t^2 = (P_0 + 2 P_2) / 3
    /// let a = ChebyshevSeries::fit(|t| Ok(t * t), -1.0, 1.0)?.legendre();
    /// assert!((a[0] - 1.0 / 3.0).abs() < 1e-16 && (a[2] - 2.0 / 3.0).abs() < 1e-16);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn legendre(&self) -> Vec<f64> {
        let n = self.coefficients.len();
        let ratio = |l: usize| Dd::from(l as f64) / Dd::from((2 * l + 1) as f64);
        let down: Vec<Dd> = (0..n).map(ratio).collect();
        let up: Vec<Dd> = down.iter().map(|r| Dd::from(1.0) - *r).collect();
        // t times a series of degree below n - 1.
        let times = |v: &[Dd], l: usize| {
            let from_below = if l > 0 { up[l - 1] * v[l - 1] } else { Dd::default() };
            from_below + if l + 1 < n { down[l + 1] * v[l + 1] } else { Dd::default() }
        };
        let (mut a, mut b) = (vec![Dd::default(); n], vec![Dd::default(); n]);
        for (k, c) in self.coefficients.iter().enumerate().rev() {
            let factor = Dd::from(if k == 0 { 1.0 } else { 2.0 });
            for (l, b) in b[..n - k].iter_mut().enumerate() {
                *b = factor * times(&a, l) - *b;
            }
            b[0] = b[0] + *c;
            std::mem::swap(&mut a, &mut b);
        }
        a.iter().map(|c| c.to_f64()).collect()
    }

    /// The coefficients of `1, t, t^2, ...`, rounded.
    ///
    /// They may be much larger than the values: compare their sum before they are used.
    pub fn powers(&self) -> Vec<f64> {
        let n = self.coefficients.len();
        // T_k by its own powers; T_{k+1} = 2 t T_k - T_{k-1}.
        let mut out = vec![Dd::default(); n];
        let (mut before, mut now) = (vec![Dd::default(); n], vec![Dd::default(); n]);
        now[0] = Dd::from(1.0);
        for (k, c) in self.coefficients.iter().enumerate() {
            for j in 0..=k {
                out[j] = out[j] + *c * now[j];
            }
            let factor = if k == 0 { 1.0 } else { 2.0 };
            let mut next = vec![Dd::default(); n];
            for j in 0..n {
                let raised = if j == 0 { Dd::default() } else { now[j - 1] };
                next[j] =
                    Dd::from(factor) * raised - if k == 0 { Dd::default() } else { before[j] };
            }
            before = std::mem::replace(&mut now, next);
        }
        out.iter().map(|c| c.to_f64()).collect()
    }
}

/// `cos(pi j / n)`, j = 0..=n.
fn nodes(n: usize) -> Vec<Dd> {
    let step = Dd::pi() / Dd::from(n as f64);
    let upper = |j: usize| (step * Dd::from(j as f64)).sin_cos().1;
    (0..=n)
        .map(|j| match () {
            () if 2 * j == n => Dd::default(),
            () if 2 * j < n => upper(j),
            () => -upper(n - j),
        })
        .collect()
}

/// The point of the interval at t.
fn place(low: f64, high: f64, t: Dd) -> Dd {
    let half = Dd::from(0.5);
    half * (Dd::from(low) + Dd::from(high)) + half * (Dd::from(high) - Dd::from(low)) * t
}

fn finite(value: Dd, x: Dd) -> Result<Dd> {
    if value.to_f64().is_finite() {
        return Ok(value);
    }
    Err(Error::parameter(
        "interaction",
        format!("the value {} at s = {}", value.to_f64(), x.to_f64()),
        "a function that is finite and real on [-1, 1]",
    ))
}

/// The error for a function that is not resolved.
fn too_long((low, high): (f64, f64)) -> Error {
    let found =
        format!("a function whose series on [{low}, {high}] needs more than {MAX_TERMS} terms");
    let expected = "a function that is analytic on [-1, 1] between the kinks of abs and relu";
    Error::parameter("interaction", found, expected)
}

/// The coefficients of the polynomial through the values at n + 1 points, and the largest value.
fn interpolated(
    f: &impl Fn(Dd) -> Result<Dd>,
    (low, high): (f64, f64),
    n: usize,
) -> Result<(Vec<Dd>, f64)> {
    let nodes = nodes(n);
    let value = |(j, t): (usize, &Dd)| {
        let x = match j {
            0 => Dd::from(high),
            _ if j == n => Dd::from(low),
            _ => place(low, high, *t),
        };
        f(x).and_then(|v| finite(v, x))
    };
    let values = nodes.iter().enumerate().map(value).collect::<Result<Vec<Dd>>>()?;
    let size = values.iter().fold(0.0, |m: f64, v| m.max(v.to_f64().abs()));
    Ok((transform(&values, &nodes), size))
}

/// `c_k = (2/n) sum''_j f_j cos(pi j k / n)`, with halves of the first and last: the Fourier
/// transform of the even sequence of 2n values, n a power of two.
fn transform(values: &[Dd], nodes: &[Dd]) -> Vec<Dd> {
    let n = values.len() - 1;
    let bits = (2 * n).trailing_zeros();
    let mirrored = |j: usize| if j > n { 2 * n - j } else { j };
    let reversed = |j: usize| j.reverse_bits() >> (usize::BITS - bits);
    let mut re: Vec<Dd> = (0..2 * n).map(|j| values[mirrored(reversed(j))]).collect();
    let mut im = vec![Dd::default(); 2 * n];
    let mut half = 1;
    while half < 2 * n {
        for k in 0..half {
            // e^{-i pi k / half}
            let turn = k * (n / half);
            let (cos, sin) = (nodes[turn], -nodes[turn.abs_diff(n / 2)]);
            for a in (k..2 * n).step_by(2 * half) {
                let b = a + half;
                let (x, y) = (re[b] * cos - im[b] * sin, re[b] * sin + im[b] * cos);
                (re[b], im[b]) = (re[a] - x, im[a] - y);
                (re[a], im[a]) = (re[a] + x, im[a] + y);
            }
        }
        half *= 2;
    }
    let scale = |k: usize| Dd::from(if k == 0 || k == n { 0.5 } else { 1.0 } / n as f64);
    (0..=n).map(|k| re[k] * scale(k)).collect()
}

#[cfg(test)]
mod tests {
    use super::ChebyshevSeries;
    use crate::dd::Dd;
    use crate::number::Number;

    #[test]
    fn analytic_functions_to_the_last_digit() {
        let runge = |x: Dd| Ok(Dd::from(1.0) / (Dd::from(1.0) + Dd::from(25.0) * x * x));
        let series = ChebyshevSeries::fit(runge, -1.0, 1.0).unwrap();
        assert!(series.error() < 2e-17 && series.degree() < 220, "{}", series.degree());
        for k in 0..50 {
            let x = f64::from(k) / 25.0 - 1.0;
            assert!((series.value(x) - 1.0 / (1.0 + 25.0 * x * x)).abs() < 4e-15);
        }
        // The integral is atan(5)/5 twice.
        let whole = series.integral().value(1.0);
        assert!((whole - 2.0 * 5f64.atan() / 5.0).abs() < 1e-15);
    }

    #[test]
    fn powers_of_an_exponential_are_its_taylor_sum() {
        let e = ChebyshevSeries::fit(|x| Ok(Number::exp(x)), -1.0, 1.0).unwrap();
        let mut factorial = 1.0;
        for (k, c) in e.powers().iter().enumerate().take(8) {
            factorial *= k.max(1) as f64;
            assert!((c * factorial - 1.0).abs() < 1e-7, "{k} {c}");
        }
    }

    #[test]
    fn functions_that_are_not_analytic_are_refused() {
        let root = |x: Dd| Ok(Number::sqrt(x + Dd::from(1.0)));
        let e = ChebyshevSeries::fit(root, -1.0, 1.0).unwrap_err().to_string();
        assert!(e.contains("more than 16384 terms"), "{e}");
        let pole = |x: Dd| Ok(Dd::from(1.0) / x);
        let e = ChebyshevSeries::fit(pole, -1.0, 1.0).unwrap_err().to_string();
        assert!(e.contains("at s = 0"), "{e}");
    }
}
