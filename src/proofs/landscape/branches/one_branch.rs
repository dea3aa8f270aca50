//! One branch near a start, followed in both directions, and the branch from which it splits.

use super::super::cell::{Arrangement, MAX_TOKENS};
use super::super::orbits;
use super::super::strata::{Members, text_of_clusters};
use super::super::{Report, Tokens};
use super::birth::Birth;
use super::point::{self, Point};
use super::result::{Continuation, End};
use super::track::{Chain, Stop, fixed, follow};
use super::work::{Work, middles};
use crate::error::{Error, Result};

/// Largest gap, in turns, between clusters that may have been one at a bifurcation nearby.
const NEAR: f64 = 0.01;

/// A branch in both directions of the parameter, with both reasons why it ends.
struct Both {
    chain: Chain,
    ends: [Stop; 2],
}

impl Both {
    fn follow(work: &Work<'_>, arrangement: &Arrangement, start: Point, births: &[Birth]) -> Self {
        let ((low, high), stops) = (work.tokens.beta, || work.monitor.step());
        let mut chain = follow(arrangement, start, low, births, &stops);
        let above = follow(arrangement, start, high, births, &stops);
        chain.points.extend(above.points.iter().skip(1));
        chain.pieces.extend(above.pieces);
        chain.events.extend(above.events);
        let below = std::mem::replace(&mut chain.stop, Stop::Target);
        Self { chain, ends: [below, above.stop] }
    }

    /// The last points of ends beyond which no box was found.
    fn lost(&self) -> impl Iterator<Item = &Point> {
        let point = |low: bool| {
            let points = self.chain.points.iter();
            let order = |a: &&Point, b: &&Point| a.beta.total_cmp(&b.beta);
            if low { points.min_by(order) } else { points.max_by(order) }
        };
        let is_lost = |x: usize| matches!(self.ends[x], Stop::Lost(_));
        (0..2).filter(move |x| is_lost(*x)).filter_map(move |x| point(x == 0))
    }
}

/// The branch that Newton's method finds from clusters with given gaps in turns, over the interval
/// of beta, with its bifurcations. Where it ends because two clusters become one, the branch of the
/// joined clusters is the first of the result. Other branches are not searched, so the result is
/// never complete.
///
/// **Cost** some seconds for n = 8 and beta from 0.1 to 50.
/// **Errors** as [`all_branches`](super::all_branches); clusters that are not those of the tokens,
/// fewer than two, or no critical point near the start.
///
/// ```
/// use metastable::proofs::landscape::{Tokens, branches::one_branch};
/// let tokens = Tokens::new(&[1.0; 4], (0.5, 2.0)).unwrap();
/// let square = vec![vec![1]; 4];
/// let found = one_branch(&tokens, &square, &[0.25; 4], &|_, _| true).unwrap();
/// assert!(found.missing.is_empty() && found.branches[0].samples[0].ascents == 3);
/// ```
pub fn one_branch(
    tokens: &Tokens,
    clusters: &[Members],
    gaps: &[f64],
    report: Report,
) -> Result<Continuation> {
    let mut work = Work::new(tokens, 0.0, report)?;
    let (low, high) = tokens.beta;
    let k = clusters.len();
    let refuse = |expected: &str| {
        let named = text_of_clusters(clusters);
        let found = format!("clusters {named} with gaps {gaps:?} in turns");
        Err(Error::parameter("start", found, expected))
    };
    let mut members: Vec<u32> = clusters.concat();
    let mut all = tokens.masses().to_vec();
    members.sort_unstable();
    all.sort_unstable();
    if members != all || gaps.len() != k || k < 2 {
        return refuse("all tokens, in at least two clusters");
    }
    let arrangement = tokens.arrange(clusters);
    if k == 2 {
        // Two clusters are opposite for every beta.
        work.strata = vec![clusters.to_vec()];
        let chain = fixed(&arrangement, low, high);
        let orbit = orbits::simple(clusters, &arrangement.at((high, high)), high);
        work.add(0, &arrangement, &orbit, chain, (End::Range, false));
        return Ok(finish(work));
    }
    // Newton's method converges from far only for moderate beta.
    let middle = 0.5 * (low + high);
    let trials = [(low * high).max(0.0).sqrt(), low, 1.0, 2.0, 4.0, 0.5, high, middle];
    let start = trials.into_iter().map(|b| b.clamp(low, high));
    let Some(start) = start.into_iter().find_map(|b| near(tokens, &arrangement, gaps, b)) else {
        return refuse("a start near a critical point with these clusters");
    };
    let mut found = Both::follow(&work, &arrangement, start, &[]);
    let parent = found.lost().find_map(|last| joined(clusters, last));
    work.strata = vec![clusters.to_vec()];
    if let Some((parent, gaps, beta)) = parent.filter(|_| !work.monitor.is_stopped()) {
        work.strata.insert(0, parent);
        if work.follow_parent(&gaps, beta) {
            found = Both::follow(&work, &arrangement, start, &work.births);
        }
        if work.found.branches.is_empty() {
            work.strata.remove(0);
        }
    }
    let stratum = work.strata.len() - 1;
    let Some(orbit) = work.orbit_at(stratum, &arrangement, &start) else {
        return refuse("a start near a critical point with these clusters");
    };
    let Both { chain, ends } = found;
    let number = work.add(stratum, &arrangement, &orbit, chain, (End::Range, false));
    let ends = ends.map(|stop| match stop {
        Stop::Target => End::Range,
        Stop::Births(met) => {
            for birth in &met {
                work.give_birth(*birth, number);
            }
            let first = met.first().map(|birth| work.births[*birth].bifurcation);
            first.map_or(End::Open, End::Bifurcation)
        }
        Stop::Lost(beta) => {
            let name = work.name();
            work.miss(format!("the branch beyond {name} = {beta}"));
            End::Open
        }
        Stop::Fold(fold) => End::Bifurcation(work.fold_of(stratum, &arrangement, number, &fold)),
    });
    work.found.branches[number].ends = (ends[0], ends[1]);
    Ok(finish(work))
}

