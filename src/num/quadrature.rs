//! Quadrature: Gauss-Legendre rules and an adaptive integrator built on them.

use super::dd::Dd;

/// Nodes and weights of the n-point Gauss-Legendre rule on [-1, 1], by Newton's method from
/// Chebyshev guesses. **Accuracy** nodes to 1 ulp; weights to a relative `sqrt(n) eps/(1 - x^2)`,
/// since they are computed at the rounded nodes (n up to 1000).
pub fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let nf = n as f64;
    (0..n)
        .map(|i| {
            let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (nf + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..60 {
                let p = super::gegenbauer::zonal_polynomials(3, n, x);
                slope = nf * (x * p[n] - p[n - 1]) / (x * x - 1.0);
                let step = p[n] / slope;
                x -= step;
                if step.abs() < 4e-16 {
                    break;
                }
            }
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

/// The n-point rule in double-double arithmetic, by Newton's method from the rounded nodes; exact
/// to 1e-30.
pub fn gauss_legendre_dd(n: usize) -> Vec<(Dd, Dd)> {
    let (one, size) = (Dd::from(1.0), Dd::from(n as f64));
    // P_n and its derivative.
    let legendre = |x: Dd| {
        let (mut p, mut before) = (one, Dd::default());
        for k in 0..n {
            let k = k as f64;
            (p, before) =
                ((Dd::from(2.0 * k + 1.0) * x * p - Dd::from(k) * before) / Dd::from(k + 1.0), p);
        }
        (p, size * (x * p - before) / (x * x - one))
    };
    let refined = |(x, _): (f64, f64)| {
        let mut x = Dd::from(x);
        for _ in 0..2 {
            let (p, slope) = legendre(x);
            x = x - p / slope;
        }
        let slope = legendre(x).1;
        (x, Dd::from(2.0) / ((one - x * x) * slope * slope))
    };
    gauss_legendre(n).into_iter().map(refined).collect()
}

/// Largest number of bisections in [`integrate`]; smooth integrands over 160 orders of magnitude
/// need a few hundred.
const MAX_PANELS: usize = 100_000;

/// An integral and its error estimate; the error is infinite if the integrand overflows or too many
/// bisections are needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integral {
    /// The value.
    pub value: f64,
    /// Sum of the differences between one and two panels on the accepted intervals.
    pub error: f64,
}

/// Adaptive 15-point Gauss-Legendre integration of `f` over `[a, b]` to relative tolerance
/// `rel_tol` (not below 1e-14).
///
/// An interval is accepted if one panel and two half panels agree to `rel_tol` of the largest value
/// of an interval so far, or if it cannot be halved any more. The integrand may span hundreds of
/// orders of magnitude.
///
/// ```
/// use metastable::num::quadrature::integrate;
/// let i = integrate(|x| (100.0 * x).exp(), 0.0, 1.0, 1e-13);
/// assert!((i.value / (100f64.exp_m1() / 100.0) - 1.0).abs() < 1e-13);
/// ```
pub fn integrate(f: impl Fn(f64) -> f64, a: f64, b: f64, rel_tol: f64) -> Integral {
    let rule = gauss_legendre(15);
    let tol = rel_tol.max(1e-14);
    let panel = |lo: f64, hi: f64| {
        let (mid, half) = (0.5 * (lo + hi), 0.5 * (hi - lo));
        half * rule.iter().map(|(x, w)| w * f(mid + half * x)).sum::<f64>()
    };
    let mut total = super::sum::Compensated::default();
    let mut error = 0.0;
    let mut panels = 0;
    let mut scale = panel(a, b).abs();
    let mut stack = vec![(a, b, panel(a, b), 0)];
    while let Some((lo, hi, whole, depth)) = stack.pop() {
        let mid = 0.5 * (lo + hi);
        let (left, right) = (panel(lo, mid), panel(mid, hi));
        scale = scale.max((left + right).abs());
        let gap = (left + right - whole).abs();
        panels += 1;
        if !gap.is_finite() || panels > MAX_PANELS {
            // An overflowing integrand has no finite integral; without agreement there is no error
            // bound.
            let value = if gap.is_finite() { total.value() } else { f64::INFINITY };
            return Integral { value, error: f64::INFINITY };
        }
        if gap <= tol * scale || depth >= 60 || mid <= lo.min(hi) || mid >= hi.max(lo) {
            total.add(left);
            total.add(right);
            error += gap;
        } else {
            // Push the right half first, so that sums run from left to right.
            stack.push((mid, hi, right, depth + 1));
            stack.push((lo, mid, left, depth + 1));
        }
    }
    Integral { value: total.value(), error }
}
