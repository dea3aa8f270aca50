//! A layer increases the energy of a positive semidefinite form.

use super::layer_energy::{CLIMB, increases};
use crate::num::dense::transpose_mul;
use crate::theorem::prelude::*;

/// The case `V = Q^T K = B` symmetric positive semidefinite. The proof is that of `layer-energy`
/// with the kernel `k(x, y) = e^{beta <x, B y>}`.
///
/// # Derivation
///
/// `B = C^T C`, so `k(x, y) = e^{beta <x, B y>}` is the kernel of `layer-energy` between C x and C
/// y: positive definite, and convex in x. With `Z(x) = sum_j m_j k(x, x_j)` that gives
/// `E(X') - E(X) >= sum_i m_i <b_i, x_i' - x_i>`,
/// `b_i = grad Z(x_i)/beta = sum_j m_j e^{beta <x_i, B x_j>} B x_j`, a positive multiple of `a_i`.
/// As `x_i'` lies on the arc from `x_i` towards `a_i`, no term is negative. For V other than
/// `Q^T K` the layer does not go along `b_i`, and for an indefinite B the kernel is not positive
/// definite.
pub static ENTRY: Claim = Claim {
    name: "layer-energy-general",
    title: "A layer increases the energy for V = Q^T K = B >= 0",
    lets: "V = Q^T K = B be symmetric positive semidefinite with norm at most 1, E = (1/(2 beta)) \
           sum_ij m_i m_j e^{beta <x_i, B x_j>}, a_i = sum_j A_ij B x_j and b_i = sum_j m_j \
           e^{beta <x_i, B x_j>} B x_j",
    then: "The layer x_i <- normalise(x_i + eta a_i) takes X to X' with E(X') - E(X) >= sum_i m_i \
           <b_i, x_i' - x_i> >= 0, for every eta in (0, inf] and every beta > 0.",
    tested: "to 8 eps beta (1 + beta) (E(X) + E(X'))",
    domain: CLIMB,
    source: "convexity of z -> sum_j m_j e^{beta <z, B x_j>} on R^d",
    trials: (60, 400),
    trial: |case, ctx| with_form(case, ctx, 1.0),
    constant: "the first-order gain sum_i m_i <b_i, x_i' - x_i>",
    control: Control {
        what: "V = -Q^T K",
        trial: |ctx| with_form(&Case::with_random_masses(6, 3, 4.0, "sa"), ctx, -1.0),
    },
    ..Claim::INEQUALITY
};

/// A random form `W^T W` of random rank, divided by its trace, which bounds its norm.
fn with_form(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (d, rank) = (case.d, 1 + ctx.index(case.d));
    let w = ctx.normals(rank * d);
    let mut b = transpose_mul(&w, &w, rank);
    let trace: f64 = (0..d).map(|a| b[a * d + a]).sum();
    divide(&mut b, trace.max(f64::MIN_POSITIVE));
    increases(case, ctx, Some(&b), sign)
}
