//! Two clusters: masses alpha and 1 - alpha at angle theta, exact equations, merging times and
//! their asymptotics.

use crate::attention::{RowWeights, TimeScale};
use crate::error::{Error, Result, in_range};
use crate::num::quadrature::{Integral, integrate};

/// Time in which SA,
/// `-theta' = sin(theta) [ (1-a)/(a e^{beta(1-rho)} + 1-a) + a/((1-a) e^{beta(1-rho)} + a) ]`,
/// brings two clusters from angle `from` down to angle `to`, by quadrature.
///
/// **Accuracy** 1e-12 relative, up to 1e300. **Errors** angles not in `0 < to <= from < pi`, a mass
/// outside (0, 1), negative beta.
///
/// ```
/// use metastable::theory::two_cluster::merge_time_sa;
/// // beta = 0: log tan(theta/2) falls at rate 1
/// let t = merge_time_sa(0.0, 0.5, 2.0, 0.1).unwrap().value;
/// assert!((t - (1f64.tan() / 0.05f64.tan()).ln()).abs() < 1e-12);
/// ```
pub fn merge_time_sa(beta: f64, alpha: f64, from: f64, to: f64) -> Result<Integral> {
    check(beta, alpha, from, to)?;
    let pull = |own: f64, other: f64, w: f64| other * w / (own + other * w);
    let time = integrate_log_tangent(from, to, beta, |gap| {
        let w = (-beta * gap).exp();
        1.0 / (pull(alpha, 1.0 - alpha, w) + pull(1.0 - alpha, alpha, w))
    });
    check_finite(time, beta, from)
}

/// The merging time of USA, `-theta' = e^{beta cos theta} sin theta` in U1; independent of the
/// masses.
pub fn merge_time_usa(
    beta: f64,
    from: f64,
    to: f64,
    scale: TimeScale,
    n: usize,
) -> Result<Integral> {
    check(beta, 0.5, from, to)?;
    let log_factor = scale.log_factor(beta, n);
    let time = integrate_log_tangent(from, to, beta, |gap| (beta * gap - beta - log_factor).exp());
    check_finite(time, beta, from)
}

/// The merging time for these weights; `scale` (time scale and number of tokens) applies to USA.
///
/// **Errors** as [`merge_time_sa`]; Sinkhorn attention, for which there is no formula.
pub fn merge_time(
    weights: RowWeights,
    scale: (TimeScale, usize),
    beta: f64,
    alpha: f64,
    from: f64,
    to: f64,
) -> Result<Integral> {
    match weights {
        RowWeights::Softmax => merge_time_sa(beta, alpha, from, to),
        RowWeights::Exponential => merge_time_usa(beta, from, to, scale.0, scale.1),
        RowWeights::Sinkhorn => Err(super::no_formula_error(weights)),
    }
}

/// `ln` of [`merge_time`], finite for every beta. **Errors** as [`merge_time`].
pub fn log_merge_time(
    weights: RowWeights,
    scale: (TimeScale, usize),
    beta: f64,
    alpha: f64,
    from: f64,
    to: f64,
) -> Result<f64> {
    match weights {
        RowWeights::Softmax => log_merge_time_sa(beta, alpha, from, to),
        RowWeights::Exponential => log_merge_time_usa(beta, from, to, scale.0, scale.1),
        RowWeights::Sinkhorn => Err(super::no_formula_error(weights)),
    }
}

/// Leading asymptotics of the merging time from inner product `rho` to `1 - 1/beta`; `scale` as in
/// [`merge_time`]. **Errors** Sinkhorn attention.
pub fn merge_time_asymptotic(
    weights: RowWeights,
    scale: (TimeScale, usize),
    beta: f64,
    alpha: f64,
    rho: f64,
) -> Result<f64> {
    match weights {
        RowWeights::Softmax => Ok(merge_time_sa_asymptotic(beta, alpha, rho)),
        // `e^{-beta rho} / (beta (1 - rho^2))` in U1, over the speed e^{log_factor}: one
        // exponential, because either factor may overflow.
        RowWeights::Exponential => {
            Ok((-beta * rho - scale.0.log_factor(beta, scale.1)).exp() / (beta * (1.0 - rho * rho)))
        }
        RowWeights::Sinkhorn => Err(super::no_formula_error(weights)),
    }
}

