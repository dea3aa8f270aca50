//! Embedded explicit Runge-Kutta steps of a system on a manifold.
//!
//! On the sphere the velocity is extended by `F(y) = f(y/|y|)`, whose exact flow keeps `|y|`;
//! stages are ambient combinations and the new point is retracted. The retraction moves it by the
//! local error only, so the method keeps its order.

use super::block_norms::blocks;
use super::integrate::OdeSystem;
use super::stepper::{Integrator, StepAttempt, Stepper};
use super::tableau::Tableau;
use crate::error::Result;
use std::ops::Range;

/// Explicit Runge-Kutta steps of any system.
pub struct RungeKutta {
    tableau: Tableau,
    /// Relative and absolute error allowed in a block, the unit of the error estimate; `None`: 1.
    tolerance: Option<(f64, f64)>,
    /// Length of the last attempted step.
    h: f64,
    /// Rates at the stages; `k[0]` holds those at the start.
    k: Vec<Vec<f64>>,
    /// State at which a stage is evaluated.
    stage: Vec<f64>,
    dense: Vec<Vec<f64>>,
    /// Error estimates of the last attempted step, one estimator after the other.
    estimates: Vec<f64>,
    /// Number of evaluations of the rates so far.
    pub evaluations: u64,
}

impl RungeKutta {
    /// Steps of this method; call [`RungeKutta::restart`] before the first one.
    pub fn new(tableau: &Tableau, tolerance: Option<(f64, f64)>) -> Self {
        let k = vec![Vec::new(); tableau.a.len() + 1];
        Self {
            tableau: *tableau,
            tolerance,
            h: 0.0,
            k,
            stage: Vec::new(),
            dense: Vec::new(),
            estimates: Vec::new(),
            evaluations: 0,
        }
    }

    /// Computes the state of stage i, retracted to the manifold.
    fn combine(&mut self, system: &dyn OdeSystem, y: &[f64], i: usize) {
        let stage = &mut self.stage;
        stage.fill(0.0);
        for (a, k) in self.tableau.a[i - 1].iter().zip(&self.k).filter(|(a, _)| **a != 0.0) {
            stage.iter_mut().zip(k).for_each(|(s, k)| *s += a * k);
        }
        stage.iter_mut().zip(y).for_each(|(s, y)| *s = y + self.h * *s);
        system.retract(stage);
    }

    /// Computes the state of stage i and returns the time of its rates; the node of a stage is the
    /// sum of its row of coefficients.
    fn prepare_stage(&mut self, system: &dyn OdeSystem, t: f64, y: &[f64], i: usize) -> f64 {
        self.combine(system, y, i);
        self.evaluations += 1;
        t + self.h
            * if i == self.tableau.stages { 1.0 } else { self.tableau.a[i - 1].iter().sum::<f64>() }
    }

    /// Moves `y` from time `t` by a step without an error estimate. **Errors** those of the rates.
    pub fn step_unchecked(
        &mut self,
        system: &mut dyn OdeSystem,
        t: f64,
        h: f64,
        y: &mut [f64],
    ) -> Result<()> {
        self.restart(system, t, y)?;
        self.h = h;
        for i in 1..self.tableau.stages {
            let at = self.prepare_stage(system, t, y, i);
            system.rates(at, &self.stage, &mut self.k[i])?;
        }
        self.combine(system, y, self.tableau.stages);
        y.copy_from_slice(&self.stage);
        Ok(())
    }

