//! The effective number of keys to which one query attends, for n uniform keys on `S^{d-1}`
//! (arXiv:2605.08505; the law of the gaps is derived).

use crate::error::{Error, Result, in_range};
use crate::num::quadrature::integrate;
use crate::num::roots::{bisect, bracketed_root};
use crate::num::vector;
use statrs::function::gamma::ln_gamma;

/// In the integral over `l = e^s` a key with gap v counts as `1 - e^{-e^{s - v}}`. It counts fully
/// if `s - v` exceeds this: `1 - e^{-e^5}` rounds to 1.
const FULL_WEIGHT_MARGIN: f64 = 5.0;

/// Weights below `e^{-45}` are negligible.
const NEGLIGIBLE_MARGIN: f64 = 45.0;

/// The integrands are negligible where they contain a factor below `e^{-60}`.
const NEGLIGIBLE_EXPONENT: f64 = 60.0;

/// Whether an interval in which an integrand becomes negligible is short enough.
fn is_narrow(low: f64, high: f64) -> bool {
    high - low <= 1.0
}

/// `kappa_d = Gamma(d/2) / (sqrt(pi) Gamma((d-1)/2) (d-1))`: the fraction of keys with
/// `1 - <q, y> <= t` is `kappa_d (2t)^{(d-1)/2}` for small t.
pub fn cap_constant(d: usize) -> f64 {
    let d = d as f64;
    (ln_gamma(0.5 * d) - ln_gamma(0.5 * (d - 1.0))).exp()
        / (std::f64::consts::PI.sqrt() * (d - 1.0))
}

/// The mean participation `E sum_j w_j^2` of softmax weights at `beta = c n^{2/(d-1)}` as n ->
/// infinity. The gaps v form a Poisson process with `K v^alpha` points below `v / beta`,
/// `alpha = (d-1)/2`, `K = kappa_d (2/c)^alpha`, and
/// `E sum w^2 = int_0^inf l E[sum_k e^{-2 v_k} e^{-l sum_j e^{-v_j}}] dl`.
///
/// **Accuracy** 1e-8. **Cost** some 1e6 exponentials. **Errors** d outside [2, 64], c outside
/// [1e-3, 1e3].
///
/// ```
/// use metastable::theory::long_context::participation;
/// for (c, printed) in [(0.25, 0.2524), (1.0, 0.6353), (4.0, 0.8851)] {
///     assert!((participation(3, c).unwrap() - printed).abs() < 5e-5);
/// }
/// // On the circle at large c nearly all weight is on one key.
/// assert!((participation(2, 1000.0).unwrap() - 0.99955).abs() < 1e-5);
/// ```
pub fn participation(d: usize, c: f64) -> Result<f64> {
    if !(2..=64).contains(&d) {
        return Err(Error::parameter("d", d, "a dimension in [2, 64]"));
    }
    in_range("c", c, 1e-3, 1e3)?;
    let alpha = 0.5 * (d as f64 - 1.0);
    let size = cap_constant(d) * (2.0 / c).powf(alpha);
    // l = e^s, and a key at v has the exponent s - v; in w = v^alpha the process is uniform. Keys
    // with v < s - 5 count fully up to e^{-148}, keys beyond the tail of a gamma law of shape alpha
    // are negligible. The integral therefore covers only the narrow transition near v = s.
    let from = |s: f64| (s - FULL_WEIGHT_MARGIN).max(0.0);
    let integral_over_gaps = |s: f64, f: &dyn Fn(f64) -> f64| {
        // v = p^2 or p^(2/alpha): d(v^alpha) without a singularity of the integrand at 0.
        let (flat, end) = (alpha.max(1.0), s.max(0.0) + NEGLIGIBLE_MARGIN + 2.0 * alpha);
        let density = |p: f64| {
            let v = p.powf(2.0 / flat);
            2.0 * alpha / flat * v.powf(alpha - flat) * f(v) * p
        };
        size * integrate(density, from(s).powf(0.5 * flat), end.powf(0.5 * flat), 1e-11).value
    };
    // For negative s the factor e^{2s} is taken out of the integral, where it would underflow.
    let pairs = |s: f64| {
        let out = s.min(0.0);
        (2.0 * out).exp() * integral_over_gaps(s, &|v| (2.0 * (s - out - v) - (s - v).exp()).exp())
    };
    let expected_count = |s: f64| {
        size * from(s).powf(alpha) + integral_over_gaps(s, &|v| -(-(s - v).exp()).exp_m1())
    };
    let integrand = |s: f64| pairs(s) * (-expected_count(s)).exp();
    // `expected_count` is e^{s + log_mean} for small s and increases without bound. The integrand
    // is negligible where it exceeds NEGLIGIBLE_EXPONENT.
    let log_mean = size.ln() + ln_gamma(alpha + 1.0);
    let low = -NEGLIGIBLE_MARGIN - log_mean.max(0.0);
    let upper = (NEGLIGIBLE_EXPONENT / size).powf(1.0 / alpha).max(1.0) + FULL_WEIGHT_MARGIN;
    let top = bisect(|s| expected_count(s) > NEGLIGIBLE_EXPONENT, (low, upper), is_narrow).1;
    // For s > 1 integrate over log s: the integrand has a width proportional to s.
    let small = integrate(integrand, low, top.min(1.0), 1e-9).value;
    let large = if top > 1.0 {
        integrate(|l| integrand(l.exp()) * l.exp(), 0.0, top.ln(), 1e-9).value
    } else {
        0.0
    };
    Ok((small + large).min(1.0))
}

