use super::attempt::settled;
use super::hunt::{self, Hunted};
use super::{
    Attempt, Case, Claim, Confirmation, Context, Drawn, Finding, Kind, Margin, Method, Record, Region, Searched, Status, Verdict, attempt,
    confirm, power::power,
};
use crate::error::Result;
use crate::num::{stats::failure_bound, stream::Stream};
use crate::proofs::trajectory::{Neighbourhood, prove_within};
use rayon::prelude::*;

/// How much to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// All claims within a minute.
    Quick,
    /// More draws and longer searches.
    Standard,
    /// As standard, with this many draws.
    Draws(usize),
}

/// Confidence of one-sided bounds.
const CONFIDENCE: f64 = 0.999;
/// Repetitions of a control; all must come out on its side.
const CONTROLS: usize = 3;
/// Draws of a control, with those that miss the hypotheses.
const CONTROL_DRAWS: usize = 12;
/// A margin below this is searched before a claim may be called supported.
const THIN: f64 = 0.1;
/// Closest trials that are repeated, confirmed, perturbed.
const CLOSEST: usize = 3;

impl Effort {
    fn searches(self) -> u64 {
        match self {
            Self::Quick => 48,
            Self::Standard | Self::Draws(_) => 1000,
        }
    }

    /// Units of work for the proof of one trial: those of a quick check take 4 s in all.
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

/// Runs a claim over its whole range: the ends of its ranges and draws from the inside.
///
/// **Errors** only if a trial cannot be set up (a defect of the claim); honest failures are findings.
pub fn check(claim: &Claim, effort: Effort, seed: u64) -> Result<Record> {
    let cases = claim.domain.cases(effort.draws(claim), &mut Stream::new(seed, &["cases", claim.name]));
    run(claim, &cases, effort, seed)
}

/// Runs a claim over given cases, each `trials` times.
///
/// **Errors** as [`check`].
pub fn sweep(claim: &Claim, cases: &[Case], trials: usize, seed: u64) -> Result<Record> {
    let repeated: Vec<Case> = cases.iter().flat_map(|c| std::iter::repeat_n(*c, trials)).collect();
    run(claim, &repeated, Effort::Standard, seed)
}

fn run(claim: &Claim, cases: &[Case], effort: Effort, seed: u64) -> Result<Record> {
    let trial =
        |(k, case): (usize, &Case)| attempt(claim, case, Context::fresh(seed, &["claim", claim.name, &k.to_string()], Method::default()));
    let mut attempts: Vec<Attempt> = cases.par_iter().enumerate().map(trial).collect::<Result<_>>()?;
    let mut record = Record::new(claim, seed, control_is_on_its_side(claim, seed)?);
    refine(claim, &mut attempts, &mut record, seed)?;
    book(&attempts, &mut record);
    record.certified = certified(&attempts, effort)?;
    let violation = violation(claim, &attempts, &mut record, effort, seed)?;
    let closest: Vec<&Attempt> =
        order(&attempts).into_iter().take(if effort == Effort::Quick { 1 } else { CLOSEST }).map(|k| &attempts[k]).collect();
    if violation.is_none() && record.trials > 0 && !claim.status.expects_violation() {
        record.power = power(claim, &closest, seed)?;
    }
    judge(claim, &mut record, violation)?;
    Ok(record)
}

/// Proves what trials say of their starts, as far as the effort goes.
fn certified(attempts: &[Attempt], effort: Effort) -> Result<Option<(usize, usize)>> {
    let starts: Vec<_> = attempts.iter().filter_map(|a| a.evidence.start.as_ref().map(|s| (s, a.evidence.other_scores))).collect();
    // Without a step it is the cone lemma.
    let prove = |(start, other_scores): &(&Neighbourhood, bool)| -> Result<bool> {
        Ok(prove_within(start, effort.proof())?.is_ok_and(|proof| proof.steps() == 0 || !other_scores))
    };
    let proved: Vec<bool> = starts.par_iter().map(prove).collect::<Result<_>>()?;
    Ok((!starts.is_empty()).then_some((proved.iter().filter(|p| **p).count(), starts.len())))
}

/// Indices of the trials that have a margin or an answer, the worst first.
fn order(attempts: &[Attempt]) -> Vec<usize> {
    let value = |k: usize| match &attempts[k].finding {
        Finding::Margin(m) => Some(m.value - m.error()),
        Finding::Answer(yes) => Some(f64::from(u8::from(*yes))),
        _ => None,
    };
    let mut out: Vec<(usize, f64)> = (0..attempts.len()).filter_map(|k| Some((k, value(k)?))).collect();
    out.sort_by(|a, b| a.1.total_cmp(&b.1));
    out.into_iter().map(|(k, _)| k).collect()
}

/// Repeats the closest trials that integrate at a hundredth of the tolerance and books the change as integrator error; the others carry the
/// largest such error, and are repeated too if that could decide.
fn refine(claim: &Claim, attempts: &mut [Attempt], record: &mut Record, seed: u64) -> Result<()> {
    let mut largest = 0.0f64;
    let integrates = |a: &Attempt| a.used.tolerance && matches!(a.finding, Finding::Margin(_));
    let queue: Vec<usize> = order(attempts).into_iter().filter(|&k| integrates(&attempts[k])).collect();
    for (rank, k) in queue.into_iter().enumerate() {
        let Finding::Margin(first) = attempts[k].finding else { continue };
        if rank >= CLOSEST && first.value - first.error() > 2.0 * largest {
            attempts[k].finding = Finding::Margin(Margin { integrator: largest, ..first });
            continue;
        }
        let method = Method { rtol: 0.01 * Method::default().rtol, ..Method::default() };
        let context = Context::replay(attempts[k].tape.clone(), seed, &["claim", claim.name, &k.to_string()], method);
        match attempt(claim, &attempts[k].case, context)?.finding {
            Finding::Margin(second) => {
                let integrator = 2.0 * (first.value - second.value).abs();
                largest = largest.max(integrator);
                attempts[k].finding = Finding::Margin(Margin { integrator, ..second });
            }
            Finding::Unfinished(why) => {
                record.unfinished.1 = format!("at a hundredth of the tolerance: {why}");
                attempts[k].finding = Finding::Unfinished(record.unfinished.1.clone());
            }
            _ => attempts[k].finding = Finding::Unfinished("at a hundredth of the tolerance: the hypotheses are missed".into()),
        }
    }
    Ok(())
}

/// Books margins, answers, misses and ends.
fn book(attempts: &[Attempt], record: &mut Record) {
    record.unfinished = (0, String::new());
    record.drawn = Drawn::of(attempts.iter().map(|a| &a.case));
    for a in attempts {
        match &a.finding {
            Finding::Margin(m) => {
                record.trials += 1;
                record.held += usize::from(m.held());
                record.margins.push(m.value);
                record.cases.push(a.case);
                record.slack = match (record.slack, m.slack) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
            }
            Finding::Answer(yes) => {
                record.trials += 1;
                record.held += usize::from(*yes);
                record.margins.push(if *yes { 1.0 } else { -1.0 });
                record.cases.push(a.case);
            }
            Finding::Missed => record.missed += 1,
            Finding::Unfinished(why) => {
                record.unfinished.0 += 1;
                if record.unfinished.1.is_empty() {
                    record.unfinished.1.clone_from(why);
                }
            }
        }
    }
    if let Some(&k) = order(attempts).first() {
        record.worst = Some((attempts[k].case, k));
        record.margin = if let Finding::Margin(m) = attempts[k].finding { Some(m) } else { None };
    }
    share(record);
}

/// For shares: the Clopper-Pearson bound and the distance of the share to its level.
fn share(record: &mut Record) {
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

/// What was found beyond the threshold.
struct Violation {
    confirmation: Confirmation,
    searched: bool,
}

/// Looks for a violation among the trials; where there is none and the margin is thin or the claim is open, in their neighbourhood.
fn violation(claim: &Claim, attempts: &[Attempt], record: &mut Record, effort: Effort, seed: u64) -> Result<Option<Violation>> {
    if let Kind::Share(_) = claim.kind {
        return below_its_level(claim, attempts, record, seed);
    }
    let mut last = None;
    for k in order(attempts).into_iter().take(CLOSEST).filter(|&k| attempts[k].failed()) {
        let confirmation = confirm(claim, &attempts[k], seed)?;
        if confirmation.holds() {
            return Ok(Some(Violation { confirmation, searched: false }));
        }
        last = Some(Violation { confirmation, searched: false });
    }
    let thin = record.margin.is_some_and(|m| m.value < THIN);
    let numeric = matches!(claim.kind, Kind::Identity | Kind::Inequality);
    // What is false is searched too: a violation that no draw shows may be near.
    let sought = thin || claim.status == Status::Open || claim.status.expects_violation();
    if last.is_some() || !numeric || record.trials == 0 || !sought {
        return Ok(last);
    }
    let starts: Vec<Attempt> = order(attempts).into_iter().take(2).map(|k| attempts[k].clone()).collect();
    let Hunted { evaluations, best, .. } = hunt::around(claim, &Region::default(), &starts, effort.searches(), seed)?;
    if let Some(best) = best {
        if let Finding::Margin(m) = best.finding {
            record.searched = Some(Searched { evaluations, best: m.value });
            if m.value < record.margin.map_or(f64::INFINITY, |m| m.value) {
                record.margin = Some(m);
                record.worst = Some((best.case, attempts.len()));
            }
        }
        if best.failed() {
            return Ok(Some(Violation { confirmation: confirm(claim, &best, seed)?, searched: true }));
        }
    }
    Ok(None)
}

/// A share below its level is looked at again with another seed of every draw.
fn below_its_level(claim: &Claim, attempts: &[Attempt], record: &Record, seed: u64) -> Result<Option<Violation>> {
    if !record.margin.is_some_and(|m| m.failed()) {
        return Ok(None);
    }
    let trial = |(k, a): (usize, &Attempt)| {
        let names = ["claim", claim.name, &k.to_string()];
        attempt(claim, &a.case, Context::fresh(seed.wrapping_add(1), &names, Method::default()))
    };
    let fresh: Vec<Attempt> = attempts.par_iter().enumerate().map(trial).collect::<Result<_>>()?;
    let mut again = Record::new(claim, seed, true);
    book(&fresh, &mut again);
    let mut confirmation = Confirmation::default();
    let list = if again.margin.is_some_and(|m| m.failed()) { &mut confirmation.by } else { &mut confirmation.against };
    list.push("another seed of all draws");
    Ok(Some(Violation { confirmation, searched: false }))
}

/// The verdict from the booked trials.
fn judge(claim: &Claim, record: &mut Record, violation: Option<Violation>) -> Result<()> {
    let mut reasons = Vec::new();
    let confirmed = violation.as_ref().is_some_and(|v| v.confirmation.holds());
    if let Some(v) = &violation {
        record.confirmed.clone_from(&v.confirmation.by);
        if v.searched {
            record.confirmed.push("found by a search");
        }
        if !confirmed {
            reasons.push(format!("a violation was not confirmed by {}", v.confirmation.against.join(", ")));
        }
    }
    if record.unfinished.0 > 0 {
        reasons.push(format!("{} trials did not finish: {}", record.unfinished.0, record.unfinished.1));
    }
    if record.missed > record.trials + record.unfinished.0 {
        reasons.push(format!("{} of {} draws missed the hypotheses", record.missed, record.missed + record.trials));
    }
    let enough = if claim.kind.counts() { record.margin.is_some_and(|m| m.held()) } else { record.held == record.trials };
    if !enough && !confirmed {
        reasons.push(match record.bound {
            Some(bound) => format!("{} of {} held, which bounds exceptions by {bound:.2} only", record.held, record.trials),
            None => format!("{} of {} margins lie within their error of the threshold", record.trials - record.held, record.trials),
        });
    }
    if !record.control_ok {
        reasons.push("the control came out on the wrong side".into());
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
    let held = matches!(record.verdict, Verdict::Supported | Verdict::Certified);
    record.as_expected = match claim.status {
        status if status.expects_violation() => confirmed && record.control_ok,
        // Of what nobody knows nothing is expected; a violation that is not confirmed may be a discovery.
        Status::Open => violation.is_none() && record.control_ok && record.trials > 0,
        _ => held,
    };
    Ok(())
}

/// True when all repetitions of the control come out on its side: violated for a claim that should hold, held for one that is false. A draw that misses the
/// hypotheses says nothing, and another one takes its place.
fn control_is_on_its_side(claim: &Claim, seed: u64) -> Result<bool> {
    let mut repetitions = 0;
    for k in 0..CONTROL_DRAWS {
        let mut context = Context::fresh(seed, &["control", claim.name, &k.to_string()], Method::default());
        let good = match settled((claim.control.trial)(&mut context))? {
            Finding::Missed => continue,
            Finding::Margin(m) if claim.status.expects_violation() => m.held(),
            Finding::Margin(m) => m.failed(),
            Finding::Answer(yes) => yes == claim.status.expects_violation(),
            Finding::Unfinished(_) => false,
        };
        repetitions += 1;
        if !good || repetitions == CONTROLS {
            return Ok(good);
        }
    }
    Ok(false)
}

/// The exit code of a set of records: 2 when a theorem or a correction is violated, 3 when any other verdict is not the expected one, else 0. A
/// violated open claim is a discovery, not a failure.
pub fn worst(records: &[Record]) -> i32 {
    worst_of(records.iter().map(|r| (r.status, r.verdict == Verdict::Violated, r.as_expected)))
}

/// The same of each status, whether it is violated, and whether that verdict is the expected one.
pub fn worst_of(verdicts: impl Iterator<Item = (Status, bool, bool)> + Clone) -> i32 {
    if verdicts.clone().any(|(status, violated, _)| violated && status.must_hold()) {
        2
    } else if verdicts.clone().any(|(status, violated, expected)| !(expected || violated && status == Status::Open)) {
        3
    } else {
        0
    }
}
