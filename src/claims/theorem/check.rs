//! Checks: the trials of a claim, its control, the search for and confirmation of violations, and
//! the verdict.

use super::hunt::{self, HuntResult};
use super::trial::failures_as_findings;
use super::{
    Case, Claim, Confirmation, Context, DrawnRanges, Finding, Kind, Margin, Method, Record, Region,
    SearchSummary, Status, TrialResult, Verdict, confirm, resolving_power::resolving_power,
    run_trial,
};
use crate::error::Result;
use crate::num::stats::{failure_bound, nan_max, nan_min};
use crate::num::stream::Stream;
use crate::proofs::trajectory::{Neighbourhood, prove_with_budget};
use rayon::prelude::*;

/// The budget of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// All claims within a minute.
    Quick,
    /// More draws and longer searches.
    Standard,
    /// As standard, with this many draws.
    Draws(usize),
}

/// Confidence of the one-sided bounds.
const CONFIDENCE: f64 = 0.999;
/// Repetitions of a control; all must come out as they must.
const CONTROLS: usize = 3;
/// Largest number of draws of a control, including those that miss the hypotheses.
const CONTROL_DRAWS: usize = 12;
/// A claim with a smallest margin below this is supported only after a search for a violation.
const THIN: f64 = 0.1;
/// Number of trials with the smallest margins that are refined, confirmed, and used for the
/// resolving power.
const WORST_TRIALS: usize = 3;

impl Effort {
    fn searches(self) -> u64 {
        match self {
            Self::Quick => 48,
            Self::Standard | Self::Draws(_) => 1000,
        }
    }

    /// Units of work for the proof of one start. All proofs of a quick check take 4 s.
    fn proof(self) -> f64 {
        match self {
            Self::Quick => 5e4,
            Self::Standard | Self::Draws(_) => 1e6,
        }
    }

    fn draws(self, claim: &Claim) -> usize {
        match self {
            Self::Quick => claim.trials.0,
            Self::Standard => claim.trials.1,
            Self::Draws(n) => n,
        }
    }
}

/// Checks a claim on its whole range: at the ends of the ranges and at random cases.
///
/// **Errors** if a trial cannot be set up (a defect of the claim). Numerical failures are findings.
pub fn check(claim: &Claim, effort: Effort, seed: u64) -> Result<Record> {
    let cases =
        claim.domain.cases(effort.draws(claim), &mut Stream::new(seed, &["cases", claim.name]));
    run(claim, &Region::default(), &cases, effort, seed)
}

/// Checks a claim at given cases of a region, `trials` times each. Searches for a violation stay
/// inside the region. There a false claim may hold: its verdict is then as expected, too.
///
/// **Errors** as [`check`].
pub fn sweep(
    claim: &Claim,
    region: &Region,
    cases: &[Case],
    trials: usize,
    seed: u64,
) -> Result<Record> {
    let repeated: Vec<Case> = cases.iter().flat_map(|c| std::iter::repeat_n(*c, trials)).collect();
    run(claim, region, &repeated, Effort::Standard, seed)
}

fn run(
    claim: &Claim,
    region: &Region,
    cases: &[Case],
    effort: Effort,
    seed: u64,
) -> Result<Record> {
    let trial = |(k, case): (usize, &Case)| {
        run_trial(
            claim,
            case,
            Context::fresh(seed, &["claim", claim.name, &k.to_string()], Method::default()),
        )
    };
    let mut results: Vec<TrialResult> =
        cases.par_iter().enumerate().map(trial).collect::<Result<_>>()?;
    let mut record = Record::new(claim, seed, control_is_as_it_must_be(claim, seed)?);
    refine(claim, &mut results, &mut record, seed)?;
    summarise(&results, &mut record);
    record.certified = proved_starts(&results, effort)?;
    let violation = find_violation(claim, region, &results, &mut record, effort, seed)?;
    let worst: Vec<&TrialResult> = worst_first(&results)
        .into_iter()
        .take(if effort == Effort::Quick { 1 } else { WORST_TRIALS })
        .map(|k| &results[k])
        .collect();
    if violation.is_none() && record.trials > 0 && !claim.status.expects_violation() {
        record.power = resolving_power(claim, &worst, seed)?;
    }
    judge(claim, region, &mut record, violation)?;
    if let Some(part) = worst.iter().find_map(|t| t.evidence.failed_part) {
        let known = if record.reason.is_empty() { "" } else { "; " };
        record.reason = format!("its part `{part}` failed{known}{}", record.reason);
    }
    Ok(record)
}

