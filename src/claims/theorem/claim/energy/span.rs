//! The span of the tokens is invariant.

use crate::theorem::prelude::*;

/// Tokens that start in a subspace stay in it when V = I.
///
/// # Derivation
///
/// With V = I or -I the velocity of a token is a combination of tokens (and of itself, from the
/// projection), whatever the weights; so it lies in every subspace that contains the tokens. In
/// coordinates every term of the other coordinates is a product with 0.
pub static ENTRY: Claim = Claim {
    name: "span",
    title: "The span of the tokens is invariant",
    lets: "V = I or -I, with any Q and K",
    then: "Tokens that start in a linear subspace stay in it.",
    tested: "with the first k coordinates, 2 <= k < d: all others stay exactly 0",
    domain: Domain {
        d: Sizes::Range(3, 64),
        corners: &[(2, 3, 0.0), (7, 5, 1.0), (12, 4, 4.0)],
        ..Domain::SYMMETRY
    },
    narrower: "subspaces spanned by coordinates (all others by rotation)",
    source: "arXiv:2312.10794, (2.3): the velocity is a combination of tokens",
    trials: (30, 200),
    trial: |case, ctx| leak(case, ctx, false),
    control: Control {
        what: "a value matrix that mixes the coordinates",
        trial: |ctx| leak(&Case::with_random_masses(6, 5, 2.0, "sa"), ctx, true),
    },
    ..Claim::IDENTITY
};

fn leak(case: &Case, ctx: &mut Context, mixing: bool) -> Result<Finding> {
    let (d, k) = (case.d, 2 + ctx.index(case.d - 2));
    let small = ctx.tokens(&Case { d: k, ..*case })?;
    let x: Vec<f64> =
        small.rows().flat_map(|r| r.iter().copied().chain(vec![0.0; d - k])).collect();
    let (q, key) = (unit_matrix(ctx, d), unit_matrix(ctx, d));
    let v = if mixing { unit_matrix(ctx, d) } else { None };
    let spec = Spec { heads: vec![Head::new(d, q, key, v)?], ..Spec::new(case.beta, case.n) };
    let dynamics = dynamics::build(case.dynamics, false, &spec)?;
    let x = Tokens::from_parts(d, x, small.masses().to_vec());
    let end =
        ctx.flow_to_with_tolerance(&dynamics, &x, 1.0 / case.lipschitz()?, SYMMETRY_TOLERANCE)?;
    let outside = end.rows().flat_map(|r| r[k..].iter()).fold(0.0f64, |m, v| nan_max(m, v.abs()));
    // Sums of zeros are zero: even one subnormal number counts as a failure.
    Ok(Finding::identity(outside, TINY))
}
