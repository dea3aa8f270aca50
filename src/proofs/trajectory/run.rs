//! From the start to the hemisphere.

use super::hemisphere;
use super::path::Path;
use super::proof::{Cause, Convergence, Lost, Stride};
use super::start::Neighbourhood;
use super::step;
use super::system::System;
use crate::num::interval::Interval;

/// Steps after which nothing more is tried.
pub(super) const MOST_STEPS: usize = 2000;

/// Time after which nothing more is tried.
const LONGEST: f64 = 1e15;

/// Points nearer than this share of the error become one; the mass-weighted jump is then below a fiftieth of it.
const SHARE: f64 = 0.02;

/// The state of a proof.
struct Run<'a> {
    start: &'a Neighbourhood,
    system: System,
    /// The point of every token.
    labels: Vec<usize>,
    x: Vec<f64>,
    error: f64,
    strides: Vec<Stride>,
    t: f64,
    growth: f64,
    defect: f64,
    shift: f64,
}

/// One try, with this slack of the growth rate and at most so many steps.
pub(super) fn attempt(start: &Neighbourhood, slack: f64, most: usize) -> Result<Convergence, Lost> {
    // A longer series pays where pairs of tokens cost more than the steps.
    let order = if start.x.len() >= 64 { 20 } else { 16 };
    let system = System::of_tokens(start);
    let x = step::unit(start.d, &start.x);
    let error = step::first_error(&system, &start.x, &x, start.radius);
    let labels = (0..system.len()).collect();
    let mut run = Run { start, system, labels, x, error, strides: Vec::new(), t: 0.0, growth: 0.0, defect: 0.0, shift: 0.0 };
    loop {
        let direction = hemisphere::direction(start.d, &run.x);
        let (margin, point) = hemisphere::margin(&run.system, &run.x, &direction, run.error);
        if margin > 0.0 {
            let Run { strides, t, error, growth, shift, .. } = run;
            return Ok(Convergence { start: start.clone(), order, strides, direction, t, shift, error, growth });
        }
        run.advance(order, slack, most).map_err(|cause| run.lost(cause, point))?;
        run.merge();
    }
}

impl Run<'_> {
    fn lost(&self, cause: Cause, point: usize) -> Lost {
        let token = self.labels.iter().position(|l| *l == point).unwrap_or(0);
        Lost { cause, t: self.t, token, error: self.error, growth: self.growth, defect: self.defect, steps: self.strides.len() }
    }

    fn advance(&mut self, order: usize, slack: f64, most: usize) -> Result<(), Cause> {
        if self.strides.len() >= most || self.t > LONGEST {
            return Err(Cause::Endless);
        }
        // Below the rounding of the coefficients, or below what a ball of starts has already.
        let tolerance = 1e-17f64.max(1e-3 * self.error);
        let last = self.strides.last().map_or(1.0, |s| s.h);
        let path = Path::new(&self.system, &self.x, order, tolerance, last).ok_or(Cause::Defect)?;
        let s = step::follow(&path, self.error, slack)?;
        let starts = std::iter::once(0.0).chain(s.pieces.iter().map(|p| p.end));
        self.growth += s.pieces.iter().zip(starts).map(|(p, a)| p.growth * (p.end - a)).sum::<f64>();
        self.shift += s.shift;
        (self.t, self.defect, self.error, self.x) = (self.t + s.h, self.defect + s.defect, s.error, s.x.clone());
        self.strides.push(Stride { h: s.h, pieces: s.pieces, x: s.x, merged: None, error: s.error });
        Ok(())
    }

    /// Points nearer than the error allows become one (tokens that do not see the same never do).
    fn merge(&mut self) {
        let (d, near) = (self.start.d, 1e-14f64.max(SHARE * self.error));
        let labels = labels(self.x.chunks_exact(d).collect(), near);
        let count = labels.iter().max().map_or(0, |l| l + 1);
        if self.start.causal || count == self.system.len() {
            return;
        }
        let mut x = vec![0.0; count * d];
        for (at, v) in self.x.iter().enumerate() {
            x[labels[at / d] * d + at % d] += self.system.masses[at / d].mid() * v;
        }
        let x = step::unit(d, &x);
        let point = Interval::exact;
        let jump: Vec<_> = self.x.iter().enumerate().map(|(at, v)| point(*v) - point(x[labels[at / d] * d + at % d])).collect();
        self.error = (point(self.error) + point(self.system.norm(&jump))).hi();
        self.labels.iter_mut().for_each(|l| *l = labels[*l]);
        self.system = self.system.merged(&labels);
        self.x = x;
        if let Some(last) = self.strides.last_mut() {
            (last.merged, last.error) = (Some((labels, self.x.clone())), self.error);
        }
    }
}

/// Rows within `near` of the first row of a group join it.
fn labels(rows: Vec<&[f64]>, near: f64) -> Vec<usize> {
    let mut heads: Vec<usize> = Vec::new();
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let mut label = |i: usize| {
        let known = heads.iter().position(|j| distance(rows[i], rows[*j]) <= near);
        known.unwrap_or_else(|| {
            heads.push(i);
            heads.len() - 1
        })
    };
    (0..rows.len()).map(&mut label).collect()
}
