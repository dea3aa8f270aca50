//! A pathwise bound on modes by samples that is false.

use super::mode_bracket::certified_modes;
use crate::proofs::modes;
use crate::theorem::prelude::*;

/// arXiv:2412.09080, the scale-space lemma in its pathwise form. If two samples are far apart, both
/// modes lie between them; just below the lower mode, two modes and one sample lie to the right.
///
/// # Derivation
///
/// Take the samples 0 and 2 and beta = 2: the derivative
/// `-beta sum (t - x_i) e^{-beta (t - x_i)^2/2}` is positive at 0 and negative at 2, so both modes
/// lie strictly between. For a just below the lower mode and above 0, (a, inf) holds two modes and
/// [a, inf) one sample.
pub static ENTRY: Claim = Claim {
    name: "mode-samples-printed",
    title: "The number of modes in (a, inf) is at most the number of samples in [a, inf) (as \
            printed)",
    then: "For every sample, every beta and every a: the number of modes of sum_i e^{-beta (t - \
           x_i)^2/2} in (a, inf) is at most the number of samples in [a, inf).",
    domain: Domain {
        n: Sizes::Range(1, 12),
        d: Sizes::Unused,
        dynamics: &["sa"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "samples drawn from the normal law; all a at once",
    source: "arXiv:2412.09080, scale-space lemma (only the bound in expectation is right)",
    status: Status::Misprinted,
    correct: "The bound holds in expectation. For single samples it fails: the two modes of two \
               samples lie between them.",
    trials: (300, 1000),
    trial: |case, ctx| everywhere(&ctx.normals(case.n), case.beta),
    control: Control {
        what: "samples 0 and 1 at beta = 2: one mode, between them",
        trial: |_| everywhere(&[0.0, 1.0], 2.0),
    },
    ..Claim::EVERY
};

/// Both numbers change only at modes and samples, so it suffices to test a just below each mode.
fn everywhere(samples: &[f64], beta: f64) -> Result<Finding> {
    let found = certified_modes(modes::line(samples, beta)?)?;
    let samples_from = |a: f64| samples.iter().filter(|x| **x >= a).count();
    Ok(Finding::answer(found.iter().enumerate().all(|(j, a)| samples_from(*a) >= found.len() - j)))
}
