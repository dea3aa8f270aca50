//! Heads with matrices in lanes: for two rows at a time all tokens by their differences.

use super::pairs::LARGEST_D;
use crate::Head;
use crate::kernel::attention::Attention;
use crate::kernel::job::Weights;
use crate::num::dense::{identity, transpose_mul};
use crate::num::simd::Lanes;
use std::f64::consts::{LN_2, LOG2_E};

/// Scores of unit vectors are at most this in size: a weight then errs by `(r + 2 d + 3) u` times as much, 1e-13 for eight dimensions.
const MOST: f64 = 32.0;

/// The attraction of the tokens of one system by heads.
pub struct HeadsPull {
    heads: Vec<Matrices>,
    sign: f64,
}

/// A head by what it does to tokens.
struct Matrices {
    /// `log_2(e) beta K^T Q`, by rows.
    form: Vec<f64>,
    /// At least the binary logarithm of every weight.
    most: f64,
    /// V, or O V; `None` for the identity.
    value: Option<Vec<f64>>,
    /// The factor of USA weights below `2^most`; `None` divides by the mass.
    scale: Option<f64>,
}

impl HeadsPull {
    /// True when the weights of these heads can be formed from scores.
    pub(super) fn suit(attention: &Attention, d: usize) -> bool {
        let norm = |m: Option<&[f64]>| m.map_or((d as f64).sqrt(), |m| m.iter().map(|v| v * v).sum::<f64>().sqrt());
        let scores = |h: &Head| attention.beta.abs() * norm(h.matrices()[0]) * norm(h.matrices()[1]);
        attention.heads.iter().all(|h| scores(h) <= MOST)
    }

    /// For systems of n initial tokens in d dimensions.
    pub(super) fn new(attention: &Attention, n: usize, d: usize) -> Self {
        let one = |head: &Head| {
            let [q, k, v] = head.matrices();
            let [q, k] = [q, k].map(|m| m.map_or_else(|| identity(d), <[f64]>::to_vec));
            let mut form = transpose_mul(&k, &q, q.len() / d);
            form.iter_mut().for_each(|v| *v *= attention.beta * LOG2_E);
            // More than its rounding above the norm.
            let most = form.iter().map(|v| v * v).sum::<f64>().sqrt() * (1.0 + 1e-12);
            let scale = match attention.weights {
                Weights::Softmax => None,
                Weights::Exponential { log_factor } => Some((most * LN_2 + log_factor).exp() / n as f64),
            };
            Matrices { form, most, value: v.map(<[f64]>::to_vec), scale }
        };
        Self { heads: attention.heads.iter().map(one).collect(), sign: attention.sign }
    }

    /// Writes `sum_h V_h sum_j A_ij x_j`; where `tangent` only what is tangent will be used, and heads without V write `sum_j A_ij (x_j - x_i)`, which keeps the
    /// smallest drifts right. Without sizes all are one.
    #[inline(always)]
    pub(super) fn sums<L: Lanes<F = f64>>(&self, l: L, d: usize, (x, sizes): (&[L::V], &[L::V]), tangent: bool, out: &mut [L::V]) {
        match d {
            2 => self.dimension::<L, 2>(l, (x, sizes), tangent, out),
            3 => self.dimension::<L, 3>(l, (x, sizes), tangent, out),
            4 => self.dimension::<L, 4>(l, (x, sizes), tangent, out),
            5 => self.dimension::<L, 5>(l, (x, sizes), tangent, out),
            6 => self.dimension::<L, 6>(l, (x, sizes), tangent, out),
            7 => self.dimension::<L, 7>(l, (x, sizes), tangent, out),
            _ => self.dimension::<L, LARGEST_D>(l, (x, sizes), tangent, out),
        }
    }

    #[inline(always)]
    fn dimension<L: Lanes<F = f64>, const D: usize>(&self, l: L, (x, sizes): (&[L::V], &[L::V]), tangent: bool, out: &mut [L::V]) {
        out.fill(l.zero());
        let (x, out) = (x.as_chunks::<D>().0, out.as_chunks_mut::<D>().0);
        for head in &self.heads {
            let (pairs, last) = out.as_chunks_mut::<2>();
            for (i, out) in pairs.iter_mut().enumerate() {
                self.rows::<L, D, 2>(l, head, 2 * i, (x, sizes), tangent, out);
            }
            for out in last {
                self.rows::<L, D, 1>(l, head, x.len() - 1, (x, sizes), tangent, std::array::from_mut(out));
            }
        }
    }

    /// Adds what a head does to R tokens from i on.
    #[inline(always)]
    fn rows<L: Lanes<F = f64>, const D: usize, const R: usize>(
        &self,
        l: L,
        head: &Matrices,
        i: usize,
        (x, sizes): (&[[L::V; D]], &[L::V]),
        tangent: bool,
        out: &mut [[L::V; D]; R],
    ) {
        let (mut own, mut gradient) = ([[l.zero(); D]; R], [[l.zero(); D]; R]);
        for r in 0..R {
            own[r] = x[i + r];
            gradient[r] = image(l, &head.form, &own[r]);
        }
        let (mut drift, mut mass, shift) = ([[l.zero(); D]; R], [l.zero(); R], l.splat(-head.most));
        for (j, xj) in x.iter().enumerate() {
            let mut weights = [shift; R];
            for r in 0..R {
                for c in 0..D {
                    weights[r] = l.fma(gradient[r][c], xj[c], weights[r]);
                }
            }
            // No smaller than 2^-(2 most).
            weights = l.exp2_each::<R, true>(weights);
            for r in 0..R {
                if !sizes.is_empty() {
                    weights[r] = l.mul(weights[r], sizes[j]);
                }
                for c in 0..D {
                    drift[r][c] = l.fma(weights[r], l.sub(xj[c], own[r][c]), drift[r][c]);
                }
                mass[r] = l.add(mass[r], weights[r]);
            }
        }
        for r in 0..R {
            let (factor, whole) = match head.scale {
                None => (l.div(l.constant(self.sign), mass[r]), l.constant(self.sign)),
                Some(scale) => (l.splat(self.sign * scale), l.mul(l.splat(self.sign * scale), mass[r])),
            };
            let mut mean = [l.zero(); D];
            for c in 0..D {
                mean[c] = l.mul(factor, drift[r][c]);
                if !tangent || head.value.is_some() {
                    mean[c] = l.fma(whole, own[r][c], mean[c]);
                }
            }
            if let Some(value) = &head.value {
                mean = image(l, value, &mean);
            }
            for c in 0..D {
                out[r][c] = l.add(out[r][c], mean[c]);
            }
        }
    }
}

/// A matrix times a token.
#[inline(always)]
fn image<L: Lanes<F = f64>, const D: usize>(l: L, matrix: &[f64], x: &[L::V; D]) -> [L::V; D] {
    let mut out = [l.zero(); D];
    for (out, row) in out.iter_mut().zip(matrix.as_chunks::<D>().0) {
        for (a, x) in row.iter().zip(x) {
            *out = l.fma(l.splat(*a), *x, *out);
        }
    }
    out
}
