//! Sinusoidal positions under a shift.

use super::mixing_structure::MAPS;
use super::{Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::error::Result;
use crate::num::stats::nan_max;

/// A shift turns every pair of coordinates by its own angle.
///
/// # Derivation
///
/// sin(a + b) and cos(a + b) are linear in sin a and cos a.
pub static ENTRY: Claim = Claim {
    name: "pe-shift",
    title: "Sinusoidal positions: PE(p + k) = R_k PE(p), a rotation that does not know p",
    statement: "PE(p)_{2c}, PE(p)_{2c+1} = sin, cos of p 10000^{-2c/d}, d even, p and k up to 1000: turning every pair of PE(p) by k 10000^{-2c/d} gives PE(p + k) to 1e-12.",
    domain: Domain { n: Sizes::Unused, d: Sizes::List(&[2, 8, 64, 512]), laws: &["uniform"], ..MAPS },
    narrower: "",
    citation: "arXiv:1706.03762, section 3.5",
    status: Status::Theorem,
    kind: Kind::Identity,
    trials: (8, 60),
    trial: |case, ctx| turned(ctx, case.d, 1.0),
    perturbed: "",
    control: Control { what: "a turn by half the angle", trial: |ctx| turned(ctx, 8, 0.5) },
    proof: None,
};

/// The position p, d even.
pub(super) fn place(p: f64, d: usize) -> Vec<f64> {
    let angle = |c: usize| p * 1e4f64.powf(-((c / 2 * 2) as f64) / d as f64);
    (0..d).map(|c| if c % 2 == 0 { angle(c).sin() } else { angle(c).cos() }).collect()
}

fn turned(ctx: &mut Context, d: usize, share: f64) -> Result<Finding> {
    let (p, k) = (ctx.index(1001) as f64, 1.0 + ctx.index(1000) as f64);
    let (start, end) = (place(p, d), place(p + k, d));
    let off = (0..d / 2).map(|c| {
        let (sin, cos) = (share * k * 1e4f64.powf(-2.0 * c as f64 / d as f64)).sin_cos();
        let (a, b) = (start[2 * c], start[2 * c + 1]);
        (a * cos + b * sin - end[2 * c]).abs().max((b * cos - a * sin - end[2 * c + 1]).abs())
    });
    // Angles up to 2000 are rounded to 2e-13.
    Ok(Finding::identity(off.fold(0.0, nan_max), 1e-12))
}
