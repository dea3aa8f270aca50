use super::{Claim, Context, Expected, Finding, Margin, Record, Verdict};
use crate::error::{Error, Result};
use crate::num::{stats::failure_bound, stream::Stream};
use rayon::prelude::*;

/// How much to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A minute for all claims.
    Quick,
    /// The full default grids.
    Standard,
}

/// Tolerance of integrations inside trials; refined by 100 to confirm.
const RTOL: f64 = 1e-9;
/// Confidence of one-sided bounds.
const CONFIDENCE: f64 = 0.999;
/// Repetitions of a negative control; all must be violated.
const CONTROLS: usize = 3;

/// Runs a claim: all trials in parallel, then the three closest again at a hundredth of the tolerance.
///
/// **Errors** only if a trial cannot be set up (a defect of the claim); honest failures are findings.
pub fn check(claim: &Claim, effort: Effort, seed: u64) -> Result<Record> {
    let (cases, per_case) = match effort {
        Effort::Quick => (&claim.cases[..claim.quick.min(claim.cases.len())], claim.trials.0),
        Effort::Standard => (claim.cases, claim.trials.1),
    };
    let jobs: Vec<(usize, usize)> = (0..cases.len()).flat_map(|c| (0..per_case).map(move |t| (c, t))).collect();
    let run = |&(c, t): &(usize, usize), rtol: f64| -> Result<Finding> {
        if !(claim.applies)(&cases[c]) {
            // A grid that leaves the hypotheses is a defect of the claim, not a miss of the draw.
            let what = format!("{}: the case {:?} does not meet the hypotheses", claim.name, cases[c]);
            return Err(Error::parameter("claim", what, claim.hypotheses));
        }
        let stream = Stream::new(seed, &["claim", claim.name, &c.to_string(), &t.to_string()]);
        unfinished((claim.trial)(&cases[c], &mut Context { stream, rtol }))
    };
    let findings: Vec<Finding> = jobs.par_iter().map(|job| run(job, RTOL)).collect::<Result<_>>()?;
    let mut record = Record::new(claim.name, seed, control_fails(claim, seed)?);
    let mut margins: Vec<(usize, Margin)> = Vec::new();
    // Draws that missed the hypotheses are no attempts; trials that did not finish are.
    let attempted: Vec<bool> = findings.iter().map(|f| !matches!(f, Finding::Missed)).collect();
    for (k, finding) in findings.into_iter().enumerate() {
        match finding {
            Finding::Margin(m) if m.value.is_finite() => margins.push((k, m)),
            Finding::Margin(_) => note_unfinished(&mut record, "a margin is not finite"),
            Finding::Missed => record.missed += 1,
            Finding::Unfinished(why) => note_unfinished(&mut record, &why),
        }
    }
    record.trials = margins.len();
    record.margins = margins.iter().map(|(_, m)| m.value).collect();
    let refined = refine(&mut margins, |k| run(&jobs[k], RTOL * 0.01))?;
    refined.unfinished.iter().for_each(|why| note_unfinished(&mut record, why));
    record.held = margins.iter().filter(|(_, m)| m.value > m.error()).count();
    // Per case: pooling different n, d and beta would be a statement about none of them.
    let per_case = |c: usize| margins.iter().filter(|(k, _)| jobs[*k].0 == c).collect::<Vec<_>>();
    let empty_case = (0..cases.len()).any(|c| per_case(c).is_empty());
    if claim.almost_sure && record.trials > 0 {
        let bound = |c: usize| {
            let attempts = findings_of(&attempted, &jobs, c);
            let held = per_case(c).iter().filter(|(_, m)| m.value > m.error()).count();
            failure_bound(attempts - held, attempts.max(1), CONFIDENCE)
        };
        record.exception_bound = Some((0..cases.len()).map(bound).fold(0.0, f64::max));
    }
    if let Some((k, margin)) = margins.iter().min_by(|a, b| (a.1.value - a.1.error()).total_cmp(&(b.1.value - b.1.error()))) {
        record.margin = Some(*margin);
        record.worst = Some((cases[jobs[*k].0], jobs[*k].1));
    }
    judge(&mut record, claim, refined.violated, empty_case);
    Ok(record)
}

/// The verdict from the booked trials.
fn judge(record: &mut Record, claim: &Claim, confirmed_violation: bool, empty_case: bool) {
    record.verdict = if record.trials == 0 && record.unfinished.0 == 0 {
        Verdict::HypothesesNeverMet
    } else if confirmed_violation {
        Verdict::Violated
    } else if record.held == record.trials && record.unfinished.0 == 0 && !empty_case && record.control_failed {
        Verdict::Supported
    } else {
        Verdict::Inconclusive
    };
    record.as_expected = match claim.expected {
        Expected::Holds => record.verdict == Verdict::Supported,
        Expected::Violated => record.verdict == Verdict::Violated && record.control_failed,
    };
}

fn note_unfinished(record: &mut Record, why: &str) {
    record.unfinished.0 += 1;
    if record.unfinished.1.is_empty() {
        record.unfinished.1 = why.into();
    }
}

/// Number of attempts of a case.
fn findings_of(attempted: &[bool], jobs: &[(usize, usize)], case: usize) -> usize {
    attempted.iter().zip(jobs).filter(|(a, j)| **a && j.0 == case).count()
}

/// A run that stopped early is a finding, not a failure of the check.
fn unfinished(result: Result<Finding>) -> Result<Finding> {
    match result {
        Err(Error::Numerical { what }) => Ok(Finding::Unfinished(what)),
        other => other,
    }
}

/// What the repetition of the closest trials found.
struct Refined {
    violated: bool,
    unfinished: Vec<String>,
}

/// Repeats the three trials nearest to the threshold at a hundredth of the tolerance: books the change as integrator error, and tells whether a
/// violation was confirmed and which repetitions did not finish.
fn refine(margins: &mut [(usize, Margin)], run: impl Fn(usize) -> Result<Finding>) -> Result<Refined> {
    let mut order: Vec<usize> = (0..margins.len()).collect();
    order.sort_by(|&a, &b| margins[a].1.value.total_cmp(&margins[b].1.value));
    let mut refined = Refined { violated: false, unfinished: Vec::new() };
    for &slot in order.iter().take(3) {
        let (k, first) = margins[slot];
        match run(k)? {
            Finding::Margin(second) if second.value.is_finite() => {
                let integrator = 2.0 * (first.value - second.value).abs();
                margins[slot].1 = Margin { integrator, ..second };
                refined.violated |= margins[slot].1.value < -margins[slot].1.error();
            }
            Finding::Margin(_) | Finding::Missed => {
                refined.unfinished.push("the repetition at a hundredth of the tolerance has no margin".into())
            }
            Finding::Unfinished(why) => refined.unfinished.push(why),
        }
    }
    Ok(refined)
}

fn control_fails(claim: &Claim, seed: u64) -> Result<bool> {
    for k in 0..CONTROLS {
        let stream = Stream::new(seed, &["control", claim.name, &k.to_string()]);
        match unfinished((claim.control.trial)(&mut Context { stream, rtol: RTOL }))? {
            Finding::Margin(m) if m.value < -m.error() => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The exit code of a set of records: 2 when a claim that should hold is violated, 3 when any is inconclusive or vacuous, else 0.
pub fn worst(records: &[Record]) -> i32 {
    let should_hold = |r: &&Record| super::find(r.name).is_ok_and(|c| c.expected == Expected::Holds);
    if records.iter().filter(should_hold).any(|r| r.verdict == Verdict::Violated) {
        2
    } else if records.iter().any(|r| !r.as_expected) {
        3
    } else {
        0
    }
}
