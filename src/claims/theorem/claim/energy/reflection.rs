//! Reflection-symmetric tokens stay symmetric.

use super::rotation::ALLOWED;
use crate::theorem::prelude::*;

/// Pairs that are mirrored in a hyperplane remain mirrored.
///
/// # Derivation
///
/// A reflection R is orthogonal, so `R x(t)` is a solution (`rotation`), and so is any exchange of
/// tokens of equal masses (`permutation`). If R maps the start to itself up to an exchange of each
/// pair, both solutions have the same start, so they agree by uniqueness.
pub static ENTRY: Claim = Claim {
    name: "reflection",
    title: "Reflection-symmetric tokens stay symmetric",
    lets: "tokens come in pairs of equal masses that are mirror images in a hyperplane, with Q = \
           K = I, V = I or -I, and no mask",
    then: "They remain mirror images.",
    tested: "at t = 1/L, where L is the Lipschitz constant of the velocity, to 8e-13",
    domain: Domain {
        n: Sizes::Range(2, 48),
        dynamics: &["sa", "usa", "repulsive-sa", "repulsive-usa"],
        condition: Some(Condition { text: "even n", holds: |case| case.n.is_multiple_of(2) }),
        corners: &[(2, 2, 0.0), (6, 3, 1.0), (12, 4, 4.0)],
        ..Domain::SYMMETRY
    },
    source: "equivariance under O(d) and permutations",
    trials: (30, 200),
    trial: mirrored,
    constant: "the coefficient 2 of the reflection x - 2 <w, x> w",
    control: Control {
        what: "causal SA, which treats the two halves of the tokens differently",
        trial: |ctx| mirrored(&Case::with_random_masses(6, 3, 2.0, "causal-sa"), ctx),
    },
    ..Claim::IDENTITY
};

fn mirrored(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let half = ctx.tokens(&Case { n: case.n / 2, ..*case })?;
    let normal = ctx.tokens_with_law(1, case.d, "uniform")?;
    let w = normal.row(0);
    let mirror = |x: &[f64], two: f64| -> Vec<f64> {
        x.iter().zip(w).map(|(a, b)| a - two * dot(w, x) * b).collect()
    };
    let x: Vec<f64> = half
        .coordinates()
        .iter()
        .copied()
        .chain(half.rows().flat_map(|r| mirror(r, 2.0)))
        .collect();
    let masses = [half.masses(), half.masses()].concat();
    let x = Tokens::new(case.d, x)?.with_masses(&masses)?;
    let end = ctx.flow_to_with_tolerance(
        &case.build()?,
        &x,
        1.0 / case.lipschitz()?,
        SYMMETRY_TOLERANCE,
    )?;
    let two = ctx.claimed_constant(2.0);
    let pairs = (0..case.n / 2)
        .flat_map(|i| mirror(end.row(i), two).into_iter().zip(end.row(i + case.n / 2).to_vec()));
    Ok(Finding::identity(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, nan_max), ALLOWED))
}
