//! Confirmation of a violation by independent methods. A repetition that must give the same number
//! confirms nothing.

use super::context::RTOL;
use super::{Claim, Context, Kind, Method, Tape, TrialResult, run_trial};
use crate::error::Result;
use crate::num::stream::Stream;
use std::fmt;

/// The results of all repetitions of a violation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confirmation {
    /// Methods that found the violation again.
    pub confirmed_by: Vec<&'static str>,
    /// Methods that did not.
    pub not_found_by: Vec<&'static str>,
}

impl Confirmation {
    /// True if there was a repetition, and all of them found the violation again.
    pub fn holds(&self) -> bool {
        !self.confirmed_by.is_empty() && self.not_found_by.is_empty()
    }

    /// Adds one repetition. A method with several repetitions confirms only if all of them find the
    /// violation.
    #[doc(hidden)]
    pub fn add(&mut self, method: &'static str, found: bool) {
        if !found {
            self.confirmed_by.retain(|m| *m != method);
        }
        if !self.not_found_by.contains(&method) && !self.confirmed_by.contains(&method) {
            let list = if found { &mut self.confirmed_by } else { &mut self.not_found_by };
            list.push(method);
        }
    }
}

impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (by, against) = (self.confirmed_by.join(", "), self.not_found_by.join(", "));
        match (self.holds(), by.is_empty(), against.is_empty()) {
            (true, ..) => write!(f, "confirmed by {by}"),
            (_, true, true) => f.write_str("NOT confirmed: there was no repetition"),
            (_, true, _) => write!(f, "NOT confirmed: not found again by {against}"),
            _ => write!(f, "NOT confirmed: found again by {by}, not by {against}"),
        }
    }
}

/// Number of repetitions with inputs changed by an ulp.
const JITTERS: u64 = 3;

/// Repeats a failed trial with every method exchanged that it used: a hundredth of the tolerance
/// and the second integrator for trajectories, the double-double definition for velocities, another
/// seed for the randomness of the method, and fresh draws for laws. A trial that uses none of these
/// is repeated with the draws and beta changed by an ulp.
///
/// **Errors** as [`run_trial`].
pub fn confirm(claim: &Claim, failed: &TrialResult, seed: u64) -> Result<Confirmation> {
    let used = failed.used;
    let plain = Method::default();
    let mut repetitions: Vec<(&'static str, Method, Option<Tape>, f64)> = Vec::new();
    let same = || Some(failed.tape.clone());
    let beta = failed.case.beta;
    if used.tolerance {
        repetitions.push((
            "a hundredth of the tolerance",
            Method { rtol: RTOL * 0.01, ..plain },
            same(),
            beta,
        ));
    }
    if used.trajectory {
        repetitions.push((
            "the second integrator",
            Method { second_integrator: true, ..plain },
            same(),
            beta,
        ));
    }
    if used.velocity {
        repetitions.push((
            "velocities in double-double",
            Method { double_double: true, ..plain },
            same(),
            beta,
        ));
    }
    if used.method_rng {
        repetitions.push((
            "another seed of the method",
            Method { method_seed: 1, ..plain },
            same(),
            beta,
        ));
    }
    if claim.kind == Kind::Law {
        repetitions.push(("fresh draws", Method { method_seed: 2, ..plain }, None, beta));
    } else if !(used.tolerance || used.velocity || used.method_rng) {
        for k in 0..JITTERS {
            let mut stream = Stream::new(seed, &["jitter", claim.name, &k.to_string()]);
            let moved = beta * (1.0 + f64::EPSILON * (stream.index(3) as f64 - 1.0));
            repetitions.push((
                "inputs moved by an ulp",
                plain,
                Some(failed.tape.jittered(&mut stream)),
                moved,
            ));
        }
    }
    let mut out = Confirmation::default();
    for (name, method, tape, beta) in repetitions {
        let context = match tape {
            Some(tape) => Context::replay(tape, seed, &["confirm", claim.name], method),
            None => Context::fresh(seed.wrapping_add(1), &["fresh", claim.name], method),
        };
        let repetition = run_trial(claim, &super::Case { beta, ..failed.case }, context)?;
        out.add(name, repetition.failed());
    }
    Ok(out)
}
