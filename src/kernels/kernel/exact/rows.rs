//! Row sums: one row of weights at a time, for every beta, mask, mass and head; the reference the other kernels are held to.

use crate::Head;
use crate::kernel::attention::Attention;
use crate::kernel::doubtful::Doubtful;
use crate::kernel::job::{Form, Job, Kernel, Weights};
use crate::kernel::limits::PARALLEL_WORK;
use crate::kernel::weight::{exp_shifted, log_kernel};
use crate::kernel::workspace::Workspace;
use crate::num::{dense::mat_vec, sum::dot, threads::parallel_allowed};
use crate::sphere::{
    Tokens,
    geometry::{chord2, project},
};
use rayon::prelude::*;
use std::ops::Range;

/// Row by row, scalar: exact to `1e-13` of a row's own length while the weights are resolved, down to drifts of 1e-300.
pub struct Rows;

/// [`Rows`].
pub static ROWS: Rows = Rows;

impl Kernel for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn summary(&self) -> &'static str {
        "row by row, scalar: every beta, head and mask; the reference"
    }

    fn refuses(&self, _: &Job) -> Option<&'static str> {
        None
    }

    fn any_heads(&self) -> bool {
        true
    }

    fn by_name_only(&self) -> bool {
        true
    }

    fn cost(&self, job: &Job) -> f64 {
        let (n, d) = (job.tokens.n() as f64, job.tokens.d() as f64);
        n * n * (8.0 + 2.0 * d) * job.heads.len() as f64
    }

    fn error(&self, _: &Job) -> f64 {
        0.0
    }

    fn evaluate(&self, job: &Job, work: &mut Workspace, out: &mut [f64], _: &mut Doubtful) {
        range(job, work, 0..job.tokens.n(), out);
    }
}

/// Writes the rows of a range, by threads where that is worth while.
pub fn range(job: &Job, work: &mut Workspace, rows: Range<usize>, out: &mut [f64]) {
    let Buffers { images, scratch, .. } = work.of();
    let (n, d) = (job.tokens.n(), job.tokens.d());
    let (sums, first) = (RowSums::new(job, images), rows.start);
    if n * rows.len() * d >= PARALLEL_WORK && parallel_allowed() {
        out.par_chunks_exact_mut(d).enumerate().for_each_init(Scratch::default, |scratch, (i, o)| sums.row(scratch, first + i, o));
    } else {
        out.chunks_exact_mut(d).enumerate().for_each(|(i, o)| sums.row(scratch, first + i, o));
    }
}

/// Shows some rows of a job.
pub fn some(job: &Job, work: &mut Workspace, rows: &[usize], show: &mut dyn FnMut(usize, &[f64])) {
    if rows.is_empty() {
        return;
    }
    let Buffers { images, scratch, row } = work.of();
    let sums = RowSums::new(job, images);
    row.resize(job.tokens.d(), 0.0);
    for &i in rows {
        sums.row(scratch, i, row);
        show(i, row);
    }
}

impl Attention {
    /// Row i of the attention matrix `A` of head `h` (softmax) or of the weights `m_j e^{...}`.
    pub fn row_weights(&self, x: &Tokens, h: usize, i: usize) -> Vec<f64> {
        let mut job = self.job(x, Form::Sum);
        job.heads = &self.heads;
        let mut scratch = Scratch { weights: vec![0.0; x.n()], chords: vec![0.0; x.n()], delta: Vec::new() };
        let mut images = Vec::new();
        let sums = RowSums::new(&job, &mut images);
        let scale = sums.fill_weights(&job.heads[h], &sums.images[h], i, &mut scratch);
        scratch.weights.iter().map(|w| w * scale).collect()
    }
}

/// Images of all heads, and room for one row.
#[derive(Default)]
struct Buffers {
    images: Vec<Images>,
    scratch: Scratch,
    row: Vec<f64>,
}

/// Room for one row of weights.
#[derive(Default)]
struct Scratch {
    weights: Vec<f64>,
    chords: Vec<f64>,
    delta: Vec<f64>,
}

/// A job with its query and key images.
struct RowSums<'a> {
    job: &'a Job<'a>,
    images: &'a [Images],
}

impl<'a> RowSums<'a> {
    fn new(job: &'a Job, images: &'a mut Vec<Images>) -> Self {
        images.resize_with(job.heads.len(), Default::default);
        images.iter_mut().zip(job.heads).for_each(|(image, head)| image.fill(head, job.tokens));
        Self { job, images }
    }

