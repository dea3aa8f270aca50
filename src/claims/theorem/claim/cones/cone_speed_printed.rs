//! The explicit speed in the proof of cone collapse, as printed.

use super::cone_speed;
use crate::theorem::prelude::*;
use std::f64::consts::FRAC_PI_3;

/// arXiv:2312.10794, (6.8) with `e^{beta}`. It is false for pairs that are far apart, as soon as
/// beta exceeds about 4.
///
/// # Derivation
///
/// Two tokens at +-60 degrees from w have `alpha = 1/2`, `G = -1/2` and
/// `A_12 = 1/(1 + e^{3 beta/2})`, so the speed towards w is
/// `A_12 alpha (1 - G) = (3/4)/(1 + e^{3 beta/2})`. The printed bound is `e^{-beta}/8`: this is
/// larger for beta above about 3.6.
pub static ENTRY: Claim = Claim {
    name: "cone-speed-printed",
    title: "Speed of cone collapse, exponent as printed",
    lets: "w be the centre of the smallest cap and alpha = min_i <x_i, w> >= 1/2",
    then: "At the minimising token, d/dt <x_i, w> >= (1 - alpha)/(2 n e^{beta}).",
    domain: Domain {
        n: Sizes::Range(2, 8),
        d: Sizes::Range(2, 4),
        beta: Betas::Linear(0.0, 20.0),
        dynamics: &["sa"],
        laws: &["placed"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "Q = K = I",
    source: "arXiv:2312.10794, (6.8) (misprint: e^{beta} for e^{2 beta})",
    status: Status::Misprinted,
    trials: (800, 2000),
    trial: |case, ctx| {
        let x = cone_speed::spread_out(case, ctx)?;
        cone_speed::speed(case, ctx, &x, &[], 1.0)
    },
    control: Control {
        what: "two tokens at +-60 degrees at beta = 1, where the printed bound holds",
        trial: |ctx| {
            cone_speed::speed(
                &Case::new(2, 2, 1.0, "sa"),
                ctx,
                &Tokens::from_angles(&[FRAC_PI_3, -FRAC_PI_3])?,
                &[],
                1.0,
            )
        },
    },
    ..Claim::INEQUALITY
};
