//! One trial of a claim, with everything that it drew and used.

use super::context::{Evidence, Used};
use super::{Case, Claim, Context, Finding, Kind, Tape};
use crate::error::{Error, Result};

/// The result of one trial.
#[derive(Clone, Debug)]
pub struct TrialResult {
    /// The case: n, d, beta, dynamics, law.
    pub case: Case,
    /// The draws.
    pub tape: Tape,
    /// The finding.
    pub finding: Finding,
    /// The numerical methods that the finding depends on.
    pub used: Used,
    /// The statements that interval arithmetic may certify.
    pub evidence: Evidence,
}

impl TrialResult {
    /// True if the claim failed by more than the error.
    pub fn failed(&self) -> bool {
        match &self.finding {
            Finding::Margin(m) => m.failed(),
            Finding::Answer(yes) => !yes,
            _ => false,
        }
    }
}

/// Runs one trial. An integration that stops early and a margin that is not finite become
/// [`Finding::Unfinished`]; they do not end the check.
///
/// **Errors** A trial that cannot be set up, or whose finding has another kind than the claim (both
/// are defects of the claim).
pub fn run_trial(claim: &Claim, case: &Case, mut context: Context) -> Result<TrialResult> {
    let finding = failures_as_findings((claim.trial)(case, &mut context))?;
    if matches!(finding, Finding::Margin(_)) && (claim.kind.is_share() || claim.kind == Kind::Exact)
    {
        return Err(Error::parameter(
            "claim",
            format!("{}: {finding:?}", claim.name),
            format!("a finding of the kind {}", claim.kind),
        ));
    }
    let (tape, used, evidence) = context.into_parts();
    Ok(TrialResult { case: *case, tape, finding, used, evidence })
}

/// Turns numerical errors and margins that are not finite into [`Finding::Unfinished`], with the
/// numbers that are NaN or infinite.
pub(super) fn failures_as_findings(result: Result<Finding>) -> Result<Finding> {
    match result {
        Err(Error::Numerical { what }) => Ok(Finding::Unfinished(what)),
        Ok(Finding::Margin(m)) => {
            Ok(m.not_finite().map_or(Finding::Margin(m), Finding::Unfinished))
        }
        other => other,
    }
}
