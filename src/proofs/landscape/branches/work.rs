//! The work of one call: branches, folds and bifurcations that are known, and what is missing.

use super::super::cell::{Arrangement, Cell};
use super::super::kernel::Law;
use super::super::newton::Zero;
use super::super::orbits::{self, Orbit};
use super::super::search::{Goal, Monitor, Search};
use super::super::strata::{Members, text_of_clusters};
use super::super::{Parameter, Report, Tokens, UndecidedBox, refuse_continua, refuse_long};
use super::birth::{self, Birth, Outcome};
use super::fold::Fold;
use super::point::{self, Event, Piece, Point};
use super::result::{Bifurcation, Branch, Continuation, End, Kind, Sample, morse};
use super::track::{Chain, Stop, fixed, follow};
use super::tree::Covering;
use crate::error::{Error, Result};
use crate::num::interval::check_fp_environment;

/// Smallest and largest beta.
pub const BETA_RANGE: (f64, f64) = (0.01, 100.0);

/// Number of undecided boxes that a result lists.
const LISTED: usize = 20;

/// A fold in a stratum.
pub(super) struct Turn {
    bifurcation: usize,
    stratum: usize,
    fold: Fold,
    /// The ends of its curve at which a branch ends, that with the larger parameter second.
    ends: [bool; 2],
}

/// The work of one call.
pub(super) struct Work<'a> {
    pub(super) tokens: &'a Tokens,
    /// Those that are followed.
    pub(super) strata: Vec<Vec<Members>>,
    pub(super) monitor: Monitor<'a>,
    pub(super) births: Vec<Birth>,
    /// Branches that begin at the births, if they are known.
    pub(super) born: Vec<Option<usize>>,
    pub(super) folds: Vec<Turn>,
    pub(super) found: Continuation,
}

impl<'a> Work<'a> {
    /// **Errors** an interval of beta that is a point or leaves [`BETA_RANGE`]; continua at an end
    /// of an interval of another parameter; arithmetic that is not IEEE; an estimate of more than a
    /// day.
    pub(super) fn new(tokens: &'a Tokens, seconds: f64, report: Report<'a>) -> Result<Self> {
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
                refuse_continua(&family.interaction_at(value)?, tokens)?;
            }
        }
        refuse_long(tokens, seconds)?;
        Ok(Self {
            tokens,
            strata: Vec::new(),
            monitor: Monitor::new(report),
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
    pub(super) fn branches_of(&mut self, stratum: usize, share: f64) {
        let clusters = self.strata[stratum].clone();
        let (arrangement, (low, high)) = (self.tokens.arrange(&clusters), self.tokens.beta);
        let bounded = arrangement.at((high, high));
        if clusters.len() < 3 {
            let orbit = orbits::simple(&clusters, &bounded, high);
            let chain = fixed(&arrangement, low, high);
            self.add(stratum, &arrangement, &orbit, chain, (End::Range, false));
            return;
        }
        let births: Vec<usize> =
            (0..self.births.len()).filter(|b| self.births[*b].stratum == stratum).collect();
        let own: Vec<Birth> = births.iter().map(|b| self.births[*b].clone()).collect();
        let tree = {
            let report = |share: f64, boxes: u64| !self.monitor.ask_beyond(share, boxes);
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
        self.monitor.add(share, tree.boxes);
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
            let chain = follow(&arrangement, start, low, &own, &|| self.monitor.step());
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
        let mut chain = follow(arrangement, start, target, own, &|| self.monitor.step());
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
    pub(super) fn orbit_at(
        &self,
        stratum: usize,
        arrangement: &Arrangement,
        at: &Point,
    ) -> Option<Orbit> {
        let middle = middles(&at.place[..arrangement.k]);
        let alone = point::point(arrangement, &middle, at.beta).map_or(at.place, |p| p.1);
        let zeros = [Zero { alone, place: at.place }];
        let bounded = arrangement.at((at.beta, at.beta));
        let (found, _) = orbits::orbits(&self.strata[stratum], &bounded, &zeros, at.beta);
        found.into_iter().next().map(|(orbit, _)| orbit)
    }

    /// The number of the bifurcation at a fold where a chain ends.
    pub(super) fn fold_of(
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
            follow(arrangement, start, target, own, &|| self.monitor.step())
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
    pub(super) fn give_birth(&mut self, birth: usize, branch: usize) {
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
    pub(super) fn name(&self) -> String {
        self.tokens.parameter().name().to_owned()
    }

    pub(super) fn miss(&mut self, what: String) {
        self.found.missing.push(what);
    }

    /// Adds a branch, with its bifurcations and the branches that begin there. The end is that at
    /// the start of the chain, and whether the chain goes upwards in beta.
    pub(super) fn add(
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
    pub(super) fn cover(&mut self, stratum: usize, share: f64) {
        let clusters = self.strata[stratum].clone();
        let arrangement = self.tokens.arrange(&clusters);
        let own = self.folds.iter().filter(|t| t.stratum == stratum);
        let folds: Vec<&Fold> = own.map(|t| &t.fold).collect();
        let covering = Covering::new(&arrangement, &folds, &self.monitor);
        let cover = covering.run(self.tokens.beta, share);
        self.found.boxes += cover.boxes;
        self.found.undecided += cover.undecided_count;
        let free = LISTED.saturating_sub(self.found.undecided_boxes.len());
        let listed = |c: &Cell| UndecidedBox {
            clusters: clusters.clone(),
            gaps: c.gaps[..clusters.len()].to_vec(),
            beta: c.beta,
        };
        self.found.undecided_boxes.extend(cover.undecided.iter().take(free).map(listed));
    }

    /// The result, with bifurcations in the order of beta.
    pub(super) fn finish(mut self) -> Continuation {
        for x in 0..self.births.len() {
            if self.born[x].is_none() {
                let beta = self.found.bifurcations[self.births[x].bifurcation].beta.0;
                self.miss(format!("a branch that begins at {} = {beta}", self.name()));
            }
        }
        let mut found = self.found;
        found.interrupted = self.monitor.is_stopped();
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

pub(super) fn middles(bounds: &[(f64, f64)]) -> Vec<f64> {
    bounds.iter().map(|g| 0.5 * (g.0 + g.1)).collect()
}
