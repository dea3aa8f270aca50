//! Noise: particles against densities above the threshold.

use super::setting::{STEP, TIMES, draw_tokens, pair_mean};
use crate::continuity::stationary::branch;
use crate::theorem::prelude::*;

const PARTICLES: usize = 48;
/// Length of a run in units of kappa.
const LENGTH: f64 = 12.0;
const ERRORS: f64 = 4.0;
const CONSTANT: f64 = 2.0;
const MEANS: (f64, f64) = (0.6, 0.85);

/// Particles and the continuity equation are independent programs. This claim compares them with
/// noise.
///
/// # Derivation
///
/// The law of `n` particles with the drift of USA and noise `sqrt(2/kappa) dW` has the density
/// `e^{n kappa E_beta}`; for `n` to `infinity` the particles are independent draws of a stationary
/// measure `rho`, and `<x_i, x_j>` has the mean `|integral x d rho|^2 = m^2`. A particle exerts no
/// force on itself: each of `n` particles feels the mean of the `n - 1` others times `(n-1)/n`,
/// which corresponds to `kappa (n-1)/n`. So they are simulated at `kappa n/(n-1)`. Fluctuations of
/// the mean field add another term of the order `1/n`; its constant is not derived (another program
/// found -0.8 to 1.6 over this range).
pub static ENTRY: Claim = Claim {
    name: "noisy-particles",
    title: "Noisy USA: particles keep the mean of the stationary density",
    lets: "{PARTICLES} particles on the circle be drawn from the stationary density of mean `m`, \
           and follow noisy USA at `kappa n/(n-1)`, where `kappa` is that of the density",
    then: "The mean of `<x_i, x_j>` over pairs stays at `m^2`, up to a term of the order `1/n`.",
    tested: "with Strang steps of length `kappa/({PARTS} max(1, beta^2))` over {TIMES} times up to \
             `{LENGTH} kappa` and {RUNS} runs, to {ERRORS} standard errors plus `{CONSTANT}/n` \
             (the constant {CONSTANT} is observed)",
    numbers: &[
        ("PARTICLES", PARTICLES as f64),
        ("PARTS", 1.0 / STEP),
        ("TIMES", TIMES as f64),
        ("LENGTH", LENGTH),
        ("RUNS", RUNS as f64),
        ("ERRORS", ERRORS),
        ("CONSTANT", CONSTANT),
        ("LEAST", MEANS.0),
        ("MOST", MEANS.1),
    ],
    domain: Domain {
        n: Sizes::Fixed(PARTICLES),
        d: Sizes::Fixed(2),
        beta: Betas::Linear(0.5, 1.5),
        dynamics: &["usa"],
        laws: &[],
        draws: "`m` in [{LEAST}, {MOST}]",
        ..Domain::EQUAL_MASSES
    },
    narrower: "the circle; `beta` at most 3/2, where the transition is continuous",
    source: "derived (propagation of chaos); stationary measures: Mun, Rosenzweig, \
             arXiv:2606.05140 (abstract)",
    status: Status::Observation,
    trials: (2, 10),
    trial: |case, ctx| {
        let mean = ctx.uniform_in(MEANS.0, MEANS.1);
        stationary(case, ctx, mean, 1.0)
    },
    constant: "`m^2`",
    control: Control {
        what: "`kappa` increased by a quarter",
        trial: |ctx| stationary(&Case::new(PARTICLES, 2, 1.0, "usa"), ctx, MEANS.0, 1.25),
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
    let (found, error) = pair_mean(case.beta, kappa, &starts, LENGTH, ctx.method_rng())?;
    Ok(Finding::law(found, ctx.claimed_constant(mean * mean), ERRORS * error + CONSTANT / n, 0.0))
}

/// Number of runs per trial.
const RUNS: usize = 24;
