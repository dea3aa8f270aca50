//! Padding with a mask.

use super::mixing_structure::MAPS;
use super::query_key_product::soft;
use super::{Case, Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::error::Result;
use crate::num::{stats::nan_max, sum::dot};

/// A score of -infinity is a weight of 0; a zero vector is not.
///
/// # Derivation
///
/// e^{-infinity} = 0 adds nothing to the sums. A zero row has the score 0 and so the weight 1/Z.
pub static ENTRY: Claim = Claim {
    name: "pad-mask",
    title: "Masked padding is deletion",
    statement: "n normal rows and 3 zero rows with the score -infinity: the outputs of softmax attention at the n rows are those without the zero rows, to 1e-13, and the weights of the zero rows are 0 exactly.",
    domain: Domain { n: Sizes::Range(2, 8), ..MAPS },
    narrower: "",
    citation: "arXiv:1706.03762, section 3.2.3",
    status: Status::Theorem,
    kind: Kind::Identity,
    trials: (8, 60),
    trial: |case, ctx| padded(ctx, case, f64::NEG_INFINITY),
    perturbed: "",
    control: Control { what: "zero rows with their own score 0", trial: |ctx| padded(ctx, &Case::new(5, 3, 0.0, "maps of rows"), 0.0) },
    proof: None,
};

fn padded(ctx: &mut Context, case: &Case, score: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.normals(n * d);
    let (mut off, mut size, mut given) = (0.0, 1.0, 0.0);
    for own in x.chunks_exact(d) {
        let scores: Vec<f64> = x.chunks_exact(d).map(|other| dot(own, other)).collect();
        let (short, long) = (soft(scores.clone()), soft([scores, vec![score; 3]].concat()));
        given = long[n..].iter().fold(given, |m, w| nan_max(m, *w));
        for c in 0..d {
            let mean = |w: &[f64]| (0..n).map(|j| w[j] * x[j * d + c]).sum::<f64>();
            off = nan_max(off, (mean(&short) - mean(&long)).abs());
            size = nan_max(size, mean(&short).abs());
        }
    }
    Ok(Finding::identity(off, 1e-13 * size).and(Finding::identity(given, f64::MIN_POSITIVE)))
}