    /// Row i. **Cost** `n` exponentials and about `6 n d` flops per head.
    fn row(&self, scratch: &mut Scratch, i: usize, out: &mut [f64]) {
        let x = self.job.tokens;
        out.fill(0.0);
        scratch.weights.resize(x.n(), 0.0);
        scratch.chords.resize(x.n(), 0.0);
        scratch.delta.resize(x.d(), 0.0);
        for (head, image) in self.job.heads.iter().zip(self.images) {
            self.add_head(head, image, i, scratch, out);
        }
        if self.job.form == Form::Tangent {
            project(x.row(i), out);
        }
        out.iter_mut().for_each(|v| *v *= self.job.sign);
    }

    /// Adds one head's contribution to row i.
    fn add_head(&self, head: &Head, image: &Images, i: usize, scratch: &mut Scratch, out: &mut [f64]) {
        let x = self.job.tokens;
        let scale = self.fill_weights(head, image, i, scratch);
        let seen = if self.job.causal { i + 1 } else { x.n() };
        let (xi, weights, delta) = (x.row(i), &scratch.weights[..seen], &mut scratch.delta);
        delta.fill(0.0);
        let tangential = self.job.form == Form::Tangent && head.v.is_none();
        if !tangential {
            // sum_j w_j (x_j - x_i), then V: V x_j = V x_i + V (x_j - x_i).
            for (&w, xj) in weights.iter().zip(x.rows()) {
                delta.iter_mut().zip(xj.iter().zip(xi)).for_each(|(s, (a, b))| *s += w * (a - b));
            }
            // What is added back: nothing for differences.
            let mass: f64 = if self.job.form == Form::Difference { 0.0 } else { weights.iter().sum() };
            match &head.v {
                None => out.iter_mut().zip(delta.iter().zip(xi)).for_each(|(o, (s, b))| *o += scale * (s + mass * b)),
                Some(v) => {
                    delta.iter_mut().zip(xi).for_each(|(s, b)| *s += mass * b);
                    for (row, o) in v.chunks_exact(x.d()).zip(out.iter_mut()) {
                        *o += scale * dot(row, delta);
                    }
                }
            }
            return;
        }
        // P_x x_j = P_x (x_j - s x_i) with s = 1 for near and s = -1 for far tokens: no cancellation either way.
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

    /// Fills `scratch.weights` (relative) and `scratch.chords` for row i and returns the factor that makes the weights absolute.
    fn fill_weights(&self, head: &Head, image: &Images, i: usize, scratch: &mut Scratch) -> f64 {
        let x = self.job.tokens;
        let n = x.n();
        let seen = if self.job.causal { i + 1 } else { n };
        let xi = x.row(i);
        scratch.weights[seen..].fill(0.0);
        for (c, xj) in scratch.chords[..seen].iter_mut().zip(x.rows()) {
            *c = chord2(xi, xj);
        }
        let weights = &mut scratch.weights[..seen];
        let chord_kernel = head.q.is_none() && head.k.is_none() && x.space().is_unit();
        // Positive beta: the token itself has exponent 0, the largest. Otherwise the row is shifted by its largest exponent.
        let mut shift = if chord_kernel { self.job.beta.abs() } else { 0.0 };
        if chord_kernel && self.job.beta >= 0.0 {
            weights.iter_mut().zip(&scratch.chords).for_each(|(w, c)| *w = -0.5 * self.job.beta * c);
        } else if chord_kernel {
            weights.iter_mut().zip(x.rows()).for_each(|(w, xj)| *w = log_kernel(self.job.beta, xi, xj));
        } else {
            let qi = image.q(i);
            weights.iter_mut().enumerate().for_each(|(j, w)| *w = self.job.beta * dot(qi, image.k(j)));
        }
        if !(chord_kernel && self.job.beta >= 0.0) {
            let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            weights.iter_mut().for_each(|w| *w -= top);
            shift += top;
        }
        let masses = &x.masses()[..seen];
        match self.job.weights {
            Weights::Softmax => {
                weights.iter_mut().zip(masses).for_each(|(w, m)| *w = m * w.exp());
                1.0 / crate::num::sum::block_sum(weights)
            }
            Weights::Exponential { log_factor } => {
                weights.iter_mut().zip(masses).for_each(|(w, m)| *w = m * exp_shifted(*w, shift + log_factor));
                1.0
            }
        }
    }
}

/// Query and key images `Q x_i`, `K x_j` of one head; empty for the chord kernel.
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
