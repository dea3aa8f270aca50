//! A pathwise bound of modes by samples that is false.

use super::{Case, Claim, Control, Expected, Finding, always};
use crate::clusters::modes;
use crate::error::Result;

/// 2412.09080, the scale-space lemma in its pathwise form.
pub static ENTRY: Claim = Claim {
    name: "mode-samples-printed",
    title: "Modes in (a, inf) are at most the samples in [a, inf) (as printed)",
    statement: "For every sample, every beta and every a: the number of modes in (a, inf) is at most the number of samples in [a, inf).",
    hypotheses: "none",
    applies: always,
    citation: "arXiv:2412.09080, scale-space lemma (only the bound in expectation is right)",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(2, 2, 2.0, "sa")],
    quick: 1,
    trials: (1, 1),
    trial: |case, _| excess(&[0.0, 2.0], case.beta),
    control: Control { what: "samples 0 and 3", trial: |_| excess(&[0.0, 3.0], 2.0) },
};

/// Samples minus modes to the right of a point just below the first mode.
fn excess(samples: &[f64], beta: f64) -> Result<Finding> {
    let found = modes::line(samples, beta)?;
    let Ok(locations) = found.locations() else {
        return Ok(Finding::Unfinished("a count could not be proved".into()));
    };
    let a = locations[0] - 1e-6;
    let right = samples.iter().filter(|x| **x >= a).count() as f64;
    Ok(Finding::exact(right - locations.len() as f64))
}
