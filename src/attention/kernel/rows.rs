//! Row sums: one row of weights at a time, for every beta, mask, mass and head; the reference the other kernels are held to.

use super::{Attention, Output, Weights, exp_shifted, log_kernel};
use crate::attention::Head;
use crate::num::{dense::mat_vec, sum::dot};
use crate::sphere::{
    Tokens,
    geometry::{chord2, project},
};

/// Room for one row of weights, one per thread.
#[derive(Default)]
pub(super) struct Scratch {
    weights: Vec<f64>,
    chords: Vec<f64>,
    delta: Vec<f64>,
}

impl Attention {
    /// Row i into `out`, exact to `1e-13` of its own length while the weights are resolved, down to drifts of 1e-300.
    /// **Cost** `n` exponentials and about `6 n d` flops per head.
    pub(super) fn row(&self, images: &[Images], scratch: &mut Scratch, x: &Tokens, i: usize, output: Output, out: &mut [f64]) {
        out.fill(0.0);
        scratch.weights.resize(x.n(), 0.0);
        scratch.chords.resize(x.n(), 0.0);
        scratch.delta.resize(x.d(), 0.0);
        for (head, image) in self.heads.iter().zip(images) {
            self.add_head(head, image, x, i, output, scratch, out);
        }
        if output == Output::Velocity {
            project(x.row(i), out);
        }
        out.iter_mut().for_each(|v| *v *= self.sign);
    }

    /// Row i of the attention matrix `A` of head `h` (softmax) or of the weights `m_j e^{...}`.
    pub fn row_weights(&self, x: &Tokens, h: usize, i: usize) -> Vec<f64> {
        let mut scratch = Scratch { weights: vec![0.0; x.n()], chords: vec![0.0; x.n()], delta: Vec::new() };
        let mut image = Images::default();
        image.fill(&self.heads[h], x);
        let scale = self.fill_weights(&self.heads[h], &image, x, i, &mut scratch);
        scratch.weights.iter().map(|w| w * scale).collect()
    }

    /// Adds one head's contribution to row i.
    #[allow(clippy::too_many_arguments, reason = "the inner loop's state, named once")]
    fn add_head(&self, head: &Head, image: &Images, x: &Tokens, i: usize, output: Output, scratch: &mut Scratch, out: &mut [f64]) {
        let scale = self.fill_weights(head, image, x, i, scratch);
        let seen = if self.causal { i + 1 } else { x.n() };
        let (xi, weights, delta) = (x.row(i), &scratch.weights[..seen], &mut scratch.delta);
        delta.fill(0.0);
        let tangential = output == Output::Velocity && head.v.is_none();
        if !tangential {
            // sum_j w_j (x_j - x_i), then V: V x_j = V x_i + V (x_j - x_i).
            for (&w, xj) in weights.iter().zip(x.rows()) {
                delta.iter_mut().zip(xj.iter().zip(xi)).for_each(|(s, (a, b))| *s += w * (a - b));
            }
            let mass: f64 = weights.iter().sum();
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
    fn fill_weights(&self, head: &Head, image: &Images, x: &Tokens, i: usize, scratch: &mut Scratch) -> f64 {
        let n = x.n();
        let seen = if self.causal { i + 1 } else { n };
        let xi = x.row(i);
        scratch.weights[seen..].fill(0.0);
        for (c, xj) in scratch.chords[..seen].iter_mut().zip(x.rows()) {
            *c = chord2(xi, xj);
        }
        let weights = &mut scratch.weights[..seen];
        let chord_kernel = head.q.is_none() && head.k.is_none();
        // Positive beta: the token itself has exponent 0, the largest. Otherwise the row is shifted by its largest exponent.
        let mut shift = if chord_kernel { self.beta.abs() } else { 0.0 };
        if chord_kernel && self.beta >= 0.0 {
            weights.iter_mut().zip(&scratch.chords).for_each(|(w, c)| *w = -0.5 * self.beta * c);
        } else if chord_kernel {
            weights.iter_mut().zip(x.rows()).for_each(|(w, xj)| *w = log_kernel(self.beta, xi, xj));
        } else {
            let qi = image.q(i);
            weights.iter_mut().enumerate().for_each(|(j, w)| *w = self.beta * dot(qi, image.k(j)));
        }
        if !(chord_kernel && self.beta >= 0.0) {
            let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            weights.iter_mut().for_each(|w| *w -= top);
            shift += top;
        }
        let masses = &x.masses()[..seen];
        match self.weights {
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
pub(super) struct Images {
    q: Vec<f64>,
    k: Vec<f64>,
    rank: usize,
}

impl Images {
    pub(super) fn fill(&mut self, head: &Head, x: &Tokens) {
        self.rank = head.rank.max(1);
        if head.q.is_none() && head.k.is_none() {
            return;
        }
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
