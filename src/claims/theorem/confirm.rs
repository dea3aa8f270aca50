//! Confirmation of a violation by something that could have said otherwise. A repetition that must give the same number confirms nothing.

use super::context::RTOL;
use super::{Attempt, Claim, Context, Kind, Method, Tape, attempt};
use crate::error::Result;
use crate::num::stream::Stream;
use std::fmt;

/// What the repetitions of a violation said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confirmation {
    /// Repetitions that found it again.
    pub by: Vec<&'static str>,
    /// Repetitions that did not.
    pub against: Vec<&'static str>,
}

impl Confirmation {
    /// True when every repetition that could be made found the violation again.
    pub fn holds(&self) -> bool {
        !self.by.is_empty() && self.against.is_empty()
    }

    /// One repetition. A way of which several are made is on one side: against, as soon as one of them did not find the violation.
    #[doc(hidden)]
    pub fn note(&mut self, way: &'static str, found: bool) {
        if !found {
            self.by.retain(|w| *w != way);
        }
        if !self.against.contains(&way) && !self.by.contains(&way) {
            let list = if found { &mut self.by } else { &mut self.against };
            list.push(way);
        }
    }
}

impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (by, against) = (self.by.join(", "), self.against.join(", "));
        match (self.holds(), by.is_empty(), against.is_empty()) {
            (true, ..) => write!(f, "confirmed by {by}"),
            (_, true, true) => f.write_str("NOT confirmed: there was no repetition"),
            (_, true, _) => write!(f, "NOT confirmed: not found again by {against}"),
            _ => write!(f, "NOT confirmed: found again by {by}, not by {against}"),
        }
    }
}

/// Repetitions with inputs moved by an ulp.
const JITTERS: u64 = 3;

/// Repeats a failed trial with everything exchanged that it depends on: a hundredth of the tolerance and the second integrator for trajectories,
/// the double-double definition for velocities, another seed for randomness of the method, fresh draws for laws, and for what is
/// computed from the draws alone the draws and beta moved by an ulp.
///
/// **Errors** as [`attempt`].
pub fn confirm(claim: &Claim, failed: &Attempt, seed: u64) -> Result<Confirmation> {
    let used = failed.used;
    let plain = Method::default();
    let mut ways: Vec<(&'static str, Method, Option<Tape>, f64)> = Vec::new();
    let same = || Some(failed.tape.clone());
    let beta = failed.case.beta;
    if used.tolerance {
        ways.push(("a hundredth of the tolerance", Method { rtol: RTOL * 0.01, ..plain }, same(), beta));
    }
    if used.trajectory {
        ways.push(("the second integrator", Method { second: true, ..plain }, same(), beta));
    }
    if used.velocity {
        ways.push(("velocities in double-double", Method { precise: true, ..plain }, same(), beta));
    }
    if used.chance {
        ways.push(("another seed of the method", Method { chance: 1, ..plain }, same(), beta));
    }
    if claim.kind == Kind::Law {
        ways.push(("fresh draws", Method { chance: 2, ..plain }, None, beta));
    } else if !(used.tolerance || used.velocity || used.chance) {
        for k in 0..JITTERS {
            let mut stream = Stream::new(seed, &["jitter", claim.name, &k.to_string()]);
            let moved = beta * (1.0 + f64::EPSILON * (stream.index(3) as f64 - 1.0));
            ways.push(("inputs moved by an ulp", plain, Some(failed.tape.jittered(&mut stream)), moved));
        }
    }
    let mut out = Confirmation::default();
    for (word, method, tape, beta) in ways {
        let context = match tape {
            Some(tape) => Context::replay(tape, seed, &["confirm", claim.name], method),
            None => Context::fresh(seed.wrapping_add(1), &["fresh", claim.name], method),
        };
        let again = attempt(claim, &super::Case { beta, ..failed.case }, context)?;
        out.note(word, again.failed());
    }
    Ok(out)
}
