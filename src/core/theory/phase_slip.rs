//! Phase slips on the circle: under noise a token leaves one cluster and joins it again after a
//! whole turn. `dX = v dt + sqrt(2/kappa) dW`, v that of USA in U1, n tokens of equal masses.
//!
//! The angles move in `W = -n E = -(1/(2 beta n)) sum_ij e^{beta cos(theta_i - theta_j)}`, whose
//! only well is the cluster. It is left over the n saddles with one token opposite to the others.

use crate::error::{Error, Result, in_range};
use crate::num::quadrature::integrate;
use faer::prelude::Solve;
use faer::{Mat, Side};
use std::f64::consts::{PI, TAU};

/// Height of the saddle above the cluster, `2 (n-1) sinh(beta)/(beta n)`.
///
/// ```
/// let barrier = metastable::theory::phase_slip::barrier(3, 1.0).unwrap();
/// assert!((barrier - 1.5669349249).abs() < 1e-10);
/// ```
pub fn barrier(n: usize, beta: f64) -> Result<f64> {
    check(n, beta)?;
    let slope = if beta == 0.0 { 1.0 } else { beta.sinh() / beta };
    Ok(2.0 * (n - 1) as f64 / n as f64 * slope)
}

/// Logarithm of the rate of slips of one token in one direction as `kappa -> inf`, by the law of
/// Eyring and Kramers: `(1/2 pi) ((n - 1 - e^{-2 beta})/n)^{-(n-2)/2} e^{-kappa barrier}`.
///
/// The curvatures of W across the cluster are `e^beta` (n - 1 times), those at the saddle
/// `-e^{-beta}` and `((n-1) e^beta - e^{-beta})/n` (n - 2 times); both are circles of equal length.
/// The relative error is of the order `1/(kappa barrier)`.
///
/// ```
/// // n = 2: e^{-kappa sinh(beta)/beta} / (2 pi)
/// let log = metastable::theory::phase_slip::log_rate(2, 1.0, 10.0).unwrap();
/// assert!((log + 10.0 * 1f64.sinh() + std::f64::consts::TAU.ln()).abs() < 1e-14);
/// ```
pub fn log_rate(n: usize, beta: f64, kappa: f64) -> Result<f64> {
    in_range("kappa", kappa, f64::MIN_POSITIVE, 1e300)?;
    let share = (n as f64 - 1.0 - (-2.0 * beta).exp()) / n as f64;
    let curvatures = if n > 2 { 0.5 * (n - 2) as f64 * share.ln() } else { 0.0 };
    Ok(-TAU.ln() - curvatures - kappa * barrier(n, beta)?)
}

/// Logarithm of the exact rate for two tokens in one direction, by the formula of Lifson and
/// Jackson for their angle: `(2/kappa) / (int e^{kappa U/2} int e^{-kappa U/2})` over one turn,
/// with `U = -e^{beta cos}/beta`. It is the diffusion of the angle over `(2 pi)^2`.
///
/// **Accuracy** 1e-12.
///
/// ```
/// let log = metastable::theory::phase_slip::log_rate_of_two(2.0, 20.0).unwrap();
/// assert!((log + 37.890502877487).abs() < 1e-11);
/// ```
pub fn log_rate_of_two(beta: f64, kappa: f64) -> Result<f64> {
    let depth = kappa * barrier(2, beta)?;
    in_range("kappa", kappa, f64::MIN_POSITIVE, 1e300)?;
    // (1 - e^{-beta gap})/beta, the height of U above an end, over its factor.
    let height = |gap: f64| if beta == 0.0 { gap } else { -(-beta * gap).exp_m1() / beta };
    let gap = |phi: f64| 2.0 * (0.5 * phi).sin().powi(2);
    let scale = 0.5 * kappa * beta.exp();
    let bottom = |phi: f64| (-scale * height(gap(phi))).exp();
    let top = |phi: f64| {
        // U(pi) - U at the angle pi - phi.
        let fall = if beta == 0.0 { gap(phi) } else { (beta * gap(phi)).exp_m1() / beta };
        (-0.5 * kappa * (-beta).exp() * fall).exp()
    };
    // Each integrand has a peak at 0, of this width.
    let whole = |f: &dyn Fn(f64) -> f64, curvature: f64| {
        let end = (6.0 / curvature.sqrt()).min(PI);
        let parts = [(0.0, end), (end, (8.0 * end).min(PI)), ((8.0 * end).min(PI), PI)];
        2.0 * parts.iter().map(|(a, b)| integrate(f, *a, *b, 1e-14).value).sum::<f64>()
    };
    let integrals = whole(&bottom, scale).ln() + whole(&top, 0.5 * kappa * (-beta).exp()).ln();
    Ok((2.0 / kappa).ln() - integrals - depth)
}

