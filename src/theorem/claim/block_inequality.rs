//! The block inequality of the second variation.

use super::{Case, Claim, Context, Control, Expected, Finding, always};
use crate::attention::{Energy, EnergyScale};
use crate::error::Result;
use crate::num::sum::dot;
use crate::sphere::Tokens;

/// 2312.10794, (B.2)-(B.3).
pub static ENTRY: Claim = Claim {
    name: "block-inequality",
    title: "Rotating a block of tokens: curvature is minus the cut sum of g",
    statement: "Rotate the tokens of a block S rigidly, averaged over the planes of R^d: the curvature of E_beta is -(2/d) sum_{i in S, j not in S} m_i m_j g(theta_ij) with \
                g = e^{beta cos} ((d-1) cos - beta sin^2), at every configuration. So at a local maximum every cut sum is nonnegative. Relative deviation at most 1e-12.",
    hypotheses: "any tokens, masses, block and beta",
    applies: always,
    citation: "arXiv:2312.10794, (B.2)-(B.3)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 2, 3.0, "sa"), Case::new(7, 3, 8.0, "sa"), Case::new(9, 5, 1.0, "sa"), Case::new(12, 2, 30.0, "sa")],
    quick: 3,
    trials: (5, 40),
    trial: |case, ctx| deviation(case, ctx, 1.0),
    control: Control { what: "g with the sign of beta sin^2 reversed", trial: |ctx| deviation(&Case::new(6, 3, 3.0, "sa"), ctx, -1.0) },
};

fn deviation(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let x = ctx.weighted_tokens(case, "uniform")?;
    let (n, d, beta) = (case.n, case.d, case.beta);
    let block: Vec<bool> = (0..n).map(|i| i == 0 || (i + 1 < n && ctx.stream.index(2) == 0)).collect();
    let mut curvature = 0.0;
    for a in 0..d {
        for b in 0..a {
            curvature += along(beta, &x, &block, a, b);
        }
    }
    let (mut cut, mut size) = (0.0, 0.0);
    for i in 0..n {
        for j in (0..n).filter(|&j| block[i] && !block[j]) {
            let c = x.inner(i, j);
            let weight = x.masses()[i] * x.masses()[j] * (beta * (c - 1.0)).exp();
            let sine = 1.0 - c * c;
            cut += weight * ((d as f64 - 1.0) * c - sign * beta * sine);
            size += weight * ((d as f64 - 1.0) * c.abs() + beta * sine);
        }
    }
    // Summed over the d (d - 1)/2 planes: a rotation generator B has sum_B |B x|^2 = d - 1.
    Ok(Finding::at_most((curvature + cut).abs() / size, 1e-12))
}

/// Second derivative of the energy (over e^beta) when the block turns in the plane (a, b).
fn along(beta: f64, x: &Tokens, block: &[bool], a: usize, b: usize) -> f64 {
    let mut u = vec![0.0; x.coordinates().len()];
    for (i, row) in u.chunks_exact_mut(x.d()).enumerate().filter(|(i, _)| block[*i]) {
        (row[a], row[b]) = (-x.row(i)[b], x.row(i)[a]);
    }
    let mut h = vec![0.0; u.len()];
    Energy::new(beta, EnergyScale::Mean).scaled_hess_vec(x, &u, &mut h);
    dot(&u, &h)
}
