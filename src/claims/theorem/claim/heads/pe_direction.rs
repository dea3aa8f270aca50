//! Inner products of sinusoidal positions.

use crate::theorem::prelude::*;

/// They depend only on the distance; a matrix that is not symmetric distinguishes left from right.
///
/// # Derivation
///
/// sin a sin b + cos a cos b = cos(a - b), so the inner product is the sum of cos(k w_c), even in
/// k. With a matrix W the product is a sum over cos and sin of k w_c and of p w_c, and its odd part
/// vanishes for all p only if W commutes with the rotations by p w_c and is symmetric.
pub static ENTRY: Claim = Claim {
    name: "pe-direction",
    title: "Sinusoidal positions: <PE(p), PE(p + k)> = <PE(p), PE(p - k)>",
    lets: "PE(p)_{2c} and PE(p)_{2c+1} be sine and cosine of p 10000^{-2c/d}, d even",
    then: "Then <PE(p), PE(p + k)> = <PE(p), PE(p - k)>.",
    tested: "for 100 <= p <= 1000 and 1 <= k <= 100, to 1e-12 d",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::List(&[2, 8, 64, 512]),
        laws: &["uniform"],
        ..Domain::MAPS
    },
    source: "arXiv:1706.03762, section 3.5",
    trials: (8, 60),
    trial: |case, ctx| sides(ctx, case.d, false),
    control: Control {
        what: "with a normal matrix between the two",
        trial: |ctx| sides(ctx, 8, true),
    },
    ..Claim::IDENTITY
};

fn sides(ctx: &mut Context, d: usize, matrix: bool) -> Result<Finding> {
    let (p, k) = (100.0 + ctx.index(901) as f64, 1.0 + ctx.index(100) as f64);
    let place = |p: f64| -> Vec<f64> {
        let angle = |c: usize| p * 1e4f64.powf(-((c / 2 * 2) as f64) / d as f64);
        (0..d).map(|c| if c % 2 == 0 { angle(c).sin() } else { angle(c).cos() }).collect()
    };
    let mut own = place(p);
    if matrix {
        let w = ctx.normals(d * d);
        own = w.chunks_exact(d).map(|row| dot(row, &own)).collect();
    }
    let off = (dot(&own, &place(p + k)) - dot(&own, &place(p - k))).abs();
    // Angles up to 1100 are rounded to 1e-13.
    Ok(Finding::identity(off, 1e-12 * d as f64))
}
