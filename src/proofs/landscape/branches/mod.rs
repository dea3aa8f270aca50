//! All branches of critical points on the circle over an interval of beta, with all bifurcations.
//!
//! **Parameters** A parameter of an interaction or the mass of one token can take the place of beta
//! ([`Parameter`]); then `beta` is its value in everything below and in all results.
//!
//! **What is proved** Every box of gaps and beta in the tree of a stratum has a reason: no critical
//! point, a regular derivative, or a regular derivative in the coordinates of a blow-up, in which
//! two clusters at a small distance g are described by their centre of mass and g, or `t = g^2` for
//! equal masses. So the critical points with k clusters are graphs over beta, except in boxes
//! around folds, where they are one curve. A graph ends at an end of the interval, at a fold, or
//! where g reaches 0. There two clusters become one, and the second derivative for splitting this
//! cluster is 0 (Lemma 2 of [`landscape`](super)). So all graphs are found from the critical points
//! at the largest beta, from the folds, and from the zeros of these second derivatives along the
//! graphs with fewer clusters.
//!
//! **Chains** A graph is followed by boxes in each of which Krawczyk's test proves exactly one
//! critical point for every beta of an interval. Neighbouring boxes share a critical point, so the
//! chain is one graph. The number of directions of ascent is constant between bifurcations: the
//! derivative is regular in the boxes, and the second derivatives for splitting clusters have
//! signs.
//!
//! **Bifurcations** Where the second derivative of a cluster is 0, the equations of equilibrium and
//! this one, with beta as an unknown, have exactly one zero in a box (Krawczyk). At a bifurcation
//! of a cluster of two tokens, a box around it has exactly one zero of the blown-up equations for
//! every beta, and g or t is monotone. So exactly one branch begins there in each order of the
//! tokens, on the side where g or t is positive. Two equal tokens can be exchanged, and two
//! opposite clusters are their own mirror image: both are pitchforks. At other bifurcations the two
//! orders exist on different sides. Two different tokens opposite to all others have coordinates of
//! their own, in which the equations are divided by g (`opposite.rs`).
//!
//! **Folds** Where no box over an interval of beta is found, an unknown of the equations takes the
//! place of beta: one box contains a curve with one fold, and both chains end in it (`fold.rs`).
//! Boxes of the tree beside it have no zero of a combination of the equations.
//!
//! **Three equal tokens** opposite to all others split in any direction at second order, and also
//! at fourth order. The sixth order decides: two branches begin, one with clusters of two and one
//! tokens, and one with three clusters at equal distances (`triple.rs`).
//!
//! **Small beta** Boxes have order parameters as further unknowns (`order_parameter.rs`).
//!
//! **Limits** Elsewhere, the terms of third order of three equal tokens are a multiple of
//! `x_1 x_2 x_3` for places x with the sum 0, so only splits into two and one tokens are expected,
//! in one order on each side. Both are proved, but not that there are no others. Where four or more
//! tokens or three different ones begin to split, no branch is proved.

mod birth;
mod blow_up;
mod even;
mod fold;
mod jet;
mod one_branch;
mod opposite;
mod order_parameter;
mod point;
mod result;
mod shape;
mod solve;
mod splits;
mod system;
mod track;
mod tree;
mod triple;

pub use one_branch::one_branch;
pub use point::Piece;
pub use result::{Bifurcation, Branch, Continuation, End, Kind, Sample};

use super::cell::{Arrangement, Cell};
use super::kernel::Law;
use super::orbits::{self, Orbit};
use super::search::{Goal, Monitor, Search};
use super::strata::{Members, strata, text_of_clusters};
use super::{Parameter, Report, Tokens, UndecidedBox};
use crate::error::{Error, Result};
use crate::num::interval::check_fp_environment;
use birth::{Birth, Outcome};
use fold::Fold;
use point::{Event, Point};
use result::morse;
use track::{Chain, Stop, follow};
use tree::{Covering, Watch};

