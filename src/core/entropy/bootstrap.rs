//! The bias of the estimators of negentropy, by a smoothed bootstrap (Silverman, Young 1987).
//!
//! A law with known density, close to the sample, replaces the unknown law: the mixture of von
//! Mises-Fisher kernels centred at the samples, with half of the concentration that predicts
//! left-out samples best. (With the best concentration itself the mixture is less smooth than the
//! law, and the bias comes out two or three times too large.) The neighbour estimator is applied to
//! samples of the mixture. Its mean excess over the known log density is its bias. The corrected
//! estimate then gives the bias of the kernel estimator, which is never positive.

use super::estimate::{kernel, nearest_neighbour};
use crate::error::Result;
use crate::num::bessel::log_scaled_sphere_mean;
use crate::num::softmax::log_sum_exp;
use crate::num::stream::Stream;
use crate::num::vector::axpy;
use crate::sphere::{
    Tokens,
    geometry::{chord2, tangent_basis},
};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of bootstrap samples of the mixture.
const BOOTSTRAP_SAMPLES: usize = 8;

/// Largest number of samples used for the bias: the cost is quadratic, and fewer samples have the
/// larger bias.
const MAX_SAMPLES: usize = 1000;

/// An estimate of negentropy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate, not corrected for its bias.
    pub value: f64,
    /// Estimated bias: expectation of the estimator minus the true value.
    pub bias: f64,
    /// Standard error of `bias`.
    pub bias_error: f64,
    /// Standard deviation of the estimator.
    pub standard_error: f64,
}

impl Estimate {
    /// Whether the bias exceeds a tenth of the value, or 0.1 if that is larger.
    pub fn is_unreliable(&self) -> bool {
        !self.value.is_finite()
            || !self.bias.is_finite()
            || self.bias.abs() > 0.1 * self.value.abs().max(1.0)
    }
}

/// Both estimates of the negentropy of a sample, [`nearest_neighbour`] and [`kernel`], each with
/// bias and standard error. If samples coincide, the first estimate and its bias are infinite.
///
/// **Accuracy** a large bias has the right sign, and its size within about a factor of three (d up
/// to 50, single bumps and mixtures of five, 400 to 1000 samples; the width of the bootstrap was
/// chosen on these). A small bias may have the wrong sign. For more than 1000 samples the bias is
/// computed from the first 1000; that of all samples is smaller. **Cost** 20 n^2 d with n at most
/// 1000, in addition to the estimates. **Errors** as the estimators.
///
/// ```
/// use metastable::entropy::bootstrap::estimate_negentropy;
/// use metastable::{num::stream::Stream, sphere::law::Law};
/// // Uniform in d = 16; each kernel is so narrow that it covers one sample: far below 0.
/// let x = Law::parse("uniform").unwrap().sample(200, 16, &mut Stream::new(1, &[])).unwrap();
/// let [neighbours, kernels] = estimate_negentropy(&x, 3, 100.0).unwrap();
/// assert!(kernels.value < -10.0 && kernels.bias < -10.0 && kernels.is_unreliable());
/// assert!(neighbours.value.abs() < 0.3 && !neighbours.is_unreliable());
/// ```
pub fn estimate_negentropy(x: &Tokens, k: usize, kappa: f64) -> Result<[Estimate; 2]> {
    estimate_negentropy_with(x, k, kappa, &|_| {})
}

