//! Noise: particles against densities, above the threshold.

use crate::attention::noise::Isotropic;
use crate::continuity::stationary::{Stationary, branch};
use crate::flow::{
    Recorder, Splitting, Walk,
    observable::{self, Setting},
    walk_many,
};
use crate::theorem::prelude::*;

/// Particles and the equation of their densities are two programs: this compares them where both are noisy.
///
/// # Derivation
///
/// The law of n particles with the drift of USA and noise `sqrt(2/kappa) dW` has the density `e^{n kappa E_beta}`; for n to infinity the particles are independent draws of a stationary measure rho, and `<x_i, x_j>` has the mean
/// `|integral x d rho|^2 = m^2`. A particle does not pull itself: n of them feel the mean of the n - 1 others times (n-1)/n, which is kappa (n-1)/n; so they are walked at `kappa n/(n-1)`. Fluctuations of the mean field add another term of the order 1/n; its constant is not derived (another program
/// found -0.8 to 1.6 over this range). Particles start as independent draws of rho.
pub static ENTRY: Claim = Claim {
    name: "noisy-particles",
    title: "Noisy USA: particles keep the mean of the stationary density",
    statement: "48 particles on the circle, drawn from the stationary density of mean m and walked at kappa n/(n-1) by Strang steps of kappa/(10 max(1, beta^2)) for 12 kappa: <x_i, x_j> of pairs, over 16 times and 48 runs, is m^2 within 4 standard errors and 2/n (the constant 2 is observed, not derived).",
    domain: Domain { n: Sizes::Fixed(48), d: Sizes::Fixed(2), beta: Betas::Linear(0.5, 1.5), dynamics: &["usa"], ..Domain::EQUAL_MASSES },
    narrower: "the circle; beta at most 3/2, where the transition is continuous; m in [0.6, 0.85]",
    citation: "arXiv:2606.05140 (abstract: stationary measures); propagation of chaos, Sznitman 1991",
    status: Status::Observation,
    trials: (2, 10),
    trial: |case, ctx| {
        let mean = ctx.uniform_in(0.6, 0.85);
        stationary(case, ctx, mean, 1.0)
    },
    perturbed: "m^2",
    control: Control {
        what: "kappa a quarter above that of the density",
        trial: |ctx| stationary(&Case::new(48, 2, 1.0, "usa"), ctx, 0.6, 1.25),
    },
    ..Claim::LAW
};

fn stationary(case: &Case, ctx: &mut Context, mean: f64, factor: f64) -> Result<Finding> {
    let density = branch(case.beta, mean)?;
    let starts = (0..RUNS).map(|_| drawn(&density, case.n, ctx.chance())).collect::<Result<Vec<_>>>()?;
    let n = case.n as f64;
    let kappa = factor * density.kappa * n / (n - 1.0);
    let (found, error) = pair_mean(case.beta, kappa, &starts, 12.0, ctx.chance())?;
    Ok(Finding::law(found, ctx.stated(mean * mean), 4.0 * error + 2.0 / n, 0.0))
}

/// Runs of a trial.
pub(super) const RUNS: usize = 48;

/// Independent particles with this density, by rejection.
pub fn drawn(density: &Stationary, n: usize, stream: &mut Stream) -> Result<Tokens> {
    // Stationary densities of the branch fall from their top at angle 0.
    let top = density.density.at(0.0);
    let mut angles = Vec::with_capacity(n);
    while angles.len() < n {
        let angle = stream.uniform_in(-PI, PI);
        if top * stream.uniform() < density.density.at(angle) {
            angles.push(angle);
        }
    }
    Tokens::from_angles(&angles)
}

/// Mean inner product of pairs of particles, over 16 times of the last four fifths of `length` (in units of kappa) and all runs, and its standard error between runs.
pub fn pair_mean(beta: f64, kappa: f64, starts: &[Tokens], length: f64, stream: &mut Stream) -> Result<(f64, f64)> {
    let (n, d) = (starts[0].n(), starts[0].d());
    let usa: Dynamics = dynamics::build("usa", false, &Spec::new(beta, n))?;
    let noise = Isotropic::new(kappa)?;
    // In units of kappa the drift changes over lengths of about 1/beta at rates of about beta sqrt(beta): longer steps err visibly.
    let step = 0.1 * kappa / beta.powi(2).max(1.0);
    let plan = Walk { noise: &noise, step, seed: 0, splitting: Splitting::Strang, cancel: None };
    let times: Vec<f64> = (1..=16).map(|k| length * kappa * (0.2 + 0.05 * f64::from(k))).collect();
    let recorder = || Ok(Recorder::new(Setting { n, d, beta }, times.clone(), false, vec![observable::find("mean-cosine")?]));
    let mut recorders = starts.iter().map(|_| recorder()).collect::<Result<Vec<_>>>()?;
    let seeds: Vec<u64> = starts.iter().map(|_| stream.next_u64()).collect();
    walk_many(&usa, starts, length * kappa, &plan, &seeds, &mut recorders)?;
    let means: Vec<f64> = recorders.iter().map(|r| r.table.column("mean_cosine")).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect();
    Ok(mean_and_error(&means))
}
