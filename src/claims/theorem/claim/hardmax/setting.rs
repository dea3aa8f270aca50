//! What the claims about hardmax and convex layers share.

use crate::theorem::prelude::*;

/// Tokens of R^d under layers of hardmax or of attention.
pub const TOKENS: Domain = Domain {
    n: Sizes::Range(3, 20),
    d: Sizes::Range(2, 4),
    draws: "normal tokens",
    ..Domain::FREE
};

/// Hardmax layers in R^d.
pub fn hardmax(score_matrix: Option<Vec<f64>>) -> Result<Dynamics> {
    Ok(Dynamics::single(Hardmax::new(score_matrix, 1e-12)?).with_normalisation(Rescaled))
}

/// Layers of attention at finite beta in R^d.
pub fn softmax(beta: f64) -> Dynamics {
    Dynamics::single(Attention::new(beta)).with_normalisation(Rescaled)
}