/// As [`estimate_negentropy`]; `progress` is told the share of the work that is done.
pub fn estimate_negentropy_with(
    x: &Tokens,
    k: usize,
    kappa: f64,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<[Estimate; 2]> {
    let finished = AtomicUsize::new(0);
    let values = [nearest_neighbour(x, k)?, kernel(x, kappa)?];
    let subset = Tokens::new(x.d(), x.coordinates()[..x.d() * x.n().min(MAX_SAMPLES)].to_vec())?;
    let width = 0.5 * best_concentration(&subset);
    let draw = |j: usize| -> Result<[(f64, f64); 2]> {
        let mut stream = Stream::new(1, &["negentropy", "bootstrap", &j.to_string()]);
        let y = sample_mixture(&subset, width, &mut stream)?;
        let known =
            y.rows().map(|row| log_density(&subset, width, row)).sum::<f64>() / y.n() as f64;
        let found = [nearest_neighbour(&y, k)?, kernel(&y, kappa)?].map(|v| (v, v - known));
        let count = finished.fetch_add(1, Ordering::Relaxed) + 1;
        progress(count as f64 / BOOTSTRAP_SAMPLES as f64);
        Ok(found)
    };
    let draws: Vec<[(f64, f64); 2]> =
        (0..BOOTSTRAP_SAMPLES).into_par_iter().map(draw).collect::<Result<_>>()?;
    let spread = |v: &[f64]| {
        let mean = v.iter().sum::<f64>() / v.len() as f64;
        (mean, (v.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (v.len() as f64 - 1.0)).sqrt())
    };
    let [neighbours, mut kernels] = std::array::from_fn(|e| {
        let (bias, deviation) = spread(&draws.iter().map(|d| d[e].1).collect::<Vec<_>>());
        let standard_error = spread(&draws.iter().map(|d| d[e].0).collect::<Vec<_>>()).1;
        Estimate {
            value: values[e],
            bias,
            bias_error: deviation / (BOOTSTRAP_SAMPLES as f64).sqrt(),
            standard_error,
        }
    });
    if neighbours.value.is_finite() {
        // The mixture consists of the kernels themselves, so its bias there says little. The
        // corrected neighbour estimate gives the bias, which is never positive.
        kernels.bias = (kernels.value - (neighbours.value - neighbours.bias)).min(0.0);
        kernels.bias_error = neighbours.standard_error.hypot(neighbours.bias_error);
    }
    Ok([neighbours, kernels])
}

/// The concentration, of five per decade in `[0.01, 1e5]`, with the highest leave-one-out kernel
/// estimate.
fn best_concentration(x: &Tokens) -> f64 {
    let grid = (0..=35).map(|j| 10f64.powf(-2.0 + 0.2 * f64::from(j)));
    // A sample too small for an estimate is treated as uniform.
    let score = |kappa: f64| kernel(x, kappa).unwrap_or(f64::NEG_INFINITY);
    let scores: Vec<(f64, f64)> =
        grid.collect::<Vec<_>>().into_par_iter().map(|kappa| (score(kappa), kappa)).collect();
    scores
        .into_iter()
        .fold((f64::NEG_INFINITY, 0.01), |best, s| if s.0 > best.0 { s } else { best })
        .1
}

/// Logarithm of the density of the mixture at y.
fn log_density(x: &Tokens, kappa: f64, y: &[f64]) -> f64 {
    let logits: Vec<f64> = x.rows().map(|row| -0.5 * kappa * chord2(row, y)).collect();
    log_sum_exp(&logits) - (x.n() as f64).ln() - log_scaled_sphere_mean(x.d(), kappa)
}

/// Samples of the mixture, as many as x has.
fn sample_mixture(x: &Tokens, kappa: f64, stream: &mut Stream) -> Result<Tokens> {
    let d = x.d();
    let mut out = Vec::with_capacity(x.n() * d);
    for _ in 0..x.n() {
        let centre = x.row(stream.index(x.n()));
        let along = sample_cosine(d, kappa, stream);
        let basis = tangent_basis(centre);
        let mut tangent = vec![0.0; d - 1];
        stream.normals(&mut tangent);
        let length = tangent.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        let scale = (1.0 - along * along).max(0.0).sqrt() / length;
        let mut y: Vec<f64> = centre.iter().map(|c| along * c).collect();
        for (u, e) in tangent.iter().zip(basis.chunks_exact(d)) {
            axpy(scale * u, e, &mut y);
        }
        out.extend(y);
    }
    Tokens::normalised(d, out)
}

/// Samples `<x, centre>` under the von Mises-Fisher law by rejection (Wood 1994).
fn sample_cosine(d: usize, kappa: f64, stream: &mut Stream) -> f64 {
    let m = d as f64 - 1.0;
    let b = m / (2.0 * kappa + (4.0 * kappa * kappa + m * m).sqrt());
    let x0 = (1.0 - b) / (1.0 + b);
    let c = kappa * x0 + m * (1.0 - x0 * x0).ln();
    loop {
        // Beta(m/2, m/2) as a ratio of sums of squared normal numbers.
        let mut squares = |_: usize| stream.normal().powi(2);
        let (first, second): (f64, f64) =
            ((0..d - 1).map(&mut squares).sum(), (0..d - 1).map(&mut squares).sum());
        let z = first / (first + second);
        let w = (1.0 - (1.0 + b) * z) / (1.0 - (1.0 - b) * z);
        if kappa * w + m * (1.0 - x0 * w).ln() - c >= (1.0 - stream.uniform()).ln() {
            return w;
        }
    }
}