/// Smallest and largest beta.
pub const BETA_RANGE: (f64, f64) = (0.01, 100.0);

/// Number of undecided boxes that a result lists.
const LISTED: usize = 20;

/// The part of the work of a stratum that the search at the largest beta takes.
const SEARCH: f64 = 0.1;

/// A fold in a stratum.
struct Turn {
    bifurcation: usize,
    stratum: usize,
    fold: Fold,
    /// The ends of its curve at which a branch ends, that with the larger parameter second.
    ends: [bool; 2],
}

/// The work of one call.
struct Work<'a> {
    tokens: &'a Tokens,
    /// Those that are followed.
    strata: Vec<Vec<Members>>,
    watch: Watch<'a>,
    births: Vec<Birth>,
    /// Branches that begin at the births, if they are known.
    born: Vec<Option<usize>>,
    folds: Vec<Turn>,
    found: Continuation,
}

/// All branches over the interval of beta of the tokens, and all bifurcations.
///
/// **Accuracy** enclosures of beta at bifurcations are narrower than 1e-11.
/// **Cost** with two threads: see the guide, `bifurcations`.
/// **Errors** an interval that is a point or leaves [`BETA_RANGE`]; a proof that would take longer
/// than a day, with the estimate; arithmetic that is not IEEE.
///
/// ```
/// use metastable::proofs::landscape::{Tokens, branches::all_branches};
/// let tokens = Tokens::new(&[1.0; 3], (0.5, 2.0)).unwrap();
/// let found = all_branches(&tokens, &|_, _| true).unwrap();
/// assert!(found.complete && found.bifurcations.is_empty());
/// assert_eq!(found.branches.len(), 3);
/// ```
pub fn all_branches(tokens: &Tokens, report: Report) -> Result<Continuation> {
    let mut work = Work::new(tokens, seconds(tokens), report)?;
    work.strata = strata(tokens.masses());
    let shares = super::shares(&work.strata, tokens.fewest());
    for (stratum, share) in shares.into_iter().enumerate() {
        work.branches_of(stratum, SEARCH * share);
        if work.strata[stratum].len() > 2 {
            work.cover(stratum, (1.0 - SEARCH) * share);
        }
    }
    Ok(work.finish())
}

/// As [`all_branches`], without the search that shows that there are no others: the branches that
/// reach the largest beta, and those that begin at their bifurcations. Each branch and each
/// bifurcation is proved; the result is not complete.
///
/// **Cost** seconds for n = 7.
/// **Errors** as [`all_branches`].
///
/// ```
/// use metastable::proofs::landscape::{Tokens, branches::followed_branches};
/// let tokens = Tokens::new(&[1.0; 4], (0.5, 2.0)).unwrap();
/// let found = followed_branches(&tokens, &|_, _| true).unwrap();
/// assert!(!found.complete && found.branches.len() == 5);
/// ```
pub fn followed_branches(tokens: &Tokens, report: Report) -> Result<Continuation> {
    let mut work = Work::new(tokens, seconds_followed(tokens), report)?;
    work.strata = strata(tokens.masses());
    let shares = super::shares(&work.strata, tokens.fewest());
    for (stratum, share) in shares.into_iter().enumerate() {
        work.branches_of(stratum, share);
    }
    work.miss("other branches were not searched".into());
    Ok(work.finish())
}

