//! What claims and studies of noise use: particles drawn from a stationary density, and their mean
//! inner products.

use crate::attention::noise::Isotropic;
use crate::continuity::stationary::StationaryMeasure;
use crate::flow::{
    Recorder, SdeOptions, Splitting,
    observable::{self, RunParameters},
    solve_sde_many,
};
use crate::theorem::prelude::*;

/// The number of times of [`pair_mean`].
pub const TIMES: i32 = 16;
/// Largest step of [`pair_mean`] in units of kappa.
pub const STEP: f64 = 0.1;

/// Noisy USA, by densities.
pub const DENSITIES: Domain = Domain {
    n: Sizes::Unused,
    d: Sizes::Fixed(2),
    dynamics: &["usa"],
    laws: &[],
    ..Domain::EQUAL_MASSES
};

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

/// Mean inner product of pairs of particles, over [`TIMES`] times of the last four fifths of
/// `length` (in units of kappa) and all runs, and its standard error between runs.
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
    let step = STEP * kappa / beta.powi(2).max(1.0);
    let plan =
        SdeOptions { noise: &noise, step, seed: 0, splitting: Splitting::Strang, cancel: None };
    let times: Vec<f64> =
        (1..=TIMES).map(|k| length * kappa * (0.2 + 0.05 * f64::from(k))).collect();
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
