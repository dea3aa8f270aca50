//! LayerNorm maps tokens to a sphere.

use super::super::trained::block_collapse::{relative_difference, tokens};
use crate::theorem::prelude::*;
use crate::transformer::{Centring, Norm};

/// So logits `<x_i, x_j> / sqrt r` of normalised tokens are those of beta = `d / sqrt r` on the
/// unit sphere.
///
/// # Derivation
///
/// `C x = x - mean(x) 1` and `|C x|^2 / d` is the variance of the coordinates:
/// `C x / sqrt(|C x|^2 / d) = sqrt d C x / |C x|`. So the image of LayerNorm without gain and shift
/// is the sphere of radius `sqrt d` in the plane orthogonal to 1.
pub static ENTRY: Claim = Claim {
    name: "ln-sphere",
    title: "LayerNorm with eps = 0 is sqrt d times the direction of the centred token",
    then: "LayerNorm with eps = 0, gain 1 and shift 0 is sqrt d C x / |C x| with C x = x - \
           mean(x), and RMSNorm is sqrt d x / |x|. Both are invariant under x -> a x, a > 0.",
    tested: "to 8 u sqrt d c of the largest entry, where u = 2^-52 and c is the largest max_j \
             |x_j| / max_j |x_j - mean(x)| of a token, at least 1",
    domain: Domain {
        n: Sizes::Range(1, 8),
        d: Sizes::Range(2, 512),
        laws: &["normal"],
        ..Domain::BLOCKS
    },
    narrower: "a in [1e-3, 1e3]",
    source: "Ba, Kiros and Hinton 2016; Zhang and Sennrich 2019; derived",
    trials: (10, 100),
    trial: |case, ctx| deviation(case, ctx, 0.0),
    control: Control {
        what: "eps = 0.01",
        trial: |ctx| deviation(&Case::new(4, 16, 1.0, "sa"), ctx, 1e-2),
    },
    ..Claim::IDENTITY
};

fn deviation(case: &Case, ctx: &mut Context, eps: f64) -> Result<Finding> {
    let d = case.d;
    let (x, factor) = (tokens(ctx, case.n, d), ctx.log_uniform_in(1e-3, 1e3));
    let mut worst = 0.0f64;
    for centring in [Centring::Mean, Centring::None] {
        let norm: Norm = Norm::plain(d, centring, eps);
        let mut direction = x.clone();
        for row in direction.chunks_exact_mut(d) {
            let mean =
                if centring == Centring::Mean { row.iter().sum::<f64>() / d as f64 } else { 0.0 };
            row.iter_mut().for_each(|v| *v -= mean);
            // Centred twice: the second pass removes the rounding error of the first.
            let _ = retract(row) && retract(row);
            scale((d as f64).sqrt(), row);
        }
        let scaled: Vec<f64> = x.iter().map(|v| factor * v).collect();
        worst = worst
            .max(relative_difference(&norm.apply(&x), &direction))
            .max(relative_difference(&norm.apply(&scaled), &direction));
    }
    // The centred difference of nearly equal coordinates has a rounding error.
    let least = x.chunks_exact(d).map(|row| {
        let mean = row.iter().sum::<f64>() / d as f64;
        let (spread, size) = row
            .iter()
            .fold((0.0f64, 0.0f64), |(a, b), v| (a.max((v - mean).abs()), b.max(v.abs())));
        size / spread
    });
    let cancelled = least.fold(1.0, f64::max);
    Ok(Finding::identity(worst, 8.0 * f64::EPSILON * (d as f64).sqrt() * cancelled))
}
