//! Slow motion: within a cap the gradient bounds the energy gap.

use crate::theorem::prelude::*;

const KAPPA: f64 = 0.98;
const FALSE_KAPPA: f64 = 1.02;
const LEAST_GAP: f64 = 1e-9;

/// The inequality of slow motion (Otto and Reznikoff), for any masses, with an explicit constant.
///
/// # Derivation
///
/// Let `w` be the largest distance and `f(x) = e^{beta (cos x - 1)} sin x`. For `beta >= 0` and `w
/// <= (1/8) sqrt((1 - delta)/(beta + 1/2))`, `(1 - eta) |x| <= |f(x)| <= |x|` with `eta = w^2
/// (beta/2 + 1/6) <= 1/128`. With `S_i = sum_j m_j f(theta_j - theta_i)`, `|grad E|^2 = sum m_i^2
/// S_i^2 >= min m sum m_i S_i^2`, and by Cauchy-Schwarz against the centred angles `sum m_i
/// S_i^2 >= (1 - eta)^2 Var`, while `E_max - E <= Var/2`. So `|grad E|^2 >= 2 min(m) (1 - 1/128)^2
/// (E_max - E)`, and `(127/128)^2 > 0.98`. For negative `beta` the admitted distances grow without
/// bound as `beta` tends to -1/2, so the hypothesis is `beta > 0`.
pub static ENTRY: Claim = Claim {
    name: "cap-inequality",
    title: "Within a cap `|grad E|^2 >= 2 kappa (E_max - E)` with `kappa = 0.98` times the least \
            mass",
    lets: "tokens of masses `m_i` lie on the circle with all distances at most `(1/8) sqrt((1 - \
           delta)/(beta + 1/2))`, where `0 < delta < 1` and `beta > 0`, and let `E = (1/(2 beta)) \
           sum_ij m_i m_j e^{beta (cos(theta_i - theta_j) - 1)}`",
    then: "`|grad E|^2 >= 2 kappa (E_max - E)` with `kappa = {KAPPA} min_i m_i` (`{KAPPA}/n` for \
           equal masses).",
    numbers: &[("KAPPA", KAPPA), ("LEAST_GAP", LEAST_GAP), ("FALSE_KAPPA", FALSE_KAPPA)],
    domain: Domain {
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.01, 1e4),
        dynamics: &["usa"],
        laws: &[],
        draws: "angles within the largest distance",
        ..Domain::ATTENTION
    },
    narrower: "`E` at most `(1 - {LEAST_GAP}) E_max`, for rounding",
    source: "arXiv:2410.06833, section 3 of v1 (quantitative inequality; its printed constant 2c \
             is c/2); constant derived",
    status: Status::Corrected,
    trials: (120, 2000),
    trial: |case, ctx| {
        let masses = ctx.masses(case.n);
        let constant = ctx.claimed_constant(KAPPA);
        ratio(case, ctx, &masses, constant)
    },
    constant: "the constant 0.98",
    control: Control {
        what: "`kappa = {FALSE_KAPPA}/n`, equal masses",
        trial: |ctx| ratio(&Case::new(5, 2, 4.0, "usa"), ctx, &[0.2; 5], FALSE_KAPPA),
    },
    ..Claim::INEQUALITY
};

fn ratio(case: &Case, ctx: &mut Context, masses: &[f64], constant: f64) -> Result<Finding> {
    let delta = ctx.uniform_in(0.0, 1.0).max(1e-6);
    let width = 0.125 * ((1.0 - delta) / (case.beta + 0.5)).sqrt();
    let angles: Vec<f64> = (0..case.n).map(|_| width * ctx.uniform_in(0.0, 1.0)).collect();
    let x = Tokens::from_angles(&angles)?.with_masses(masses)?;
    // E_max is the energy of one point, so the gap is (1 - e^{log of the unit energy})/(2 beta),
    // without cancellation.
    let log_unit = Energy::new(case.beta, EnergyScale::Unit).log_unit(&x);
    let gap = -log_unit.exp_m1() / (2.0 * case.beta);
    let grad = Energy::new(case.beta, EnergyScale::Shifted).grad(&x)?;
    let least = x.masses().iter().copied().fold(1.0, nan_min);
    // Tokens so close that the logarithm, with an error of 16 eps, has no correct digit.
    if log_unit > -LEAST_GAP {
        return Ok(Finding::HypothesesMissed);
    }
    let found = Finding::at_least(dot(&grad, &grad), 2.0 * constant * least * gap);
    Ok(found.with_evaluation_error(32.0 * f64::EPSILON / -log_unit))
}