impl<'a> Work<'a> {
    /// **Errors** an interval of beta that is a point or leaves [`BETA_RANGE`]; continua at an end
    /// of an interval of another parameter; arithmetic that is not IEEE; an estimate of more than a
    /// day.
    fn new(tokens: &'a Tokens, seconds: f64, report: Report<'a>) -> Result<Self> {
        check_fp_environment()?;
        let (low, high) = tokens.beta;
        let is_fixed = tokens.interaction().is_some() || tokens.masses() != tokens.upper_masses();
        if tokens.parameter() == Parameter::Beta && is_fixed {
            let expected = "an interval of one parameter: beta, a mass, or a parameter of the \
                            interaction";
            let found = "an interaction or masses in intervals";
            return Err(Error::parameter("tokens", found, expected));
        }
        let betas = match tokens.law {
            Law::Fixed(beta) => vec![beta],
            Law::Exponential => vec![low, high],
            _ => Vec::new(),
        };
        for b in betas {
            crate::error::in_range("beta", b, BETA_RANGE.0, BETA_RANGE.1)?;
        }
        if low >= high {
            let found = format!("{low}..{high}");
            return Err(Error::parameter(
                tokens.parameter().name(),
                found,
                "an interval a..b with a < b",
            ));
        }
        if let Law::Family(family) = &tokens.law {
            for value in [low, high] {
                super::refuse_continua(&family.interaction_at(value)?, tokens)?;
            }
        }
        super::refuse_long(tokens, seconds)?;
        Ok(Self {
            tokens,
            strata: Vec::new(),
            watch: Watch::new(report),
            births: Vec::new(),
            born: Vec::new(),
            folds: Vec::new(),
            found: Continuation {
                complete: false,
                beta: tokens.beta,
                branches: Vec::new(),
                bifurcations: Vec::new(),
                morse: None,
                boxes: 0,
                undecided: 0,
                undecided_boxes: Vec::new(),
                missing: Vec::new(),
                interrupted: false,
            },
        })
    }

    /// The branches of one stratum; those with fewer clusters are known. The search at the largest
    /// beta is the given share of all work.
    fn branches_of(&mut self, stratum: usize, share: f64) {
        let clusters = self.strata[stratum].clone();
        let (arrangement, (low, high)) = (self.tokens.arrange(&clusters), self.tokens.beta);
        let bounded = arrangement.at((high, high));
        if clusters.len() < 3 {
            let orbit = orbits::simple(&clusters, &bounded, high);
            let chain = opposite(&arrangement, self.tokens.beta);
            self.add(stratum, &arrangement, &orbit, chain, (End::Range, false));
            return;
        }
        let births: Vec<usize> =
            (0..self.births.len()).filter(|b| self.births[*b].stratum == stratum).collect();
        let own: Vec<Birth> = births.iter().map(|b| self.births[*b].clone()).collect();
        let tree = {
            let report = |share: f64, boxes: u64| !self.watch.ask_beyond(share, boxes);
            let monitor = Monitor::new(&report);
            let search = Search {
                arrangement: &bounded,
                goal: Goal::Zeros,
                tolerance: 1e-6,
                keep: false,
                monitor: &monitor,
                shard: (0, 1),
            };
            search.run((high, high), share)
        };
        self.found.boxes += tree.boxes;
        self.watch.add(share, tree.boxes);
        let (zeros, apart) = orbits::orbits(&clusters, &bounded, &tree.zeros, high);
        if tree.undecided_count > 0 || !apart {
            self.miss(format!(
                "critical points at {} = {high} with clusters {}",
                self.name(),
                text_of_clusters(&clusters)
            ));
        }
        for (orbit, zero) in zeros {
            let start = Point { beta: high, place: zero.place };
            let chain = follow(&arrangement, start, low, &own, &|| self.watch.step());
            let met = met(&chain);
            let number = self.add(stratum, &arrangement, &orbit, chain, (End::Range, false));
            for b in met {
                self.give_birth(births[b], number);
            }
        }
        // What does not reach the largest beta begins at a bifurcation.
        for (x, birth) in own.iter().enumerate() {
            if self.born[births[x]].is_none() {
                self.follow_birth(stratum, &arrangement, (&births, &own), (x, birth));
            }
        }
        while let Some(turn) = (0..self.folds.len())
            .find(|t| self.folds[*t].stratum == stratum && self.folds[*t].ends != [true; 2])
        {
            self.folds[turn].ends = [true; 2];
            self.follow_fold(&arrangement, (&births, &own), turn);
        }
    }

