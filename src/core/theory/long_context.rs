//! One query among n uniform keys of `S^{d-1}` (arXiv:2605.08505; the law of the gaps is derived): how many of them it attends to.

use crate::error::{Error, Result, in_range};
use crate::num::vector;
use crate::num::{quadrature::integrate, roots::bracketed_root};
use statrs::function::gamma::ln_gamma;

/// A key this much nearer than the level counts in full: `1 - e^{-e^5}` is 1.
const NEAR: f64 = 5.0;

/// Weights below `e^{-45}` are nothing.
const FAR: f64 = 45.0;

/// `kappa_d = Gamma(d/2) / (sqrt(pi) Gamma((d-1)/2) (d-1))`: keys with `1 - <q, y> <= t` have the share `kappa_d (2t)^{(d-1)/2}` for small t.
pub fn cap_constant(d: usize) -> f64 {
    let d = d as f64;
    (ln_gamma(0.5 * d) - ln_gamma(0.5 * (d - 1.0))).exp() / (std::f64::consts::PI.sqrt() * (d - 1.0))
}

/// The mean participation `E sum_j w_j^2` of softmax weights at `beta = c n^{2/(d-1)}`, n -> infinity: gaps form a Poisson process with
/// `K v^alpha` points below `v / beta`, `alpha = (d-1)/2`, `K = kappa_d (2/c)^alpha`, and
/// `E sum w^2 = int_0^inf l E[sum_k e^{-2 v_k} e^{-l sum_j e^{-v_j}}] dl`.
///
/// **Accuracy** 1e-8. **Cost** some 1e6 exponentials. **Errors** d outside [2, 64], c outside [1e-3, 1e3].
///
/// ```
/// use metastable::theory::long_context::participation;
/// for (c, printed) in [(0.25, 0.2524), (1.0, 0.6353), (4.0, 0.8851)] {
///     assert!((participation(3, c).unwrap() - printed).abs() < 5e-5);
/// }
/// // On the circle keys that count are rare: one of them nearly always.
/// assert!((participation(2, 1000.0).unwrap() - 0.99955).abs() < 1e-5);
/// ```
pub fn participation(d: usize, c: f64) -> Result<f64> {
    if !(2..=64).contains(&d) {
        return Err(Error::parameter("d", d, "a dimension in [2, 64]"));
    }
    in_range("c", c, 1e-3, 1e3)?;
    let alpha = 0.5 * (d as f64 - 1.0);
    let size = cap_constant(d) * (2.0 / c).powf(alpha);
    // l = e^s, and a key at v counts e^{s - v}; in w = v^alpha the process is uniform. Keys with v
    // < s - 5 count in full to e^{-148}, those beyond the tail of a gamma law of shape alpha not at
    // all: a needle of unit width at a large s is looked for where it is.
    let from = |s: f64| (s - NEAR).max(0.0);
    let over = |s: f64, f: &dyn Fn(f64) -> f64| {
        // v = p^2 or p^(2/alpha): d(v^alpha) without a singularity of the integrand at 0.
        let (flat, end) = (alpha.max(1.0), s.max(0.0) + FAR + 2.0 * alpha);
        let density = |p: f64| {
            let v = p.powf(2.0 / flat);
            2.0 * alpha / flat * v.powf(alpha - flat) * f(v) * p
        };
        size * integrate(density, from(s).powf(0.5 * flat), end.powf(0.5 * flat), 1e-11).value
    };
    // e^{2s} of a small s is taken out of the integral, where it would be below f64.
    let pairs = |s: f64| {
        let out = s.min(0.0);
        (2.0 * out).exp() * over(s, &|v| (2.0 * (s - out - v) - (s - v).exp()).exp())
    };
    let none = |s: f64| size * from(s).powf(alpha) + over(s, &|v| -(-(s - v).exp()).exp_m1());
    let integrand = |s: f64| pairs(s) * (-none(s)).exp();
    // `none` is e^{s + log_mean} for small s and grows for ever: where it exceeds 60 nothing is
    // left.
    let log_mean = size.ln() + ln_gamma(alpha + 1.0);
    let low = -FAR - log_mean.max(0.0);
    let (mut below, mut top) = (low, (60.0 / size).powf(1.0 / alpha).max(1.0) + NEAR);
    while top - below > 1.0 {
        let middle = 0.5 * (top + below);
        if none(middle) > 60.0 { top = middle } else { below = middle }
    }
    // Large s by their logarithm: the integrand is as wide as s is large.
    let small = integrate(integrand, low, top.min(1.0), 1e-9).value;
    let large = if top > 1.0 { integrate(|l| integrand(l.exp()) * l.exp(), 0.0, top.ln(), 1e-9).value } else { 0.0 };
    Ok((small + large).min(1.0))
}

