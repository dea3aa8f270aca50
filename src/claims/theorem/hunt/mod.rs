//! Hunts: searches for a counterexample. Random draws come first, then local searches from the
//! trials with the smallest margins, over the tokens, the masses and all parameters. A search needs
//! only the trial of a claim, since it varies the draws that the trial recorded on its tape.

mod local;
mod result;
mod share;
mod shrink;

pub use result::HuntResult;
pub use share::{ShareEstimate, ShareHunt, hunt_share};
pub use shrink::shrink;

use super::{Case, Claim, Context, Method, Region, Stop, TrialResult, run_trial};
use crate::error::Result;
use crate::num::stream::Stream;
use local::{SEARCHES, search};
use rayon::prelude::*;
use result::objective;

/// Draws per round.
const DRAWS: usize = 64;
/// Local searches per round that start from new draws.
const STARTS: usize = 4;
/// Trials per local search.
const TRIALS_PER_SEARCH: u64 = 400;

/// Called before every trial with the number of trials so far and the smallest margin; the hunt
/// ends when it returns false.
pub type KeepGoing<'a> = &'a (dyn Fn(u64, Option<f64>) -> bool + Sync);

/// The time limit of a hunt. The hunt calls `keep_going` before every trial; long trials check
/// `stop`.
pub struct TimeLimit<'a> {
    /// Called before every trial.
    pub keep_going: KeepGoing<'a>,
    /// Ends running trials.
    pub stop: Stop,
}

impl<'a> TimeLimit<'a> {
    /// A limit that does not end running trials.
    pub fn new(keep_going: KeepGoing<'a>) -> Self {
        Self { keep_going, stop: Stop::default() }
    }
}

/// Searches a region of a claim's range until a violation is found or the time is over. The same
/// seed gives the same sequence of trials; the time decides only where it ends. Use [`hunt_share`]
/// for a claim about a share.
///
/// **Errors** as [`run_trial`]; a region outside the hypotheses.
pub fn hunt(claim: &Claim, region: &Region, seed: u64, time: &TimeLimit) -> Result<HuntResult> {
    let mut total = HuntResult { evaluations: 0, best: None };
    let mut round = 0u64;
    loop {
        let draws = draws(claim, region, seed, round, time)?;
        let starts: Vec<TrialResult> = draws.1;
        total.add(draws.0);
        if total.found() || !(time.keep_going)(total.evaluations, total.margin()) {
            return Ok(total);
        }
        let mut starts: Vec<TrialResult> = starts.into_iter().take(STARTS).collect();
        if let Some(best) = &total.best {
            starts.push(best.clone());
        }
        if !claim.kind.is_share() && claim.kind != super::Kind::Law {
            let jobs: Vec<(usize, &TrialResult)> = starts.iter().enumerate().collect();
            let evaluations = total.evaluations;
            let found: Vec<HuntResult> = jobs
                .par_iter()
                .map(|(k, start)| {
                    let method = SEARCHES[(*k + round as usize) % SEARCHES.len()];
                    let keep_going = |best: f64| (time.keep_going)(evaluations, Some(best));
                    search(
                        claim,
                        region,
                        start,
                        method,
                        TRIALS_PER_SEARCH,
                        seed.wrapping_add(round),
                        (&keep_going, &time.stop),
                    )
                })
                .collect::<Result<_>>()?;
            found.into_iter().for_each(|f| total.add(f));
        }
        if total.found() || !(time.keep_going)(total.evaluations, total.margin()) {
            return Ok(total);
        }
        round += 1;
    }
}

/// One round of draws. The results are sorted by margin, the smallest first.
fn draws(
    claim: &Claim,
    region: &Region,
    seed: u64,
    round: u64,
    time: &TimeLimit,
) -> Result<(HuntResult, Vec<TrialResult>)> {
    let cases = cases(claim, region, seed, round)?;
    let one = |(k, case): (usize, &Case)| -> Result<Option<TrialResult>> {
        if !(time.keep_going)(0, None) {
            return Ok(None);
        }
        let names = ["hunt", claim.name, &round.to_string(), &k.to_string()];
        run_trial(
            claim,
            case,
            Context::fresh(seed, &names, Method::default()).with_stop(&time.stop),
        )
        .map(Some)
    };
    let mut results: Vec<TrialResult> = cases
        .par_iter()
        .enumerate()
        .map(one)
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect();
    let evaluations = results.len() as u64;
    results.retain(|a| objective(a).is_finite());
    results.sort_by(|a, b| objective(a).total_cmp(&objective(b)));
    Ok((HuntResult { evaluations, best: results.first().cloned() }, results))
}

/// The cases of a round; those of the first round begin with the ends of the ranges.
fn cases(claim: &Claim, region: &Region, seed: u64, round: u64) -> Result<Vec<Case>> {
    let mut stream = Stream::new(seed, &["hunt", claim.name, &round.to_string()]);
    let mut cases = if round == 0 { claim.domain.ends() } else { Vec::new() };
    cases.retain(|c| region.admits(&claim.domain, c));
    while cases.len() < DRAWS {
        match region.draw(&claim.domain, &mut stream) {
            Some(case) => cases.push(case),
            None => break,
        }
    }
    if cases.is_empty() {
        let expected =
            format!("a point inside the hypotheses of {}: {}", claim.name, claim.hypotheses());
        return Err(crate::error::Error::parameter(
            "the region",
            "no point that meets the hypotheses in a thousand draws",
            expected,
        ));
    }
    Ok(cases)
}

/// Local searches with a given total number of trials from given trials.
///
/// **Errors** as [`run_trial`].
pub fn search_around(
    claim: &Claim,
    region: &Region,
    starts: &[TrialResult],
    trials: u64,
    seed: u64,
) -> Result<HuntResult> {
    let mut total = HuntResult { evaluations: 0, best: starts.first().cloned() };
    let per_search = trials / (2 * starts.len() as u64).max(1);
    let jobs: Vec<(usize, &TrialResult)> = starts.iter().flat_map(|s| [(0, s), (1, s)]).collect();
    let found: Vec<HuntResult> = jobs
        .par_iter()
        .map(|(k, s)| {
            search(claim, region, s, SEARCHES[*k], per_search, seed, (&|_| true, &Stop::default()))
        })
        .collect::<Result<_>>()?;
    found.into_iter().for_each(|f| total.add(f));
    Ok(total)
}
