//! General heads, one system per lane: two rows at a time, all tokens by their differences.

use super::plain::MAX_D;
use crate::Head;
use crate::kernel::attention::Attention;
use crate::kernel::problem::Weights;
use crate::num::dense::{identity, transpose_mul};
use crate::num::simd::SimdOps;
use std::f64::consts::{LN_2, LOG2_E};

/// Largest absolute score of unit vectors. A weight has relative error `(r + 2 d + 3) u` times
/// this: 1e-13 for eight dimensions.
const MAX_SCORE: f64 = 32.0;

/// The field of general heads, evaluated with one system per lane.
pub struct HeadsField {
    heads: Vec<HeadForm>,
    sign: f64,
}

/// One head, by its score form and value matrix.
struct HeadForm {
    /// `log_2(e) beta K^T Q`, by rows.
    form: Vec<f64>,
    /// Upper bound of the binary logarithm of the weights.
    max_log2_weight: f64,
    /// V, or O V; `None` for the identity.
    value: Option<Vec<f64>>,
    /// Factor of USA weights relative to `2^max_log2_weight`; `None`: divide by the mass (SA).
    scale: Option<f64>,
}

impl HeadsField {
    /// True if the scores of these heads are small enough for accurate weights.
    pub(super) fn supports(attention: &Attention, d: usize) -> bool {
        let norm = |m: Option<&[f64]>| {
            m.map_or((d as f64).sqrt(), |m| m.iter().map(|v| v * v).sum::<f64>().sqrt())
        };
        let scores =
            |h: &Head| attention.beta.abs() * norm(h.matrices()[0]) * norm(h.matrices()[1]);
        attention.heads.iter().all(|h| scores(h) <= MAX_SCORE)
    }

    /// For systems with n initial tokens in d dimensions.
    pub(super) fn new(attention: &Attention, n: usize, d: usize) -> Self {
        let one = |head: &Head| {
            let [q, k, v] = head.matrices();
            let [q, k] = [q, k].map(|m| m.map_or_else(|| identity(d), <[f64]>::to_vec));
            let mut form = transpose_mul(&k, &q, q.len() / d);
            form.iter_mut().for_each(|v| *v *= attention.beta * LOG2_E);
            // Slightly above the norm, by more than its rounding error.
            let max_log2_weight = form.iter().map(|v| v * v).sum::<f64>().sqrt() * (1.0 + 1e-12);
            let scale = match attention.weights {
                Weights::Softmax => None,
                Weights::Exponential { log_factor } => {
                    Some((max_log2_weight * LN_2 + log_factor).exp() / n as f64)
                }
            };
            HeadForm { form, max_log2_weight, value: v.map(<[f64]>::to_vec), scale }
        };
        Self { heads: attention.heads.iter().map(one).collect(), sign: attention.sign }
    }

    /// Writes `sum_h V_h sum_j A_ij x_j`. If `tangent`, only the tangent part of the result will be
    /// used, and heads without V write `sum_j A_ij (x_j - x_i)`, which keeps the smallest drifts
    /// accurate. Empty `sizes`: all tokens have size 1.
    #[inline(always)]
    pub(super) fn sums<L: SimdOps<F = f64>>(
        &self,
        l: L,
        d: usize,
        (x, sizes): (&[L::V], &[L::V]),
        tangent: bool,
        out: &mut [L::V],
    ) {
        match d {
            2 => self.dimension::<L, 2>(l, (x, sizes), tangent, out),
            3 => self.dimension::<L, 3>(l, (x, sizes), tangent, out),
            4 => self.dimension::<L, 4>(l, (x, sizes), tangent, out),
            5 => self.dimension::<L, 5>(l, (x, sizes), tangent, out),
            6 => self.dimension::<L, 6>(l, (x, sizes), tangent, out),
            7 => self.dimension::<L, 7>(l, (x, sizes), tangent, out),
            _ => self.dimension::<L, MAX_D>(l, (x, sizes), tangent, out),
        }
    }

    #[inline(always)]
    fn dimension<L: SimdOps<F = f64>, const D: usize>(
        &self,
        l: L,
        (x, sizes): (&[L::V], &[L::V]),
        tangent: bool,
        out: &mut [L::V],
    ) {
        out.fill(l.zero());
        let (x, out) = (x.as_chunks::<D>().0, out.as_chunks_mut::<D>().0);
        for head in &self.heads {
            let (pairs, last) = out.as_chunks_mut::<2>();
            for (i, out) in pairs.iter_mut().enumerate() {
                self.rows::<L, D, 2>(l, head, 2 * i, (x, sizes), tangent, out);
            }
            for out in last {
                self.rows::<L, D, 1>(
                    l,
                    head,
                    x.len() - 1,
                    (x, sizes),
                    tangent,
                    std::array::from_mut(out),
                );
            }
        }
    }

    /// Adds the contribution of a head to R tokens from i on.
    #[inline(always)]
    fn rows<L: SimdOps<F = f64>, const D: usize, const R: usize>(
        &self,
        l: L,
        head: &HeadForm,
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
        let (mut drift, mut mass, shift) =
            ([[l.zero(); D]; R], [l.zero(); R], l.splat(-head.max_log2_weight));
        for (j, xj) in x.iter().enumerate() {
            let mut weights = [shift; R];
            for r in 0..R {
                for c in 0..D {
                    weights[r] = l.fma(gradient[r][c], xj[c], weights[r]);
                }
            }
            // At least 2^-(2 max_log2_weight).
            weights = l.exp2_array::<R, true>(weights);
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
                Some(scale) => {
                    (l.splat(self.sign * scale), l.mul(l.splat(self.sign * scale), mass[r]))
                }
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
fn image<L: SimdOps<F = f64>, const D: usize>(l: L, matrix: &[f64], x: &[L::V; D]) -> [L::V; D] {
    let mut out = [l.zero(); D];
    for (out, row) in out.iter_mut().zip(matrix.as_chunks::<D>().0) {
        for (a, x) in row.iter().zip(x) {
            *out = l.fma(l.splat(*a), *x, *out);
        }
    }
    out
}
