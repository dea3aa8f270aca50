//! The true rate of cone collapse.

use crate::theorem::prelude::*;

/// Asymptotic rate at consensus: 1 for SA, `e^beta` for USA; the constant of the proof is exponentially smaller.
///
/// # Derivation
///
/// Near consensus the deviations from the common point obey `u_i' = r (mean(u) - u_i)` with `r = 1` (SA) and `r = e^beta` (USA, U1),
/// whatever the masses (`consensus-rates`). Differences of tokens then obey `(u_i - u_j)' = -r (u_i - u_j)`. What the linearisation
/// neglects is of the order of `1 + beta` times the squared diameter relative to the diameter: at diameters from 1e-3 on it moves the
/// rate by less than `1e-6 (1 + beta)`.
pub static ENTRY: Claim = Claim {
    name: "cone-rate",
    title: "True rate of collapse: 1 (SA), e^beta (USA)",
    statement: "Near consensus the diameter decays like e^{-t} for SA and like e^{-t e^beta} for USA (U1), whatever the masses: the rate over diameters from 1e-3 to 1e-7 deviates by at most 1e-6 (1 + beta) relative (the \
                remainder of the linearisation is of the order of the squared diameter).",
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 8),
        beta: Betas::Linear(0.0, 6.0),
        laws: &["cap:radius=0.5"],
        ..Domain::ATTENTION
    },
    narrower: "Q = K = I (the linearisation is the same for any: consensus-rates)",
    citation: "linearisation at consensus; the proof of arXiv:2312.10794, Lemma 6.4 gives 1/(2 n e^{2 beta})",
    trials: (12, 60),
    trial: |case, ctx| rate(case, ctx, true_rate(case)?),
    perturbed: "the rate",
    control: Control {
        what: "the constant of the proof, 1/(2 n e^{2 beta}), for the rate",
        trial: |ctx| rate(&Case::weighted(6, 3, 1.0, "sa").with_law("cap:radius=0.5"), ctx, 1.0 / (12.0 * 2f64.exp())),
    },
    ..Claim::LAW
};

fn true_rate(case: &Case) -> Result<f64> {
    Ok(case.weights()?.log_total(case.beta).exp())
}

/// Flows into diameters below 1e-3, then over four decades.
fn rate(case: &Case, ctx: &mut Context, claimed: f64) -> Result<Finding> {
    let dynamics = case.build()?;
    let unit = 1.0 / true_rate(case)?;
    let mut x = ctx.tokens(case)?;
    for _ in 0..200 {
        if x.diameter() < 1e-3 {
            break;
        }
        x = ctx.flowed_within(&dynamics, &x, unit, 1e-2)?;
    }
    let first = x.diameter();
    if !(1e-5..1e-3).contains(&first) {
        return Ok(Finding::Unfinished(format!("a diameter of {first:.1e} after 200 units of time")));
    }
    let t = 1e4f64.ln() * unit;
    let last = ctx.flowed_within(&dynamics, &x, t, 1e-2)?.diameter();
    let claimed = ctx.stated(claimed);
    Ok(Finding::law((first / last).ln() / t, claimed, 1e-6 * (1.0 + case.beta) * claimed, 0.0))
}