/// The mean participation `E sum_j w_j^2` of n keys at beta, without a limit:
/// `n int_0^inf l B (1 - A)^{n-1} dl`, `A = E[1 - e^{-l e^{-v}}]`, `B = E[e^{-2v} e^{-l e^{-v}}]`,
/// `v = beta (1 - <q, y>)` of one key. It is at least 1/n and at most 1; [`participation`] is its
/// limit.
///
/// **Accuracy** 1e-6 relative. **Cost** some 1e6 exponentials. **Errors** fewer than one key, d
/// outside [2, 64], beta outside [0, 1e15].
///
/// ```
/// use metastable::theory::long_context::{participation, participation_of_keys};
/// assert!((participation_of_keys(1000.0, 3, 1000.0).unwrap() / participation(3, 1.0).unwrap() - 1.0).abs() < 1e-2);
/// assert!((participation_of_keys(50.0, 8, 0.0).unwrap() - 0.02).abs() < 1e-8);
/// // Of two keys: E (1 + tanh^2((v_1 - v_2)/2))/2, by a double integral.
/// assert!((participation_of_keys(2.0, 3, 2.0).unwrap() / 0.668749313160392 - 1.0).abs() < 1e-9);
/// ```
pub fn participation_of_keys(n: f64, d: usize, beta: f64) -> Result<f64> {
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
    // With l = e^s, keys with v < s - 6 count fully (1 - e^{-e^6} rounds to 1), and those with
    // v > s + NEGLIGIBLE_MARGIN are negligible.
    let ends = |s: f64| (angle(s - 6.0), angle(s.max(0.0) + NEGLIGIBLE_MARGIN));
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
        let log_none = (n - 1.0) * (-counted(s)).max(-1.0).ln_1p();
        if log_none < -NEGLIGIBLE_EXPONENT { 0.0 } else { pairs(s) * log_none.exp() }
    };
    let (low, upper) = (-n.ln() - 40.0, 2.0 * beta + NEGLIGIBLE_MARGIN);
    let is_negligible = |s: f64| (n - 1.0) * counted(s) > NEGLIGIBLE_EXPONENT;
    let top = bisect(is_negligible, (low, upper), is_narrow).1;
    // Rounding may exceed the bounds: equal weights give 1/n, one key gives 1.
    Ok((n * integrate(integrand, low, top, 1e-8).value).clamp(1.0 / n, 1.0))
}

/// The inverse temperature `c n^{2/(d-1)}` at which the query attends to finitely many keys.
///
/// **Errors** d below 2.
pub fn critical_beta(n: f64, d: usize, c: f64) -> Result<f64> {
    if d < 2 {
        return Err(Error::parameter("d", d, "a dimension of at least 2"));
    }
    Ok(c * n.powf(2.0 / (d as f64 - 1.0)))
}

/// The gap-counting function of a row of scores, `N(g)`: the number of scores at most g below the
/// largest (arXiv:2605.12697).
///
/// ```
/// assert_eq!(metastable::theory::long_context::gap_count(&[3.0, 1.0, 2.5], 0.5), 2);
/// ```
pub fn gap_count(scores: &[f64], g: f64) -> usize {
    let top = vector::max(scores);
    scores.iter().filter(|s| top - **s <= g).count()
}

/// The inverse temperature at which a row attends to two keys:
/// `sum_j e^{-beta (s_max - s_j)} = int beta e^{-beta g} N(g) dg = 2`. `None` if the largest score
/// is attained twice, or if there is only one score.
///
/// **Accuracy** 1e-12 relative. **Cost** about 60 n exponentials.
///
/// ```
/// let beta = metastable::theory::long_context::two_key_beta(&[1.0, 0.5]).unwrap_or(f64::INFINITY);
/// // With one rival the sum is 2 only at beta = 0.
/// assert!(beta.abs() < 1e-9);
/// let beta = metastable::theory::long_context::two_key_beta(&[1.0, 0.5, 0.5]).unwrap();
/// assert!((beta - 2.0 * 2f64.ln()).abs() < 1e-12);
/// ```
pub fn two_key_beta(scores: &[f64]) -> Option<f64> {
    let top = vector::max(scores);
    let nearest = scores.iter().map(|s| top - s).filter(|g| *g > 0.0).fold(f64::INFINITY, f64::min);
    if gap_count(scores, 0.0) != 1 || !nearest.is_finite() {
        return None;
    }
    let rival_weight =
        |beta: f64| scores.iter().map(|s| (-beta * (top - s)).exp()).sum::<f64>() - 2.0;
    // The weights of all rivals add up to less than 1 for beta > log(n)/nearest, even if all are as
    // near as the nearest.
    let end = (scores.len() as f64).ln() / nearest;
    if rival_weight(0.0) <= 0.0 {
        Some(0.0)
    } else {
        bracketed_root(rival_weight, 0.0, end * (1.0 + 1e-9), 1e-13 * end)
    }
}

/// Length of the attention output far below the critical beta: `I_{d/2}(beta) / I_{d/2-1}(beta)`,
/// in the direction of the query.
pub fn subcritical_length(d: usize, beta: f64) -> f64 {
    crate::num::bessel::bessel_ratios(0.5 * d as f64 - 1.0, beta, 1)[0]
}
