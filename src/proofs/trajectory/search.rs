//! The search for a proof: steps from the start until all tokens lie in one open hemisphere.

use super::hemisphere;
use super::path::Path;
use super::proof::{Cause, ConvergenceProof, ProofFailure, StepRecord};
use super::start::Neighbourhood;
use super::step;
use super::system::System;
use crate::num::interval::Interval;

/// Most steps of a proof.
pub(super) const MAX_STEPS: usize = 2000;

/// Time of the path after which the search ends.
const MAX_TIME: f64 = 1e15;

/// Points closer than this fraction of the error merge. The jump, in the norm of the proof, is then
/// below a fiftieth of the error.
const MERGE_FRACTION: f64 = 0.02;

/// The state of the search.
struct ProofSearch<'a> {
    start: &'a Neighbourhood,
    system: System,
    /// The point of each token.
    labels: Vec<usize>,
    x: Vec<f64>,
    error: f64,
    steps: Vec<StepRecord>,
    t: f64,
    /// Integrals of mu, of the defect and of `|theta' - 1|`.
    growth: f64,
    defect: f64,
    time_shift: f64,
}

/// Searches for a proof with at most `max_steps` steps. A smaller `growth_width` makes pieces
/// shorter and bounds of the growth rate sharper.
pub(super) fn search(
    start: &Neighbourhood,
    growth_width: f64,
    max_steps: usize,
) -> Result<ConvergenceProof, ProofFailure> {
    // Many tokens make steps expensive: a longer series needs fewer of them.
    let order = if start.x.len() >= 64 { 20 } else { 16 };
    let system = System::of_tokens(start);
    let x = step::normalise_rows(start.d, &start.x);
    let error = step::initial_error(&system, &start.x, &x, start.radius);
    let labels = (0..system.len()).collect();
    let mut search = ProofSearch {
        start,
        system,
        labels,
        x,
        error,
        steps: Vec::new(),
        t: 0.0,
        growth: 0.0,
        defect: 0.0,
        time_shift: 0.0,
    };
    loop {
        let direction = hemisphere::direction(start.d, &search.x);
        let (margin, point) =
            hemisphere::margin(&search.system, &search.x, &direction, search.error);
        if margin > 0.0 {
            let ProofSearch { steps, t, error, growth, time_shift, .. } = search;
            return Ok(ConvergenceProof {
                start: start.clone(),
                order,
                steps,
                direction,
                t,
                time_shift,
                error,
                growth,
            });
        }
        search
            .advance(order, growth_width, max_steps)
            .map_err(|cause| search.failure(cause, point))?;
        search.merge();
    }
}

impl ProofSearch<'_> {
    fn failure(&self, cause: Cause, point: usize) -> ProofFailure {
        let token = self.labels.iter().position(|l| *l == point).unwrap_or(0);
        ProofFailure {
            cause,
            t: self.t,
            token,
            error: self.error,
            growth: self.growth,
            defect: self.defect,
            steps: self.steps.len(),
        }
    }

    /// Adds one step to the proof.
    fn advance(&mut self, order: usize, growth_width: f64, max_steps: usize) -> Result<(), Cause> {
        if self.steps.len() >= max_steps || self.t > MAX_TIME {
            return Err(Cause::Limit);
        }
        // A smaller defect gains nothing beside the rounding of the coefficients or the present
        // error.
        let tolerance = 1e-17f64.max(1e-3 * self.error);
        let last = self.steps.last().map_or(1.0, |s| s.h);
        let path = Path::new(&self.system, &self.x, order, tolerance, last).ok_or(Cause::Defect)?;
        let s = step::propagate_error(&path, self.error, growth_width)?;
        let starts = std::iter::once(0.0).chain(s.pieces.iter().map(|p| p.end));
        self.growth += s.pieces.iter().zip(starts).map(|(p, a)| p.mu * (p.end - a)).sum::<f64>();
        self.time_shift += s.time_shift;
        (self.t, self.defect, self.error, self.x) =
            (self.t + s.h, self.defect + s.defect, s.error, s.x.clone());
        self.steps.push(StepRecord {
            h: s.h,
            pieces: s.pieces,
            x: s.x,
            merged: None,
            error: s.error,
        });
        Ok(())
    }

    /// Merges points that are close compared with the error (Lemma 4). Under a causal mask nothing
    /// merges, as no two tokens see the same tokens.
    fn merge(&mut self) {
        let (d, radius) = (self.start.d, 1e-14f64.max(MERGE_FRACTION * self.error));
        let labels = labels(self.x.chunks_exact(d).collect(), radius);
        let count = labels.iter().max().map_or(0, |l| l + 1);
        if self.start.causal || count == self.system.len() {
            return;
        }
        let mut x = vec![0.0; count * d];
        for (at, v) in self.x.iter().enumerate() {
            x[labels[at / d] * d + at % d] += self.system.masses[at / d].mid() * v;
        }
        let x = step::normalise_rows(d, &x);
        let point = Interval::exact;
        let jump: Vec<_> = self
            .x
            .iter()
            .enumerate()
            .map(|(at, v)| point(*v) - point(x[labels[at / d] * d + at % d]))
            .collect();
        self.error = (point(self.error) + point(self.system.norm(&jump))).hi();
        self.labels.iter_mut().for_each(|l| *l = labels[*l]);
        self.system = self.system.merged(&labels);
        self.x = x;
        if let Some(last) = self.steps.last_mut() {
            (last.merged, last.error) = (Some((labels, self.x.clone())), self.error);
        }
    }
}

/// A label per row: a row within `radius` of the first row of a group joins the group.
fn labels(rows: Vec<&[f64]>, radius: f64) -> Vec<usize> {
    let mut firsts: Vec<usize> = Vec::new();
    let distance =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let mut label = |i: usize| {
        let known = firsts.iter().position(|j| distance(rows[i], rows[*j]) <= radius);
        known.unwrap_or_else(|| {
            firsts.push(i);
            firsts.len() - 1
        })
    };
    (0..rows.len()).map(&mut label).collect()
}
