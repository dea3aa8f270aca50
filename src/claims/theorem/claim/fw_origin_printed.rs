//! Attention layers in R^d at finite beta: "to the origin".

use super::fw_collapse::CONVEX;
use crate::theorem::prelude::*;

/// The limit is a point of the hull of the start: (1, 0.101351) for the tokens (1, 0) and (1, 0.2) at beta = 2, g = 1/2.
///
/// # Derivation
///
/// x_i+ is the mean of x_i and of a convex combination of all tokens: a point of their hull. Hulls are nested and the limit is a point of
/// the first. The first coordinate is 1 for all tokens of the start, so for ever, and |x_i| >= 1; a tenth of the largest start is at most
/// sqrt(1 + 0.09 (d-1))/10 < 1. The origin is the limit only where the hull, and some symmetry, put it there: +-e_1 are exchanged by x ->
/// -x, which the layer keeps (the control).
pub static ENTRY: Claim = Claim {
    name: "fw-origin-printed",
    title: "Convex attention layers: all tokens tend to the origin (as printed)",
    statement: "x+ = (x + sum_j softmax_j(beta <x_i, x_j>) x_j)/2 in R^d: after 400 layers |x_i| is at most a tenth of the largest |x_j| of the start.",
    domain: Domain { n: Sizes::Range(2, 8), d: Sizes::Range(2, 4), beta: Betas::Log(0.5, 4.0), laws: &["placed"], ..CONVEX },
    narrower: "g = 1/2; tokens about e_1, (1, s) with |s| <= 0.3",
    citation: "arXiv:2508.09628 v1, abstract",
    status: Status::Misprinted,
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
    let dynamics = Dynamics::of(Attention::new(beta)).with(Rescaled);
    let mut z = x.clone();
    for _ in 0..400 {
        Layer::new(0.5)?.apply(&dynamics, &mut z);
    }
    let largest = |x: &Tokens| x.rows().map(norm).fold(0.0, f64::max);
    Ok(Finding::at_most(largest(&z), 0.1 * largest(x)))
}
