//! The inverse temperature at which the drift of inner products under SA is closest to that of a
//! head.

use super::cloud::Cloud;
use crate::attention::dense::gemm::{MatrixRows, PackedMatrix};
use crate::num::sum::dot;
use std::f64::consts::LN_2;

/// Number of groups of tokens in the jackknife.
const GROUPS: usize = 8;

/// Step of `log_2 beta` in the grid.
const STEP: f64 = 0.25;

/// Assumed rounding error of the direction of a token: a layer adds some hundred products per
/// coordinate.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Drifts of the cosines of tokens under SA at a grid of inverse temperatures.
///
/// **Accuracy** relative to the largest weight of another token, even if all weights are
/// `e^{-500}`. **Cost** `2 n^3` operations and `n^2` exponentials for each of 41 inverse
/// temperatures, `n^2 d` before them.
pub struct SaReference<'a> {
    cloud: &'a Cloud,
    /// `1 - G = |x_i - x_k|^2 / 2`, n x n, from differences.
    gaps: Vec<f64>,
    betas: Vec<f64>,
    drifts: Vec<PairDrift>,
}

/// The fit of an inverse temperature to a head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The best inverse temperature of the grid; NaN if it is an end of the grid, or if rounding
    /// decides between it and an end.
    pub beta: f64,
    /// Standard error: jackknife over eight groups of tokens, plus rounding to the grid.
    pub error: f64,
    /// Cosine of the angle between the two drifts, over all pairs. If it is negative, the head acts
    /// opposite to SA at every inverse temperature, and the best one has no meaning.
    pub cosine: f64,
}

impl Fit {
    /// The inverse temperature, if the head resembles SA there (cosine above 0) and the standard
    /// error is below it.
    pub fn reliable_beta(&self) -> Option<f64> {
        (self.cosine > 0.0 && self.error < self.beta).then_some(self.beta)
    }
}

/// Rates of change of the cosines of all pairs, n x n, times a positive number that all pairs have
/// in common.
struct PairDrift {
    rates: Vec<f64>,
    /// Bound of the effect of rounding of the directions on the rates, relative to their size, over
    /// all pairs.
    rounding_error: f64,
}

impl PairDrift {
    /// From `one[i, k] = <P_i a_i, x_k>` and bounds of its rounding; adds the terms with i and k
    /// exchanged.
    fn new(one: &[f64], rounding: &[f64], n: usize) -> Self {
        let both = |m: &[f64]| -> Vec<f64> {
            (0..n * n).map(|at| m[at] + m[at % n * n + at / n]).collect()
        };
        let rates = both(one);
        let size = |m: &[f64]| {
            m.iter()
                .enumerate()
                .filter(|(at, _)| at / n != at % n)
                .map(|(_, v)| v * v)
                .sum::<f64>()
                .sqrt()
        };
        let rounding_error = size(&both(rounding)) / size(&rates);
        Self {
            rounding_error: if rounding_error.is_nan() { f64::INFINITY } else { rounding_error },
            rates,
        }
    }
}

impl<'a> SaReference<'a> {
    /// SA on these directions, with a causal mask if `causal`, at inverse temperatures from 1/4 to
    /// 256 in steps of `2^{1/4}`.
    ///
    /// ```
    /// use metastable::transformer::observe::{Cloud, SaReference};
    /// // The fit recovers beta = 2 for a head that moves tokens as SA with beta = 2 does.
    /// let x = [1.0, 0.0, 0.8, 0.6, 0.0, 1.0, -0.6, 0.8];
    /// let (cloud, n) = (Cloud::new(&x, 2), 4);
    /// let mut pull = vec![0.0; 8];
    /// for i in 0..n {
    ///     let weights: Vec<f64> = (0..n).map(|j| (2.0 * cloud.cosines[i * n + j]).exp()).collect();
    ///     for (j, w) in weights.iter().enumerate() {
    ///         (0..2).for_each(|c| pull[2 * i + c] += w / weights.iter().sum::<f64>() * x[2 * j + c]);
    ///     }
    /// }
    /// let fit = SaReference::new(&cloud, false).fit(&[1.0; 4], &pull);
    /// assert!((fit.beta - 2.0).abs() < 1e-12 && fit.cosine > 1.0 - 1e-12);
    /// ```
    pub fn new(cloud: &'a Cloud, causal: bool) -> Self {
        let betas: Vec<f64> = (-8..=32).map(|k| (STEP * f64::from(k)).exp2()).collect();
        let gaps = cloud.gaps();
        let drifts = betas.iter().map(|beta| sa_drift(&gaps, cloud.n, *beta, causal)).collect();
        Self { cloud, gaps, betas, drifts }
    }