    /// Follows the second branch of a fold.
    fn follow_fold(
        &mut self,
        arrangement: &Arrangement,
        (births, own): (&[usize], &[Birth]),
        turn: usize,
    ) {
        let (low, high) = self.tokens.beta;
        let Turn { bifurcation, stratum, fold, .. } = &self.folds[turn];
        let (bifurcation, stratum, start) = (*bifurcation, *stratum, fold.partner);
        let (at, gaps, ascents) = (fold.beta.mid(), fold.gaps.clone(), fold.ascents.1);
        let upwards = start.beta > at;
        let target = if upwards { high } else { low };
        let mut chain = follow(arrangement, start, target, own, &|| self.watch.step());
        if upwards && matches!(chain.stop, Stop::Target) {
            self.miss(format!(
                "the end of the second branch of the fold at {} = {at}",
                self.name()
            ));
        }
        let bounds = gaps.iter().zip(&start.place);
        chain.pieces.push(Piece {
            beta: (at.min(start.beta), at.max(start.beta)),
            gaps: bounds.map(|(g, p)| (g.lo().min(p.0), g.hi().max(p.1))).collect(),
            ascents,
        });
        let Some(orbit) = self.orbit_at(stratum, arrangement, &start) else { return };
        let met = met(&chain);
        let end = (End::Bifurcation(bifurcation), upwards);
        let number = self.add(stratum, arrangement, &orbit, chain, end);
        self.found.bifurcations[bifurcation].born.push(number);
        for b in met {
            self.give_birth(births[b], number);
        }
    }

    /// Symmetry and multiplicity at a point.
    fn orbit_at(&self, stratum: usize, arrangement: &Arrangement, at: &Point) -> Option<Orbit> {
        let middle = middles(&at.place[..arrangement.k]);
        let alone = point::point(arrangement, &middle, at.beta).map_or(at.place, |p| p.1);
        let zeros = [super::newton::Zero { alone, place: at.place }];
        let bounded = arrangement.at((at.beta, at.beta));
        let (found, _) = orbits::orbits(&self.strata[stratum], &bounded, &zeros, at.beta);
        found.into_iter().next().map(|(orbit, _)| orbit)
    }

    /// The number of the bifurcation at a fold where a chain ends.
    fn fold_of(
        &mut self,
        stratum: usize,
        arrangement: &Arrangement,
        branch: usize,
        fold: &Fold,
    ) -> usize {
        let gaps: Vec<(f64, f64)> = fold.gaps.iter().map(|g| (g.lo(), g.hi())).collect();
        let beta = (fold.beta.lo(), fold.beta.hi());
        let known = |t: &&mut Turn| t.stratum == stratum && t.fold.covers(arrangement, &gaps, beta);
        if let Some(turn) = self.folds.iter_mut().find(known) {
            // Each end of the curve belongs to one branch.
            let bifurcation = turn.bifurcation;
            let side = turn.fold.side_of_start(arrangement, fold).map(usize::from);
            match side.filter(|s| !turn.ends[*s]) {
                Some(side) => turn.ends[side] = true,
                None => self.miss(format!(
                    "a branch whose end at the fold at {} = {} is not told from another",
                    self.name(),
                    fold.beta.mid()
                )),
            }
            self.found.bifurcations[bifurcation].born.push(branch);
            return bifurcation;
        }
        let bifurcation = self.found.bifurcations.len();
        self.found.bifurcations.push(Bifurcation {
            beta,
            kind: Kind::Fold,
            clusters: self.strata[stratum].clone(),
            gaps,
            splitting: Vec::new(),
            ascents: fold.ascents,
            branch,
            born: vec![branch],
            proved: true,
        });
        let mut ends = [false; 2];
        match fold.side(arrangement, &fold.own) {
            Some(side) => ends[usize::from(side)] = true,
            // Unreachable: a fold is proved only with its sides.
            None => self.miss("the ends of a fold".into()),
        }
        self.folds.push(Turn { bifurcation, stratum, fold: fold.clone(), ends });
        bifurcation
    }

