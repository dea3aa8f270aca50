//! The asymptotic rate of cone collapse.

use crate::theorem::prelude::*;

/// The asymptotic rate at consensus is 1 for SA and `e^beta` for USA. The constant in the proof is
/// exponentially smaller.
///
/// # Derivation
///
/// Near consensus the deviations from the common point obey `u_i' = r (mean(u) - u_i)` with `r = 1`
/// (SA) and `r = e^beta` (USA, U1), for all masses (`consensus-rates`). Differences of tokens then
/// obey `(u_i - u_j)' = -r (u_i - u_j)`. The remainder of the linearisation is of the order of
/// `1 + beta` times the squared diameter. Below a diameter of 1e-3 it changes the rate by less than
/// `1e-6 (1 + beta)`.
pub static ENTRY: Claim = Claim {
    name: "cone-rate",
    title: "Asymptotic rate of collapse: 1 (SA), e^beta (USA)",
    then: "Near consensus the diameter decays like e^{-t} for SA and like e^{-t e^beta} for USA \
           (U1), for any masses.",
    tested: "as: the rate at which the diameter falls from 1e-3 to 1e-7 has a relative deviation \
             of at most 1e-6 (1 + beta)",
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 8),
        beta: Betas::Linear(0.0, 6.0),
        laws: &["cap:radius=0.5"],
        ..Domain::ATTENTION
    },
    narrower: "Q = K = I (the linearisation is the same for all Q and K, see consensus-rates)",
    source: "linearisation at consensus; the proof of arXiv:2312.10794, Lemma 6.4 gives 1/(2 n \
               e^{2 beta})",
    trials: (12, 60),
    trial: |case, ctx| rate(case, ctx, true_rate(case)?),
    constant: "the rate",
    control: Control {
        what: "the rate 1/(2 n e^{2 beta}) of the proof",
        trial: |ctx| {
            rate(
                &Case::with_random_masses(6, 3, 1.0, "sa").with_law("cap:radius=0.5"),
                ctx,
                1.0 / (12.0 * 2f64.exp()),
            )
        },
    },
    ..Claim::LAW
};

fn true_rate(case: &Case) -> Result<f64> {
    Ok(case.row_weights()?.log_consensus_row_sum(case.beta).exp())
}

/// Integrates until the diameter is below 1e-3, then over four decades.
fn rate(case: &Case, ctx: &mut Context, claimed: f64) -> Result<Finding> {
    let dynamics = case.build()?;
    let unit = 1.0 / true_rate(case)?;
    let mut x = ctx.tokens(case)?;
    for _ in 0..200 {
        if x.diameter() < 1e-3 {
            break;
        }
        x = ctx.flow_to_with_tolerance(&dynamics, &x, unit, 1e-2)?;
    }
    let first = x.diameter();
    if !(1e-5..1e-3).contains(&first) {
        return Ok(Finding::Unfinished(format!(
            "a diameter of {first:.1e} after 200 units of time"
        )));
    }
    let t = 1e4f64.ln() * unit;
    let last = ctx.flow_to_with_tolerance(&dynamics, &x, t, 1e-2)?.diameter();
    let claimed = ctx.claimed_constant(claimed);
    Ok(Finding::law((first / last).ln() / t, claimed, 1e-6 * (1.0 + case.beta) * claimed, 0.0))
}