    /// The beta whose drift has the largest cosine with that of a head that adds `a_i` (n x d) to
    /// token i, whose length is `lengths[i]`.
    pub fn fit(&self, lengths: &[f64], a: &[f64]) -> Fit {
        let head = self.head_drift(lengths, a);
        let sums: Vec<Vec<[f64; 3]>> =
            self.drifts.iter().map(|own| self.sums(&own.rates, &head.rates)).collect();
        let cosines = |without: Option<usize>| -> Vec<f64> {
            let cosine = |sums: &Vec<[f64; 3]>| {
                let included = sums
                    .iter()
                    .enumerate()
                    .filter(|(k, _)| without.is_none_or(|g| k / GROUPS != g && k % GROUPS != g));
                let [ab, aa, bb] =
                    included.fold([0.0; 3], |t, (_, s)| [t[0] + s[0], t[1] + s[1], t[2] + s[2]]);
                let size = aa.sqrt() * bb.sqrt();
                if size > 0.0 { ab / size } else { 0.0 }
            };
            sums.iter().map(cosine).collect()
        };
        let all = cosines(None);
        let (best, last) = (first_largest(&all), all.len() - 1);
        let logs: Vec<f64> =
            (0..GROUPS).map(|g| self.betas[first_largest(&cosines(Some(g)))].ln()).collect();
        let mean = logs.iter().sum::<f64>() / GROUPS as f64;
        let rounded = (STEP * LN_2).powi(2) / 12.0;
        let spread = rounded
            + logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() * (GROUPS - 1) as f64
                / GROUPS as f64;
        // A vector with a relative error r turns by at most the angle r.
        let rounding_error = |k: usize| self.drifts[k].rounding_error + head.rounding_error;
        let inside = [0, last]
            .iter()
            .all(|end| all[best] - all[*end] > rounding_error(best) + rounding_error(*end));
        let beta = if inside { self.betas[best] } else { f64::NAN };
        Fit { beta, cosine: all[best], error: beta * spread.sqrt() }
    }

    /// `sum a b`, `sum a^2`, `sum b^2` over pairs of different tokens, for each pair of groups.
    fn sums(&self, a: &[f64], b: &[f64]) -> Vec<[f64; 3]> {
        let n = self.cloud.n;
        let mut out = vec![[0.0; 3]; GROUPS * GROUPS];
        for i in 0..n {
            for j in (0..n).filter(|j| *j != i) {
                let (a, b) = (a[i * n + j], b[i * n + j]);
                let sums = &mut out[i % GROUPS * GROUPS + j % GROUPS];
                [sums[0], sums[1], sums[2]] = [sums[0] + a * b, sums[1] + a * a, sums[2] + b * b];
            }
        }
        out
    }

