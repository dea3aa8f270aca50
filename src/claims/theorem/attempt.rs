//! One trial, with what it drew and used.

use super::context::{Evidence, Used};
use super::{Case, Claim, Context, Finding, Tape};
use crate::error::{Error, Result};

/// A trial that was run.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Where.
    pub case: Case,
    /// What it drew.
    pub tape: Tape,
    /// What it found.
    pub finding: Finding,
    /// What it depends on.
    pub used: Used,
    /// What it left to enclosures.
    pub evidence: Evidence,
}

impl Attempt {
    /// True when the claim failed beyond the error.
    pub fn failed(&self) -> bool {
        match &self.finding {
            Finding::Margin(m) => m.failed(),
            Finding::Answer(yes) => !yes,
            _ => false,
        }
    }
}

/// Runs one trial; a run that stopped early or a margin that is not finite is a finding, not a failure of the check.
///
/// **Errors** only if the trial cannot be set up, or answers another kind of question than its claim asks (a defect of the claim).
pub fn attempt(claim: &Claim, case: &Case, mut context: Context) -> Result<Attempt> {
    let finding = settled((claim.trial)(case, &mut context))?;
    if matches!(finding, Finding::Margin(_)) && claim.kind.counts() || matches!(finding, Finding::Answer(_)) && !claim.kind.counts() {
        return Err(Error::parameter("claim", format!("{}: {finding:?}", claim.name), format!("a finding of the kind {}", claim.kind)));
    }
    let (tape, used, evidence) = context.into_parts();
    Ok(Attempt { case: *case, tape, finding, used, evidence })
}

/// Numerical failures and margins that are not finite as findings.
pub(super) fn settled(result: Result<Finding>) -> Result<Finding> {
    match result {
        Err(Error::Numerical { what }) => Ok(Finding::Unfinished(what)),
        Ok(Finding::Margin(m)) if !(m.value.is_finite() && m.error().is_finite()) => {
            Ok(Finding::Unfinished("a margin is not finite".into()))
        }
        other => other,
    }
}
