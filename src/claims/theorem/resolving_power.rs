//! Resolving power: the smallest relative change of the claimed constant that a check detects.

use super::{Claim, Context, Finding, Kind, Method, ResolvingPower, TrialResult, run_trial};
use crate::error::Result;
use crate::num::stats::nan_min;

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
    let replay = |t: &TrialResult, factor: f64| {
        let context =
            Context::replay(t.tape.clone(), seed, &["power", claim.name], Method::default())
                .with_constant_times(factor);
        run_trial(claim, &t.case, context)
    };
    // A trial of a law may take seconds. If the constant only multiplies the claimed number, the
    // outcomes follow from two: with the constant, and with twice the constant.
    let mut laws = Vec::new();
    if claim.kind == Kind::Law {
        for t in trials {
            laws.push(ScaledLaw::new(&replay(t, 1.0)?.finding, &replay(t, 2.0)?.finding));
        }
    }
    let detected = |factor: f64| -> Result<bool> {
        for (k, t) in trials.iter().enumerate() {
            let failed = match laws.get(k) {
                Some(Some(law)) => law.fails(factor),
                _ => replay(t, factor)?.failed(),
            };
            if failed {
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

/// The numbers of a law whose constant multiplies the claimed number and changes nothing else.
struct ScaledLaw {
    measured: f64,
    claimed: f64,
    allowed: f64,
    error: f64,
}

impl ScaledLaw {
    /// From the findings with the constant and with twice the constant; `None` if something else
    /// than the claimed number changed.
    fn new(once: &Finding, twice: &Finding) -> Option<Self> {
        let (Finding::Margin(a), Finding::Margin(b)) = (once, twice) else { return None };
        let ((measured, claimed), (again, doubled)) = (a.compared?, b.compared?);
        let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * (x.abs() + y.abs());
        let allowed = (again - doubled).abs() / (1.0 - b.value);
        let law = Self { measured, claimed, allowed, error: b.evaluation + b.sampling };
        let same = measured.to_bits() == again.to_bits()
            && close(doubled, 2.0 * claimed)
            && close(1.0 - law.value(1.0), 1.0 - a.value)
            && close(a.evaluation + a.sampling, law.error);
        same.then_some(law)
    }

    /// The margin with another constant.
    fn value(&self, factor: f64) -> f64 {
        1.0 - (self.measured - factor * self.claimed).abs() / self.allowed
    }

    fn fails(&self, factor: f64) -> bool {
        self.value(factor) < -self.error
    }
}

/// A bound that is `1 + s` times the observed value fails once it is tightened by more than s.
fn from_slack(trials: &[&TrialResult]) -> ResolvingPower {
    let slack = |t: &&TrialResult| if let Finding::Margin(m) = &t.finding { m.slack } else { None };
    match trials.iter().filter_map(slack).reduce(nan_min) {
        Some(s) if s < 2.0 => ResolvingPower::Resolves((s - 1.0).max(UNDERFLOW_EXPONENT)),
        Some(_) => ResolvingPower::AboveFactorTwo,
        None => ResolvingPower::NotApplicable,
    }
}
