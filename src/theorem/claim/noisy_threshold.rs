//! Noise: when the uniform measure becomes unstable.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::continuity::{Medium, circle::Circle, density::Density, zonal::Zonal};
use crate::error::Result;
use crate::num::gegenbauer::scaled_funk_hecke;

/// Derived; agrees with 2606.05140 in our normalisation.
pub static ENTRY: Claim = Claim {
    name: "noisy-threshold",
    title: "Noisy USA: the uniform measure is unstable iff kappa > kappa_c = beta / lambda_1",
    statement: "dX = v dt + sqrt(2/kappa) dW with USA: the first mode of 1 + 1e-6 P_1 grows at kappa = 1.02 kappa_c and decays at 0.98 kappa_c.",
    hypotheses: "beta > 0",
    applies: |case| case.beta > 0.0,
    citation: "derived; Mun, Rosenzweig, arXiv:2606.05140 (abstract)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(1, 2, 1.0, "usa"), Case::new(1, 2, 4.0, "usa"), Case::new(1, 3, 2.0, "usa"), Case::new(1, 8, 5.0, "usa")],
    quick: 4,
    trials: (1, 2),
    trial: |case, ctx| signs(case, ctx, 1.0),
    control: Control { what: "half of kappa_c", trial: |ctx| signs(&Case::new(1, 2, 4.0, "usa"), ctx, 0.5) },
};

/// The smaller of the growth above and the decay below `factor` times the threshold, over the rate of the noise.
fn signs(case: &Case, _: &mut Context, factor: f64) -> Result<Finding> {
    let (d, beta) = (case.d, case.beta);
    let threshold = factor * beta / (scaled_funk_hecke(d, 1, beta)[1] * beta.exp());
    let growth = |kappa: f64| -> Result<f64> {
        let medium = Medium::new("usa", beta, 1.0 / kappa)?;
        let density = Density::parse("cos:1=1e-6")?;
        let t = 0.1 * kappa / (d as f64 - 1.0);
        let ratio = if d == 2 {
            let start = Circle::from_density(&density, 32)?;
            start.clone().evolve(&medium, t, 64, |_, _| true)?.reached()?.c[1].re / start.c[1].re
        } else {
            let start = Zonal::from_density(&density, d, 16)?;
            start.clone().evolve(&medium, t, 32, |_, _| true)?.reached()?.b[1] / start.b[1]
        };
        Ok(ratio.ln() / 0.1)
    };
    Ok(Finding::exact(growth(1.02 * threshold)?.min(-growth(0.98 * threshold)?)))
}
