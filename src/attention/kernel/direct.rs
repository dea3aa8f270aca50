//! Direct sums: one row of weights at a time, O(n) memory per thread, exact for every beta, mask, mass and head.

use super::{exp_shifted, log_kernel};
use crate::attention::Head;
use crate::num::{dense::mat_vec, sum::dot};
use crate::sphere::{
    Tokens,
    geometry::{antichord2, chord2, project},
};
use rayon::prelude::*;

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
}

/// Below this many coordinate products a sum stays on the calling thread.
const PARALLEL_WORK: usize = 1 << 17;

/// What a row sum returns.
#[derive(Clone, Copy, PartialEq)]
pub enum Output {
    /// `P_{x_i} sum_j A_ij V x_j`, in difference form.
    Velocity,
    /// `sum_j A_ij V x_j`, unprojected (what a layer adds).
    Field,
}

impl Attention {
    /// Evaluates all rows into `out` (n x d). Each row is summed in the order of its tokens, so bytes do not depend on threads.
    ///
    /// **Accuracy** relative error of a velocity row below `1e-13` of its own length while the weights are resolved, down to drifts of
    /// 1e-300. **Cost** `n^2` exponentials and about `6 n^2 d` flops per head.
    pub fn apply(&self, x: &Tokens, output: Output, out: &mut [f64]) {
        let (n, d) = (x.n(), x.d());
        let images: Vec<Images> = self.heads.iter().map(|h| Images::new(h, x)).collect();
        let row = |scratch: &mut Scratch, i: usize, out: &mut [f64]| {
            out.fill(0.0);
            for (head, image) in self.heads.iter().zip(&images) {
                self.add_head(head, image, x, i, output, scratch, out);
            }
            if output == Output::Velocity && self.heads.iter().any(|h| h.v.is_some()) {
                project(x.row(i), out);
            }
            out.iter_mut().for_each(|v| *v *= self.sign);
        };
        if n * n * d < PARALLEL_WORK {
            let mut scratch = Scratch::new(n, d);
            out.chunks_exact_mut(d).enumerate().for_each(|(i, o)| row(&mut scratch, i, o));
        } else {
            out.par_chunks_exact_mut(d).enumerate().for_each_init(|| Scratch::new(n, d), |scratch, (i, o)| row(scratch, i, o));
        }
    }

    /// Row i of the attention matrix `A` of head `h` (softmax) or of the weights `m_j e^{...}`.
    pub fn row_weights(&self, x: &Tokens, h: usize, i: usize) -> Vec<f64> {
        let mut scratch = Scratch::new(x.n(), x.d());
        let scale = self.fill_weights(&self.heads[h], &Images::new(&self.heads[h], x), x, i, &mut scratch);
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
        // P_x x_j = (x_j - s x_i) + s (|x_j - s x_i|^2 / 2) x_i with s = 1 for near and s = -1 for far tokens: no cancellation either way.
        let mut radial = 0.0;
        for (j, (&w, xj)) in weights.iter().zip(x.rows()).enumerate() {
            if w == 0.0 {
                continue;
            }
            let c2 = scratch.chords[j];
            if c2 <= 2.0 {
                radial += w * 0.5 * c2;
                delta.iter_mut().zip(xj.iter().zip(xi)).for_each(|(s, (a, b))| *s += w * (a - b));
            } else {
                radial -= w * 0.5 * antichord2(xi, xj);
                delta.iter_mut().zip(xj.iter().zip(xi)).for_each(|(s, (a, b))| *s += w * (a + b));
            }
        }
        out.iter_mut().zip(delta.iter().zip(xi)).for_each(|(o, (s, b))| *o += scale * (s + radial * b));
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
struct Images {
    q: Vec<f64>,
    k: Vec<f64>,
    rank: usize,
}

impl Images {
    fn new(head: &Head, x: &Tokens) -> Self {
        if head.q.is_none() && head.k.is_none() {
            return Self { q: Vec::new(), k: Vec::new(), rank: 1 };
        }
        let image = |m: &Option<Vec<f64>>| match m {
            None => x.coordinates().to_vec(),
            Some(m) => {
                let mut out = vec![0.0; x.n() * head.rank];
                for (row, o) in x.rows().zip(out.chunks_exact_mut(head.rank)) {
                    mat_vec(m, row, o);
                }
                out
            }
        };
        Self { q: image(&head.q), k: image(&head.k), rank: head.rank }
    }

    fn q(&self, i: usize) -> &[f64] {
        &self.q[i * self.rank..(i + 1) * self.rank]
    }

    fn k(&self, j: usize) -> &[f64] {
        &self.k[j * self.rank..(j + 1) * self.rank]
    }
}

struct Scratch {
    weights: Vec<f64>,
    chords: Vec<f64>,
    delta: Vec<f64>,
}

impl Scratch {
    fn new(n: usize, d: usize) -> Self {
        Self { weights: vec![0.0; n], chords: vec![0.0; n], delta: vec![0.0; d] }
    }
}
