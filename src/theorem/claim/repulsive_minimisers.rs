//! Repulsive attention finds the universally optimal configurations.

use super::{Also, Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Sizes, Status, plain, sharp_minimisers};
use crate::attention::{Energy, EnergyScale};
use crate::error::Result;
use crate::flow::{Options, Outcome, solve};
use crate::landscape::Spectrum;
use crate::sphere::Tokens;

/// The other half of 2312.10794, section 9.1: not only does nothing lie below the sharp configurations, the flow ends at them.
pub static ENTRY: Claim = Claim {
    name: "repulsive-minimisers",
    title: "V = -I from random tokens ends at the sharp configuration",
    statement: "The repulsive flow (USA, V = -I) of n uniform tokens of equal masses has the energy of the sharp configuration, to 1e-10 in its logarithm, after 40 times the slowest relaxation time there: antipodes, simplex, cross-polytope, icosahedron. \
                No proof is known to us for the last two.",
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 5),
        beta: Betas::Log(0.5, 6.0),
        dynamics: &["repulsive-usa"],
        masses: Masses::Equal,
        also: Some(Also {
            text: "n = 2, n = d + 1, n = 2 d or (n, d) = (12, 3)",
            holds: |c| c.n == 2 || c.n == c.d + 1 || c.n == 2 * c.d || (c.n, c.d) == (12, 3),
        }),
        corners: &[(12, 3, 2.0), (6, 3, 3.0), (8, 4, 3.0)],
        ..Domain::ATTENTION
    },
    narrower: "",
    citation: "arXiv:2312.10794, section 9.1; the share of starts is ours",
    status: Status::Observation,
    kind: Kind::Every(0.1),
    trials: (70, 400),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        arrives(case, ctx, &x)
    },
    perturbed: "",
    control: Control {
        what: "four tokens of a great circle of S^2 stay on it and end at a square",
        trial: |ctx| {
            let flat = ctx.tokens_by(4, 2, "uniform")?;
            let x = Tokens::normalised(3, flat.rows().flat_map(|r| [r[0], r[1], 0.0]).collect())?;
            arrives(&Case::new(4, 3, 2.0, "repulsive-usa"), ctx, &x)
        },
    },
    proof: None,
};

/// The end of the repulsive flow after `times` relaxation times of a reference configuration.
pub(super) fn relaxed(
    case: &Case,
    ctx: &mut Context,
    x: &Tokens,
    reference: &Tokens,
    times: f64,
) -> Result<std::result::Result<Tokens, String>> {
    // Values are growth rates in U2; rotations have 0.
    let values = Spectrum::of_tokens(case.beta, reference)?.values;
    let top = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let slowest = values.iter().copied().filter(|v| *v > 1e-9 * top).fold(top, f64::min);
    let t = times / (slowest * case.beta.exp());
    let options = Options { rtol: ctx.rtol(), merge_radius: 0.0, max_steps: 20_000, ..Options::default() };
    let end = solve(plain(case.dynamics, case.beta, case.n)?.as_ref(), x, t, &options, &mut [])?;
    Ok(match end.outcome {
        Outcome::Reached => Ok(end.clusters),
        // At rest to rounding, where no step meets the tolerance any more, the state is the end.
        Outcome::StepTooSmall { t: at, .. } if at > 0.1 * t => Ok(end.clusters),
        other => Err(other.to_string()),
    })
}

fn arrives(case: &Case, ctx: &mut Context, x: &Tokens) -> Result<Finding> {
    let Some(points) = sharp_minimisers::sharp(case.n, case.d) else { return Ok(Finding::Missed) };
    let best = Tokens::normalised(case.d, points)?;
    let log = |x: &Tokens| Energy::new(case.beta, EnergyScale::Unit).log_value(x);
    Ok(match relaxed(case, ctx, x, &best, 40.0)? {
        Ok(end) => Finding::yes((log(&end)? - log(&best)?).abs() <= 1e-10),
        Err(why) => Finding::Unfinished(why),
    })
}
