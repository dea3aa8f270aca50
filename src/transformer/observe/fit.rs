//! The inverse temperature of SA whose drift of inner products is nearest to what a head does.

use super::cloud::Cloud;
use crate::num::sum::dot;
use crate::transformer::product::{MatrixRows, Panelled};
use std::f64::consts::LN_2;

/// Groups of tokens of the jackknife.
const GROUPS: usize = 8;

/// The ladder's step of `log_2 beta`.
const STEP: f64 = 0.25;

/// Drifts of the cosines of tokens under SA at a ladder of inverse temperatures.
pub struct Reference {
    n: usize,
    betas: Vec<f64>,
    drifts: Vec<Vec<f64>>,
}

/// A fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The best inverse temperature of the ladder; not a number where that is an end of it.
    pub beta: f64,
    /// Standard error, by leaving out each of eight groups of tokens in turn, and that of a number rounded to the ladder.
    pub error: f64,
    /// Cosine of the angle between the two drifts, over all pairs.
    pub cosine: f64,
}

impl Reference {
    /// SA on these directions, masked as a causal model is if so, at a ladder from 1/4 to 256 in steps of `2^{1/4}`.
    pub fn new(cloud: &Cloud, causal: bool) -> Self {
        let betas: Vec<f64> = (-8..=32).map(|k| (STEP * f64::from(k)).exp2()).collect();
        let drifts = betas.iter().map(|beta| drift(cloud, *beta, causal)).collect();
        Self { n: cloud.n, betas, drifts }
    }

    /// The beta whose drift has the largest cosine with this one (n x n).
    pub fn fit(&self, drift: &[f64]) -> Fit {
        let sums: Vec<Vec<[f64; 3]>> = self.drifts.iter().map(|own| self.sums(own, drift)).collect();
        let best = |without: Option<usize>| -> (f64, f64) {
            let cosine = |sums: &Vec<[f64; 3]>| {
                let kept = sums.iter().enumerate().filter(|(k, _)| without.is_none_or(|g| k / GROUPS != g && k % GROUPS != g));
                let [ab, aa, bb] = kept.fold([0.0; 3], |t, (_, s)| [t[0] + s[0], t[1] + s[1], t[2] + s[2]]);
                let size = (aa * bb).sqrt();
                if size > 0.0 { ab / size } else { 0.0 }
            };
            let all = sums.iter().map(cosine).zip(&self.betas);
            all.fold((f64::NEG_INFINITY, f64::NAN), |best, (c, beta)| if c > best.0 { (c, *beta) } else { best })
        };
        let (cosine, beta) = best(None);
        let logs: Vec<f64> = (0..GROUPS).map(|g| best(Some(g)).1.ln()).collect();
        let mean = logs.iter().sum::<f64>() / GROUPS as f64;
        let rounded = (STEP * LN_2).powi(2) / 12.0;
        let spread = rounded + logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() * (GROUPS - 1) as f64 / GROUPS as f64;
        let inside = beta > self.betas[0] && self.betas.last().is_some_and(|end| beta < *end);
        Fit { beta: if inside { beta } else { f64::NAN }, cosine, error: if inside { beta * spread.sqrt() } else { f64::NAN } }
    }

    /// `sum a b`, `sum a^2`, `sum b^2` over pairs of different tokens, by groups of both.
    fn sums(&self, a: &[f64], b: &[f64]) -> Vec<[f64; 3]> {
        let mut out = vec![[0.0; 3]; GROUPS * GROUPS];
        for i in 0..self.n {
            for j in (0..self.n).filter(|j| *j != i) {
                let (a, b) = (a[i * self.n + j], b[i * self.n + j]);
                let sums = &mut out[i % GROUPS * GROUPS + j % GROUPS];
                [sums[0], sums[1], sums[2]] = [sums[0] + a * b, sums[1] + a * a, sums[2] + b * b];
            }
        }
        out
    }
}

/// `d <x_i, x_k> / dt` of SA: `sum_j A_ij (G_jk - G_ij G_ik)` and the same with i and k exchanged.
fn drift(cloud: &Cloud, beta: f64, causal: bool) -> Vec<f64> {
    let (n, g) = (cloud.n, &cloud.cosines);
    let mut weights = vec![0.0; n * n];
    for (i, row) in weights.chunks_exact_mut(n).enumerate() {
        let seen = if causal { i + 1 } else { n };
        let top = g[i * n..i * n + seen].iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        row.iter_mut().zip(&g[i * n..i * n + seen]).for_each(|(w, c)| *w = (beta * (c - top)).exp());
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|w| *w /= total);
    }
    let pulled = Panelled::of_rows(&MatrixRows::of(g, n), n).product(&weights, &[]);
    symmetrised(&pulled, g, n)
}

/// The drift of cosines G from `<a_i, x_k>`: the tangent part, and both ways round.
fn symmetrised(along: &[f64], g: &[f64], n: usize) -> Vec<f64> {
    let one = |i: usize, k: usize| along[i * n + k] - along[i * n + i] * g[i * n + k];
    (0..n * n).map(|at| one(at / n, at % n) + one(at % n, at / n)).collect()
}

impl Cloud {
    /// The drift of the cosines when token i, of this length, gets `a_i` (n x d): `d cos_ik` per unit of depth.
    pub fn drift(&self, lengths: &[f64], a: &[f64]) -> Vec<f64> {
        let (n, d) = (self.n, a.len() / self.n);
        let mut along = Vec::with_capacity(n * n);
        for (row, length) in a.chunks_exact(d).zip(lengths) {
            along.extend(self.directions.chunks_exact(d).map(|x| dot(row, x) / length));
        }
        symmetrised(&along, &self.cosines, n)
    }
}
