//! Shrinking of a counterexample: fewer dimensions, fewer tokens, rounder numbers.

use super::TimeLimit;
use super::result::objective;
use crate::error::Result;
use crate::theorem::tape::round_to_digits;
use crate::theorem::{Case, Claim, Context, Method, Region, Tape, TrialResult, run_trial};

/// Shrinks a failing trial: lowers the dimension, removes tokens, makes the masses equal and rounds
/// beta and the draws. A step is kept if the claim still fails. No step is tried after the time
/// limit.
///
/// **Errors** as [`run_trial`].
pub fn shrink(
    claim: &Claim,
    region: &Region,
    found: &TrialResult,
    seed: u64,
    time: &TimeLimit,
) -> Result<TrialResult> {
    let margin = objective(found);
    let if_it_fails = |case: Case, tape: Tape| -> Result<Option<TrialResult>> {
        if !region.admits(&claim.domain, &case) || !(time.keep_going)(0, Some(margin)) {
            return Ok(None);
        }
        let context = Context::replay(tape, seed, &["shrink", claim.name], Method::default())
            .with_stop(&time.stop);
        let result = run_trial(claim, &case, context)?;
        Ok(result.failed().then_some(result))
    };
    let mut best = if_it_fails(found.case, found.tape.clone())?.unwrap_or_else(|| found.clone());
    for d in 2..best.case.d {
        if let Some(smaller) =
            if_it_fails(Case { d, ..best.case }, best.tape.with_dimension(best.case.d, d))?
        {
            best = smaller;
            break;
        }
    }
    // Removes one token after the other.
    let mut i = 0;
    while i < best.case.n && best.case.n > 1 {
        match if_it_fails(Case { n: best.case.n - 1, ..best.case }, best.tape.without_token(i))? {
            Some(smaller) => best = smaller,
            None => i += 1,
        }
    }
    if let Some(equal) = if_it_fails(best.case, best.tape.with_equal_masses())? {
        best = equal;
    }
    for digits in [1, 2, 3, 4] {
        let case = Case { beta: round_to_digits(best.case.beta, digits), ..best.case };
        if let Some(rounder) = if_it_fails(case, best.tape.clone())? {
            best = rounder;
            break;
        }
    }
    for digits in [1, 2, 3, 4] {
        let Some(tape) = best.tape.rounded(digits) else { continue };
        if let Some(rounder) = if_it_fails(best.case, tape)? {
            best = rounder;
            break;
        }
    }
    Ok(best)
}
