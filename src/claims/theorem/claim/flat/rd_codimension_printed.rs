//! Tokens in R^d: the codimension conjecture as printed.

use super::rd_rescaling::{attention, evolve};
use crate::theorem::prelude::*;

/// V = I_2 has k = 2 eigenvalues of positive real part, so the conjecture states at most three
/// limits of codimension 2, which are points of the plane. A rectangle keeps its four corners.
///
/// # Derivation
///
/// V = I_2 has two eigenvalues of positive real part, and affine subspaces of codimension 2 of R^2
/// are points. Let the rescaled tokens be a rectangle (s u, s' v), s, s' = +-1. The weights
/// exp(e^{2t} (u^2 s r + v^2 s' r')) are a product, the mean of r under them is s tanh(u^2 e^{2t}),
/// and so `u' = -u (1 - tanh(u^2 e^{2t})), v' = -v (1 - tanh(v^2 e^{2t}))`:
/// the tokens stay a rectangle, and each side has the equation of `rd-remark-printed`, whose limit
/// is positive. Four limits, not three. (With k < d the rectangle is no counterexample: the
/// control.)
pub static ENTRY: Claim = Claim {
    name: "rd-codimension-printed",
    title: "R^d: at most three limits of codimension k (conjecture as printed)",
    then: "If V has k eigenvalues of positive real part, the rescaled tokens tend to at most \
           three affine subspaces of codimension k.",
    tested: "with V = I_2, k = d = 2: to at most three points",
    domain: Domain {
        n: Sizes::Fixed(4),
        d: Sizes::Fixed(2),
        beta: Betas::List(&[1.0]),
        masses: Masses::Equal,
        ..Domain::FLAT
    },
    narrower: "rectangles (+-a, +-b), 0.7 <= a, b <= 2, and Q = K = I",
    source: "arXiv:2305.05465, Section 7 (conjecture on codimension)",
    status: Status::Misprinted,
    correct: "The four corners of a rectangle have four limits. With simple eigenvalues of V the \
               conjecture is open (rd-codimension-simple).",
    trials: (4, 20),
    trial: |_, ctx| {
        let (a, b) = (ctx.uniform_in(0.7, 2.0), ctx.uniform_in(0.7, 2.0));
        limits(ctx, vec![a, b, -a, b, -a, -b, a, -b], None)
    },
    control: Control {
        what: "the square (+-1, +-1) with V = diag(1, -1/2): k = 1, limits are lines",
        trial: |ctx| {
            limits(
                ctx,
                vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0],
                Some(vec![1.0, 0.0, 0.0, -0.5]),
            )
        },
    },
    ..Claim::INEQUALITY
};

/// 3.5 minus the number of limits: points farther than 0.1 from each other, in the coordinates with
/// positive eigenvalues of V.
fn limits(ctx: &mut Context, x: Vec<f64>, v: Option<Vec<f64>>) -> Result<Finding> {
    let growing: Vec<usize> =
        (0..2).filter(|c| v.as_ref().is_none_or(|v| v[3 * c] > 0.0)).collect();
    let dynamics = attention(1.0, x.len() / 2, 2, None, v.map(|v| (2, v)), true)?;
    let end = evolve(ctx, &dynamics, &Tokens::flat(2, x)?, 8.0, 1.0)?;
    Ok(Finding::nonnegative(3.5 - count_distinct(&end, &growing) as f64, 1.0))
}

/// The number of points farther than 0.1 from each other, in these coordinates.
pub(crate) fn count_distinct(x: &Tokens, coordinates: &[usize]) -> usize {
    let mut places: Vec<&[f64]> = Vec::new();
    for row in x.rows() {
        let near = |place: &&[f64]| {
            coordinates.iter().map(|c| (place[*c] - row[*c]).abs()).fold(0.0, f64::max) < 0.1
        };
        if !places.iter().any(near) {
            places.push(row);
        }
    }
    places.len()
}
