//! Sixty sentences about attention: what decides them beside theorems.

use crate::theorem::prelude::*;
use crate::theorem::sentences::checks;

/// The sentences are in `statements.toml`, each with its claims and with the names of its checks.
///
/// # Derivation
///
/// Each check is an identity or a bound of a few lines, or a counterexample to a sentence that is
/// false, at tokens, matrices and networks drawn anew; `metastable explain` prints the checks of a
/// sentence, and the file of a check derives what is not obvious.
pub static ENTRY: Claim = Claim {
    name: "sentences",
    title: "Sixty sentences about attention: the identities and counterexamples that decide them",
    then: "All identities and bounds that decide a sentence of the sheet hold, and every sentence \
           that a check refutes has a counterexample.",
    tested: "by running all checks in each trial, with draws of their own; a failure names its \
             check",
    domain: Domain {
        n: Sizes::Range(3, 12),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.05, 20.0),
        draws: "tokens, matrices, networks",
        ..Domain::FREE
    },
    source: "derived",
    trials: (8, 60),
    trial: |case, ctx| {
        for check in &checks::ALL {
            if !check.holds(case, ctx, false)? {
                ctx.failed_part(check.name);
                return Ok(Finding::answer(false));
            }
        }
        Ok(Finding::answer(true))
    },
    no_constant: "each check has a constant of its own, and the control plants an error in each",
    control: Control {
        what: "every check with one error: a wrong factor, or a case that it excludes",
        trial: |ctx| {
            let case = Case::new(8, 4, 1.0, "");
            for check in &checks::ALL {
                if check.holds(&case, ctx, true)? {
                    return Ok(Finding::answer(true));
                }
            }
            Ok(Finding::answer(false))
        },
    },
    ..Claim::EXACT
};
