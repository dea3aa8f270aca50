//! Attention of a fixed system: from sums to velocities and fields.

use super::blocks::both;
use super::choice::{Choice, Job, Kernel, kept};
use super::close::{Close, Ending};
use super::workspace::{Sums, Workspace, with_scratch, with_workspace};
use crate::attention::Head;
use crate::error::Result;
use crate::num::simd::Level;
use crate::num::sum::dot;
use crate::num::threads::{inside_pool, parallel_allowed};
use crate::sphere::Tokens;
use rayon::prelude::*;
use std::ops::Range;

/// How a row of weights is normalised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weights {
    /// `m_j e^{l_j} / sum_k m_k e^{l_k}` (SA).
    Softmax,
    /// `m_j e^{l_j + shift}` with a common log factor (USA).
    Exponential {
        /// The log factor of the time normalisation.
        log_factor: f64,
    },
}

/// Attention of a fixed system: inverse temperature, heads, mask, weights, and the sign of V (-1 reverses the flow).
#[derive(Clone, Debug)]
pub struct Attention {
    /// Inverse temperature.
    pub beta: f64,
    /// At least one head.
    pub heads: Vec<Head>,
    /// Token i sees the tokens `j <= i` only.
    pub causal: bool,
    /// Row normalisation.
    pub weights: Weights,
    /// +1 attracts, -1 repels.
    pub sign: f64,
    /// Algorithm of the sums.
    pub kernel: Choice,
    /// Largest relative error of a row: below `1e-13` everything is exact to rounding, above it a fast algorithm may be chosen.
    pub accuracy: f64,
    /// Instruction set.
    pub level: Level,
}

/// What a row sum returns.
#[derive(Clone, Copy, PartialEq)]
pub enum Output {
    /// `P_{x_i} sum_j A_ij V x_j`, in difference form.
    Velocity,
    /// `sum_j A_ij V x_j`, unprojected (what a layer adds).
    Field,
}

/// The accuracy of the exact algorithms.
pub const EXACT: f64 = 1e-13;

impl Attention {
    /// One identity head, attracting, softmax, exact.
    pub fn new(beta: f64) -> Self {
        Self {
            beta,
            heads: vec![Head::default()],
            causal: false,
            weights: Weights::Softmax,
            sign: 1.0,
            kernel: Choice::Auto,
            accuracy: EXACT,
            level: Level::best(),
        }
    }

    /// Evaluates all rows into `out` (n x d); the number of rows in which a fast algorithm did not keep the accuracy, so that they were evaluated
    /// again. The order of every sum depends on n and d only, so bytes do not depend on threads.
    ///
    /// **Accuracy** relative error of a velocity row below `1e-13` of its own length while the weights are resolved, down to drifts of
    /// 1e-300; `self.accuracy` where that is larger and a fast algorithm was used, chosen or asked for by name.
    /// **Cost** `n^2/2` exponentials and about `3 n^2 d` flops for plain attention, twice that for heads with Q or K.
    /// **Errors** an algorithm asked for by name that cannot do it, or cannot keep the accuracy; nothing is written.
    pub fn apply(&self, x: &Tokens, output: Output, out: &mut [f64]) -> Result<usize> {
        inside_pool(x.n() * x.n() * x.d() >= super::PARALLEL_WORK, || self.apply_here(x, output, out))
    }

    fn apply_here(&self, x: &Tokens, output: Output, out: &mut [f64]) -> Result<usize> {
        let job = self.job(x, output);
        let kernel = self.kernel.of(job.as_ref())?;
        with_workspace(|space| match (kernel, job) {
            (Some(kernel), Some(job)) => {
                self.evaluate(kernel, &job, output, space, out);
                Ok(self.again(&job, output, space, out))
            }
            _ => {
                self.all_rows(x, output, space, out);
                Ok(0)
            }
        })
    }

    /// Row i alone, by the exact row sum.
    pub fn apply_row(&self, x: &Tokens, output: Output, i: usize) -> Vec<f64> {
        let mut out = vec![0.0; x.d()];
        with_workspace(|space| {
            self.prepare_rows(x, space);
            with_scratch(|scratch| self.row(&space.images, scratch, x, i, output, &mut out));
        });
        out
    }