/// Logarithm of the exact rate for three tokens, and its error: the effective diffusion of a
/// difference of two angles is `2 (2 pi)^2` times the rate.
///
/// The effective diffusion is the minimum of `sum rho (e + grad chi) a (e + grad chi) / sum rho`
/// over periodic chi, with `rho = e^{-kappa W}` on the torus of two differences; here over
/// trigonometric polynomials.
///
/// **Cost** about a second. **Errors** `kappa barrier` above 30, where rounding is larger than the
/// rate; a peak that the polynomials do not resolve.
pub fn log_rate_of_three(beta: f64, kappa: f64) -> Result<(f64, f64)> {
    let depth = kappa * barrier(3, beta)?;
    in_range("kappa", kappa, 1e-3, 1e6)?;
    let mut before = f64::NAN;
    for size in [17, 25, 33, 41] {
        let rate = homogenised(beta, kappa, size)?.ln();
        let gap = (rate - before).abs();
        // Rounding of the densities, which span e^{depth}.
        let rounding = 1e3 * f64::EPSILON * depth.exp();
        if gap < 1e-6 && rounding < 1e-3 {
            return Ok((rate, gap + rounding));
        }
        before = rate;
    }
    Err(Error::Beyond {
        quantity: format!("the exact rate of three tokens at beta = {beta}, kappa = {kappa}"),
        hint: "use smaller values; the law for large kappa holds there".into(),
    })
}

/// The rate with polynomials through `size` points (odd) in each direction.
fn homogenised(beta: f64, kappa: f64, size: usize) -> Result<f64> {
    let angle = |k: usize| TAU * k as f64 / size as f64;
    let fall = |phi: f64| {
        let gap = 2.0 * (0.5 * phi).sin().powi(2);
        let height = if beta == 0.0 { gap } else { -(-beta * gap).exp_m1() / beta };
        beta.exp() * height / 3.0
    };
    let points = size * size;
    let place = |p: usize| (angle(p / size), angle(p % size));
    let rho: Vec<f64> = (0..points)
        .map(|p| {
            let (u, v) = place(p);
            (-kappa * (fall(u) + fall(v) + fall(u - v))).exp()
        })
        .collect();
    // Derivative of the polynomial that is 1 at one point of an odd number.
    let slope = |i: usize, j: usize| {
        if i == j {
            return 0.0;
        }
        let sign = if (i + j).is_multiple_of(2) { 1.0 } else { -1.0 };
        0.5 * sign / (0.5 * (angle(i) - angle(j))).sin()
    };
    let row = |p: usize, q: usize| {
        let ((a, b), (c, e)) = ((p / size, p % size), (q / size, q % size));
        (if b == e { slope(a, c) } else { 0.0 }, if a == c { slope(b, e) } else { 0.0 })
    };
    // Gradients: 2 rows for each point; a = [[2, 1], [1, 2]]/kappa = B^T B.
    let (first, second) = ((2.0 / kappa).sqrt(), (1.5 / kappa).sqrt());
    let forms = |(du, dv): (f64, f64)| (first * (du + 0.5 * dv), second * dv);
    let weighted = Mat::from_fn(2 * points, points, |r, q| {
        let (p, form) = (r % points, forms(row(r % points, q)));
        rho[p].sqrt() * if r < points { form.0 } else { form.1 }
    });
    let start = forms((1.0, 0.0));
    let target = Mat::from_fn(2 * points, 1, |r, _| {
        -rho[r % points].sqrt() * if r < points { start.0 } else { start.1 }
    });
    // The constant has no gradient: its square makes the matrix definite.
    let constant = 1.0 / points as f64;
    let normal = weighted.transpose() * &weighted + Mat::from_fn(points, points, |_, _| constant);
    let right = weighted.transpose() * &target;
    let factors = normal.llt(Side::Lower).map_err(|_| Error::Beyond {
        quantity: "the exact rate of three tokens".into(),
        hint: "use a smaller kappa".into(),
    })?;
    let chi = factors.solve(&right);
    let left = &weighted * &chi - &target;
    let diffusion = left.squared_norm_l2() / rho.iter().sum::<f64>();
    Ok(diffusion / (2.0 * TAU * TAU))
}

fn check(n: usize, beta: f64) -> Result<()> {
    in_range("beta", beta, 0.0, 300.0)?;
    if n < 2 {
        return Err(Error::parameter("n", n, "at least 2 tokens"));
    }
    Ok(())
}
