//! Reference kernel: one row of weights at a time, for every beta, mask, mass and head. The other
//! kernels are tested against it.

use crate::Head;
use crate::kernel::algorithm::Kernel;
use crate::kernel::attention::Attention;
use crate::kernel::flagged_rows::FlaggedRows;
use crate::kernel::limits::MIN_PARALLEL_WORK;
use crate::kernel::problem::{KernelProblem, OutputForm, Weights};
use crate::kernel::weight::{exp_shifted, log_kernel};
use crate::kernel::workspace::Workspace;
use crate::num::{dense::mat_vec, sum::dot, threads::parallel_allowed};
use crate::sphere::{
    Tokens,
    geometry::{chord2, project},
};
use rayon::prelude::*;
use std::ops::Range;

/// Row by row, scalar. A row has relative error `1e-13` as long as its weights are resolved, down
/// to drifts of 1e-300.
pub struct Rows;

/// The reference kernel.
pub static ROWS: Rows = Rows;

impl Kernel for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn summary(&self) -> &'static str {
        "reference: row by row, scalar; every beta, head and mask"
    }

    fn unsupported_reason(&self, problem: &KernelProblem) -> Option<&'static str> {
        problem.not_exponential()
    }

    fn supports_any_heads(&self) -> bool {
        true
    }

    fn by_name_only(&self) -> bool {
        true
    }

    fn cost(&self, problem: &KernelProblem) -> f64 {
        let (n, d) = (problem.tokens.n() as f64, problem.tokens.d() as f64);
        n * n * (8.0 + 2.0 * d) * problem.heads.len() as f64
    }

    fn error_bound(&self, _: &KernelProblem) -> f64 {
        0.0
    }

    fn evaluate(
        &self,
        problem: &KernelProblem,
        work: &mut Workspace,
        out: &mut [f64],
        _: &mut FlaggedRows,
    ) {
        row_range(problem, work, 0..problem.tokens.n(), out);
    }
}

/// Evaluates a range of rows, on several threads if that is worthwhile.
pub fn row_range(
    problem: &KernelProblem,
    work: &mut Workspace,
    rows: Range<usize>,
    out: &mut [f64],
) {
    let Buffers { images, scratch, .. } = work.buffers();
    let (n, d) = (problem.tokens.n(), problem.tokens.d());
    let (sums, first) = (RowSums::new(problem, images), rows.start);
    if n * rows.len() * d >= MIN_PARALLEL_WORK && parallel_allowed() {
        out.par_chunks_exact_mut(d)
            .enumerate()
            .for_each_init(Scratch::default, |scratch, (i, o)| sums.row(scratch, first + i, o));
    } else {
        out.chunks_exact_mut(d).enumerate().for_each(|(i, o)| sums.row(scratch, first + i, o));
    }
}

/// Evaluates selected rows and passes each to `show`.
pub fn selected_rows(
    problem: &KernelProblem,
    work: &mut Workspace,
    rows: &[usize],
    show: &mut dyn FnMut(usize, &[f64]),
) {
    if rows.is_empty() {
        return;
    }
    let Buffers { images, scratch, row } = work.buffers();
    let sums = RowSums::new(problem, images);
    row.resize(problem.tokens.d(), 0.0);
    for &i in rows {
        sums.row(scratch, i, row);
        show(i, row);
    }
}

impl Attention {
    /// Row i of the attention matrix `A` of head `h` (softmax) or of the weights `m_j e^{...}`.
    pub fn row_weights(&self, x: &Tokens, h: usize, i: usize) -> Vec<f64> {
        let mut problem = self.problem(x, OutputForm::Sum);
        problem.heads = &self.heads;
        let mut scratch =
            Scratch { weights: vec![0.0; x.n()], chords: vec![0.0; x.n()], delta: Vec::new() };
        let mut images = Vec::new();
        let sums = RowSums::new(&problem, &mut images);
        let scale = sums.fill_weights(&problem.heads[h], &sums.images[h], i, &mut scratch);
        scratch.weights.iter().map(|w| w * scale).collect()
    }
}

/// Images of all heads, and buffers for one row.
#[derive(Default)]
struct Buffers {
    images: Vec<Images>,
    scratch: Scratch,
    row: Vec<f64>,
}

/// Buffers for one row of weights.
#[derive(Default)]
struct Scratch {
    weights: Vec<f64>,
    chords: Vec<f64>,
    delta: Vec<f64>,
}

/// A problem with its query and key images.
struct RowSums<'a> {
    problem: &'a KernelProblem<'a>,
    images: &'a [Images],
}

impl<'a> RowSums<'a> {
    fn new(problem: &'a KernelProblem, images: &'a mut Vec<Images>) -> Self {
        images.resize_with(problem.heads.len(), Default::default);
        images
            .iter_mut()
            .zip(problem.heads)
            .for_each(|(image, head)| image.fill(head, problem.tokens));
        Self { problem, images }
    }

    /// Row i. **Cost** `n` exponentials and about `6 n d` flops per head.
    fn row(&self, scratch: &mut Scratch, i: usize, out: &mut [f64]) {
        let x = self.problem.tokens;
        out.fill(0.0);
        scratch.weights.resize(x.n(), 0.0);
        scratch.chords.resize(x.n(), 0.0);
        scratch.delta.resize(x.d(), 0.0);
        for (head, image) in self.problem.heads.iter().zip(self.images) {
            self.add_head(head, image, i, scratch, out);
        }
        if self.problem.form == OutputForm::Tangent {
            project(x.row(i), out);
        }
        out.iter_mut().for_each(|v| *v *= self.problem.sign);
    }

