//! Resolving power: the smallest relative change of the claimed constant that a check detects.

use super::{Claim, Context, Finding, Kind, Method, ResolvingPower, TrialResult, run_trial};
use crate::error::Result;

/// Smallest relative change that is tried.
const UNDERFLOW_EXPONENT: f64 = 1e-15;
/// Bisection steps for the logarithm of the change: they narrow 15 decades to a factor of 1.3.
const BISECTIONS: usize = 7;

/// Bisects for the smallest relative change s of the claimed constant that makes one of the given
/// trials fail. For an identity or a law both `1 + s` and `1/(1 + s)` must make it fail; for an
/// inequality one of them. If the claim has no constant, the slack of its inequality is used.
///
/// **Errors** as [`run_trial`].
pub fn resolving_power(
    claim: &Claim,
    trials: &[&TrialResult],
    seed: u64,
) -> Result<ResolvingPower> {
    if claim.constant.is_empty() || !trials.iter().any(|t| t.used.claimed_constant) {
        return Ok(from_slack(trials));
    }
    let detected = |factor: f64| -> Result<bool> {
        for t in trials {
            let context =
                Context::replay(t.tape.clone(), seed, &["power", claim.name], Method::default())
                    .with_constant_times(factor);
            if run_trial(claim, &t.case, context)?.failed() {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let change_detected = |s: f64| -> Result<bool> {
        let up = detected(1.0 + s)?;
        match claim.kind {
            Kind::Identity | Kind::Law => Ok(up && detected(1.0 / (1.0 + s))?),
            _ => Ok(up || detected(1.0 / (1.0 + s))?),
        }
    };
    if !change_detected(1.0)? {
        return Ok(ResolvingPower::AboveFactorTwo);
    }
    let (mut low, mut high) = (UNDERFLOW_EXPONENT.ln(), 0.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if change_detected(f64::exp(middle))? { high = middle } else { low = middle }
    }
    Ok(ResolvingPower::Resolves(high.exp()))
}

/// A bound that is `1 + s` times the observed value fails once it is tightened by more than s.
fn from_slack(trials: &[&TrialResult]) -> ResolvingPower {
    let slack = |t: &&TrialResult| if let Finding::Margin(m) = &t.finding { m.slack } else { None };
    match trials.iter().filter_map(slack).reduce(f64::min) {
        Some(s) if s < 2.0 => ResolvingPower::Resolves((s - 1.0).max(UNDERFLOW_EXPONENT)),
        Some(_) => ResolvingPower::AboveFactorTwo,
        None => ResolvingPower::NotApplicable,
    }
}
