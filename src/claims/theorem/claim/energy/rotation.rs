//! Rotation equivariance.

use crate::num::dense::mat_vec;
use crate::theorem::prelude::*;

/// The flow commutes with O(d) if Q = K = V = I.
///
/// # Derivation
///
/// For R orthogonal `<R x_i, R x_j> = <x_i, x_j>`, so the weights are unchanged, and
/// `P_{Rx} R y = R P_x y`: the velocity at R X is R times that at X. By uniqueness the solutions
/// correspond.
pub static ENTRY: Claim = Claim {
    name: "rotation",
    title: "Rotation equivariance",
    lets: "Q = K = V = I",
    then: "X(0) R flows to X(t) R for every R in O(d).",
    tested: "at t = 1/L, where L is the Lipschitz constant of the velocity, to 8e-13",
    domain: Domain::SYMMETRY,
    source: "arXiv:2312.10794, (2.3): weights depend on inner products only",
    trials: (30, 200),
    trial: |case, ctx| commute(case, ctx, Vec::new()),
    constant: "the time of the second run",
    control: Control {
        what: "the key matrix K = diag(2, 1, 1)",
        trial: |ctx| {
            let k = Some((3, vec![2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
            commute(
                &Case::with_random_masses(6, 3, 2.0, "sa"),
                ctx,
                vec![Head::new(3, None, k, None)?],
            )
        },
    },
    ..Claim::IDENTITY
};

/// Allowed deviation of two runs over one Lipschitz time. The error of a run is at most `e` times
/// the tolerance 1e-13 times its path length, at most 1/2. There are two runs, and a factor 3
/// accounts for the estimate of the local error.
pub const ALLOWED: f64 = 8e-13;

/// Largest difference of a coordinate.
pub fn deviation(a: &Tokens, b: &Tokens) -> f64 {
    a.coordinates().iter().zip(b.coordinates()).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max)
}

fn commute(case: &Case, ctx: &mut Context, heads: Vec<Head>) -> Result<Finding> {
    let dynamics =
        dynamics::build(case.dynamics, false, &Spec { heads, ..Spec::new(case.beta, case.n) })?;
    let x = ctx.tokens(case)?;
    let q = ctx.rotation(case.d);
    let turn = |x: &Tokens| -> Result<Tokens> {
        let mut y = vec![0.0; x.coordinates().len()];
        x.rows().zip(y.chunks_exact_mut(case.d)).for_each(|(r, o)| mat_vec(&q, r, o));
        Tokens::normalised(case.d, y)?.with_masses(x.masses())
    };
    let t = 1.0 / case.lipschitz()?;
    let first = turn(&ctx.flow_to_with_tolerance(&dynamics, &x, t, SYMMETRY_TOLERANCE)?)?;
    let again = ctx.claimed_constant(t);
    let second = ctx.flow_to_with_tolerance(&dynamics, &turn(&x)?, again, SYMMETRY_TOLERANCE)?;
    Ok(Finding::identity(deviation(&first, &second), ALLOWED))
}
