//! Stationary measures of noisy USA on the circle: the branch that leaves the uniform measure,
//! below and above `beta_*`.

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::continuity::stationary::branch;
use crate::error::Result;
use crate::num::stream::Stream;
use crate::theorem::claim::noise::setting::{draw_tokens, pair_mean};
use crate::theory::noise::threshold;

/// Tables: branches, particles, star.
pub static ENTRY: Study = Study {
    name: "noisy-branches",
    title: "Stationary measures of noisy USA: continuous and discontinuous transition, and \
        particles",
    citation: "Mun, Rosenzweig, arXiv:2606.05140 (abstract); branches computed by a fixed point at \
        given mean",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[Parameter::real(
        "beta",
        &BETAS,
        (0.1, 8.0),
        "inverse temperatures, one branch each",
    )],
    run,
};

/// Default inverse temperatures.
pub const BETAS: [f64; 4] = [1.0, 2.0, 3.0, 4.0];

/// Largest mean to which branches are followed.
pub const MAX_MEAN: f64 = 0.9;

/// Means at which particles are simulated, if the branch is stable there.
const MEANS: [f64; 4] = [0.4, 0.55, 0.7, 0.85];

/// Number of particles and number of runs.
pub const PARTICLES: (usize, usize) = (150, 8);

/// Simulates particles for the time 10 kappa from stable stationary densities. Rows: beta, kappa
/// over its threshold, root of the mean inner product, its standard error, mean of the density.
fn particles(beta: f64, critical: f64) -> Result<Vec<Vec<f64>>> {
    let mut rows = Vec::new();
    for mean in MEANS {
        let (low, here, high) =
            (branch(beta, mean - 0.01)?, branch(beta, mean)?, branch(beta, mean + 0.01)?);
        // Beyond a fold kappa grows along the branch. Close to the fold, samples would leave the
        // branch.
        if high.kappa < 1.004 * low.kappa {
            continue;
        }
        let mut stream = Stream::new(1, &["noisy branches", &format!("{beta} {mean}")]);
        let starts = (0..PARTICLES.1)
            .map(|_| draw_tokens(&here, PARTICLES.0, &mut stream))
            .collect::<Result<Vec<_>>>()?;
        // A particle does not attract itself: correct kappa for finite n.
        let n = PARTICLES.0 as f64;
        let (square, error) =
            pair_mean(beta, here.kappa * n / (n - 1.0), &starts, 10.0, &mut stream)?;
        let found = square.max(0.0).sqrt();
        rows.push(vec![beta, here.kappa / critical, found, error / (2.0 * found), mean]);
    }
    Ok(rows)
}

fn run(values: &Values) -> Result<Tables> {
    let mut branches = table(&["beta", "mean", "kappa_over_critical", "free_energy"]);
    let mut sampled = table(&["beta", "kappa_over_critical", "mean", "error", "stated"]);
    for &beta in values.list("beta")? {
        let critical = threshold(2, 1, beta)?;
        sampled.rows.extend(particles(beta, critical)?);
        for k in 1..=60 {
            let s = branch(beta, MAX_MEAN * f64::from(k) / 60.0)?;
            branches.rows.push(vec![beta, s.mean, s.kappa / critical, s.free_energy]);
        }
    }
    let mut star = table(&["d", "beta_star"]);
    for d in [2usize, 3, 4, 8, 16, 64] {
        star.rows.push(vec![d as f64, crate::theory::noise::beta_star(d)?]);
    }
    Ok(vec![("branches".into(), branches), ("particles".into(), sampled), ("star".into(), star)])
}
