//! The antipodal map commutes with the flow.

use crate::theorem::prelude::*;

/// `f(-X) = -f(X)`.
///
/// # Derivation
///
/// `<Q(-x_i), K(-x_j)> = <Q x_i, K x_j>`, so all weights are unchanged; `V x_j` changes its sign
/// and the projection `P_x` does not. Floating-point numbers round symmetrically about 0, so that
/// the two sides agree to the last bit.
pub static ENTRY: Claim = Claim {
    name: "antipodal-symmetry",
    title: "f(-X) = -f(X)",
    then: "The velocity for any Q, K, V, and the flow for Q = K = I and V = I or -I, commute with \
           X -> -X, bit for bit, since rounding is symmetric.",
    domain: Domain::SYMMETRY,
    source: "arXiv:2312.10794, (2.3)",
    trials: (72, 400),
    trial: |case, ctx| mirror(case, ctx, false),
    control: Control {
        what: "reflection of one token only",
        trial: |ctx| mirror(&Case::with_random_masses(6, 3, 2.0, "sa"), ctx, true),
    },
    ..Claim::EVERY
};

fn mirror(case: &Case, ctx: &mut Context, one: bool) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let reflected = |k: usize| !one || k < case.d;
    let y = x
        .coordinates()
        .iter()
        .enumerate()
        .map(|(k, v)| if reflected(k) { -v } else { *v })
        .collect();
    let y = Tokens::from_parts(case.d, y, x.masses().to_vec());
    // Adding 0.0 turns -0.0 into 0.0.
    let opposite = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).all(|(a, b)| (0.0 - a).to_bits() == (b + 0.0).to_bits())
    };
    let dynamics = case.build()?;
    let t = 1.0 / case.lipschitz()?;
    let (a, b) = (
        ctx.flow_to_with_tolerance(&dynamics, &x, t, SYMMETRY_TOLERANCE)?,
        ctx.flow_to_with_tolerance(&dynamics, &y, t, SYMMETRY_TOLERANCE)?,
    );
    let heads = vec![Head::new(
        case.d,
        unit_matrix(ctx, case.d),
        unit_matrix(ctx, case.d),
        unit_matrix(ctx, case.d),
    )?];
    let general =
        dynamics::build(case.dynamics, false, &Spec { heads, ..Spec::new(case.beta, case.n) })?;
    Ok(Finding::answer(
        opposite(a.coordinates(), b.coordinates())
            && opposite(&general.velocity(&x), &general.velocity(&y)),
    ))
}
