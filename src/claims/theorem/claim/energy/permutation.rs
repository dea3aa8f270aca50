//! Permutation equivariance.

use super::rotation::{ALLOWED, deviation};
use crate::theorem::prelude::*;

/// The flow of SA and USA commutes with permutations; the causal flow does not.
///
/// # Derivation
///
/// The sum over j does not depend on the order of its terms, so if tokens and masses are permuted,
/// the velocities are permuted in the same way. A causal mask depends on the order, so it does not
/// have this property.
pub static ENTRY: Claim = Claim {
    name: "permutation",
    title: "Permutation equivariance",
    then: "Without a mask, permuted tokens with their masses flow to permuted tokens.",
    tested: "at t = 1/L, where L is the Lipschitz constant of the velocity, to 8e-13",
    domain: Domain {
        dynamics: &["sa", "usa", "repulsive-sa", "repulsive-usa"],
        ..Domain::SYMMETRY
    },
    narrower: "Q = K = I, V = I or -I",
    source: "arXiv:2312.10794, section 3.1",
    trials: (30, 200),
    trial: |case, ctx| {
        let mut order: Vec<usize> = (0..case.n).collect();
        for i in (1..case.n).rev() {
            order.swap(i, ctx.index(i + 1));
        }
        permuted(case, ctx, &order)
    },
    constant: "the time of the second run",
    control: Control {
        what: "causal SA with the order reversed",
        trial: |ctx| {
            permuted(&Case::with_random_masses(6, 3, 2.0, "causal-sa"), ctx, &[5, 4, 3, 2, 1, 0])
        },
    },
    ..Claim::IDENTITY
};

fn permuted(case: &Case, ctx: &mut Context, order: &[usize]) -> Result<Finding> {
    let dynamics = case.build()?;
    let x = ctx.tokens(case)?;
    let shuffled = |x: &Tokens| {
        let rows = order.iter().flat_map(|&i| x.row(i).to_vec()).collect();
        Tokens::from_parts(case.d, rows, order.iter().map(|&i| x.masses()[i]).collect())
    };
    let t = 1.0 / case.lipschitz()?;
    let first = shuffled(&ctx.flow_to_with_tolerance(&dynamics, &x, t, SYMMETRY_TOLERANCE)?);
    let again = ctx.claimed_constant(t);
    let second = ctx.flow_to_with_tolerance(&dynamics, &shuffled(&x), again, SYMMETRY_TOLERANCE)?;
    Ok(Finding::identity(deviation(&first, &second), ALLOWED))
}