    /// Adds one head's contribution to row i.
    fn add_head(
        &self,
        head: &Head,
        image: &Images,
        i: usize,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        let x = self.problem.tokens;
        let scale = self.fill_weights(head, image, i, scratch);
        let visible = if self.problem.causal { i + 1 } else { x.n() };
        let (xi, weights, delta) = (x.row(i), &scratch.weights[..visible], &mut scratch.delta);
        delta.fill(0.0);
        let tangential = self.problem.form == OutputForm::Tangent && head.v.is_none();
        if !tangential {
            // sum_j w_j (x_j - x_i), then V: V x_j = V x_i + V (x_j - x_i).
            for (&w, xj) in weights.iter().zip(x.rows()) {
                delta.iter_mut().zip(xj.iter().zip(xi)).for_each(|(s, (a, b))| *s += w * (a - b));
            }
            // Added back for sums, not for differences.
            let mass: f64 = if self.problem.form == OutputForm::Difference {
                0.0
            } else {
                weights.iter().sum()
            };
            match &head.v {
                None => out
                    .iter_mut()
                    .zip(delta.iter().zip(xi))
                    .for_each(|(o, (s, b))| *o += scale * (s + mass * b)),
                Some(v) => {
                    delta.iter_mut().zip(xi).for_each(|(s, b)| *s += mass * b);
                    for (row, o) in v.chunks_exact(x.d()).zip(out.iter_mut()) {
                        *o += scale * dot(row, delta);
                    }
                }
            }
            return;
        }
        // P_x x_j = P_x (x_j - s x_i) with s = 1 for near and s = -1 for far tokens: no
        // cancellation either way.
        for (j, (&w, xj)) in weights.iter().zip(x.rows()).enumerate() {
            if w == 0.0 {
                continue;
            }
            if scratch.chords[j] <= 2.0 {
                delta.iter_mut().zip(xj.iter().zip(xi)).for_each(|(s, (a, b))| *s += w * (a - b));
            } else {
                delta.iter_mut().zip(xj.iter().zip(xi)).for_each(|(s, (a, b))| *s += w * (a + b));
            }
        }
        out.iter_mut().zip(delta.iter()).for_each(|(o, s)| *o += scale * s);
    }

    /// Fills `scratch.weights` and `scratch.chords` for row i. Returns the factor that turns these
    /// relative weights into absolute ones.
    fn fill_weights(&self, head: &Head, image: &Images, i: usize, scratch: &mut Scratch) -> f64 {
        let x = self.problem.tokens;
        let n = x.n();
        let visible = if self.problem.causal { i + 1 } else { n };
        let xi = x.row(i);
        scratch.weights[visible..].fill(0.0);
        for (c, xj) in scratch.chords[..visible].iter_mut().zip(x.rows()) {
            *c = chord2(xi, xj);
        }
        let weights = &mut scratch.weights[..visible];
        let beta = self.problem.beta();
        let chord_kernel = head.q.is_none() && head.k.is_none() && x.space().is_unit();
        // For beta >= 0 the largest exponent is 0, at the token itself. Otherwise the row is
        // shifted by its largest exponent.
        let mut shift = if chord_kernel { beta.abs() } else { 0.0 };
        if chord_kernel && beta >= 0.0 {
            weights.iter_mut().zip(&scratch.chords).for_each(|(w, c)| *w = -0.5 * beta * c);
        } else if chord_kernel {
            weights.iter_mut().zip(x.rows()).for_each(|(w, xj)| *w = log_kernel(beta, xi, xj));
        } else {
            let qi = image.q(i);
            weights.iter_mut().enumerate().for_each(|(j, w)| *w = beta * dot(qi, image.k(j)));
        }
        if !(chord_kernel && beta >= 0.0) {
            let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            weights.iter_mut().for_each(|w| *w -= top);
            shift += top;
        }
        let masses = &x.masses()[..visible];
        match self.problem.weights {
            Weights::Softmax => {
                weights.iter_mut().zip(masses).for_each(|(w, m)| *w = m * w.exp());
                1.0 / crate::num::sum::block_sum(weights)
            }
            Weights::Exponential { log_factor } => {
                weights
                    .iter_mut()
                    .zip(masses)
                    .for_each(|(w, m)| *w = m * exp_shifted(*w, shift + log_factor));
                1.0
            }
        }
    }
}

/// Query and key images `Q x_i`, `K x_j` of one head; empty if weights come from chords.
#[derive(Default)]
struct Images {
    q: Vec<f64>,
    k: Vec<f64>,
    rank: usize,
}

impl Images {
    fn fill(&mut self, head: &Head, x: &Tokens) {
        if head.q.is_none() && head.k.is_none() && x.space().is_unit() {
            return;
        }
        self.rank = if head.q.is_none() && head.k.is_none() { x.d() } else { head.rank };
        let rank = self.rank;
        let image = |m: &Option<Vec<f64>>, out: &mut Vec<f64>| match m {
            None => {
                out.clear();
                out.extend_from_slice(x.coordinates());
            }
            Some(m) => {
                out.resize(x.n() * rank, 0.0);
                for (row, o) in x.rows().zip(out.chunks_exact_mut(rank)) {
                    mat_vec(m, row, o);
                }
            }
        };
        image(&head.q, &mut self.q);
        image(&head.k, &mut self.k);
    }

    fn q(&self, i: usize) -> &[f64] {
        &self.q[i * self.rank..(i + 1) * self.rank]
    }

    fn k(&self, j: usize) -> &[f64] {
        &self.k[j * self.rank..(j + 1) * self.rank]
    }
}