/// Tries to prove that the starts converge to one point. Returns the number of proofs and of
/// starts.
fn proved_starts(results: &[TrialResult], effort: Effort) -> Result<Option<(usize, usize)>> {
    let starts: Vec<_> = results
        .iter()
        .filter_map(|a| a.evidence.start.as_ref().map(|s| (s, a.evidence.other_scores)))
        .collect();
    // A proof without integration steps is the cone lemma, which holds for all scores.
    let prove = |(start, other_scores): &(&Neighbourhood, bool)| -> Result<bool> {
        Ok(prove_with_budget(start, effort.proof())?
            .is_ok_and(|proof| proof.steps() == 0 || !other_scores))
    };
    let proved: Vec<bool> = starts.par_iter().map(prove).collect::<Result<_>>()?;
    Ok((!starts.is_empty()).then_some((proved.iter().filter(|p| **p).count(), starts.len())))
}

/// Indices of the trials with a margin or an answer, the worst first.
fn worst_first(results: &[TrialResult]) -> Vec<usize> {
    let value = |k: usize| match &results[k].finding {
        Finding::Margin(m) => Some(m.value - m.error()),
        Finding::Answer(yes) => Some(f64::from(u8::from(*yes))),
        _ => None,
    };
    let mut out: Vec<(usize, f64)> =
        (0..results.len()).filter_map(|k| Some((k, value(k)?))).collect();
    out.sort_by(|a, b| a.1.total_cmp(&b.1));
    out.into_iter().map(|(k, _)| k).collect()
}

/// Repeats the worst trials that integrate at a hundredth of the tolerance and takes the change as
/// their integration error. The other trials get the largest such error, and are repeated if it
/// could change the outcome.
fn refine(
    claim: &Claim,
    results: &mut [TrialResult],
    record: &mut Record,
    seed: u64,
) -> Result<()> {
    let mut largest = 0.0f64;
    let integrates = |a: &TrialResult| a.used.tolerance && matches!(a.finding, Finding::Margin(_));
    let queue: Vec<usize> =
        worst_first(results).into_iter().filter(|&k| integrates(&results[k])).collect();
    for (rank, k) in queue.into_iter().enumerate() {
        let Finding::Margin(first) = results[k].finding else { continue };
        if rank >= WORST_TRIALS && first.value - first.error() > 2.0 * largest {
            results[k].finding = Finding::Margin(Margin { integrator: largest, ..first });
            continue;
        }
        let method = Method { rtol: 0.01 * Method::default().rtol, ..Method::default() };
        let context = Context::replay(
            results[k].tape.clone(),
            seed,
            &["claim", claim.name, &k.to_string()],
            method,
        );
        match run_trial(claim, &results[k].case, context)?.finding {
            Finding::Margin(second) => {
                let integrator = 2.0 * (first.value - second.value).abs();
                largest = nan_max(largest, integrator);
                results[k].finding = Finding::Margin(Margin { integrator, ..second });
            }
            Finding::Unfinished(why) => {
                record.unfinished.1 = format!("at a hundredth of the tolerance: {why}");
                results[k].finding = Finding::Unfinished(record.unfinished.1.clone());
            }
            _ => {
                results[k].finding = Finding::Unfinished(
                    "at a hundredth of the tolerance: the hypotheses are missed".into(),
                )
            }
        }
    }
    Ok(())
}

/// Enters the findings into the record.
fn summarise(results: &[TrialResult], record: &mut Record) {
    record.unfinished = (0, String::new());
    record.drawn = DrawnRanges::of(results.iter().map(|a| &a.case));
    for a in results {
        match &a.finding {
            Finding::Margin(m) => {
                record.trials += 1;
                record.held += usize::from(m.held());
                record.margins.push(m.value);
                record.cases.push(a.case);
                record.slack = match (record.slack, m.slack) {
                    (Some(a), Some(b)) => Some(nan_min(a, b)),
                    (a, b) => a.or(b),
                };
            }
            Finding::Answer(yes) => {
                record.trials += 1;
                record.held += usize::from(*yes);
                record.margins.push(if *yes { 1.0 } else { -1.0 });
                record.cases.push(a.case);
            }
            Finding::HypothesesMissed => record.missed += 1,
            Finding::Unfinished(why) => {
                record.unfinished.0 += 1;
                if record.unfinished.1.is_empty() {
                    record.unfinished.1.clone_from(why);
                }
            }
        }
    }
    if let Some(&k) = worst_first(results).first() {
        record.worst = Some((results[k].case, k));
        record.margin = if let Finding::Margin(m) = results[k].finding { Some(m) } else { None };
    }
    judge_share(record);
}

