//! Embedded explicit Runge-Kutta steps on the product of spheres.
//!
//! The velocity is extended off the sphere by `F(y) = f(y/|y|)`, whose exact flow keeps `|y|`; stages are ambient combinations and the
//! new point is retracted. The retraction moves it by the local error only, so the method keeps its order.

use super::ode_system::OdeSystem;
use super::rows::rows;
use super::stepper::{Integrator, Stepper};
use super::tableau::Tableau;
use crate::attention::{Dynamics, kernel::Workspace};
use crate::error::Result;
use crate::sphere::Tokens;
use std::ops::Range;

/// Explicit Runge-Kutta steps of any system.
pub struct RungeKutta {
    tableau: Tableau,
    /// Relative and absolute error allowed in a block, the unit of the estimate; `None`: 1.
    tolerance: Option<(f64, f64)>,
    /// Length of the last attempt.
    h: f64,
    /// Rates at the stages; the first are those at the start.
    k: Vec<Vec<f64>>,
    /// The state where a stage is evaluated.
    stage: Vec<f64>,
    dense: Vec<Vec<f64>>,
    /// What the estimators make of the last attempt, one after the other.
    estimates: Vec<f64>,
    /// Rates evaluated so far.
    pub evaluations: u64,
}

impl RungeKutta {
    /// Steps of this method; [`RungeKutta::restart`] says where from.
    pub fn new(tableau: &Tableau, tolerance: Option<(f64, f64)>) -> Self {
        let k = vec![Vec::new(); tableau.a.len() + 1];
        Self { tableau: *tableau, tolerance, h: 0.0, k, stage: Vec::new(), dense: Vec::new(), estimates: Vec::new(), evaluations: 0 }
    }

