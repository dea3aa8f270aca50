//! Sinusoidal positions: a shift is a rotation.

use crate::theorem::prelude::*;
use crate::transformer::positions::{frequency, overlap, sinusoidal};

/// The rotation is the same at every position.
///
/// # Derivation
///
/// `(sin, cos)((p + k) w)` is `(sin, cos)(p w)` rotated by `k w`, so
/// `<PE(p), PE(q)> = sum_k cos(w_k (p - q))`.
pub static ENTRY: Claim = Claim {
    name: "pe-shift",
    title: "Sinusoidal positions: PE(p + k) = M_k PE(p), and inner products depend only on the \
            distance",
    then: "PE(p + k) is PE(p) with pair j rotated by k w_j, and <PE(p), PE(p + k)> = sum_j \
           cos(w_j k).",
    tested: "for p and k up to 1000, to 1e-12 d",
    domain: Domain { n: Sizes::Unused, d: Sizes::List(&[2, 16, 64, 512]), ..Domain::BLOCKS },
    source: "Vaswani et al. 2017, section 3.5",
    trials: (6, 60),
    trial: |case, ctx| rotation_error(case, ctx, 1.0),
    control: Control {
        what: "sines only",
        trial: |ctx| rotation_error(&Case::new(2, 64, 1.0, "sa"), ctx, 0.0),
    },
    ..Claim::IDENTITY
};

fn rotation_error(case: &Case, ctx: &mut Context, cosines: f64) -> Result<Finding> {
    let d = case.d;
    let (p, k) = (ctx.index(1000) as f64, 1.0 + ctx.index(1000) as f64);
    let at = |p: f64| -> Vec<f64> {
        sinusoidal(p, d)
            .iter()
            .enumerate()
            .map(|(c, v)| if c % 2 == 1 { cosines * v } else { *v })
            .collect()
    };
    let (here, shifted) = (at(p), at(p + k));
    let mut worst = (dot(&here, &shifted) - overlap(k, d)).abs();
    for j in 0..d / 2 {
        let (sin, cos) = (frequency(j, d) * k).sin_cos();
        let (a, b) = (here[2 * j], here[2 * j + 1]);
        worst = worst
            .max((shifted[2 * j] - (cos * a + sin * b)).abs())
            .max((shifted[2 * j + 1] - cosines * (cos * b - sin * a)).abs());
    }
    Ok(Finding::identity(worst, 1e-12 * d as f64))
}