    /// Follows a branch from its bifurcation.
    fn follow_birth(
        &mut self,
        stratum: usize,
        arrangement: &Arrangement,
        (births, own): (&[usize], &[Birth]),
        (x, birth): (usize, &Birth),
    ) {
        let (low, high) = self.tokens.beta;
        let clusters = self.strata[stratum].clone();
        let at = self.found.bifurcations[birth.bifurcation].beta.0;
        let Some(start) = birth.point() else {
            self.miss(format!(
                "the branch that begins at {} = {at} with clusters {}",
                self.name(),
                text_of_clusters(&clusters)
            ));
            return;
        };
        // The box may reach beyond the interval.
        let target = if birth.side > 0.0 { high } else { low };
        let chain = if (target - start.beta) * birth.side > 0.0 {
            follow(arrangement, start, target, own, &|| self.watch.step())
        } else {
            Chain {
                points: vec![start],
                pieces: Vec::new(),
                events: Vec::new(),
                stop: Stop::Target,
            }
        };
        if birth.side > 0.0 && matches!(chain.stop, Stop::Target) && start.beta <= high {
            // All points at the largest beta are known, and none came here.
            self.miss(format!("the end of the branch that begins at {} = {at}", self.name()));
        }
        let Some(orbit) = self.orbit_at(stratum, arrangement, &start) else { return };
        let met = met(&chain);
        let end = (End::Bifurcation(birth.bifurcation), birth.side > 0.0);
        let number = self.add(stratum, arrangement, &orbit, chain, end);
        self.give_birth(births[x], number);
        for y in met {
            self.give_birth(births[y], number);
        }
    }

    /// Notes that a branch begins at a birth, and at those that a symmetry maps to it.
    fn give_birth(&mut self, birth: usize, branch: usize) {
        for other in 0..self.births.len() {
            if self.born[other].is_none() && self.births[other].is_same(&self.births[birth]) {
                self.born[other] = Some(branch);
            }
        }
        self.born[birth] = Some(branch);
        let born = &mut self.found.bifurcations[self.births[birth].bifurcation].born;
        if !born.contains(&branch) {
            born.push(branch);
        }
    }

    /// The name of the parameter.
    fn name(&self) -> String {
        self.tokens.parameter().name().to_owned()
    }

    fn miss(&mut self, what: String) {
        self.found.missing.push(what);
    }