    /// Evaluates the rates at a new start.
    pub fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        self.k.iter_mut().chain([&mut self.stage]).for_each(|v| v.resize(y.len(), 0.0));
        self.dense.clear();
        self.evaluations += 1;
        system.rates(t, y, &mut self.k[0])
    }

    /// The end of the last attempt becomes the start: its rates are known.
    pub fn accept(&mut self) {
        self.k.swap(0, self.tableau.stages);
        self.dense.clear();
    }

    /// The state of stage i, on the manifold.
    fn combine(&mut self, system: &dyn OdeSystem, y: &[f64], i: usize) {
        let stage = &mut self.stage;
        stage.fill(0.0);
        for (a, k) in self.tableau.a[i - 1].iter().zip(&self.k).filter(|(a, _)| **a != 0.0) {
            stage.iter_mut().zip(k).for_each(|(s, k)| *s += a * k);
        }
        stage.iter_mut().zip(y).for_each(|(s, y)| *s = y + self.h * *s);
        system.retract(stage);
    }

    fn evaluate(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64], i: usize) -> Result<()> {
        self.combine(system, y, i);
        // The node of a stage is the sum of its row.
        let node = if i == self.tableau.stages { 1.0 } else { self.tableau.a[i - 1].iter().sum::<f64>() };
        self.evaluations += 1;
        system.rates(t + self.h * node, &self.stage, &mut self.k[i])
    }

    /// Tries a step of length `h` from `y` at time `t`: writes where it ends and returns the error
    /// estimate, NaN when something is not finite.
    pub fn step(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64], h: f64, end: &mut [f64]) -> Result<f64> {
        self.h = h;
        self.dense.clear();
        for i in 1..=self.tableau.stages {
            self.evaluate(system, t, y, i)?;
        }
        end.copy_from_slice(&self.stage);
        Ok(self.error(system, y, end))
    }

    fn error(&mut self, system: &dyn OdeSystem, y: &[f64], end: &[f64]) -> f64 {
        let (size, h) = (y.len(), self.h);
        self.estimates.resize(self.tableau.estimators.len() * size, 0.0);
        for (sums, weights) in self.estimates.chunks_exact_mut(size.max(1)).zip(self.tableau.estimators) {
            sums.fill(0.0);
            // Weights of 0 as well: what is no number in one stage shows. h first: velocities below 1e-154 would vanish when squared.
            for (w, k) in weights.iter().zip(&self.k) {
                sums.iter_mut().zip(k).for_each(|(sum, k)| *sum += w * (h * k));
            }
        }
        let (first, second) = self.estimates.split_at(size);
        let square = |numbers: &[f64], block: Range<usize>| -> f64 { numbers[block].iter().map(|e| e * e).sum() };
        let mut worst = 0.0f64;
        for block in blocks(system, size) {
            let mut error = match square(first, block.clone()) {
                first if first > 0.0 && !second.is_empty() => first / (first + 0.01 * square(second, block.clone())).sqrt(),
                first => first.sqrt(),
            };
            if let Some((rtol, atol)) = self.tolerance {
                error /= rtol * square(y, block.clone()).max(square(end, block)).sqrt() + atol;
            }
            if error.is_nan() {
                return f64::NAN;
            }
            worst = worst.max(error);
        }
        worst
    }

    /// A first step: a hundredth of the time in which the rates would change the state by its own
    /// size (or by the tolerance, where that is more).
    pub fn first_step(&self, system: &dyn OdeSystem, y: &[f64], longest: f64) -> f64 {
        let (rtol, atol) = self.tolerance.unwrap_or((0.0, 1.0));
        let norm = |numbers: &[f64]| numbers.iter().map(|v| v * v).sum::<f64>().sqrt();
        let (mut size, mut rate) = (1.0f64, 0.0f64);
        for block in blocks(system, y.len()) {
            let unit = rtol * norm(&y[block.clone()]) + atol;
            (size, rate) = (size.max(norm(&y[block.clone()]) / unit), rate.max(norm(&self.k[0][block]) / unit));
        }
        let h = 0.01 * size / rate;
        if h < longest { h } else { longest }
    }

    /// Largest rate at the start over the largest number there.
    pub fn relative_speed(&self, y: &[f64]) -> f64 {
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        largest(&self.k[0]) / largest(y)
    }

    /// Writes the state at the share `theta` of the last attempt, which led from `y` at time `t` to
    /// `end`; the first call evaluates the extra stages.
    pub fn interpolate(
        &mut self,
        system: &mut dyn OdeSystem,
        t: f64,
        (y, end): (&[f64], &[f64]),
        theta: f64,
        out: &mut [f64],
    ) -> Result<()> {
        if self.dense.is_empty() {
            self.prepare_dense(system, t, y, end)?;
        }
        out.fill(0.0);
        for (i, row) in self.dense.iter().enumerate().rev() {
            let factor = if i % 2 == 0 { theta } else { 1.0 - theta };
            out.iter_mut().zip(row).for_each(|(o, r)| *o = (*o + r) * factor);
        }
        out.iter_mut().zip(y).for_each(|(o, y)| *o += y);
        system.retract(out);
        Ok(())
    }

    fn prepare_dense(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64], end: &[f64]) -> Result<()> {
        for i in self.tableau.stages + 1..=self.tableau.a.len() {
            self.evaluate(system, t, y, i)?;
        }
        let (h, last) = (self.h, self.tableau.stages);
        let delta: Vec<f64> = end.iter().zip(y).map(|(a, b)| a - b).collect();
        let second: Vec<f64> = delta.iter().zip(&self.k[0]).map(|(dy, f)| h * f - dy).collect();
        let third: Vec<f64> = delta.iter().zip(self.k[0].iter().zip(&self.k[last])).map(|(dy, (f, g))| 2.0 * dy - h * (f + g)).collect();
        self.dense = vec![delta, second, third];
        for weights in self.tableau.dense {
            let mut row = vec![0.0; y.len()];
            for (w, k) in weights.iter().zip(&self.k) {
                row.iter_mut().zip(k).for_each(|(r, k)| *r += h * w * k);
            }
            self.dense.push(row);
        }
        Ok(())
    }
}

/// The blocks of a state of this many numbers.
fn blocks(system: &dyn OdeSystem, len: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let first = start;
        start += system.block(first).clamp(1, (len - first).max(1));
        (first < len).then_some(first..start)
    })
}