/// For shares: enters the Clopper-Pearson bound and the distance of the share to its level.
fn judge_share(record: &mut Record) {
    let exceptions = match record.kind {
        Kind::Share(level) => 1.0 - level,
        Kind::Every(exceptions) => exceptions,
        _ => return,
    };
    let attempts = record.trials + record.unfinished.0;
    if attempts == 0 {
        return;
    }
    let failures = attempts - record.held;
    let rate = failures as f64 / attempts as f64;
    let upper = failure_bound(failures, attempts, CONFIDENCE);
    let lower = 1.0 - failure_bound(attempts - failures, attempts, CONFIDENCE);
    record.bound = Some(upper);
    let value = exceptions - rate;
    let sampling = if value >= 0.0 { upper - rate } else { rate - lower };
    record.margin = Some(Margin { value, sampling, ..Margin::default() });
}

/// A violation, with the result of its confirmation.
struct Violation {
    confirmation: Confirmation,
    searched: bool,
}

/// Looks for a violation among the trials. If there is none, it searches around the worst trials if
/// the margin is thin, the claim is open, or a violation is expected. The search stays inside the
/// region.
fn find_violation(
    claim: &Claim,
    region: &Region,
    results: &[TrialResult],
    record: &mut Record,
    effort: Effort,
    seed: u64,
) -> Result<Option<Violation>> {
    if let Kind::Share(_) = claim.kind {
        return share_below_level(claim, results, record, seed);
    }
    let mut last = None;
    for k in worst_first(results).into_iter().take(WORST_TRIALS).filter(|&k| results[k].failed()) {
        let confirmation = confirm(claim, &results[k], seed)?;
        if confirmation.holds() {
            return Ok(Some(Violation { confirmation, searched: false }));
        }
        last = Some(Violation { confirmation, searched: false });
    }
    let thin = record.margin.is_some_and(|m| m.value < THIN);
    let numeric = matches!(claim.kind, Kind::Identity | Kind::Inequality);
    // A false claim is searched, too: a violation may be near a draw that does not show it.
    let search = thin || claim.status == Status::Open || claim.status.expects_violation();
    if last.is_some() || !numeric || record.trials == 0 || !search {
        return Ok(last);
    }
    let starts: Vec<TrialResult> =
        worst_first(results).into_iter().take(2).map(|k| results[k].clone()).collect();
    let HuntResult { evaluations, best, .. } =
        hunt::search_around(claim, region, &starts, effort.searches(), seed)?;
    if let Some(best) = best {
        if let Finding::Margin(m) = best.finding {
            record.searched = Some(SearchSummary { evaluations, best: m.value });
            if m.value < record.margin.map_or(f64::INFINITY, |m| m.value) {
                record.margin = Some(m);
                record.worst = Some((best.case, results.len()));
                record.slack = m.slack.or(record.slack);
            }
        }
        if best.failed() {
            return Ok(Some(Violation {
                confirmation: confirm(claim, &best, seed)?,
                searched: true,
            }));
        }
    }
    Ok(None)
}

/// Repeats a share below its level with another seed for every draw.
fn share_below_level(
    claim: &Claim,
    results: &[TrialResult],
    record: &Record,
    seed: u64,
) -> Result<Option<Violation>> {
    if !record.margin.is_some_and(|m| m.failed()) {
        return Ok(None);
    }
    let trial = |(k, a): (usize, &TrialResult)| {
        let names = ["claim", claim.name, &k.to_string()];
        run_trial(claim, &a.case, Context::fresh(seed.wrapping_add(1), &names, Method::default()))
    };
    let fresh: Vec<TrialResult> =
        results.par_iter().enumerate().map(trial).collect::<Result<_>>()?;
    let mut repetition = Record::new(claim, seed, true);
    summarise(&fresh, &mut repetition);
    let mut confirmation = Confirmation::default();
    confirmation.add("another seed of all draws", repetition.margin.is_some_and(|m| m.failed()));
    Ok(Some(Violation { confirmation, searched: false }))
}

