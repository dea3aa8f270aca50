//! Resolving power: how far the stated constant or law may be moved before the check notices.

use super::{Attempt, Claim, Context, Finding, Kind, Method, Power, attempt};
use crate::error::Result;

/// The smallest change looked for.
const LEAST: f64 = 1e-15;
/// Halvings of the exponent: 15 decades to a factor 1.3.
const HALVINGS: usize = 7;

/// Bisects the relative change s of the stated value that makes one of the given trials fail: for an identity or a law both `1 + s` and
/// `1/(1 + s)` must be noticed, for an inequality the strict side. An inequality between numbers that perturbs nothing has its slack.
///
/// **Errors** as [`attempt`].
pub fn power(claim: &Claim, trials: &[&Attempt], seed: u64) -> Result<Power> {
    if claim.perturbed.is_empty() || !trials.iter().any(|t| t.used.stated) {
        return Ok(from_slack(trials));
    }
    let noticed = |factor: f64| -> Result<bool> {
        for t in trials {
            let context = Context::replay(t.tape.clone(), seed, &["power", claim.name], Method::default()).perturbed(factor);
            if attempt(claim, &t.case, context)?.failed() {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let both = |s: f64| -> Result<bool> {
        let up = noticed(1.0 + s)?;
        match claim.kind {
            Kind::Identity | Kind::Law => Ok(up && noticed(1.0 / (1.0 + s))?),
            _ => Ok(up || noticed(1.0 / (1.0 + s))?),
        }
    };
    if !both(1.0)? {
        return Ok(Power::NotTwice);
    }
    let (mut low, mut high) = (LEAST.ln(), 0.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if both(f64::exp(middle))? { high = middle } else { low = middle }
    }
    Ok(Power::Notices(high.exp()))
}

/// A bound that is `1 + s` times what happens is noticed when it is tightened by more than that.
fn from_slack(trials: &[&Attempt]) -> Power {
    let slack = |t: &&Attempt| if let Finding::Margin(m) = &t.finding { m.slack } else { None };
    match trials.iter().filter_map(slack).reduce(f64::min) {
        Some(s) if s < 2.0 => Power::Notices((s - 1.0).max(LEAST)),
        Some(_) => Power::NotTwice,
        None => Power::NotAsked,
    }
}