/// Work space and data of one step.
pub struct Step {
    tableau: Tableau,
    /// The time of its start.
    t: f64,
    /// Weights are asked at no later time: just before they jump.
    until: f64,
    /// Stage rates of all numbers.
    k: Vec<Vec<f64>>,
    /// The tokens where a stage is evaluated.
    stage: Tokens,
    start: Vec<f64>,
    /// The retracted end point.
    end: Vec<f64>,
    h: f64,
    dense: Vec<Vec<f64>>,
    /// What the estimators make of the last attempt, one after the other.
    estimates: Vec<f64>,
    evaluations: u64,
    work: Workspace,
}

impl Step {
    /// Prepares steps from `x` at time `t`: evaluates the velocity there.
    pub fn new(tableau: &Tableau, dynamics: &Dynamics, t: f64, x: &Tokens) -> Self {
        let size = x.numbers().len();
        let mut step = Self {
            tableau: *tableau,
            t,
            until: f64::INFINITY,
            k: vec![vec![0.0; size]; tableau.a.len() + 1],
            stage: x.clone(),
            start: x.numbers().to_vec(),
            end: vec![0.0; size],
            h: 0.0,
            dense: Vec::new(),
            estimates: Vec::new(),
            evaluations: 0,
            work: Workspace::default(),
        };
        step.restart(dynamics, t, x);
        step
    }

    /// Stage point i into `self.stage`, retracted.
    fn combine(&mut self, i: usize) {
        let row = self.tableau.a[i - 1];
        let y = self.stage.numbers_mut();
        y.fill(0.0);
        for (a, k) in row.iter().zip(&self.k).filter(|(a, _)| **a != 0.0) {
            y.iter_mut().zip(k).for_each(|(y, k)| *y += a * k);
        }
        y.iter_mut().zip(&self.start).for_each(|(y, x)| *y = x + self.h * *y);
        settle(&mut self.stage);
    }

    fn evaluate(&mut self, dynamics: &Dynamics, i: usize) {
        self.combine(i);
        // Its node is the sum of its row.
        let t = self.t + self.h * self.tableau.a[i - 1].iter().sum::<f64>();
        dynamics.rates(t.min(self.until), &self.stage, &mut self.work, &mut self.k[i]);
        self.evaluations += 1;
    }

    /// Moves `x` from time t by a step whose error nobody asks for.
    pub fn pass(&mut self, dynamics: &Dynamics, t: f64, h: f64, x: &mut Tokens) {
        self.restart(dynamics, t, x);
        self.h = h;
        for i in 1..self.tableau.stages {
            self.evaluate(dynamics, i);
        }
        self.combine(self.tableau.stages);
        x.numbers_mut().copy_from_slice(self.stage.numbers());
    }

    fn error(&mut self) -> f64 {
        let (size, h) = (self.start.len(), self.h);
        self.estimates.resize(self.tableau.estimators.len() * size, 0.0);
        for (sums, weights) in self.estimates.chunks_exact_mut(size).zip(self.tableau.estimators) {
            sums.fill(0.0);
            // Weights of 0 as well: what is no number in one stage shows. h first: velocities below 1e-154 would vanish when squared.
            for (w, k) in weights.iter().zip(&self.k) {
                sums.iter_mut().zip(k).for_each(|(sum, k)| *sum += w * (h * k));
            }
        }
        let (first, second) = self.estimates.split_at(size);
        let square = |estimate: &[f64], row: Range<usize>| -> f64 { estimate[row].iter().map(|e| e * e).sum() };
        let mut worst = 0.0f64;
        for row in rows(&self.stage) {
            let error = match square(first, row.clone()) {
                first if first > 0.0 && !second.is_empty() => first / (first + 0.01 * square(second, row)).sqrt(),
                first => first.sqrt(),
            };
            if error.is_nan() {
                return f64::NAN;
            }
            worst = worst.max(error);
        }
        worst
    }