    fn error(&mut self, system: &dyn OdeSystem, y: &[f64], end: &[f64]) -> f64 {
        let (size, h) = (y.len(), self.h);
        self.estimates.resize(self.tableau.estimators.len() * size, 0.0);
        for (sums, weights) in
            self.estimates.chunks_exact_mut(size.max(1)).zip(self.tableau.estimators)
        {
            sums.fill(0.0);
            // Zero weights are included, so that a NaN in any stage shows. h is multiplied first:
            // velocities below 1e-154 would underflow when squared.
            for (w, k) in weights.iter().zip(&self.k) {
                sums.iter_mut().zip(k).for_each(|(sum, k)| *sum += w * (h * k));
            }
        }
        let (first, second) = self.estimates.split_at(size);
        let square = |numbers: &[f64], block: Range<usize>| -> f64 {
            numbers[block].iter().map(|e| e * e).sum()
        };
        let mut worst = 0.0f64;
        for block in blocks(system, size) {
            let mut error = match square(first, block.clone()) {
                first if first > 0.0 && !second.is_empty() => {
                    first / (first + 0.01 * square(second, block.clone())).sqrt()
                }
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

    /// Length of a first step: a hundredth of the time in which the rates would change the state by
    /// its own size (or by the tolerance, if that is larger).
    pub fn first_step(&self, system: &dyn OdeSystem, y: &[f64], longest: f64) -> f64 {
        let (rtol, atol) = self.tolerance.unwrap_or((0.0, 1.0));
        let norm = |numbers: &[f64]| numbers.iter().map(|v| v * v).sum::<f64>().sqrt();
        let (mut size, mut rate) = (1.0f64, 0.0f64);
        for block in blocks(system, y.len()) {
            let unit = rtol * norm(&y[block.clone()]) + atol;
            (size, rate) = (
                size.max(norm(&y[block.clone()]) / unit),
                rate.max(norm(&self.k[0][block]) / unit),
            );
        }
        let h = 0.01 * size / rate;
        if h < longest { h } else { longest }
    }

    /// Prepares dense output of the last attempted step; evaluates the extra stages.
    fn prepare_dense(
        &mut self,
        system: &mut dyn OdeSystem,
        StepAttempt { t, start: y, end }: StepAttempt,
    ) -> Result<()> {
        for i in self.tableau.stages + 1..=self.tableau.a.len() {
            let at = self.prepare_stage(system, t, y, i);
            system.rates(at, &self.stage, &mut self.k[i])?;
        }
        let (h, last) = (self.h, self.tableau.stages);
        let delta: Vec<f64> = end.iter().zip(y).map(|(a, b)| a - b).collect();
        let second: Vec<f64> = delta.iter().zip(&self.k[0]).map(|(dy, f)| h * f - dy).collect();
        let third: Vec<f64> = delta
            .iter()
            .zip(self.k[0].iter().zip(&self.k[last]))
            .map(|(dy, (f, g))| 2.0 * dy - h * (f + g))
            .collect();
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

impl Integrator for Tableau {
    fn name(&self) -> &'static str {
        self.name
    }

    fn stepper(&self) -> Box<dyn Stepper> {
        Box::new(RungeKutta::new(self, None))
    }

    fn tableau(&self) -> Option<&Tableau> {
        Some(self)
    }
}

impl Stepper for RungeKutta {
    fn step(
        &mut self,
        system: &mut dyn OdeSystem,
        t: f64,
        y: &[f64],
        h: f64,
        end: &mut [f64],
    ) -> Result<f64> {
        self.h = h;
        self.dense.clear();
        for i in 1..=self.tableau.stages {
            let at = self.prepare_stage(system, t, y, i);
            system.rates(at, &self.stage, &mut self.k[i])?;
        }
        end.copy_from_slice(&self.stage);
        Ok(self.error(system, y, end))
    }

    fn order(&self) -> Option<u32> {
        Some(self.tableau.order)
    }

    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        self.k.iter_mut().chain([&mut self.stage]).for_each(|v| v.resize(y.len(), 0.0));
        self.dense.clear();
        self.evaluations += 1;
        system.rates(t, y, &mut self.k[0])
    }

    /// The rates at the end of the last step are already known.
    fn accept(&mut self, _: &mut dyn OdeSystem, _: f64, _: &[f64]) -> Result<()> {
        self.k.swap(0, self.tableau.stages);
        self.dense.clear();
        Ok(())
    }

    fn rates(&self) -> &[f64] {
        &self.k[0]
    }

    fn is_dense(&self) -> bool {
        true
    }

    fn interpolate(
        &mut self,
        system: &mut dyn OdeSystem,
        step: StepAttempt,
        theta: f64,
        out: &mut [f64],
    ) -> Result<()> {
        if self.dense.is_empty() {
            self.prepare_dense(system, step)?;
        }
        out.fill(0.0);
        for (i, row) in self.dense.iter().enumerate().rev() {
            let factor = if i % 2 == 0 { theta } else { 1.0 - theta };
            out.iter_mut().zip(row).for_each(|(o, r)| *o = (*o + r) * factor);
        }
        out.iter_mut().zip(step.start).for_each(|(o, y)| *o += y);
        system.retract(out);
        Ok(())
    }

    fn first_nonfinite(&self, _: &[f64]) -> Option<usize> {
        self.k[..=self.tableau.stages].iter().find_map(|k| k.iter().position(|v| !v.is_finite()))
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}
