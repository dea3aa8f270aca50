//! Fewer dimensions, fewer tokens and rounder numbers for what a hunt found.

use super::Timekeeper;
use super::hunted::value;
use crate::error::Result;
use crate::theorem::tape::rounded_to;
use crate::theorem::{Attempt, Case, Claim, Context, Method, Region, Tape, attempt};

/// The smallest failing trial that dropping coordinates and tokens, equal masses and rounding lead to: each step is kept while the claim still
/// fails. No step is tried when the time is over.
///
/// **Errors** as [`attempt`].
pub fn minimised(claim: &Claim, region: &Region, found: &Attempt, seed: u64, time: &Timekeeper) -> Result<Attempt> {
    let margin = value(found);
    let try_one = |case: Case, tape: Tape| -> Result<Option<Attempt>> {
        if !region.admits(&claim.domain, &case) || !(time.go_on)(0, Some(margin)) {
            return Ok(None);
        }
        let context = Context::replay(tape, seed, &["shrink", claim.name], Method::default()).until(&time.stop);
        let again = attempt(claim, &case, context)?;
        Ok(again.failed().then_some(again))
    };
    let mut best = try_one(found.case, found.tape.clone())?.unwrap_or_else(|| found.clone());
    for d in 2..best.case.d {
        if let Some(flatter) = try_one(Case { d, ..best.case }, best.tape.narrowed(best.case.d, d))? {
            best = flatter;
            break;
        }
    }
    // Without one token after the other, as long as one can be spared.
    let mut i = 0;
    while i < best.case.n && best.case.n > 1 {
        match try_one(Case { n: best.case.n - 1, ..best.case }, best.tape.without(i))? {
            Some(smaller) => best = smaller,
            None => i += 1,
        }
    }
    if let Some(equal) = try_one(best.case, best.tape.with_equal_masses())? {
        best = equal;
    }
    for digits in [1, 2, 3, 4] {
        let case = Case { beta: rounded_to(best.case.beta, digits), ..best.case };
        if let Some(rounder) = try_one(case, best.tape.clone())? {
            best = rounder;
            break;
        }
    }
    for digits in [1, 2, 3, 4] {
        let Some(tape) = best.tape.rounded(digits) else { continue };
        if let Some(rounder) = try_one(best.case, tape)? {
            best = rounder;
            break;
        }
    }
    Ok(best)
}
