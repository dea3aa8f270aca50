//! Constants of GELU.

use crate::attention::dense::Activation;
use crate::num::roots::bracketed_root;
use crate::theorem::prelude::*;

/// Found from roots of derivatives.
///
/// # Derivation
///
/// `(x Phi)' = Phi + x phi` vanishes at the minimum; its derivative `phi (2 - x^2)` vanishes at
/// `sqrt 2`: the largest slope is `Phi(sqrt 2) + sqrt 2 phi(sqrt 2)`.
pub static ENTRY: Claim = Claim {
    name: "gelu-constants",
    title: "GELU: its minimum, its largest slope, its distance from the tanh form",
    then: "x Phi(x) has its minimum -0.169971207480 at -0.751791524694 and its largest slope \
           1.128904145185 at sqrt 2 (tested to 1e-11). The tanh form differs by at most \
           4.7324e-4, at 2.699 (tested to 1e-7).",
    domain: Domain { n: Sizes::Unused, d: Sizes::Unused, ..Domain::BLOCKS },
    source: "Hendrycks and Gimpel 2016; derived",
    trials: (1, 1),
    trial: |_, ctx| constants(ctx, Activation::Gelu),
    constant: "the minimum",
    control: Control {
        what: "the minimum of the tanh form",
        trial: |ctx| constants(ctx, Activation::GeluTanh),
    },
    ..Claim::IDENTITY
};

fn constants(ctx: &mut Context, act: Activation) -> Result<Finding> {
    let missing = || Error::Numerical { what: "no root between the ends".into() };
    let lowest = bracketed_root(|x| act.slope(x), -1.0, -0.5, 1e-14).ok_or_else(missing)?;
    let minimum = (act.value(lowest) + ctx.claimed_constant(0.169_971_207_480)).abs() / 1e-11;
    let place = (lowest + 0.751_791_524_694).abs() / 1e-11;
    let steepest = (act.slope(2f64.sqrt()) - 1.128_904_145_185).abs() / 1e-11;
    let apart = |x: f64| Activation::Gelu.value(x) - Activation::GeluTanh.value(x);
    let change = |x: f64| Activation::Gelu.slope(x) - Activation::GeluTanh.slope(x);
    let furthest = bracketed_root(change, 2.4, 3.0, 1e-12).ok_or_else(missing)?;
    // The difference is not larger anywhere on a fine grid.
    let most = (0..=20_000)
        .map(|k| apart(f64::from(k) * 5e-4).abs())
        .fold(0.0, f64::max)
        .max(apart(furthest).abs());
    let distance = (most - 4.7324e-4).abs() / 1e-7;
    Ok(Finding::identity([minimum, place, steepest, distance].into_iter().fold(0.0, f64::max), 1.0))
}