/// A critical point near gaps at one beta.
fn near(tokens: &Tokens, arrangement: &Arrangement, gaps: &[f64], beta: f64) -> Option<Point> {
    let kernel = tokens.law.kernel((beta, beta));
    let mut row = [0.0; MAX_TOKENS];
    row[..gaps.len()].copy_from_slice(gaps);
    let near = arrangement.at((beta, beta)).approximate(&row, &kernel)?;
    point::point(arrangement, &near[..gaps.len()], beta).map(|p| p.0)
}

/// The clusters that those at small gaps form, with their gaps in turns, and beta. `None` if no gap
/// is small, or all clusters become one.
fn joined(clusters: &[Members], last: &Point) -> Option<(Vec<Members>, Vec<f64>, f64)> {
    let k = clusters.len();
    let gaps = middles(&last.place[..k]);
    // The first cluster is not joined with the last.
    let first = (0..k).find(|x| gaps[(x + k - 1) % k] > NEAR)?;
    let (mut all, mut apart): (Vec<Members>, Vec<f64>) = Default::default();
    for x in (0..k).map(|x| (first + x) % k) {
        match all.last_mut().filter(|_| gaps[(x + k - 1) % k] <= NEAR) {
            Some(joined) => joined.extend(&clusters[x]),
            None => all.push(clusters[x].clone()),
        }
        if gaps[x] > NEAR {
            apart.push(gaps[x]);
        }
    }
    if all.len() == k || all.len() < 2 {
        return None;
    }
    all.iter_mut().for_each(|members| members.sort_unstable());
    let sum: f64 = apart.iter().sum();
    Some((all, apart.iter().map(|g| g / sum).collect(), last.beta))
}

impl Work<'_> {
    /// Adds the branch of the first stratum through a critical point near gaps, with what begins at
    /// its bifurcations. Says whether a branch of the second stratum begins there.
    fn follow_parent(&mut self, gaps: &[f64], beta: f64) -> bool {
        let (clusters, (low, high)) = (self.strata[0].clone(), self.tokens.beta);
        let arrangement = self.tokens.arrange(&clusters);
        if clusters.len() == 2 {
            let chain = fixed(&arrangement, low, high);
            let orbit = orbits::simple(&clusters, &arrangement.at((high, high)), high);
            self.add(0, &arrangement, &orbit, chain, (End::Range, false));
        } else {
            let Some(start) = near(self.tokens, &arrangement, gaps, beta) else { return false };
            let Some(orbit) = self.orbit_at(0, &arrangement, &start) else { return false };
            let Both { chain, ends } = Both::follow(self, &arrangement, start, &[]);
            let number = self.add(0, &arrangement, &orbit, chain, (End::Range, false));
            // Where it ends for another reason than the interval is not asked.
            let end = |stop: &Stop| match stop {
                Stop::Target => End::Range,
                _ => End::Open,
            };
            self.found.branches[number].ends = (end(&ends[0]), end(&ends[1]));
        }
        self.births.iter().any(|birth| birth.stratum == 1)
    }
}

/// The result, in which only what belongs to the branch is missing.
fn finish(mut work: Work<'_>) -> Continuation {
    // What else begins at the bifurcations is not asked.
    work.found.missing.retain(|m| !m.starts_with("the branches that begin"));
    work.births.clear();
    work.born.clear();
    let mut found = work.finish();
    found.complete = false;
    found
}
