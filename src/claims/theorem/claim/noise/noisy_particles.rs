//! Noise: particles against densities above the threshold.

use crate::attention::noise::Isotropic;
use crate::continuity::stationary::{StationaryMeasure, branch};
use crate::flow::{
    Recorder, SdeOptions, Splitting,
    observable::{self, RunParameters},
    solve_sde_many,
};
use crate::theorem::prelude::*;

/// Particles and the continuity equation are independent programs. This claim compares them with
/// noise.
///
/// # Derivation
///
/// The law of n particles with the drift of USA and noise `sqrt(2/kappa) dW` has the density
/// `e^{n kappa E_beta}`; for n to infinity the particles are independent draws of a stationary
/// measure rho, and `<x_i, x_j>` has the mean `|integral x d rho|^2 = m^2`. A particle exerts no
/// force on itself: each of n particles feels the mean of the n - 1 others times (n-1)/n, which
/// corresponds to kappa (n-1)/n. So they are simulated at `kappa n/(n-1)`. Fluctuations of the mean
/// field add another term of the order 1/n; its constant is not derived (another program found -0.8
/// to 1.6 over this range). Particles start as independent draws of rho.
pub static ENTRY: Claim = Claim {
    name: "noisy-particles",
    title: "Noisy USA: particles keep the mean of the stationary density",
    then: "Draw 48 particles on the circle from the stationary density of mean m, and simulate \
           them at kappa n/(n-1) with Strang steps of length kappa/(10 max(1, beta^2)) for the \
           time 12 kappa. The mean of <x_i, x_j> over pairs, 16 times and 48 runs is m^2, to 4 \
           standard errors plus 2/n. (The constant 2 is observed, not derived.)",
    domain: Domain {
        n: Sizes::Fixed(48),
        d: Sizes::Fixed(2),
        beta: Betas::Linear(0.5, 1.5),
        dynamics: &["usa"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "the circle; beta at most 3/2, where the transition is continuous; m in [0.6, 0.85]",
    source: "arXiv:2606.05140 (abstract: stationary measures); propagation of chaos, Sznitman \
               1991",
    status: Status::Observation,
    trials: (2, 10),
    trial: |case, ctx| {
        let mean = ctx.uniform_in(0.6, 0.85);
        stationary(case, ctx, mean, 1.0)
    },
    constant: "m^2",
    control: Control {
        what: "kappa increased by a quarter",
        trial: |ctx| stationary(&Case::new(48, 2, 1.0, "usa"), ctx, 0.6, 1.25),
    },
    ..Claim::LAW
};

fn stationary(case: &Case, ctx: &mut Context, mean: f64, factor: f64) -> Result<Finding> {
    let density = branch(case.beta, mean)?;
    let starts = (0..RUNS)
        .map(|_| draw_tokens(&density, case.n, ctx.method_rng()))
        .collect::<Result<Vec<_>>>()?;
    let n = case.n as f64;
    let kappa = factor * density.kappa * n / (n - 1.0);
    let (found, error) = pair_mean(case.beta, kappa, &starts, 12.0, ctx.method_rng())?;
    Ok(Finding::law(found, ctx.claimed_constant(mean * mean), 4.0 * error + 2.0 / n, 0.0))
}

/// Number of runs per trial.
pub(crate) const RUNS: usize = 48;

/// Independent particles with this density, by rejection.
pub fn draw_tokens(density: &StationaryMeasure, n: usize, stream: &mut Stream) -> Result<Tokens> {
    // Stationary densities on the branch have their maximum at angle 0 and decrease from there.
    let top = density.density.value_at(0.0);
    let mut angles = Vec::with_capacity(n);
    while angles.len() < n {
        let angle = stream.uniform_in(-PI, PI);
        if top * stream.uniform() < density.density.value_at(angle) {
            angles.push(angle);
        }
    }
    Tokens::from_angles(&angles)
}

/// Mean inner product of pairs of particles, over 16 times of the last four fifths of `length` (in
/// units of kappa) and all runs, and its standard error between runs.
pub fn pair_mean(
    beta: f64,
    kappa: f64,
    starts: &[Tokens],
    length: f64,
    stream: &mut Stream,
) -> Result<(f64, f64)> {
    let (n, d) = (starts[0].n(), starts[0].d());
    let usa: Dynamics = dynamics::build("usa", false, &Spec::new(beta, n))?;
    let noise = Isotropic::new(kappa)?;
    // In units of kappa the drift changes over lengths of about 1/beta at rates of about beta
    // sqrt(beta): longer steps have visible errors.
    let step = 0.1 * kappa / beta.powi(2).max(1.0);
    let plan =
        SdeOptions { noise: &noise, step, seed: 0, splitting: Splitting::Strang, cancel: None };
    let times: Vec<f64> = (1..=16).map(|k| length * kappa * (0.2 + 0.05 * f64::from(k))).collect();
    let recorder = || {
        Ok(Recorder::new(
            RunParameters { n, d, beta },
            times.clone(),
            false,
            vec![observable::find("mean-cosine")?],
        ))
    };
    let mut recorders = starts.iter().map(|_| recorder()).collect::<Result<Vec<_>>>()?;
    let seeds: Vec<u64> = starts.iter().map(|_| stream.next_u64()).collect();
    solve_sde_many(&usa, starts, length * kappa, &plan, &seeds, &mut recorders)?;
    let means: Vec<f64> = recorders
        .iter()
        .map(|r| r.table.column("mean_cosine"))
        .map(|c| c.iter().sum::<f64>() / c.len() as f64)
        .collect();
    Ok(mean_and_error(&means))
}
