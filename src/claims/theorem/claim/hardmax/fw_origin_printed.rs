//! Attention layers in R^d at finite beta: "to the origin".

use super::fw_collapse::CONVEX;
use crate::theorem::prelude::*;

/// This is false: the limit is a point in the hull of the start, for example (1, 0.101351) for the
/// tokens (1, 0) and (1, 0.2) at beta = 2, g = 1/2.
///
/// # Derivation
///
/// x_i+ is the mean of x_i and of a convex combination of all tokens, so it lies in their hull. The
/// hulls are nested, so the limit lies in the first one. The first coordinate is 1 for all tokens
/// of the start, so it remains 1 and |x_i| >= 1; a tenth of the largest start is at most sqrt(1 +
/// 0.09 (d-1))/10 < 1. The origin can be the limit only if it lies in the hull, for example by
/// symmetry: x -> -x exchanges +-e_1, and the layer preserves this symmetry (the control).
pub static ENTRY: Claim = Claim {
    name: "fw-origin-printed",
    title: "Convex attention layers: all tokens tend to the origin (as printed)",
    then: "Under x_i+ = (x_i + sum_j softmax_j(beta <x_i, x_j>) x_j)/2 in R^d, all tokens tend to \
           the origin.",
    tested: "as: after 400 layers |x_i| is at most a tenth of the largest |x_j| of the start",
    domain: Domain {
        n: Sizes::Range(2, 8),
        d: Sizes::Range(2, 4),
        beta: Betas::Log(0.5, 4.0),
        laws: &["placed"],
        ..CONVEX
    },
    narrower: "g = 1/2; tokens near e_1, (1, s) with |s| <= 0.3",
    source: "arXiv:2508.09628 v1, abstract",
    status: Status::Misprinted,
    correct: "The limit is one point of the convex hull of the start. It is the origin only where \
               a symmetry puts it there.",
    trials: (6, 40),
    trial: |case, ctx| {
        let side: Vec<f64> = (0..case.n * case.d).map(|_| ctx.uniform_in(-0.3, 0.3)).collect();
        let x = (0..case.n * case.d).map(|k| if k % case.d == 0 { 1.0 } else { side[k] }).collect();
        size(&Tokens::flat(case.d, x)?, case.beta)
    },
    control: Control {
        what: "tokens e_1 and -e_1 at beta = 1/2, whose limit is the origin",
        trial: |_| size(&Tokens::flat(2, vec![1.0, 0.0, -1.0, 0.0])?, 0.5),
    },
    ..Claim::INEQUALITY
};

fn size(x: &Tokens, beta: f64) -> Result<Finding> {
    let dynamics = Dynamics::single(Attention::new(beta)).with_normalisation(Rescaled);
    let mut z = x.clone();
    for _ in 0..400 {
        Layer::new(0.5)?.apply(&dynamics, &mut z);
    }
    let largest = |x: &Tokens| x.rows().map(norm).fold(0.0, f64::max);
    Ok(Finding::at_most(largest(&z), 0.1 * largest(x)))
}