    /// `d cos_ik` per unit of depth if token i receives `a_i`: `<P_i a_i, x_k> / length_i` plus the
    /// term with i and k exchanged.
    fn head_drift(&self, lengths: &[f64], a: &[f64]) -> PairDrift {
        let (n, d) = (self.cloud.n, a.len() / self.cloud.n);
        let along = PackedMatrix::from_columns(&MatrixRows::new(&self.cloud.directions, d), d)
            .product(a, &[]);
        let (mut one, mut rounding) = (Vec::with_capacity(n * n), Vec::with_capacity(n * n));
        for (i, (row, gaps)) in along.chunks_exact(n).zip(self.gaps.chunks_exact(n)).enumerate() {
            let own = &a[i * d..(i + 1) * d];
            one.extend(row.iter().zip(gaps).map(|(v, s)| (v - row[i] + row[i] * s) / lengths[i]));
            rounding.extend(std::iter::repeat_n(ROUNDING * dot(own, own).sqrt() / lengths[i], n));
        }
        PairDrift::new(&one, &rounding, n)
    }
}

/// Index of the first largest value.
fn first_largest(values: &[f64]) -> usize {
    values
        .iter()
        .enumerate()
        .fold((0, f64::NEG_INFINITY), |best, (k, v)| if *v > best.1 { (k, *v) } else { best })
        .0
}

/// `d <x_i, x_k> / dt` under SA, divided by the largest weight of another token: the sum over
/// `j != i` of `A_ij (G_jk - G_ij G_ik)`, plus the term with i and k exchanged. In terms of
/// `S = 1 - G`, which is small for close tokens, the bracket is `S_ij + S_ik - S_jk - S_ij S_ik`.
/// The term `j = i` is 0; computed, it would be `1e-16`, at large beta more than all others.
fn sa_drift(gaps: &[f64], n: usize, beta: f64, causal: bool) -> PairDrift {
    // Logarithms of weights. Tokens at the same place do not move each other and are left out.
    let mut weights = vec![f64::NEG_INFINITY; n * n];
    for (i, (row, gaps)) in weights.chunks_exact_mut(n).zip(gaps.chunks_exact(n)).enumerate() {
        let visible = if causal { i + 1 } else { n };
        let total = gaps[..visible].iter().map(|s| (-beta * s).exp()).sum::<f64>().ln();
        for (w, s) in row.iter_mut().zip(&gaps[..visible]).filter(|(_, s)| **s > 0.0) {
            *w = -beta * s - total;
        }
    }
    let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    weights.iter_mut().for_each(|w| *w = if w.is_finite() { (*w - top).exp() } else { 0.0 });
    let mixed = PackedMatrix::from_rows(&MatrixRows::new(gaps, n), n).product(&weights, &[]);
    let (mut one, mut rounding) = (Vec::with_capacity(n * n), Vec::with_capacity(n * n));
    for ((weights, gaps), mixed) in
        weights.chunks_exact(n).zip(gaps.chunks_exact(n)).zip(mixed.chunks_exact(n))
    {
        let (total, mean) = (weights.iter().sum::<f64>(), dot(weights, gaps));
        let length: f64 = weights.iter().zip(gaps).map(|(w, s)| w * (2.0 * s).sqrt()).sum();
        one.extend(gaps.iter().zip(mixed).map(|(s, m)| total * s + mean - m - mean * s));
        rounding.extend(gaps.iter().map(|s| ROUNDING * (length + total * (2.0 * s).sqrt())));
    }
    PairDrift::new(&one, &rounding, n)
}

impl Cloud {
    /// `1 - cos = |x_i - x_k|^2 / 2` of the directions, n x n; 0 for tokens closer than rounding
    /// resolves.
    fn gaps(&self) -> Vec<f64> {
        let (n, d) = (self.n, self.directions.len() / self.n.max(1));
        let rows: Vec<&[f64]> = self.directions.chunks_exact(d).collect();
        let mut out = vec![0.0; n * n];
        for i in 0..n {
            for k in 0..i {
                let gap =
                    0.5 * rows[i].iter().zip(rows[k]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                if gap > ROUNDING * ROUNDING {
                    (out[i * n + k], out[k * n + i]) = (gap, gap);
                }
            }
        }
        out
    }
}
