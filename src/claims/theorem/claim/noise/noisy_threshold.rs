//! Noise: the threshold at which the uniform measure becomes unstable.

use super::setting::DENSITIES;
use crate::continuity::zonal::Zonal;
use crate::theorem::prelude::*;
use crate::theory::noise::threshold;

const SMALL: f64 = 1e-6;
const TOLERANCE: f64 = 1e-6;
const RATIOS: (f64, f64) = (0.5, 2.0);

/// The threshold agrees with that of arXiv:2606.05140 in the normalisation of the statement.
///
/// # Derivation
///
/// Noise of variance `2/kappa` adds `(1/kappa) Lap rho` to the continuity equation: `d rho/dt =
/// (1/kappa) Lap rho - div(rho v)`. The signs matter: with both of them turned, as a formal
/// statement quotes the survey arXiv:2512.01868, the condition would be `kappa < kappa_c`. A mode
/// of degree `k` has the rate `k (k+d-2) (lambda_k/beta - 1/kappa)` (`mode-growth`). As `lambda_k`
/// decreases with `k`, the first mode to become unstable is `k = 1`, at `kappa_c = beta/lambda_1`,
/// where the rate `(d-1) (1/kappa_c - 1/kappa)` changes its sign. For `beta -> 0` this is the
/// threshold `d` of the Kuramoto model.
pub static ENTRY: Claim = Claim {
    name: "noisy-threshold",
    title: "Noisy USA: the uniform measure is linearly unstable iff `kappa > kappa_c = \
            beta/lambda_1`",
    lets: "`dX = v dt + sqrt(2/kappa) dW` with the velocity `v` of USA",
    then: "The uniform measure is linearly unstable iff `kappa > kappa_c = beta/lambda_1`, with \
           `lambda_1 = Gamma(d/2) (2/beta)^{d/2-1} I_{d/2}(beta)`: the first mode has the rate \
           `(d-1) (1/kappa_c - 1/kappa)`.",
    tested: "from `1 + {SMALL} P_1` over a tenth of the noise's time scale, to {TOLERANCE} of \
             `(d-1)/kappa`",
    numbers: &[
        ("SMALL", SMALL),
        ("TOLERANCE", TOLERANCE),
        ("PARTS", 1.0 / RATIOS.0),
        ("MOST", RATIOS.1),
    ],
    domain: Domain {
        d: Sizes::List(&[2, 3, 5, 8, 16]),
        beta: Betas::Log(0.05, 15.0),
        draws: "`kappa/kappa_c` in [1/{PARTS}, {MOST}]",
        ..DENSITIES
    },
    source: "derived; Mun, Rosenzweig, arXiv:2606.05140 (abstract)",
    trials: (16, 60),
    trial: |case, ctx| growth(case, ctx, 1.0),
    constant: "`kappa_c`",
    control: Control {
        what: "half of `kappa_c`",
        trial: |ctx| growth(&Case::new(2, 2, 4.0, "usa"), ctx, 0.5),
    },
    ..Claim::LAW
};

/// Compares the logarithmic growth over 0.1 of the noise's time scale with
/// `0.1 (kappa/kappa_c - 1)`.
fn growth(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (d, beta) = (case.d, case.beta);
    let critical = threshold(d, 1, beta)?;
    let kappa = critical * ctx.log_uniform_in(RATIOS.0, RATIOS.1);
    let medium = MeasureDynamics::new("usa", beta, 1.0 / kappa)?;
    let density = Density::parse(&format!("cos:1={SMALL:e}"))?;
    let t = 0.1 * kappa / (d as f64 - 1.0);
    let ratio = if d == 2 {
        let start = Circle::from_density(&density, 32)?;
        start.clone().evolve(&medium, t, 64, |_, _| true)?.reached()?.c[1].re / start.c[1].re
    } else {
        let start = Zonal::from_density(&density, d, 16)?;
        start.clone().evolve(&medium, t, 32, |_, _| true)?.reached()?.b[1] / start.b[1]
    };
    Ok(Finding::law(
        ratio.ln() / 0.1,
        kappa / ctx.claimed_constant(factor * critical) - 1.0,
        TOLERANCE,
        0.0,
    ))
}
