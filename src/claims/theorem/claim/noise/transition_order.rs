//! Noise: continuous or discontinuous transition.

use super::setting::DENSITIES;
use crate::continuity::stationary::branch;
use crate::num::bessel::bessel_ratios;
use crate::theorem::prelude::*;
use crate::theory::noise::threshold;

const MEANS: (f64, f64) = (0.02, 0.01);
const TOLERANCE: f64 = 1e-5;

/// The direction in which the branch of stationary measures bends, with its second-order
/// coefficient in closed form.
///
/// # Derivation
///
/// `rho ~ exp(A cos t + B cos 2t)` with `A = 2 (kappa/beta) I_1 m`, `B = 2 (kappa/beta) I_2 s` and
/// `s` the second moment. To third order in `A`, `m = A/2 - A^3/16 + A B/4` and `s = B/2 + A^2/8`;
/// at `kappa = beta/I_1` the second gives `B = r A^2 / (4 (1 - r))`, `r = I_2/I_1`, and the first
/// `m = (A/2) (1 - (A^2/8) (1 - 2r)/(1 - r))`.
pub static ENTRY: Claim = Claim {
    name: "transition-order",
    title: "Noisy USA on the circle: clustered measures branch off continuously iff `beta < beta_* \
            = 2.4469`",
    lets: "`r = I_2(beta)/I_1(beta)`",
    then: "The stationary measures of mean `m` on the branch of mode 1 have `kappa = kappa_c (1 + \
           a m^2 + O(m^4))` with `a = (1 - 2 r)/(2 (1 - r))`. So the branch bends to `kappa > \
           kappa_c` `(a > 0)` iff `r < 1/2`, that is, iff `beta < beta_*`.",
    tested: "by extrapolation of a from `m = {FIRST}` and `m = {SECOND}`, to `{TOLERANCE} (1 + \
             |a|)`",
    numbers: &[("FIRST", MEANS.0), ("SECOND", MEANS.1), ("TOLERANCE", TOLERANCE)],
    domain: Domain {
        beta: Betas::Log(0.05, 12.0),
        corners: &[(2, 2, 2.44), (2, 2, 2.46)],
        ..DENSITIES
    },
    narrower: "the circle (the source has every `d`)",
    source: "derived; beta_*: Mun, Rosenzweig, arXiv:2606.05140 (abstract)",
    trials: (6, 60),
    trial: |case, ctx| {
        let r = bessel_ratios(1.0, case.beta, 1)[0];
        bend_coefficient(case, ctx, r)
    },
    constant: "the coefficient `a`",
    control: Control {
        what: "`r = 0`, that is, without the second harmonic",
        trial: |ctx| bend_coefficient(&Case::new(2, 2, 2.0, "usa"), ctx, 0.0),
    },
    ..Claim::LAW
};

fn bend_coefficient(case: &Case, ctx: &mut Context, r: f64) -> Result<Finding> {
    let critical = threshold(2, 1, case.beta)?;
    let coefficient =
        |m: f64| -> Result<f64> { Ok((branch(case.beta, m)?.kappa / critical - 1.0) / (m * m)) };
    let measured = (4.0 * coefficient(MEANS.1)? - coefficient(MEANS.0)?) / 3.0;
    let a = 0.5 * (1.0 - 2.0 * r) / (1.0 - r);
    Ok(Finding::law(measured, ctx.claimed_constant(a), TOLERANCE * (1.0 + a.abs()), 0.0))
}
