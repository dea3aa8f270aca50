//! Repulsive attention finds the universally optimal configurations.

use super::setting::{log_pairs, sharp_configuration};
use crate::landscape::Spectrum;
use crate::theorem::prelude::*;

const TIMES: f64 = 40.0;
const TOLERANCE: f64 = 1e-8;

/// The sharp configurations are not only minimisers, the flow ends at them.
///
/// # Derivation
///
/// These configurations are global minimisers (`sharp-minimisers`). USA with `V = -I` is the
/// gradient descent of the energy, so runs end at critical points, and at local minima for almost
/// every start. For antipodes and simplices `(n <= d + 1)` other local minima are excluded. For the
/// cross-polytope and the icosahedron no proof is known to us; the trials bound the share of starts
/// that end elsewhere.
pub static ENTRY: Claim = Claim {
    name: "repulsive-minimisers",
    title: "`V = -I`: random tokens end at the sharp configuration",
    lets: "`n` uniform tokens of equal masses follow USA with `V = -I`, for `n` and `d` such that \
           the simplex (`n = d + 1`; antipodes for `n = 2`), the cross-polytope `(n = 2 d)` or the \
           icosahedron is sharp",
    then: "After {TIMES} times the slowest relaxation time at this configuration, the pair energy \
           `sum_{i > j} e^{beta G_ij}` is that of the configuration to a relative {TOLERANCE}.",
    numbers: &[("TIMES", TIMES), ("TOLERANCE", TOLERANCE)],
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 5),
        beta: Betas::Log(0.5, 6.0),
        dynamics: &["repulsive-usa"],
        condition: Some(Condition {
            text: "`n = 2`, `n = d + 1`, `n = 2 d` or `(n, d) = (12, 3)`",
            holds: |c| c.n == 2 || c.n == c.d + 1 || c.n == 2 * c.d || (c.n, c.d) == (12, 3),
        }),
        corners: &[(12, 3, 2.0), (6, 3, 3.0), (8, 4, 3.0)],
        ..Domain::EQUAL_MASSES
    },
    source: "derived; the configurations are those of arXiv:2312.10794, section 9.1",
    status: Status::Observation,
    trials: (70, 400),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        reaches_minimum(case, ctx, &x)
    },
    no_constant: "a run ends at the configuration or elsewhere",
    control: Control {
        what: "four tokens on a great circle of `S^2`, which stay on it and end at a square",
        trial: |ctx| {
            let flat = ctx.tokens_with_law(4, 2, "uniform")?;
            let x = Tokens::normalised(3, flat.rows().flat_map(|r| [r[0], r[1], 0.0]).collect())?;
            reaches_minimum(&Case::new(4, 3, 2.0, "repulsive-usa"), ctx, &x)
        },
    },
    ..Claim::EVERY
};

/// Forty relaxation times of the slowest mode at a configuration.
fn relaxation_time(beta: f64, at: &Tokens) -> Result<f64> {
    // The eigenvalues are growth rates in U2; rotations have the eigenvalue 0.
    let values = Spectrum::of_tokens(beta, at)?.values;
    let top = max_abs(&values);
    let slowest = values.iter().copied().filter(|v| *v > 1e-9 * top).fold(top, nan_min);
    Ok(TIMES / (slowest * beta.exp()))
}

fn reaches_minimum(case: &Case, ctx: &mut Context, x: &Tokens) -> Result<Finding> {
    let Some(points) = sharp_configuration(case.n, case.d) else {
        return Ok(Finding::HypothesesMissed);
    };
    let best = Tokens::normalised(case.d, points)?;
    let options =
        Options { rtol: ctx.rtol(), merge_radius: 0.0, max_steps: 20_000, ..Options::default() };
    let flow = build_dynamics(case.dynamics, case.beta, case.n)?;
    let end = solve(&flow, x, relaxation_time(case.beta, &best)?, &options, &mut [])?;
    let there =
        (log_pairs(case.beta, &end.clusters) - log_pairs(case.beta, &best)).abs() <= TOLERANCE;
    Ok(match end.outcome {
        // Near a marginal steady state the integrator spends its steps on rounding noise; such a
        // run has arrived.
        _ if there => Finding::answer(true),
        o if o.end_state_is_known() => Finding::answer(false),
        other => Finding::Unfinished(other.to_string()),
    })
}