    /// Adds a branch, with its bifurcations and the branches that begin there. The end is that at
    /// the start of the chain, and whether the chain goes upwards in beta.
    fn add(
        &mut self,
        stratum: usize,
        arrangement: &Arrangement,
        orbit: &Orbit,
        chain: Chain,
        (end, upwards): (End, bool),
    ) -> usize {
        let (number, clusters) = (self.found.branches.len(), self.strata[stratum].clone());
        let last = match &chain.stop {
            Stop::Target => End::Range,
            Stop::Births(met) => met
                .first()
                .and_then(|x| self.births.iter().filter(|b| b.stratum == stratum).nth(*x))
                .map_or(End::Open, |b| End::Bifurcation(b.bifurcation)),
            Stop::Fold(fold) => {
                let fold = fold.clone();
                End::Bifurcation(self.fold_of(stratum, arrangement, number, &fold))
            }
            Stop::Lost(beta) => {
                let beta = *beta;
                self.miss(format!(
                    "the branch with clusters {} beyond {} = {beta}",
                    text_of_clusters(&clusters),
                    self.name()
                ));
                End::Open
            }
        };
        let Chain { mut points, mut pieces, events, .. } = chain;
        pieces.sort_by(|a, b| a.beta.0.total_cmp(&b.beta.0));
        points.sort_by(|a, b| a.beta.total_cmp(&b.beta));
        let ascents_at = |beta: f64| {
            let piece = pieces.iter().find(|p| p.beta.0 <= beta && beta <= p.beta.1);
            piece.map(|p| p.ascents).or(orbit.ascents).unwrap_or_default()
        };
        let sample = |p: &Point| {
            let middle = middles(&p.place[..arrangement.k]);
            Sample {
                beta: p.beta,
                ascents: ascents_at(p.beta),
                energy_share: orbits::energy_share(arrangement, &middle, p.beta),
                gaps: middle.into_iter().map(|g| g * std::f64::consts::TAU).collect(),
            }
        };
        let samples = points.iter().map(sample).collect();
        for event in &events {
            self.bifurcation(number, &clusters, event, &pieces);
        }
        self.found.branches.push(Branch {
            clusters,
            multiplicity: orbit.multiplicity,
            mirror: orbit.mirror,
            rotations: orbit.rotations,
            pieces,
            samples,
            ends: if upwards { (end, last) } else { (last, end) },
        });
        number
    }

    /// Adds a bifurcation and proves which branches begin there.
    fn bifurcation(
        &mut self,
        branch: usize,
        clusters: &[Members],
        event: &Event,
        pieces: &[Piece],
    ) {
        let number = self.found.bifurcations.len();
        let equal = |c: &&usize| clusters[**c].windows(2).all(|m| m[0] == m[1]);
        let several = event.clusters.iter().any(|c| clusters[*c].len() > 2);
        let kind = match () {
            () if several || event.clusters.len() > 1 => Kind::Multiple,
            () if clusters.len() == 2 || event.clusters.iter().all(|c| equal(&c)) => {
                Kind::Pitchfork
            }
            () => Kind::Transcritical,
        };
        let (choices, mut proved) = birth::choices(clusters, event);
        let known = (&self.strata[..], self.tokens);
        for split in &choices {
            match Outcome::of(clusters, event, split, number, known) {
                Outcome::Begins(birth) => {
                    self.births.push(*birth);
                    self.born.push(None);
                }
                Outcome::Absent => {}
                Outcome::Unknown => proved = false,
            }
        }
        if !proved {
            let beta = event.beta.mid();
            self.miss(format!(
                "the branches that begin at {} = {beta} at clusters {}",
                self.name(),
                text_of_clusters(clusters)
            ));
        }
        let beside =
            |side: &dyn Fn(&&Piece) -> bool| pieces.iter().find(side).map_or(0, |p| p.ascents);
        let middle = event.beta.mid();
        let exactly = |a: f64| a.to_bits() == middle.to_bits();
        self.found.bifurcations.push(Bifurcation {
            beta: (event.beta.lo(), event.beta.hi()),
            kind,
            clusters: clusters.to_vec(),
            gaps: event.gaps.iter().map(|g| (g.lo(), g.hi())).collect(),
            splitting: event.clusters.clone(),
            ascents: (beside(&|p| exactly(p.beta.1)), beside(&|p| exactly(p.beta.0))),
            branch,
            born: Vec::new(),
            proved,
        });
    }

    /// Proves that the critical points of a stratum are graphs over beta.
    fn cover(&mut self, stratum: usize, share: f64) {
        let clusters = self.strata[stratum].clone();
        let arrangement = self.tokens.arrange(&clusters);
        let own = self.folds.iter().filter(|t| t.stratum == stratum);
        let folds: Vec<&Fold> = own.map(|t| &t.fold).collect();
        let covering = Covering::new(&arrangement, &folds, &self.watch);
        let cover = covering.run(self.tokens.beta, share);
        self.found.boxes += cover.boxes;
        self.found.undecided += cover.undecided;
        let free = LISTED.saturating_sub(self.found.undecided_boxes.len());
        let listed = |c: &Cell| UndecidedBox {
            clusters: clusters.clone(),
            gaps: c.gaps[..clusters.len()].to_vec(),
            beta: c.beta,
        };
        self.found.undecided_boxes.extend(cover.open.iter().take(free).map(listed));
    }

