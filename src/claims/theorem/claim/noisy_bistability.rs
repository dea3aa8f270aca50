//! Noise: two stable measures below the linear threshold.

use crate::continuity::stationary::{Stationary, branch};
use crate::theorem::prelude::*;
use crate::theory::noise::threshold;

/// The discontinuous transition seen by the equation itself.
///
/// # Derivation
///
/// Which of the two stable measures has the lower free energy `F = H/kappa - E` depends on kappa: along the branch `dF/dkappa =
/// -H/kappa^2` (the rest of the derivative vanishes at a stationary measure), so on the upper part F falls from its largest value at the
/// fold to a negative one at `kappa_c`, and the clustered measure wins exactly above one kappa between. (The last is a remark: the trial
/// measures the slope of F only.)
pub static ENTRY: Claim = Claim {
    name: "noisy-bistability",
    title: "Noisy USA, beta > beta_*: below kappa_c a stable clustered measure coexists with the uniform one",
    statement: "The stationary measure of mean m, where kappa(m) rises by at least a tenth of itself per unit of m (above the fold of the branch) and kappa <= 0.98 kappa_c: displaced along the branch by 1e-3 it comes back, while 1 + 0.02 cos theta decays to the uniform measure at the \
                same kappa (after the time 3 kappa the first mode is nearer to its rest, from either side); and the free energy difference falls along the branch by dF = -H/kappa^2 dkappa, to 1e-2 of it.",
    domain: Domain { n: Sizes::Unused, d: Sizes::Fixed(2), beta: Betas::Linear(4.0, 6.0), dynamics: &["usa"], ..Domain::EQUAL_MASSES },
    narrower: "the circle; beta from 4 to 6",
    citation: "Mun, Rosenzweig, arXiv:2606.05140 (abstract)",
    status: Status::Corrected,
    trials: (4, 30),
    trial: |case, ctx| {
        // The means above the fold with kappa below kappa_c lie in a wedge about these lines.
        let from = case.beta - 4.0;
        let mean = 0.64 + 0.045 * from + (0.06 + 0.05 * from) * ctx.uniform_in(0.0, 1.0);
        coexistence(case.beta, mean, None)
    },
    control: Control {
        what: "kappa = 1.1 kappa_c for the uniform measure: it does not come back",
        trial: |_: &mut Context| coexistence(4.0, 0.68, Some(1.1 * threshold(2, 1, 4.0)?)),
    },
    ..Claim::INEQUALITY
};

/// How much of the displacement of the first mode from `rest` is left after the time `3 kappa`.
fn left(start: Circle, rest: f64, kappa: f64, beta: f64) -> Result<f64> {
    let before = start.c[1].norm() - rest;
    let end = start.evolve(&Medium::new("usa", beta, 1.0 / kappa)?, 3.0 * kappa, 64, |_, _| true)?.reached()?;
    Ok((end.c[1].norm() - rest) / before)
}

fn coexistence(beta: f64, mean: f64, uniform_at: Option<f64>) -> Result<Finding> {
    let critical = threshold(2, 1, beta)?;
    let [low, clustered, high]: [Stationary; 3] = [branch(beta, mean - 1e-3)?, branch(beta, mean)?, branch(beta, mean + 1e-3)?];
    if high.kappa < low.kappa * (1.0 + 2e-4) || clustered.kappa > 0.98 * critical {
        return Ok(Finding::Missed);
    }
    // Displaced along the branch, which at the fold is the direction that turns unstable.
    let stable = Finding::nonnegative(1.0 - left(high.density.resized(24), mean, clustered.kappa, beta)?.abs(), 1.0).with_error(1e-6);
    let uniform = Circle::from_density(&Density::parse("cos:1=0.02")?, 8)?;
    let forgotten =
        Finding::nonnegative(1.0 - left(uniform, 0.0, uniform_at.unwrap_or(clustered.kappa), beta)?.abs(), 1.0).with_error(1e-6);
    // A central difference: its remainder is of the order of the squared step over the distance to the fold.
    let stated = -clustered.density.negentropy() / clustered.kappa.powi(2) * (high.kappa - low.kappa);
    let falls = Finding::identity(((high.free_energy - low.free_energy) / stated - 1.0).abs(), 1e-2);
    Ok(stable.and(forgotten).and(falls))
}
