//! Repulsive attention finds the universally optimal configurations.

use super::sharp_minimisers::{self, log_pairs};
use crate::landscape::Spectrum;
use crate::theorem::prelude::*;

/// The other half of 2312.10794, section 9.1: not only does nothing lie below the sharp configurations, the flow ends at them.
///
/// # Derivation
///
/// No proof that almost every start ends there. That nothing lies below these configurations is Cohn and Kumar's theorem
/// (`sharp-minimisers`), because `e^{beta s}` is absolutely monotone. V = -I with USA is the gradient descent of the energy, so runs end
/// at critical points, for almost every start at local minima. For antipodes and simplices (n <= d + 1) other local minima are excluded;
/// for the cross-polytope and the icosahedron the trials bound the share of starts that end elsewhere.
pub static ENTRY: Claim = Claim {
    name: "repulsive-minimisers",
    title: "V = -I from random tokens ends at the sharp configuration",
    statement: "The repulsive flow (USA, V = -I) of n uniform tokens of equal masses has the pair energy sum_{i > j} e^{beta G_ij} of the sharp configuration, to 1e-8 relative, after 40 times the slowest relaxation time there: antipodes, simplex, cross-polytope, icosahedron. \
                No proof is known to us for the last two.",
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 5),
        beta: Betas::Log(0.5, 6.0),
        dynamics: &["repulsive-usa"],
        also: Some(Also {
            text: "n = 2, n = d + 1, n = 2 d or (n, d) = (12, 3)",
            holds: |c| c.n == 2 || c.n == c.d + 1 || c.n == 2 * c.d || (c.n, c.d) == (12, 3),
        }),
        corners: &[(12, 3, 2.0), (6, 3, 3.0), (8, 4, 3.0)],
        ..Domain::EQUAL_MASSES
    },
    citation: "arXiv:2312.10794, section 9.1; the share of starts is ours",
    status: Status::Observation,
    trials: (70, 400),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        arrives(case, ctx, &x)
    },
    control: Control {
        what: "four tokens of a great circle of S^2 stay on it and end at a square",
        trial: |ctx| {
            let flat = ctx.tokens_by(4, 2, "uniform")?;
            let x = Tokens::normalised(3, flat.rows().flat_map(|r| [r[0], r[1], 0.0]).collect())?;
            arrives(&Case::new(4, 3, 2.0, "repulsive-usa"), ctx, &x)
        },
    },
    ..Claim::EVERY
};

/// Forty relaxation times of the slowest mode at a configuration.
fn patience(beta: f64, at: &Tokens) -> Result<f64> {
    // Values are growth rates in U2; rotations have 0.
    let values = Spectrum::of_tokens(beta, at)?.values;
    let top = max_abs(&values);
    let slowest = values.iter().copied().filter(|v| *v > 1e-9 * top).fold(top, f64::min);
    Ok(40.0 / (slowest * beta.exp()))
}

fn arrives(case: &Case, ctx: &mut Context, x: &Tokens) -> Result<Finding> {
    let Some(points) = sharp_minimisers::sharp(case.n, case.d) else { return Ok(Finding::Missed) };
    let best = Tokens::normalised(case.d, points)?;
    let options = Options { rtol: ctx.rtol(), merge_radius: 0.0, max_steps: 20_000, ..Options::default() };
    let flow = plain(case.dynamics, case.beta, case.n)?;
    let end = solve(&flow, x, patience(case.beta, &best)?, &options, &mut [])?;
    let there = (log_pairs(case.beta, &end.clusters) - log_pairs(case.beta, &best)).abs() <= 1e-8;
    Ok(match end.outcome {
        // A state that rests only marginally spends its steps on noise; what is there has arrived.
        _ if there => Finding::yes(true),
        o if o.lasts() => Finding::yes(false),
        other => Finding::Unfinished(other.to_string()),
    })
}
