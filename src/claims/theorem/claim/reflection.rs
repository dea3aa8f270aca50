//! Reflection-symmetric data stay symmetric.

use super::rotation::{ALLOWED, SHARE};
use crate::theorem::prelude::*;

/// Pairs mirrored in a hyperplane remain mirrored.
///
/// # Derivation
///
/// A reflection R is orthogonal, so `R x(t)` is a solution (`rotation`), and so is any exchange of tokens of equal masses
/// (`permutation`). If R maps the start to itself up to an exchange of each pair, both solutions have the same start, and by uniqueness
/// they are one.
pub static ENTRY: Claim = Claim {
    name: "reflection",
    title: "Reflection-symmetric data stay symmetric",
    statement: "Tokens that come in pairs of equal masses mirrored in a hyperplane stay mirrored (Q = K = I, V = I or -I, no mask): deviation at one Lipschitz time of the velocity, t = 1/L, at \
                most 8e-13.",
    domain: Domain {
        n: Sizes::Range(2, 48),
        dynamics: &["sa", "usa", "repulsive-sa", "repulsive-usa"],
        also: Some(Also { text: "even n", holds: |case| case.n.is_multiple_of(2) }),
        corners: &[(2, 2, 0.0), (6, 3, 1.0), (12, 4, 4.0)],
        ..Domain::SYMMETRY
    },
    citation: "equivariance under O(d) and permutations",
    trials: (30, 200),
    trial: mirrored,
    perturbed: "the coefficient 2 of the reflection x - 2 <w, x> w",
    control: Control {
        what: "causal SA, which treats the two halves differently",
        trial: |ctx| mirrored(&Case::weighted(6, 3, 2.0, "causal-sa"), ctx),
    },
    ..Claim::IDENTITY
};

fn mirrored(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let half = ctx.tokens(&Case { n: case.n / 2, ..*case })?;
    let normal = ctx.tokens_by(1, case.d, "uniform")?;
    let w = normal.row(0);
    let mirror = |x: &[f64], two: f64| -> Vec<f64> { x.iter().zip(w).map(|(a, b)| a - two * dot(w, x) * b).collect() };
    let x: Vec<f64> = half.coordinates().iter().copied().chain(half.rows().flat_map(|r| mirror(r, 2.0))).collect();
    let masses = [half.masses(), half.masses()].concat();
    let x = Tokens::new(case.d, x)?.with_masses(&masses)?;
    let end = ctx.flowed_within(&case.build()?, &x, 1.0 / case.lipschitz()?, SHARE)?;
    let two = ctx.stated(2.0);
    let pairs = (0..case.n / 2).flat_map(|i| mirror(end.row(i), two).into_iter().zip(end.row(i + case.n / 2).to_vec()));
    Ok(Finding::identity(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, nan_max), ALLOWED))
}
