//! Sinkhorn attention: a quantity that decreases along the flow.

use super::setting::{derivative_along, squared_speed};
use crate::attention::sinkhorn::Sinkhorn;
use crate::theorem::prelude::*;

const LENGTH: f64 = 1e-3;
const TOLERANCE: f64 = 2e-6;
const LEAST_SPEED: f64 = 1e-3;

/// # Derivation
///
/// Twice the mean of `log f` is the dual value of entropic transport of the measure to itself. At
/// the optimum only the derivative of the kernel contributes:
///
/// `J(u, x) = 2 sum_i m_i u_i - sum_ij m_i m_j e^{u_i + u_j + beta (G_ij - 1)}` is concave in `u`;
/// its maximum is where all rows of `f_i k_ij f_j m_j` sum to 1, `f = e^u`, and there its second
/// sum is 1. So the derivative with respect to `x_i` of the maximum `2 sum m_i log f_i - 1` is that
/// of `J` at fixed `u`, `-2 beta m_i sum_j m_j f_i k_ij f_j x_j`, and with `x_i' = P_i sum_j f_i
/// k_ij f_j m_j x_j` it changes at the rate `-2 beta sum_i m_i |x_i'|^2`. Half of that is the
/// statement.
pub static ENTRY: Claim = Claim {
    name: "sinkhorn-energy",
    title: "Sinkhorn attention: `d/dt sum m_i log f_i = -beta sum m_i |x_i'|^2`",
    lets: "`x_i' = P_i sum_j f_i e^{beta (G_ij - 1)} f_j m_j x_j`, where `f > 0` is such that \
           every row of weights sums to 1",
    then: "`d/dt sum_i m_i log f_i = -beta sum_i m_i |x_i'|^2`.",
    tested: "with central differences along geodesics of lengths {LENGTH} and `2e-3` (Richardson), \
             to a relative {TOLERANCE}",
    numbers: &[("LENGTH", LENGTH), ("TOLERANCE", TOLERANCE), ("PARTS", 1.0 / LEAST_SPEED)],
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 5),
        beta: Betas::Log(0.3, 5.0),
        dynamics: &["sinkhorn"],
        ..Domain::ATTENTION
    },
    narrower: "the fastest token has at least the speed 1/{PARTS}",
    source: "arXiv:2110.11773, Section 4 (a gradient flow, without a constant); derived",
    trials: (12, 100),
    trial: |case, ctx| decrease_rate(case, ctx, 1.0),
    constant: "the rate",
    control: Control {
        what: "twice the rate",
        trial: |ctx| decrease_rate(&Case::with_random_masses(6, 3, 1.0, "sinkhorn"), ctx, 2.0),
    },
    ..Claim::IDENTITY
};

fn decrease_rate(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (x, d) = (ctx.tokens(case)?, case.d);
    let sinkhorn = Sinkhorn::new(case.beta, 1e-14)?;
    let v = Dynamics::single(sinkhorn.clone()).velocity(&x);
    // A start that hardly moves cannot be measured.
    if max_norm(&v, d) < LEAST_SPEED {
        return Ok(Finding::HypothesesMissed);
    }
    let mean_log = |x: &Tokens| -> f64 {
        sinkhorn.scaling(x).0.iter().zip(x.masses()).map(|(f, m)| m * f.ln()).sum()
    };
    let found = -derivative_along(&x, &v, LENGTH, mean_log)?;
    let stated = ctx.claimed_constant(factor * case.beta * squared_speed(&x, &v));
    Ok(Finding::identity((found / stated - 1.0).abs(), TOLERANCE))
}
