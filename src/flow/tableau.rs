//! Embedded explicit Runge-Kutta steps on the product of spheres.
//!
//! The velocity is extended off the sphere by `F(y) = f(y/|y|)`, whose exact flow keeps `|y|`; stages are ambient combinations and the
//! new point is retracted. The retraction moves it by the local error only, so the method keeps its order.

use crate::attention::{Dynamics, kernel::Workspace};
use crate::sphere::Tokens;
use std::ops::Range;

/// An explicit method: coefficients and nothing else.
#[derive(Debug)]
pub struct Tableau {
    /// Name on the command line.
    pub name: &'static str,
    /// Order of the propagated solution.
    pub order: u32,
    /// Source.
    pub citation: &'static str,
    /// Stages of one step; stage `stages` is the velocity at the new point.
    pub stages: usize,
    /// Row i holds the coefficients of stage i + 1; row `stages - 1` is the solution; rows after it serve dense output.
    pub a: &'static [&'static [f64]],
    /// Error estimators; the second, if any, guards the first (Hairer's combination of orders 5 and 3).
    pub estimators: &'static [&'static [f64]],
    /// Coefficients of the dense output beyond cubic Hermite.
    pub dense: &'static [&'static [f64]],
}

/// Work space and data of one step.
pub struct Step {
    tableau: &'static Tableau,
    /// The time of its start.
    t: f64,
    /// Weights are asked at no later time: just before they jump.
    pub until: f64,
    /// Stage rates of all numbers.
    k: Vec<Vec<f64>>,
    /// The tokens where a stage is evaluated.
    stage: Tokens,
    start: Vec<f64>,
    /// The retracted end point.
    pub end: Vec<f64>,
    h: f64,
    dense: Vec<Vec<f64>>,
    /// Velocity evaluations so far.
    pub evaluations: u64,
    /// Buffers of the run.
    pub work: Workspace,
}

impl Step {
    /// Prepares steps from `x` at time `t`: evaluates the velocity there.
    pub fn new(tableau: &'static Tableau, dynamics: &Dynamics, t: f64, x: &Tokens) -> Self {
        let size = x.numbers().len();
        let mut step = Self {
            tableau,
            t,
            until: f64::INFINITY,
            k: vec![vec![0.0; size]; tableau.a.len() + 1],
            stage: x.clone(),
            start: x.numbers().to_vec(),
            end: vec![0.0; size],
            h: 0.0,
            dense: Vec::new(),
            evaluations: 0,
            work: Workspace::default(),
        };
        step.restart(dynamics, t, x);
        step
    }

    /// Moves the start to `x` at time `t` and evaluates the velocity there.
    pub fn restart(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens) {
        self.t = t;
        self.start.copy_from_slice(x.numbers());
        dynamics.rates(t, x, &mut self.work, &mut self.k[0]);
        self.evaluations += 1;
        self.dense.clear();
    }

    /// Makes the end of the last attempt the new start at time `t`; its velocity is already known.
    pub fn advance(&mut self, t: f64) {
        self.t = t;
        self.start.copy_from_slice(&self.end);
        self.k.swap(0, self.tableau.stages);
        self.dense.clear();
    }

    /// The velocity at the start.
    pub fn velocity(&self) -> &[f64] {
        &self.k[0]
    }

    /// Largest speed of a token at the start.
    pub fn max_speed(&self) -> f64 {
        self.largest_row(|c| self.k[0][c])
    }

    /// Attempts a step of length `h` and returns the largest row of the error estimate, NaN when a velocity is not finite.
    pub fn attempt(&mut self, dynamics: &Dynamics, h: f64) -> f64 {
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

    /// `max_i |x_i(end) - x_i(start)|`.
    pub fn displacement(&self) -> f64 {
        self.largest_row(|c| self.end[c] - self.start[c])
    }

    /// Index of the first token whose velocity is not finite in any stage.
    pub fn broken_token(&self) -> Option<usize> {
        let (n, d) = (self.stage.n(), self.stage.d());
        let token = |c: usize| if c < n * d { c / d } else { (c - n * d) / self.stage.space().own() };
        self.k[..=self.tableau.stages].iter().find_map(|k| k.iter().position(|v| !v.is_finite())).map(token)
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

    fn error(&self) -> f64 {
        let estimate = |weights: &[f64], row: Range<usize>| -> f64 {
            let mut sum = 0.0;
            for c in row {
                // h first: velocities below 1e-154 would vanish when squared.
                let e: f64 = weights.iter().zip(&self.k).map(|(w, k)| w * (self.h * k[c])).sum();
                sum += e * e;
            }
            sum
        };
        let mut worst = 0.0f64;
        for row in self.rows() {
            let first = estimate(self.tableau.estimators[0], row.clone());
            let error = match self.tableau.estimators.get(1) {
                Some(second) if first > 0.0 => first / (first + 0.01 * estimate(second, row)).sqrt(),
                _ => first.sqrt(),
            };
            if error.is_nan() {
                return f64::NAN;
            }
            worst = worst.max(error);
        }
        worst
    }

    /// Prepares dense output of the last attempt; costs the extra stages once.
    pub fn prepare_dense(&mut self, dynamics: &Dynamics) {
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

    /// The point at fraction `theta` of the last attempt, retracted; needs [`Step::prepare_dense`].
    pub fn interpolate(&self, theta: f64, x: &mut Tokens) {
        let y = x.numbers_mut();
        y.fill(0.0);
        for (i, row) in self.dense.iter().enumerate().rev() {
            let factor = if i % 2 == 0 { theta } else { 1.0 - theta };
            y.iter_mut().zip(row).for_each(|(y, r)| *y = (*y + r) * factor);
        }
        y.iter_mut().zip(&self.start).for_each(|(y, s)| *y += s);
        settle(x);
    }

    /// The numbers that are measured together: the coordinates of a token, and its own numbers of the space.
    fn rows(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (n, d, own) = (self.stage.n(), self.stage.d(), self.stage.space().own());
        let coordinates = (0..n).map(move |i| i * d..(i + 1) * d);
        coordinates.chain((0..if own > 0 { n } else { 0 }).map(move |i| n * d + i * own..n * d + (i + 1) * own))
    }

    fn largest_row(&self, entry: impl Fn(usize) -> f64) -> f64 {
        largest_row(self.start.len(), self.rows(), entry)
    }
}

/// Brings tokens back to their space; one that cannot be keeps its numbers, and shows by its velocity.
fn settle(x: &mut Tokens) {
    let (space, n, d) = (x.space(), x.n(), x.d());
    let _ = space.settle(d, n, x.numbers_mut());
}

/// Largest norm of a row of d of the numbers `entry(0..len)`.
pub(super) fn max_row_norm(len: usize, d: usize, entry: impl Fn(usize) -> f64) -> f64 {
    largest_row(len, (0..len).step_by(d).map(|i| i..i + d), entry)
}

/// Largest norm of some rows of the numbers `entry(0..len)`.
fn largest_row(len: usize, rows: impl Iterator<Item = Range<usize>>, entry: impl Fn(usize) -> f64) -> f64 {
    // Scaled by the largest entry: squares of drifts below 1e-154 would underflow.
    let top = (0..len).fold(0.0f64, |m, c| m.max(entry(c).abs()));
    if top == 0.0 || !top.is_finite() {
        return top;
    }
    top * rows.map(|row| row.map(|c| (entry(c) / top).powi(2)).sum::<f64>().sqrt()).fold(0.0, f64::max)
}
