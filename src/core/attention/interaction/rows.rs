//! Row sums of any interaction, for masks, biases, positions and matrices: scores of a row, weights
//! in lanes, weighted sums.

use super::Interaction;
use super::attention::{InteractionAttention, RowSum};
use crate::attention::Head;
use crate::attention::kernel::OutputForm;
use crate::attention::pattern::BiasForm;
use crate::num::aligned::AlignedVec;
use crate::num::dense::mat_vec;
use crate::num::sum::{Compensated, block_sum, dot};
use crate::num::vector::axpy;
use crate::sphere::Tokens;
use crate::sphere::geometry::{chord2, project};
use std::ops::Range;

/// `R_i Q x_i` and `R_i K x_i` of every head; empty where chords give the scores.
#[derive(Default)]
pub struct Images {
    heads: Vec<[Vec<f64>; 2]>,
}

/// Buffers for one row.
#[derive(Default)]
pub struct Scratch {
    weights: AlignedVec<f64>,
    /// Weights of kappa.
    divisor: AlignedVec<f64>,
    delta: Vec<f64>,
    image: Vec<f64>,
}

/// The rows of one problem.
pub struct Row<'a> {
    pub attention: &'a InteractionAttention,
    pub x: &'a Tokens,
    pub form: OutputForm,
    pub images: &'a Images,
}

impl Images {
    /// Computes the images of all tokens.
    pub fn fill(&mut self, attention: &InteractionAttention, x: &Tokens) {
        self.heads.clear();
        let rotary = attention.pattern.as_ref().filter(|p| p.is_rotary());
        for head in &attention.heads {
            let [q, k, _] = head.matrices();
            if q.is_none() && k.is_none() && rotary.is_none() {
                self.heads.push([Vec::new(), Vec::new()]);
                continue;
            }
            let image = |m: Option<&[f64]>| {
                let rank = m.map_or(x.d(), |m| m.len() / x.d());
                let mut out = vec![0.0; x.n() * rank];
                for (i, (row, out)) in x.rows().zip(out.chunks_exact_mut(rank)).enumerate() {
                    match m {
                        Some(m) => mat_vec(m, row, out),
                        None => out.copy_from_slice(row),
                    }
                    if let Some(pattern) = rotary {
                        pattern.rotate(i, out);
                    }
                }
                out
            };
            self.heads.push([image(q), image(k)]);
        }
    }
}

impl Row<'_> {
    /// Writes row i. **Cost** n weights and about `6 n d` operations per head.
    pub fn write(&self, scratch: &mut Scratch, i: usize, out: &mut [f64]) {
        let d = self.x.d();
        out.fill(0.0);
        scratch.delta.resize(d, 0.0);
        scratch.image.resize(d, 0.0);
        for (h, head) in self.attention.heads.iter().enumerate() {
            self.add_head(scratch, h, head, i, out);
        }
        if self.form == OutputForm::Tangent {
            project(self.x.row(i), out);
        }
        let sign = self.attention.sign;
        out.iter_mut().for_each(|v| *v *= sign);
    }

    /// The tokens that token i sees.
    fn visible(&self, i: usize) -> Range<usize> {
        let n = self.x.n();
        match &self.attention.pattern {
            Some(pattern) => pattern.visible(i, n),
            None if self.attention.causal => 0..i + 1,
            None => 0..n,
        }
    }

    /// Writes the weights `m_j e^{b_ij} phi(s_ij)` of row i with these tokens, phi = `interaction`.
    fn weights(
        &self,
        interaction: &Interaction,
        weights: &mut AlignedVec<f64>,
        (h, i): (usize, usize),
        seen: &Range<usize>,
    ) {
        let x = self.x;
        weights.reset(seen.len().next_multiple_of(16));
        let ([q, k], reach) = (&self.images.heads[h], interaction.reach());
        let rank = q.len() / x.n();
        for (z, j) in weights.iter_mut().zip(seen.clone()) {
            *z = if rank == 0 {
                (reach - 1.0) + 0.5 * chord2(x.row(i), x.row(j))
            } else {
                reach - dot(&q[i * rank..][..rank], &k[j * rank..][..rank])
            };
        }
        interaction.weights().replace(self.attention.isa, weights);
        let masses = &x.masses()[seen.clone()];
        weights.iter_mut().zip(masses).for_each(|(w, m)| *w *= m);
        if let Some(pattern) = &self.attention.pattern
            && pattern.bias_form(h) != BiasForm::Absent
        {
            for (w, j) in weights.iter_mut().zip(seen.clone()) {
                *w *= pattern.bias(h, i, j).exp();
            }
        }
    }

    /// The weights `m_j e^{b_ij} phi(s_ij)` of row i of a head, for the tokens that it sees.
    pub fn of_head(&self, h: usize, i: usize) -> Vec<f64> {
        let (mut weights, seen) = (AlignedVec::default(), self.visible(i));
        self.weights(&self.attention.interaction, &mut weights, (h, i), &seen);
        weights[..seen.len()].to_vec()
    }

    /// `sum_ij m_i m_j W(s_ij)` of a head over all pairs.
    pub fn energy_of_head(&self, h: usize) -> f64 {
        let (x, [q, k], interaction) = (self.x, &self.images.heads[h], &self.attention.interaction);
        let rank = q.len() / x.n();
        let mut sum = Compensated::default();
        for i in 0..x.n() {
            for j in 0..x.n() {
                let s = if rank == 0 {
                    1.0 - 0.5 * chord2(x.row(i), x.row(j))
                } else {
                    dot(&q[i * rank..][..rank], &k[j * rank..][..rank])
                };
                sum.add(x.masses()[i] * x.masses()[j] * interaction.potential(s));
            }
        }
        sum.value()
    }

    /// Adds one head's contribution.
    fn add_head(&self, s: &mut Scratch, h: usize, head: &Head, i: usize, out: &mut [f64]) {
        let (x, seen) = (self.x, self.visible(i));
        self.weights(&self.attention.interaction, &mut s.weights, (h, i), &seen);
        let (weights, own) = (&s.weights[..seen.len()], x.row(i));
        let total = block_sum(weights);
        let divisor = match (self.attention.row_sum, &self.attention.row_weights) {
            (RowSum::Plain, _) => 1.0,
            (RowSum::Normalised, None) => total,
            (RowSum::Normalised, Some(kappa)) => {
                self.weights(kappa, &mut s.divisor, (h, i), &seen);
                block_sum(&s.divisor[..seen.len()])
            }
        };
        if divisor == 0.0 {
            return;
        }
        let scale = 1.0 / divisor;
        let [_, _, value] = head.matrices();
        let tangential = self.form == OutputForm::Tangent && value.is_none();
        s.delta.fill(0.0);
        for (w, j) in weights.iter().zip(seen) {
            let other = x.row(j);
            // P_x x_j = P_x (x_j - s x_i) with s = 1 for near and s = -1 for far tokens.
            let far = tangential && dot(own, other) < 0.0;
            let toward = s.delta.iter_mut().zip(other.iter().zip(own));
            if far {
                toward.for_each(|(s, (a, b))| *s += w * (a + b));
            } else {
                toward.for_each(|(s, (a, b))| *s += w * (a - b));
            }
        }
        // Added back for sums; the tangent part has no use for it without a matrix.
        if !tangential && self.form != OutputForm::Difference {
            axpy(total, own, &mut s.delta);
        }
        match value {
            None => axpy(scale, &s.delta, out),
            Some(v) => {
                mat_vec(v, &s.delta, &mut s.image);
                axpy(scale, &s.image, out);
            }
        }
    }
}