/// `ln` of [`merge_time_sa`], finite for every beta: the factor `e^{beta (1 - cos from)}` is taken
/// out of the integral.
///
/// ```
/// use metastable::theory::two_cluster::{log_merge_time_sa, merge_time_sa};
/// let (log, t) = (log_merge_time_sa(50.0, 0.3, 3.0, 0.1).unwrap(), merge_time_sa(50.0, 0.3, 3.0, 0.1).unwrap().value);
/// assert!((log - t.ln()).abs() < 1e-12 * log);
/// assert!((log_merge_time_sa(1e4, 0.5, 3.0, 0.1).unwrap() / 19899.9 - 1.0).abs() < 1e-3); // slightly below e^{2 beta}
/// ```
pub fn log_merge_time_sa(beta: f64, alpha: f64, from: f64, to: f64) -> Result<f64> {
    check(beta, alpha, from, to)?;
    let top = beta * (1.0 - from.cos());
    // 1 / (sum of the two pulls) times e^{-top}, with the factor w of each pull moved to the
    // numerator.
    let scaled = integrate_log_tangent(from, to, beta, |gap| {
        let w = (-beta * gap).exp();
        let pull = |own: f64, other: f64| other / (own + other * w);
        (beta * gap - top).exp() / (pull(alpha, 1.0 - alpha) + pull(1.0 - alpha, alpha))
    });
    Ok(top + check_finite(scaled, beta, from)?.value.ln())
}

/// `ln` of [`merge_time_usa`], finite for every beta.
pub fn log_merge_time_usa(
    beta: f64,
    from: f64,
    to: f64,
    scale: TimeScale,
    n: usize,
) -> Result<f64> {
    check(beta, 0.5, from, to)?;
    let top = beta * (1.0 - from.cos());
    let scaled = integrate_log_tangent(from, to, beta, |gap| (beta * gap - top).exp());
    Ok(top - beta - scale.log_factor(beta, n) + check_finite(scaled, beta, from)?.value.ln())
}

/// Integral of `f(1 - cos theta) d theta / sin theta` in `u = log tan(theta/2)`, where
/// `d theta / sin theta = du`: the integrand has no singularity for angles from 1e-300 to the
/// antipode.
///
/// The error has the rounding of both ends, `eps (1 + |u|)`, and that of the exponent `beta gap` of
/// the integrand.
fn integrate_log_tangent(from: f64, to: f64, beta: f64, f: impl Fn(f64) -> f64) -> Integral {
    let u = |theta: f64| (0.5 * theta).tan().ln();
    // 1 - cos theta = 2 / (1 + e^{-2u}).
    let value = |u: f64| f(2.0 / (1.0 + (-2.0 * u).exp()));
    let found = integrate(value, u(to), u(from), 1e-13);
    let end = |theta: f64| value(u(theta)).abs() * (1.0 + u(theta).abs());
    let exponent = 2.0 * beta * (1.0 - from.cos());
    let rounding = 2.0 * (end(from) + end(to)) + (4.0 + exponent) * found.value.abs();
    Integral { error: found.error + f64::EPSILON * rounding, ..found }
}

fn check_finite(time: Integral, beta: f64, from: f64) -> Result<Integral> {
    if time.value.is_finite() && time.error.is_finite() {
        return Ok(time);
    }
    Err(Error::Beyond {
        quantity: format!("the merging time from the angle {from} at beta = {beta}"),
        hint: "use a smaller beta or a smaller starting angle".into(),
    })
}

fn check(beta: f64, alpha: f64, from: f64, to: f64) -> Result<()> {
    in_range("beta", beta, 0.0, 1e6)?;
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(Error::parameter("mass", alpha, "a mass in (0, 1)"));
    }
    if !(to > 0.0 && from < std::f64::consts::PI && to <= from) {
        return Err(Error::parameter(
            "angles",
            format!("from {from} to {to}"),
            "0 < to <= from < pi",
        ));
    }
    Ok(())
}

/// `c_alpha = (1-alpha)/alpha + alpha/(1-alpha)`, 2 for equal masses.
pub fn mass_factor(alpha: f64) -> f64 {
    (1.0 - alpha) / alpha + alpha / (1.0 - alpha)
}

/// Leading asymptotics of the SA merging time from `rho_0` to `1 - 1/beta`:
/// `e^{beta(1-rho_0)} / (beta c_alpha (1-rho_0^2))`, valid for `beta (1 - rho_0) >> 1` and `rho_0`
/// away from -1.
pub fn merge_time_sa_asymptotic(beta: f64, alpha: f64, rho: f64) -> f64 {
    (beta * (1.0 - rho)).exp() / (beta * mass_factor(alpha) * (1.0 - rho * rho))
}
