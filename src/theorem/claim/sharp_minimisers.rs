//! Repulsive attention finds the universally optimal configurations.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin, plain};
use crate::attention::{Energy, EnergyScale};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::sphere::Tokens;

/// 2312.10794, section 9.1, in the direction that is right (Cohn and Kumar 2007).
pub static ENTRY: Claim = Claim {
    name: "sharp-minimisers",
    title: "V = -I: antipodes, simplex, cross-polytope and icosahedron are global minimisers",
    statement: "Sharp configurations minimise E_beta for every beta > 0: n = 2 antipodes, n = d + 1 simplex, n = 2d cross-polytope, n = 12 at d = 3 icosahedron. The repulsive flow from random \
                tokens ends nowhere below them (1e-10 of the energy).",
    hypotheses: "equal masses, beta > 0",
    applies: |case| case.beta > 0.0 && sharp(case.n, case.d).is_some(),
    citation: "Cohn, Kumar 2007; arXiv:2312.10794, Theorem 9.2 (printed in the converse direction)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(2, 3, 2.0, "repulsive-usa"),
        Case::new(4, 3, 3.0, "repulsive-usa"),
        Case::new(6, 3, 2.0, "repulsive-usa"),
        Case::new(12, 3, 2.0, "repulsive-usa"),
        Case::new(8, 4, 1.0, "repulsive-usa"),
    ],
    quick: 4,
    trials: (4, 30),
    trial: |case, ctx| excess(case, ctx, sharp(case.n, case.d)),
    control: Control {
        what: "the square for four tokens on S^2",
        trial: |ctx| excess(&Case::new(4, 3, 3.0, "repulsive-usa"), ctx, Some(vec![1., 0., 0., 0., 1., 0., -1., 0., 0., 0., -1., 0.])),
    },
};

/// Coordinates of the sharp configuration of n points, where there is one of the listed families.
pub fn sharp(n: usize, d: usize) -> Option<Vec<f64>> {
    let axis = |k: usize, s: f64| (0..d).map(move |c| if c == k { s } else { 0.0 });
    if n == 2 {
        return Some(axis(0, 1.0).chain(axis(0, -1.0)).collect());
    }
    if n == 2 * d {
        return Some((0..d).flat_map(|k| axis(k, 1.0).chain(axis(k, -1.0)).collect::<Vec<_>>()).collect());
    }
    if n == d + 1 {
        let mut stream = crate::num::stream::Stream::new(1, &["sharp"]);
        return crate::sphere::law::Law::parse("simplex").and_then(|l| l.sample(n, d, &mut stream)).ok().map(|x| x.coordinates().to_vec());
    }
    if (n, d) == (12, 3) {
        let g = 0.5 * (1.0 + 5f64.sqrt());
        let points = [1.0, -1.0].into_iter().flat_map(|a| [g, -g].into_iter().map(move |b| (a, b)));
        return Some(points.flat_map(|(a, b)| vec![0.0, a, b, a, b, 0.0, b, 0.0, a]).collect());
    }
    None
}

/// Energy at the end of the repulsive flow minus that of the configuration, relative, plus 1e-10.
fn excess(case: &Case, ctx: &mut Context, configuration: Option<Vec<f64>>) -> Result<Finding> {
    let Some(points) = configuration else { return Ok(Finding::Missed) };
    let energy = Energy::new(case.beta, EnergyScale::Unit);
    let best = energy.value(&Tokens::normalised(case.d, points)?)?;
    let x = ctx.tokens(case, "uniform")?;
    let flow = plain(case.dynamics, case.beta, case.n)?;
    let options = Options { rtol: ctx.rtol, merge_radius: 0.0, max_steps: 3000, ..Options::default() };
    // Stiff near rest: the run may spend its steps; any state it reached is a test of the bound.
    let end = solve(flow.as_ref(), &x, 200.0, &options, &mut [])?;
    let value = energy.value(&end.clusters)? / best - 1.0 + 1e-10;
    Ok(Finding::Margin(Margin { value, evaluation: 16.0 * f64::EPSILON * case.n as f64, ..Margin::default() }))
}