/// Decides the verdict.
fn judge(
    claim: &Claim,
    region: &Region,
    record: &mut Record,
    violation: Option<Violation>,
) -> Result<()> {
    let mut reasons = Vec::new();
    let confirmed = violation.as_ref().is_some_and(|v| v.confirmation.holds());
    if let Some(v) = &violation {
        record.confirmed.clone_from(&v.confirmation.confirmed_by);
        if v.searched {
            record.confirmed.push("found by a search");
        }
        if !confirmed {
            reasons.push(format!(
                "a violation was not confirmed by {}",
                v.confirmation.not_found_by.join(", ")
            ));
        }
    }
    if record.unfinished.0 > 0 {
        reasons.push(format!(
            "{} trials did not finish: {}",
            record.unfinished.0, record.unfinished.1
        ));
    }
    if record.missed > record.trials + record.unfinished.0 {
        reasons.push(format!(
            "{} of {} draws missed the hypotheses",
            record.missed,
            record.missed + record.trials
        ));
    }
    let enough = if claim.kind.is_share() {
        record.margin.is_some_and(|m| m.held())
    } else {
        record.held == record.trials
    };
    if !enough && !confirmed {
        reasons.push(match record.bound {
            Some(bound) => format!(
                "{} of {} held, which bounds the share of exceptions only by {bound:.2}",
                record.held, record.trials
            ),
            None => format!(
                "{} of {} margins do not exceed their error",
                record.trials - record.held,
                record.trials
            ),
        });
    }
    if !record.control_ok {
        reasons.push("the control did not have the expected result".into());
    }
    record.verdict = if record.trials == 0 && record.unfinished.0 == 0 {
        Verdict::HypothesesNeverMet
    } else if confirmed {
        Verdict::Violated
    } else if !reasons.is_empty() {
        Verdict::Inconclusive
    } else if claim.proof.as_ref().filter(|p| p.whole).map_or(Ok(false), |p| (p.holds)())? {
        Verdict::Certified
    } else {
        Verdict::Supported
    };
    record.reason = reasons.join("; ");
    let holds = matches!(record.verdict, Verdict::Supported | Verdict::Certified);
    record.as_expected = match claim.status {
        // On a part of its range a false claim may hold.
        status if status.expects_violation() => {
            (confirmed || holds && !region.is_whole()) && record.control_ok
        }
        // An unconfirmed violation of an open claim may be a discovery.
        Status::Open => violation.is_none() && record.control_ok && record.trials > 0,
        _ => holds,
    };
    Ok(())
}

/// True if all repetitions of the control come out as they must: violated for a claim that should
/// hold, held for a claim that is false. A draw that misses the hypotheses is replaced by another
/// one.
fn control_is_as_it_must_be(claim: &Claim, seed: u64) -> Result<bool> {
    let mut repetitions = 0;
    for k in 0..CONTROL_DRAWS {
        let mut context =
            Context::fresh(seed, &["control", claim.name, &k.to_string()], Method::default());
        let as_it_must = match failures_as_findings((claim.control.trial)(&mut context))? {
            Finding::HypothesesMissed => continue,
            Finding::Margin(m) if claim.status.expects_violation() => m.held(),
            Finding::Margin(m) => m.failed(),
            Finding::Answer(yes) => yes == claim.status.expects_violation(),
            Finding::Unfinished(_) => false,
        };
        repetitions += 1;
        if !as_it_must || repetitions == CONTROLS {
            return Ok(as_it_must);
        }
    }
    Ok(false)
}

/// The exit code of a set of records: 2 if a theorem or a correction is violated, 3 if another
/// verdict is not the expected one, and 0 otherwise. A violated open claim is a discovery, not a
/// failure.
pub fn exit_code(records: &[Record]) -> i32 {
    exit_code_of(records.iter().map(|r| (r.status, r.verdict == Verdict::Violated, r.as_expected)))
}

/// The exit code for a list of (status, is violated, verdict is the expected one).
pub fn exit_code_of(verdicts: impl Iterator<Item = (Status, bool, bool)> + Clone) -> i32 {
    if verdicts.clone().any(|(status, violated, _)| violated && status.must_hold()) {
        2
    } else if verdicts
        .clone()
        .any(|(status, violated, expected)| !(expected || violated && status == Status::Open))
    {
        3
    } else {
        0
    }
}
