//! The block inequality of the second variation.

use super::setting::{ROUNDINGS, hessian_rounding};
use crate::theorem::prelude::*;

/// The second variation that the proofs of the clustering theorems use.
///
/// # Derivation
///
/// With `B` a generator of the rotation of a plane, the second derivative along `e^{tB}` on the
/// block is `sum m_i m_j e^{beta G_ij} (beta <B x_i, x_j>^2 + <B^2 x_i, x_j>)`, and over the planes
/// `sum <B x, y>^2 = |x ^ y|^2`, `sum B^2 = -(d-1)`.
pub static ENTRY: Claim = Claim {
    name: "block-inequality",
    title: "Rotation of a block of tokens: the curvature of the energy is minus a sum over the cut",
    lets: "`S` be a block of tokens, `theta_ij` the angle between `x_i` and `x_j`, and `g(theta) = \
           e^{beta cos theta} ((d-1) cos theta - beta sin^2 theta)`",
    then: "Rotate `S` rigidly in each of the `d(d-1)/2` coordinate planes of `R^d`. At every \
           configuration, the curvatures of `E_beta` along these rotations add up to `-sum_{i in \
           S, j not in S} m_i m_j g(theta_ij)`. (At `beta = 0`, `E_beta` stands for `sum_ij m_i \
           m_j <x_i, x_j>/2`.) So at a local maximum the sum of `m_i m_j g(theta_ij)` over every \
           cut is nonnegative.",
    tested: "to `{ROUNDINGS} eps (n + d + |beta|)` of the size of the terms",
    numbers: &[("ROUNDINGS", ROUNDINGS)],
    domain: Domain { n: Sizes::Range(1, 32), d: Sizes::Range(2, 12), dynamics: &["usa"], ..PAIRS },
    source: "arXiv:2312.10794, (B.2)-(B.3)",
    trials: (60, 400),
    trial: |case, ctx| deviation(case, ctx, 1.0),
    constant: "the factor of the sum over the cut",
    control: Control {
        what: "`g` with the sign of `beta sin^2` reversed",
        trial: |ctx| deviation(&Case::with_random_masses(6, 3, 3.0, "usa"), ctx, -1.0),
    },
    ..Claim::IDENTITY
};

fn deviation(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let (n, d, beta) = (case.n, case.d, case.beta);
    // A proper subset: the cut of all tokens is empty.
    let block: Vec<bool> = (0..n).map(|i| i == 0 || (i + 1 < n && ctx.index(2) == 0)).collect();
    let curvature: f64 = (0..d)
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .map(|(a, b)| along(beta, &x, &block, a, b))
        .sum();
    let g = |i: usize, j: usize| {
        (d as f64 - 1.0) * x.inner(i, j) - sign * beta * sine(&x, i, j).powi(2)
    };
    let pairs = (0..n * n).map(|p| (p / n, p % n)).filter(|&(i, j)| block[i] && !block[j]);
    let cut: f64 = pairs.map(|(i, j)| weight(beta, &x, i, j) * g(i, j)).sum();
    let cut = ctx.claimed_constant(cut);
    // The generators B of the planes have sum |B x|^2 = d - 1.
    let planes = d as f64 - 1.0;
    let allowed = hessian_rounding(case, &x, planes, |i| block[i]);
    Ok(Finding::identity((curvature + cut).abs(), allowed))
}

/// Second derivative of the energy (over e^|beta|) under rotation of the block in the plane (a, b).
fn along(beta: f64, x: &Tokens, block: &[bool], a: usize, b: usize) -> f64 {
    let mut u = vec![0.0; x.coordinates().len()];
    for (i, row) in u.chunks_exact_mut(x.d()).enumerate().filter(|(i, _)| block[*i]) {
        (row[a], row[b]) = (-x.row(i)[b], x.row(i)[a]);
    }
    let mut h = vec![0.0; u.len()];
    Energy::new(beta, EnergyScale::Mean).scaled_hess_vec(x, &u, &mut Workspace::default(), &mut h);
    dot(&u, &h)
}