    /// Name of the algorithm that [`Attention::apply`] uses for these tokens.
    ///
    /// **Errors** as [`Attention::apply`].
    pub fn kernel_name(&self, x: &Tokens, output: Output) -> Result<&'static str> {
        Ok(self.kernel.of(self.job(x, output).as_ref())?.map_or("rows", Kernel::name))
    }

    /// The relative accuracy that an algorithm asked for by name keeps of typical rows of these tokens: the least that it can be asked for. [`EXACT`]
    /// where none was asked for, or it cannot do it at all.
    pub fn kept(&self, x: &Tokens, output: Output) -> f64 {
        match (self.kernel, self.job(x, output)) {
            (Choice::Named(kernel), Some(job)) if kernel.refuses(&job).is_none() => kept(kernel, &job).max(EXACT),
            _ => EXACT,
        }
    }

    /// The job for the tiles; `None` where only rows of weights will do: Q or K present, several heads, or weights beyond f64.
    fn job<'a>(&self, x: &'a Tokens, output: Output) -> Option<Job<'a>> {
        let head = &self.heads[0];
        let plain = self.heads.len() == 1 && head.q.is_none() && head.k.is_none();
        if !plain || matches!(self.kernel, Choice::Rows) || self.log_scale() > 600.0 {
            return None;
        }
        let far = output == Output::Velocity && head.v.is_none();
        Some(Job { tokens: x, beta: self.beta, causal: self.causal, far, level: self.level, accuracy: self.accuracy })
    }

    /// Log of the factor from `e^{beta G - |beta|}` to the weights (USA).
    pub(super) fn log_scale(&self) -> f64 {
        match self.weights {
            Weights::Softmax => 0.0,
            Weights::Exponential { log_factor } => self.beta.abs() + log_factor,
        }
    }

    fn all_rows(&self, x: &Tokens, output: Output, space: &mut Workspace, out: &mut [f64]) {
        self.prepare_rows(x, space);
        let images = &space.images;
        let row = |(i, o): (usize, &mut [f64])| with_scratch(|scratch| self.row(images, scratch, x, i, output, o));
        let (n, d) = (x.n(), x.d());
        if n * n * d >= super::PARALLEL_WORK && parallel_allowed() {
            out.par_chunks_exact_mut(d).enumerate().for_each(row);
        } else {
            out.chunks_exact_mut(d).enumerate().for_each(row);
        }
    }

    fn prepare_rows(&self, x: &Tokens, space: &mut Workspace) {
        space.images.resize_with(self.heads.len(), Default::default);
        space.images.iter_mut().zip(&self.heads).for_each(|(image, head)| image.fill(head, x));
    }

    /// Velocities or fields by one algorithm; rows whose bound is not kept, or whose weights underflow, are noted.
    fn evaluate(&self, kernel: &dyn Kernel, job: &Job, output: Output, space: &mut Workspace, out: &mut [f64]) {
        space.doubtful.clear();
        let (x, ending) = (job.tokens, self.ending(output));
        let value = self.heads[0].v.is_some();
        if !value && kernel.close(job, &ending, space, out) {
            return;
        }
        kernel.sums(job, space);
        let Workspace { sums, doubtful, more, .. } = space;
        more.clear();
        if value {
            self.add_back(x, sums);
        }
        let (d, sums, bounds, ending) = (x.d(), &*sums, sums.bounds(), &ending);
        let close = |rows: Range<usize>, out: &mut [f64], doubtful: &mut Vec<usize>| {
            let (drift, mass) = (&sums.drift[rows.start * d..rows.end * d], &sums.mass[rows.clone()]);
            self.level.run(Close { rows, x, drift, mass, bounds, ending, out, doubtful });
        };
        let middle = x.n() / 2;
        let (first, second) = out.split_at_mut(middle * d);
        both(job.parallel(), || close(0..middle, first, doubtful), || close(middle..x.n(), second, more));
        doubtful.append(more);
    }

    /// What is made of the sums of the algorithms.
    fn ending(&self, output: Output) -> Ending {
        // The factor in two halves: neither it nor a product with a tiny sum overflows or vanishes before the end.
        let half = (0.5 * self.log_scale()).exp();
        let sigma = match (output, self.heads[0].v.is_some()) {
            (Output::Velocity, _) => None,
            (Output::Field, true) => Some(0.0),
            (Output::Field, false) => Some(if self.beta < 0.0 { -1.0 } else { 1.0 }),
        };
        let softmax = self.weights == Weights::Softmax;
        Ending { sigma, taken_off: 0.0, softmax, factors: [self.sign * half, half], accuracy: self.accuracy }
    }

    /// Turns the drifts into `V sum_j m_j w_ij x_j`.
    fn add_back(&self, x: &Tokens, sums: &mut Sums) {
        let d = x.d();
        let sigma = if self.beta < 0.0 { -1.0 } else { 1.0 };
        let mut image = Vec::new();
        for (i, drift) in sums.drift.chunks_exact_mut(d).enumerate() {
            drift.iter_mut().zip(x.row(i)).for_each(|(s, x)| *s += sigma * sums.mass[i] * x);
            if let Some(v) = &self.heads[0].v {
                image.clear();
                image.extend(v.chunks_exact(d).map(|row| dot(row, drift)));
                drift.copy_from_slice(&image);
            }
        }
    }

    /// Evaluates the doubtful rows again: all of them exactly when they are many. How many a fast algorithm left.
    fn again(&self, job: &Job, output: Output, space: &mut Workspace, out: &mut [f64]) -> usize {
        let (x, exact) = (job.tokens, space.sums.per_mass == 0.0 && space.sums.absolute == 0.0);
        let many = !exact && space.doubtful.len() * 8 > x.n();
        let left = if many { x.n() } else { space.doubtful.len() };
        if many {
            self.evaluate(&super::direct::DIRECT, job, output, space, out);
        }
        if space.doubtful.is_empty() {
            return left;
        }
        self.prepare_rows(x, space);
        let (d, images, doubtful) = (x.d(), &space.images, &space.doubtful);
        with_scratch(|scratch| {
            for &i in doubtful {
                self.row(images, scratch, x, i, output, &mut out[i * d..(i + 1) * d]);
            }
        });
        left
    }
}