/// The mean participation `E sum_j w_j^2` of n keys at beta, as it is: `n int_0^inf l B (1 - A)^{n-1} dl`, `A = E[1 - e^{-l e^{-v}}]`, `B = E[e^{-2v} e^{-l e^{-v}}]`, `v = beta (1 - <q, y>)` of one key. It is
/// at least 1/n and at most 1; [`participation`] is its limit.
///
/// **Accuracy** 1e-6 relative. **Cost** some 1e6 exponentials. **Errors** fewer than one key, d outside [2, 64], beta outside [0, 1e15].
///
/// ```
/// use metastable::theory::long_context::{participation, participation_of};
/// assert!((participation_of(1000.0, 3, 1000.0).unwrap() / participation(3, 1.0).unwrap() - 1.0).abs() < 1e-2);
/// assert!((participation_of(50.0, 8, 0.0).unwrap() - 0.02).abs() < 1e-8);
/// // Of two keys: E (1 + tanh^2((v_1 - v_2)/2))/2, by a double integral.
/// assert!((participation_of(2.0, 3, 2.0).unwrap() / 0.668749313160392 - 1.0).abs() < 1e-9);
/// ```
pub fn participation_of(n: f64, d: usize, beta: f64) -> Result<f64> {
    if !(2..=64).contains(&d) {
        return Err(Error::parameter("d", d, "a dimension in [2, 64]"));
    }
    in_range("n", n, 1.0, 1e18)?;
    in_range("beta", beta, 0.0, 1e15)?;
    if n < 1.5 || beta < 1e-12 {
        return Ok(1.0 / n.round());
    }
    let scale = cap_constant(d) * (d as f64 - 1.0);
    let density = |angle: f64| scale * angle.sin().max(0.0).powi(d as i32 - 2);
    let angle = |v: f64| 2.0 * (0.5 * v.max(0.0) / beta).sqrt().min(1.0).asin();
    let v = |angle: f64| 2.0 * beta * (0.5 * angle).sin().powi(2);
    // Keys with v < s - 6 count in full, those with v > s + 45 not at all; l = e^s.
    let ends = |s: f64| (angle(s - 6.0), angle(s.max(0.0) + 45.0));
    let counted = |s: f64| {
        let (near, far) = ends(s);
        let part = |a: f64| -(-(s - v(a)).exp()).exp_m1() * density(a);
        integrate(density, 0.0, near, 1e-11).value + integrate(part, near, far, 1e-11).value
    };
    let pairs = |s: f64| {
        let (near, far) = ends(s);
        let part = |a: f64| (2.0 * (s - v(a)) - (s - v(a)).exp()).exp() * density(a);
        integrate(part, near, far, 1e-11).value
    };
    let integrand = |s: f64| {
        let none = (n - 1.0) * (-counted(s)).max(-1.0).ln_1p();
        if none < -60.0 { 0.0 } else { pairs(s) * none.exp() }
    };
    let (low, mut top, mut below) = (-n.ln() - 40.0, 2.0 * beta + 45.0, -n.ln() - 40.0);
    while top - below > 1.0 {
        let middle = 0.5 * (top + below);
        if (n - 1.0) * counted(middle) > 60.0 { top = middle } else { below = middle }
    }
    // Between the even share and one key, which rounding may pass.
    Ok((n * integrate(integrand, low, top, 1e-8).value).clamp(1.0 / n, 1.0))
}

/// The inverse temperature `c n^{2/(d-1)}` at which finitely many keys matter.
///
/// **Errors** a d below 2.
pub fn critical_beta(n: f64, d: usize, c: f64) -> Result<f64> {
    if d < 2 {
        return Err(Error::parameter("d", d, "a dimension of at least 2"));
    }
    Ok(c * n.powf(2.0 / (d as f64 - 1.0)))
}

/// The gap-counting function of a row of scores, `N(g)`: how many are at most g below the largest (arXiv:2605.12697).
///
/// ```
/// assert_eq!(metastable::theory::long_context::gap_count(&[3.0, 1.0, 2.5], 0.5), 2);
/// ```
pub fn gap_count(scores: &[f64], g: f64) -> usize {
    let top = vector::max(scores);
    scores.iter().filter(|s| top - **s <= g).count()
}

/// The inverse temperature at which a row attends to two scores: `sum_j e^{-beta (s_max - s_j)} = int beta e^{-beta g} N(g) dg = 2`. `None` where another score is as large as the largest, or there is no other.
///
/// **Accuracy** 1e-12 relative. **Cost** some 60 n exponentials.
///
/// ```
/// let beta = metastable::theory::long_context::two_scores(&[1.0, 0.5]).unwrap_or(f64::INFINITY);
/// // One rival has less than the whole weight of the largest for every beta > 0.
/// assert!(beta.abs() < 1e-9);
/// let beta = metastable::theory::long_context::two_scores(&[1.0, 0.5, 0.5]).unwrap();
/// assert!((beta - 2.0 * 2f64.ln()).abs() < 1e-12);
/// ```
pub fn two_scores(scores: &[f64]) -> Option<f64> {
    let top = vector::max(scores);
    let nearest = scores.iter().map(|s| top - s).filter(|g| *g > 0.0).fold(f64::INFINITY, f64::min);
    if gap_count(scores, 0.0) != 1 || !nearest.is_finite() {
        return None;
    }
    let rivals = |beta: f64| scores.iter().map(|s| (-beta * (top - s)).exp()).sum::<f64>() - 2.0;
    // Even if all rivals are as near as the nearest, their weights add up to less than 1 from log(n)/nearest on.
    let end = (scores.len() as f64).ln() / nearest;
    if rivals(0.0) <= 0.0 { Some(0.0) } else { bracketed_root(rivals, 0.0, end * (1.0 + 1e-9), 1e-13 * end) }
}

/// The length of the output below that: `I_{d/2}(beta) / I_{d/2-1}(beta)`, along the query.
pub fn subcritical_length(d: usize, beta: f64) -> f64 {
    crate::num::bessel::bessel_ratios(0.5 * d as f64 - 1.0, beta, 1)[0]
}
