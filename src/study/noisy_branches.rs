//! Stationary measures of noisy USA on the circle: the branch that leaves the uniform measure, below and above `beta_*`.

use super::{Given, Parameter, Part, Study, Tables, table};
use crate::continuity::stationary::branch;
use crate::error::Result;
use crate::theory::noise::threshold;

/// Tables: branches, star.
pub static ENTRY: Study = Study {
    name: "noisy-branches",
    title: "Stationary measures of noisy USA: continuous and discontinuous transition",
    citation: "Mun, Rosenzweig, arXiv:2606.05140 (abstract); branches computed by a fixed point at given mean",
    parts: &[&PART],
};

/// All of it.
pub static PART: Part = Part { parameters: &[Parameter::real("beta", &BETAS, (0.1, 8.0), "inverse temperatures, one branch each")], run };

/// Inverse temperatures drawn.
pub const BETAS: [f64; 4] = [1.0, 2.0, 3.0, 4.0];

/// Branches are followed to this mean.
pub const LARGEST_MEAN: f64 = 0.9;

fn run(values: &Given) -> Result<Tables> {
    let mut branches = table(&["beta", "mean", "kappa_over_critical", "free_energy"]);
    for &beta in values.list("beta")? {
        let critical = threshold(2, 1, beta)?;
        for k in 1..=60 {
            let s = branch(beta, LARGEST_MEAN * f64::from(k) / 60.0)?;
            branches.rows.push(vec![beta, s.mean, s.kappa / critical, s.free_energy]);
        }
    }
    let mut star = table(&["d", "beta_star"]);
    for d in [2usize, 3, 4, 8, 16, 64] {
        star.rows.push(vec![d as f64, crate::theory::noise::beta_star(d)?]);
    }
    Ok(vec![("branches".into(), branches), ("star".into(), star)])
}
