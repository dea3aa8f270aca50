//! Tokens in R^d under a good triple: the leader.

use super::rd_rescaling::{attention, evolve};
use crate::theorem::prelude::*;

/// The time at which rows are evaluated.
const LATE: f64 = 9.0;

/// Since `x_i ~ e^{lambda t} c_i phi`, differences of scores are
/// `c_i e^{lambda t} <Q phi, x_j - x_k>`, in which differences of tokens along all directions
/// matter.
///
/// # Derivation
///
/// With a simple largest eigenvalue, x_i grows like `c_i e^{lambda t} phi_1` while the differences
/// of tokens stay bounded along phi_1 and in the kernel. The scores of token i differ by
/// `<Q x_i, x_j - x_k>`, to leading order `c_i e^{lambda t} <Q phi_1, x_j - x_k>`: for `c_i > 0`
/// the row tends to one-hot at the j with the largest `<Q phi_1, x_j>`, in which differences along
/// all directions matter, not only `z_1`.
pub static ENTRY: Claim = Claim {
    name: "rd-leader",
    title: "R^2: the leader is argmax <Q phi_1, x_j>, not the token farthest along phi_1",
    lets: "V = diag(1, 0), scores <Q x_i, x_j> with Q = [[1, 1/2], [1/2, 1]], phi_1 = e_1, and \
           normal tokens",
    then: "At t = 9 every token with z_1 > 0 whose row is one-hot to 1e-9 attends to argmax_j <Q \
           phi_1, x_j>.",
    domain: Domain {
        n: Sizes::Range(4, 8),
        d: Sizes::Fixed(2),
        beta: Betas::List(&[1.0]),
        masses: Masses::Equal,
        ..Domain::FLAT
    },
    narrower: "one V and Q; n <= 8",
    source: "derived to leading order; arXiv:2305.05465, Theorem 4.3 (names no leader)",
    status: Status::Observation,
    kind: Kind::Every(0.2),
    trials: (48, 200),
    trial: |case, ctx| {
        let x = Tokens::flat(2, ctx.normals(2 * case.n))?;
        follows(ctx, &x, &Q[..2])
    },
    control: Control {
        what: "the token farthest along phi_1, for a start in which the two differ",
        trial: |ctx| {
            follows(ctx, &Tokens::flat(2, vec![1.0, 0.0, 0.95, 1.0, 0.2, -0.3])?, &[1.0, 0.0])
        },
    },
    ..Claim::EVERY
};

/// Symmetric.
const Q: [f64; 4] = [1.0, 0.5, 0.5, 1.0];

/// True if every one-hot row attends to the token x that is farthest along `rule`.
fn follows(ctx: &mut Context, x: &Tokens, rule: &[f64]) -> Result<Finding> {
    let dynamics =
        attention(1.0, x.n(), 2, Some((2, Q.to_vec())), Some((2, vec![1.0, 0.0, 0.0, 0.0])), true)?;
    let z = evolve(ctx, &dynamics, x, LATE, 1.0)?;
    let grown: Vec<[f64; 2]> = z.rows().map(|r| [LATE.exp() * r[0], r[1]]).collect();
    let farthest = |w: &[f64]| {
        let along = |j: &usize| dot(w, &grown[*j]);
        (0..x.n()).max_by(|a, b| along(a).total_cmp(&along(b))).unwrap_or(0)
    };
    let stated = farthest(rule);
    let mut decided = false;
    for i in (0..x.n()).filter(|i| z.row(*i)[0] > 0.0) {
        let query = [dot(&Q[..2], &grown[i]), dot(&Q[2..], &grown[i])];
        let leader = farthest(&query);
        let top = dot(&query, &grown[leader]);
        let others: f64 =
            (0..x.n()).filter(|j| *j != leader).map(|j| (dot(&query, &grown[j]) - top).exp()).sum();
        if others < 1e-9 {
            decided = true;
            if leader != stated {
                return Ok(Finding::answer(false));
            }
        }
    }
    Ok(if decided { Finding::answer(true) } else { Finding::HypothesesMissed })
}

/// A matrix with eigenvalues `values` and their right eigenvectors in the columns of `basis`.
pub(crate) fn with_spectrum(basis: &[f64], values: &[f64]) -> Vec<f64> {
    let d = values.len();
    let scaled: Vec<f64> = (0..d * d).map(|k| basis[k] * values[k % d]).collect();
    crate::num::dense::mul(&scaled, &crate::num::dense::inverse(basis, d), d)
}
