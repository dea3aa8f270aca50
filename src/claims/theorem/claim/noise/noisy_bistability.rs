//! Noise: two stable measures below the linear threshold, and an unstable one between them.

use super::setting::DENSITIES;
use crate::continuity::stationary::branch;
use crate::theorem::prelude::*;
use crate::theory::noise::threshold;

const BETAS: (f64, f64) = (4.0, 6.0);
const SHARE: f64 = 0.98;
const DISPLACEMENT: f64 = 1e-3;
const WAVE: f64 = 0.02;
/// In units of kappa.
const TIME: f64 = 6.0;
const CONTROL_FACTOR: f64 = 1.1;

/// The discontinuous transition, tested with the continuity equation.
///
/// # Derivation
///
/// Let `f(m, kappa)` be the least free energy `F = H/kappa - E` among densities of mean `m`, and
/// `H(m, kappa)` the negative entropy where it is attained. On the branch, `kappa = kappa(m)`, `f`
/// is stationary in `m`. By the envelope theorem `f_kappa = -H/kappa^2`, so `f_m(m, kappa(m)) = 0`
/// gives `f_mm = kappa'(m) H_m/kappa^2`. Densities of a larger mean have the larger `H`. So where
/// `kappa` decreases with `m`, `F` has a direction of descent and the measure is unstable. Where it
/// increases, `F` increases along the minimisers; stability in all other directions is observed.
/// The uniform measure is stable for `kappa < kappa_c` (`noisy-threshold`).
///
/// Along the branch `dF/dkappa = -H/kappa^2`, so `F` is positive on the unstable part and at the
/// fold. The clustered measure has the lower free energy from some `kappa` below `kappa_c` on.
pub static ENTRY: Claim = Claim {
    name: "noisy-bistability",
    title: "Noisy USA, `beta > beta_*`: below `kappa_c` two measures are stable, with an unstable \
            one between them",
    lets: "`mu` be a stationary measure on the branch of mode 1 with `kappa <= {SHARE} kappa_c` at \
           which `kappa` changes by at least a tenth of itself per unit of `m`, the mean of `mu`",
    then: "If `kappa` increases with `m` (above the fold of the branch), `mu` is stable. If it \
           decreases, `mu` is unstable. The uniform measure is stable at the same `kappa`.",
    tested: "by the distance of the first mode from its stationary value, from `mu` displaced by \
             {DISPLACEMENT} along the branch and from `1 + {WAVE} cos theta`: after the time \
             `{TIME} kappa` it is smaller for stable measures and larger for unstable ones",
    numbers: &[
        ("SHARE", SHARE),
        ("DISPLACEMENT", DISPLACEMENT),
        ("WAVE", WAVE),
        ("TIME", TIME),
        ("LEAST_BETA", BETAS.0),
        ("MOST_BETA", BETAS.1),
        ("CONTROL_FACTOR", CONTROL_FACTOR),
    ],
    domain: Domain {
        beta: Betas::Linear(BETAS.0, BETAS.1),
        draws: "one `mu` above and one below the fold, mostly near it; displacements up or down",
        ..DENSITIES
    },
    narrower: "the circle; `beta` from {LEAST_BETA} to {MOST_BETA}",
    source: "derived, stability observed; the transition: Mun, Rosenzweig, arXiv:2606.05140 \
             (abstract)",
    status: Status::Observation,
    trials: (4, 40),
    trial: coexistence,
    constant: "the factor 1 between the distances before and after",
    control: Control {
        what: "the uniform measure at `kappa = {CONTROL_FACTOR} kappa_c`, to which the density \
               does not return",
        trial: |_: &mut Context| {
            let beta = BETAS.0;
            Ok(stable(uniform_distance(beta, CONTROL_FACTOR * threshold(2, 1, beta)?)?, 1.0))
        },
    },
    ..Claim::INEQUALITY
};

fn coexistence(case: &Case, ctx: &mut Context) -> Result<Finding> {
    // The means that meet the hypotheses above and below the fold, to 0.006. Others are drawn
    // again.
    let s = case.beta - BETAS.0;
    let above = (0.613 + s * (0.0595 - 0.0096 * s), 0.7545 + s * (0.1365 - 0.0283 * s));
    let below = (0.2227 - s * (0.0718 - 0.0145 * s), 0.4488 + s * (0.1293 - 0.0257 * s));
    let displacement = if ctx.index(2) == 0 { DISPLACEMENT } else { -DISPLACEMENT };
    let mut admitted = |from: f64, to: f64, sign: f64| -> Result<Option<Distance>> {
        for _ in 0..6 {
            let mean = from + (to - from) * ctx.uniform_in(0.0, 1.0).powi(2);
            let found = branch_distance(case.beta, mean, displacement, sign)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    };
    let (Some(upper), Some(lower)) =
        (admitted(above.0, above.1, 1.0)?, admitted(below.1, below.0, -1.0)?)
    else {
        return Ok(Finding::HypothesesMissed);
    };
    let one = ctx.claimed_constant(1.0);
    let unstable = Finding::at_least(lower.distance, one).with_evaluation_error(1e-6);
    Ok(stable(upper.distance, one)
        .and(stable(uniform_distance(case.beta, upper.kappa)?, one))
        .and(stable(uniform_distance(case.beta, lower.kappa)?, one))
        .and(unstable))
}

fn stable(distance: f64, bound: f64) -> Finding {
    Finding::at_most(distance.abs(), bound).with_evaluation_error(1e-6)
}

/// A stationary measure and the distance from it after the time [`TIME`].
struct Distance {
    kappa: f64,
    distance: f64,
}

/// Starts from the measure of another mean on the branch. `None` if kappa changes along the branch
/// too little or not with this sign, or if it is too close to the threshold.
fn branch_distance(beta: f64, mean: f64, by: f64, sign: f64) -> Result<Option<Distance>> {
    let (here, displaced) = (branch(beta, mean)?, branch(beta, mean + by)?);
    let slope = (displaced.kappa / here.kappa - 1.0) / by;
    if sign * slope < 0.1 || here.kappa > SHARE * threshold(2, 1, beta)? {
        return Ok(None);
    }
    let distance = distance_left(displaced.density.with_modes(24), mean, here.kappa, beta)?;
    Ok(Some(Distance { kappa: here.kappa, distance }))
}

fn uniform_distance(beta: f64, kappa: f64) -> Result<f64> {
    let start = Density::parse(&format!("cos:1={WAVE}"))?;
    distance_left(Circle::from_density(&start, 8)?, 0.0, kappa, beta)
}

/// The distance of the first mode from `rest` after the time [`TIME`], over that at the start.
fn distance_left(start: Circle, rest: f64, kappa: f64, beta: f64) -> Result<f64> {
    let before = start.c[1].norm() - rest;
    let end = start
        .evolve(&MeasureDynamics::new("usa", beta, 1.0 / kappa)?, TIME * kappa, 64, |_, _| true)?
        .reached()?;
    Ok((end.c[1].norm() - rest) / before)
}