    /// Prepares dense output of the last attempt; costs the extra stages once.
    fn prepare_dense(&mut self, dynamics: &Dynamics) {
        if !self.dense.is_empty() {
            return;
        }
        for i in self.tableau.stages + 1..=self.tableau.a.len() {
            self.evaluate(dynamics, i);
        }
        let (h, last) = (self.h, self.tableau.stages);
        let delta: Vec<f64> = self.end.iter().zip(&self.start).map(|(a, b)| a - b).collect();
        let second: Vec<f64> = delta.iter().zip(&self.k[0]).map(|(dy, f)| h * f - dy).collect();
        let third: Vec<f64> = delta.iter().zip(self.k[0].iter().zip(&self.k[last])).map(|(dy, (f, g))| 2.0 * dy - h * (f + g)).collect();
        self.dense = vec![delta, second, third];
        for weights in self.tableau.dense {
            let mut row = vec![0.0; self.start.len()];
            for (w, k) in weights.iter().zip(&self.k) {
                row.iter_mut().zip(k).for_each(|(r, k)| *r += h * w * k);
            }
            self.dense.push(row);
        }
    }
}

/// Brings tokens back to their space; one that cannot be keeps its numbers, and shows by its velocity.
fn settle(x: &mut Tokens) {
    let (space, n, d) = (x.space(), x.n(), x.d());
    let _ = space.settle(d, n, x.numbers_mut());
}

impl Integrator for Tableau {
    fn name(&self) -> &'static str {
        self.name
    }

    fn begin<'a>(&self, dynamics: &'a Dynamics, t: f64, x: &Tokens) -> Box<dyn Stepper + 'a> {
        Box::new(Step::new(self, dynamics, t, x))
    }

    fn tableau(&self) -> Option<&Tableau> {
        Some(self)
    }
}

impl Stepper for Step {
    fn order(&self) -> Option<u32> {
        Some(self.tableau.order)
    }

    fn restart(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens) {
        self.t = t;
        if x.n() != self.stage.n() {
            // Tokens have merged: the masses are others as well.
            self.stage = x.clone();
            self.k.iter_mut().chain([&mut self.start, &mut self.end]).for_each(|v| v.resize(x.numbers().len(), 0.0));
        }
        self.start.copy_from_slice(x.numbers());
        dynamics.rates(t, x, &mut self.work, &mut self.k[0]);
        self.evaluations += 1;
        self.dense.clear();
    }

    fn attempt(&mut self, dynamics: &Dynamics, h: f64) -> f64 {
        self.h = h;
        self.dense.clear();
        for i in 1..self.tableau.stages {
            self.evaluate(dynamics, i);
        }
        self.combine(self.tableau.stages);
        self.end.copy_from_slice(self.stage.numbers());
        dynamics.rates((self.t + h).min(self.until), &self.stage, &mut self.work, &mut self.k[self.tableau.stages]);
        self.evaluations += 1;
        self.error()
    }

    fn end(&self) -> &[f64] {
        &self.end
    }

    fn velocity(&self) -> &[f64] {
        &self.k[0]
    }

    /// The velocity at the end is known.
    fn advance(&mut self, _: &Dynamics, t: f64, _: &Tokens) {
        self.t = t;
        self.start.copy_from_slice(&self.end);
        self.k.swap(0, self.tableau.stages);
        self.dense.clear();
    }

    fn is_dense(&self) -> bool {
        true
    }

    fn interpolate(&mut self, dynamics: &Dynamics, theta: f64, x: &mut Tokens) {
        self.prepare_dense(dynamics);
        let y = x.numbers_mut();
        y.fill(0.0);
        for (i, row) in self.dense.iter().enumerate().rev() {
            let factor = if i % 2 == 0 { theta } else { 1.0 - theta };
            y.iter_mut().zip(row).for_each(|(y, r)| *y = (*y + r) * factor);
        }
        y.iter_mut().zip(&self.start).for_each(|(y, s)| *y += s);
        settle(x);
    }

    fn until(&mut self, t: f64) {
        self.until = t;
    }

    fn broken_token(&self, x: &Tokens) -> Option<usize> {
        let broken = |k: &Vec<f64>| rows(x).position(|row| k[row].iter().any(|v| !v.is_finite()));
        self.k[..=self.tableau.stages].iter().find_map(broken).map(|row| row % x.n())
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}