    /// The result, with bifurcations in the order of beta.
    fn finish(mut self) -> Continuation {
        for x in 0..self.births.len() {
            if self.born[x].is_none() {
                let beta = self.found.bifurcations[self.births[x].bifurcation].beta.0;
                self.miss(format!("a branch that begins at {} = {beta}", self.name()));
            }
        }
        let mut found = self.found;
        found.interrupted = self.watch.is_stopped();
        let mut order: Vec<usize> = (0..found.bifurcations.len()).collect();
        order.sort_by(|a, b| {
            found.bifurcations[*a].beta.0.total_cmp(&found.bifurcations[*b].beta.0)
        });
        let place = |old: usize| order.iter().position(|o| *o == old).unwrap_or(old);
        for branch in &mut found.branches {
            for end in [&mut branch.ends.0, &mut branch.ends.1] {
                if let End::Bifurcation(old) = end {
                    *end = End::Bifurcation(place(*old));
                }
            }
        }
        found.bifurcations = order.iter().map(|x| found.bifurcations[*x].clone()).collect();
        found.morse = morse(&found, self.tokens.n());
        found.missing.dedup();
        found.complete = found.undecided == 0
            && !found.interrupted
            && found.missing.is_empty()
            && found.morse == Some(true);
        found
    }
}

/// The births at which a chain ends.
fn met(chain: &Chain) -> Vec<usize> {
    if let Stop::Births(met) = &chain.stop { met.clone() } else { Vec::new() }
}

fn middles(bounds: &[(f64, f64)]) -> Vec<f64> {
    bounds.iter().map(|g| 0.5 * (g.0 + g.1)).collect()
}

/// Consensus, or two opposite clusters, whose gaps are 1/2 for all beta.
fn opposite(arrangement: &Arrangement, (low, high): (f64, f64)) -> Chain {
    track::fixed(arrangement, low, high)
}

/// Estimated seconds of [`all_branches`] with two threads: of the search at the largest beta, and
/// of the boxes over the interval. Measured with masses 1 for n = 6: 1.5e6 boxes for `beta < 1` and
/// 2.3e5 beyond, for an interval of length 1 of `ln beta`; 15 times as many for each further token.
/// Intervals of other parameters had 2.5e6, with boxes that cost five times as much for
/// interactions.
pub fn seconds(tokens: &Tokens) -> f64 {
    let n = tokens.n() as f64;
    let orders: f64 = if tokens.masses().windows(2).all(|m| m[0] == m[1]) {
        1.0
    } else {
        (1..tokens.n()).map(|k| k as f64).product::<f64>() / 2.0
    };
    let (low, high) = (tokens.beta.0.max(1e-3), tokens.beta.1.max(1e-3));
    let (density, cost) = match tokens.law {
        Law::Exponential => {
            let below = high.min(1.0).ln() - low.min(1.0).ln();
            (1.5e6 * below + 2.3e5 * (high.max(1.0) / low.max(1.0)).ln(), 4e-5)
        }
        Law::Family(_) => (2.5e6, 2e-4),
        _ => (2.5e6, 4e-5),
    };
    let boxes = density * 15f64.powf(n - 6.0) * orders;
    seconds_followed(tokens) + boxes * cost * (n / 6.0).powi(3)
}

/// Estimated seconds of [`followed_branches`] with two threads: those of the search at the largest
/// beta.
pub fn seconds_followed(tokens: &Tokens) -> f64 {
    super::seconds_complete(&Tokens { beta: (tokens.beta.1, tokens.beta.1), ..tokens.clone() })
}
