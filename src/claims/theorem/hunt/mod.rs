//! Hunts: the stated range is searched for a negative margin, by random draws and then by local searches from the worst of them over the tokens,
//! the masses and all parameters. A search needs nothing of a claim but its trial: it moves what the trial drew.

mod hunted;
mod local;
mod share;
mod shrink;

pub use hunted::Hunted;
pub use share::{ShareAt, ShareHunt, share};
pub use shrink::minimised;

use super::{Attempt, Case, Claim, Context, Method, Region, Stop, attempt};
use crate::error::Result;
use crate::num::stream::Stream;
use hunted::value;
use local::{SEARCHES, search};
use rayon::prelude::*;

/// Draws of a round.
const DRAWS: usize = 64;
/// Starts of local searches kept from a round.
const STARTS: usize = 4;
/// Trials of one local search.
const LOCAL: u64 = 400;

/// Asked before every trial, with the trials evaluated and the best margin so far; false ends the hunt.
pub type GoOn<'a> = &'a (dyn Fn(u64, Option<f64>) -> bool + Sync);

/// Who keeps the time of a hunt: the hunt asks before every trial, and a trial that takes long looks at the stop.
pub struct Timekeeper<'a> {
    /// Asked before every trial.
    pub go_on: GoOn<'a>,
    /// Ends the trials that run.
    pub stop: Stop,
}

impl<'a> Timekeeper<'a> {
    /// One who is asked, and does not end a trial that runs.
    pub fn asked(go_on: GoOn<'a>) -> Self {
        Self { go_on, stop: Stop::default() }
    }
}

/// Searches a region of a claim's range until something is found or the time is over. The same seed makes the same hunt, cut at another
/// place. A claim about a share is hunted by [`share`]: one draw is no counterexample to it.
///
/// **Errors** as [`attempt`]; a region that lies outside the hypotheses.
pub fn hunt(claim: &Claim, region: &Region, seed: u64, time: &Timekeeper) -> Result<Hunted> {
    let mut total = Hunted { evaluations: 0, best: None };
    let mut round = 0u64;
    loop {
        let draws = draws(claim, region, seed, round, time)?;
        let starts: Vec<Attempt> = draws.1;
        total.keep(draws.0);
        if total.found() || !(time.go_on)(total.evaluations, total.margin()) {
            return Ok(total);
        }
        let mut starts: Vec<Attempt> = starts.into_iter().take(STARTS).collect();
        if let Some(best) = &total.best {
            starts.push(best.clone());
        }
        if !claim.kind.counts() && claim.kind != super::Kind::Law {
            let jobs: Vec<(usize, &Attempt)> = starts.iter().enumerate().collect();
            let evaluations = total.evaluations;
            let found: Vec<Hunted> = jobs
                .par_iter()
                .map(|(k, start)| {
                    let which = SEARCHES[(*k + round as usize) % SEARCHES.len()];
                    let more = |best: f64| (time.go_on)(evaluations, Some(best));
                    search(claim, region, start, which, LOCAL, seed.wrapping_add(round), (&more, &time.stop))
                })
                .collect::<Result<_>>()?;
            found.into_iter().for_each(|f| total.keep(f));
        }
        if total.found() || !(time.go_on)(total.evaluations, total.margin()) {
            return Ok(total);
        }
        round += 1;
    }
}

/// A round of draws: the ends of the range first. The attempts come sorted, the worst first.
fn draws(claim: &Claim, region: &Region, seed: u64, round: u64, time: &Timekeeper) -> Result<(Hunted, Vec<Attempt>)> {
    let cases = cases(claim, region, seed, round)?;
    let one = |(k, case): (usize, &Case)| -> Result<Option<Attempt>> {
        if !(time.go_on)(0, None) {
            return Ok(None);
        }
        let names = ["hunt", claim.name, &round.to_string(), &k.to_string()];
        attempt(claim, case, Context::fresh(seed, &names, Method::default()).until(&time.stop)).map(Some)
    };
    let mut attempts: Vec<Attempt> = cases.par_iter().enumerate().map(one).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    let evaluations = attempts.len() as u64;
    attempts.retain(|a| value(a).is_finite());
    attempts.sort_by(|a, b| value(a).total_cmp(&value(b)));
    Ok((Hunted { evaluations, best: attempts.first().cloned() }, attempts))
}

/// The cases of a round: the ends of the range first.
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
        let expected = format!("a point inside the hypotheses of {}: {}", claim.name, claim.domain);
        return Err(crate::error::Error::parameter("the region", "no point that meets the hypotheses in a thousand draws", expected));
    }
    Ok(cases)
}

/// Local searches of a given number of trials around given attempts.
///
/// **Errors** as [`attempt`].
pub fn around(claim: &Claim, region: &Region, starts: &[Attempt], trials: u64, seed: u64) -> Result<Hunted> {
    let mut total = Hunted { evaluations: 0, best: starts.first().cloned() };
    let each = trials / (2 * starts.len() as u64).max(1);
    let jobs: Vec<(usize, &Attempt)> = starts.iter().flat_map(|s| [(0, s), (1, s)]).collect();
    let found: Vec<Hunted> = jobs
        .par_iter()
        .map(|(k, s)| search(claim, region, s, SEARCHES[*k], each, seed, (&|_| true, &Stop::default())))
        .collect::<Result<_>>()?;
    found.into_iter().for_each(|f| total.keep(f));
    Ok(total)
}
