//! Claims about a share of draws: a draw that says no is no counterexample, a place of the range where the share fails is one.

use super::{Timekeeper, cases};
use crate::error::Result;
use crate::num::stats::failure_bound;
use crate::theorem::{Attempt, Case, Claim, Context, Finding, Kind, Method, Region, attempt};
use rayon::prelude::*;
use std::ops::Range;

/// Confidence of the one-sided bounds, that of a check.
const CONFIDENCE: f64 = 0.999;
/// Draws at a place: at first, and at most while the share seen is below its level and does not decide.
const DRAWS: (usize, usize) = (64, 1024);

/// A share at one place of the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareAt {
    /// The place.
    pub case: Case,
    /// Draws that met the hypotheses; one that did not finish is among them.
    pub draws: usize,
    /// Draws that said yes.
    pub held: usize,
}

impl ShareAt {
    /// The share seen.
    pub fn share(&self) -> f64 {
        self.held as f64 / self.draws.max(1) as f64
    }

    /// Upper Clopper-Pearson bound of the share at 99.9 %.
    pub fn at_most(&self) -> f64 {
        failure_bound(self.held, self.draws, CONFIDENCE)
    }

    /// True where the share is below the level beyond its bound.
    pub fn fails(&self, level: f64) -> bool {
        self.draws > 0 && self.at_most() < level
    }
}

/// What a hunt for a place where a share fails saw.
#[derive(Clone, Debug)]
pub struct ShareHunt {
    /// Trials evaluated.
    pub evaluations: u64,
    /// The share that the claim states; 1 for a claim about every draw.
    pub level: f64,
    /// The place of the smallest share.
    pub worst: Option<ShareAt>,
    /// Where that fails, as many draws again from another seed.
    pub again: Option<ShareAt>,
}

impl ShareHunt {
    /// True when the share fails at the worst place beyond its bound.
    pub fn found(&self) -> bool {
        self.worst.is_some_and(|w| w.fails(self.level))
    }

    /// True when it fails with another seed of all draws too.
    pub fn confirmed(&self) -> bool {
        self.again.is_some_and(|w| w.fails(self.level))
    }
}

/// Searches the region for a place (n, d, beta, dynamics, law) where the share of draws that say yes is below its level: the ends of the
/// ranges, then places from the inside, 64 draws at each and more where the share seen is below the level but does not decide. What is
/// found is looked at again with another seed, whatever the time is.
///
/// **Errors** as [`attempt`]; a region that lies outside the hypotheses.
pub fn share(claim: &Claim, region: &Region, seed: u64, time: &Timekeeper) -> Result<ShareHunt> {
    let level = if let Kind::Share(level) = claim.kind { level } else { 1.0 };
    let mut hunt = ShareHunt { evaluations: 0, level, worst: None, again: None };
    for round in 0u64.. {
        for (k, case) in cases(claim, region, seed, round)?.into_iter().enumerate() {
            let place = format!("{round}/{k}");
            let mut at = ShareAt { case, draws: 0, held: 0 };
            let (mut tried, mut next) = (0, DRAWS.0);
            while next > 0 {
                hunt.evaluations += draw(claim, &mut at, tried..tried + next, (seed, &place), time)?;
                tried += next;
                let undecided = at.share() < level && !at.fails(level) && tried < DRAWS.1 && (time.go_on)(hunt.evaluations, None);
                next = if undecided { tried } else { 0 };
            }
            if at.draws > 0 && hunt.worst.is_none_or(|w| at.share() < w.share()) {
                hunt.worst = Some(at);
            }
            if hunt.found() {
                let mut again = ShareAt { draws: 0, held: 0, ..at };
                draw(claim, &mut again, 0..tried, (seed.wrapping_add(1), &place), &Timekeeper::asked(&|_, _| true))?;
                hunt.again = Some(again);
            }
            if hunt.found() || !(time.go_on)(hunt.evaluations, hunt.worst.map(|w| w.share() - level)) {
                return Ok(hunt);
            }
        }
    }
    Ok(hunt)
}

/// Adds the draws of these numbers at a place, and says how many were made.
fn draw(claim: &Claim, at: &mut ShareAt, numbers: Range<usize>, (seed, place): (u64, &str), time: &Timekeeper) -> Result<u64> {
    let case = at.case;
    let one = |k: usize| -> Result<Option<Attempt>> {
        if !(time.go_on)(0, None) {
            return Ok(None);
        }
        let names = ["hunt", claim.name, place, &k.to_string()];
        let found = attempt(claim, &case, Context::fresh(seed, &names, Method::default()).until(&time.stop))?;
        // What was given up says nothing.
        Ok(Some(found).filter(|_| !time.stop.is_set()))
    };
    let all: Vec<Option<Attempt>> = numbers.into_par_iter().map(one).collect::<Result<_>>()?;
    let seen: Vec<&Attempt> = all.iter().flatten().collect();
    at.draws += seen.iter().filter(|a| a.finding != Finding::Missed).count();
    at.held += seen.iter().filter(|a| a.finding == Finding::Answer(true)).count();
    Ok(seen.len() as u64)
}
