//! The bias of the estimators of negentropy, by a smoothed bootstrap (Silverman, Young 1987).
//!
//! A law that looks like the sample and whose density is known stands in for the unknown one: the mixture of von Mises-Fisher kernels around the samples, at half of
//! the concentration that predicts left-out samples best (at the best itself the mixture is lumpier than the law, and the bias comes out two or three times too large).
//! Samples of the mixture go through the neighbour estimator; what it says above the mean of the known log density is its bias there, and the corrected estimate judges
//! the kernel estimator, whose bias is never positive.

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

/// Samples of the mixture.
const DRAWS: usize = 8;

/// Most samples looked at: the cost is quadratic, and the bias of fewer samples is the larger one.
const MOST: usize = 1000;

/// An estimate of negentropy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// What the estimator says.
    pub value: f64,
    /// What it says too much, with its sign.
    pub bias: f64,
    /// Standard error of `bias`.
    pub bias_error: f64,
    /// Standard deviation of the estimator over samples.
    pub standard_error: f64,
}

impl Estimate {
    /// Whether the bias is more than a tenth of the value, or of 1 where that is larger.
    pub fn is_poor(&self) -> bool {
        !self.value.is_finite() || !self.bias.is_finite() || self.bias.abs() > 0.1 * self.value.abs().max(1.0)
    }
}

/// Both estimates of the negentropy of a sample, [`nearest_neighbour`] and [`kernel`], with bias and standard error. Where samples coincide the first is infinite
/// and so is what is said about it.
///
/// **Accuracy** where the bias is large, its sign and its size within about a factor of three (d up to 50, single bumps and mixtures of five, 400 to 1000 samples; the
/// width of the bootstrap was chosen on these); of a small bias not even the sign; of samples beyond 1000 the
/// first 1000 tell the bias, which for all is smaller. **Cost** 20 n^2 d, n at most 1000, beside the estimates. **Errors** as the estimators.
///
/// ```
/// use metastable::entropy::bootstrap::assess;
/// use metastable::{num::stream::Stream, sphere::law::Law};
/// // Uniform in d = 16 with kernels so narrow that they see single samples: far below 0, and it says so.
/// let x = Law::parse("uniform").and_then(|l| l.sample(200, 16, &mut Stream::new(1, &[]))).unwrap();
/// let [neighbours, kernels] = assess(&x, 3, 100.0).unwrap();
/// assert!(kernels.value < -10.0 && kernels.bias < -10.0 && kernels.is_poor());
/// assert!(neighbours.value.abs() < 0.3 && !neighbours.is_poor());
/// ```
pub fn assess(x: &Tokens, k: usize, kappa: f64) -> Result<[Estimate; 2]> {
    let values = [nearest_neighbour(x, k)?, kernel(x, kappa)?];
    let some = Tokens::new(x.d(), x.coordinates()[..x.d() * x.n().min(MOST)].to_vec())?;
    let width = 0.5 * best_concentration(&some);
    let draw = |j: usize| -> Result<[(f64, f64); 2]> {
        let mut stream = Stream::new(1, &["negentropy", "bootstrap", &j.to_string()]);
        let y = resampled(&some, width, &mut stream)?;
        let known = y.rows().map(|row| log_density(&some, width, row)).sum::<f64>() / y.n() as f64;
        Ok([nearest_neighbour(&y, k)?, kernel(&y, kappa)?].map(|v| (v, v - known)))
    };
    let draws: Vec<[(f64, f64); 2]> = (0..DRAWS).into_par_iter().map(draw).collect::<Result<_>>()?;
    let spread = |v: &[f64]| {
        let mean = v.iter().sum::<f64>() / v.len() as f64;
        (mean, (v.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (v.len() as f64 - 1.0)).sqrt())
    };
    let [neighbours, mut kernels] = std::array::from_fn(|e| {
        let (bias, deviation) = spread(&draws.iter().map(|d| d[e].1).collect::<Vec<_>>());
        let standard_error = spread(&draws.iter().map(|d| d[e].0).collect::<Vec<_>>()).1;
        Estimate { value: values[e], bias, bias_error: deviation / (DRAWS as f64).sqrt(), standard_error }
    });
    if neighbours.value.is_finite() {
        // The mixture is made of the kernel's own bumps, and its bias there says little: the corrected neighbours judge it, and it is never positive.
        kernels.bias = (kernels.value - (neighbours.value - neighbours.bias)).min(0.0);
        kernels.bias_error = neighbours.standard_error.hypot(neighbours.bias_error);
    }
    Ok([neighbours, kernels])
}

/// The concentration, out of five a decade in `[0.01, 1e5]`, whose leave-one-out kernel estimate is the highest.
fn best_concentration(x: &Tokens) -> f64 {
    let grid = (0..=35).map(|j| 10f64.powf(-2.0 + 0.2 * f64::from(j)));
    // A sample too small for an estimate is looked at as if it were uniform.
    let score = |kappa: f64| kernel(x, kappa).unwrap_or(f64::NEG_INFINITY);
    let scores: Vec<(f64, f64)> = grid.collect::<Vec<_>>().into_par_iter().map(|kappa| (score(kappa), kappa)).collect();
    scores.into_iter().fold((f64::NEG_INFINITY, 0.01), |best, s| if s.0 > best.0 { s } else { best }).1
}

/// Logarithm of the density of the mixture at y.
fn log_density(x: &Tokens, kappa: f64, y: &[f64]) -> f64 {
    let logits: Vec<f64> = x.rows().map(|row| -0.5 * kappa * chord2(row, y)).collect();
    log_sum_exp(&logits) - (x.n() as f64).ln() - log_scaled_sphere_mean(x.d(), kappa)
}

/// As many samples of the mixture as x has.
fn resampled(x: &Tokens, kappa: f64, stream: &mut Stream) -> Result<Tokens> {
    let d = x.d();
    let mut out = Vec::with_capacity(x.n() * d);
    for _ in 0..x.n() {
        let centre = x.row(stream.index(x.n()));
        let along = cosine(d, kappa, stream);
        let basis = tangent_basis(centre);
        let mut aside = vec![0.0; d - 1];
        stream.normals(&mut aside);
        let length = aside.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        let scale = (1.0 - along * along).max(0.0).sqrt() / length;
        let mut y: Vec<f64> = centre.iter().map(|c| along * c).collect();
        for (u, e) in aside.iter().zip(basis.chunks_exact(d)) {
            axpy(scale * u, e, &mut y);
        }
        out.extend(y);
    }
    Tokens::normalised(d, out)
}

/// `<x, centre>` under the von Mises-Fisher law, by the rejection of Wood (1994).
fn cosine(d: usize, kappa: f64, stream: &mut Stream) -> f64 {
    let m = d as f64 - 1.0;
    let b = m / (2.0 * kappa + (4.0 * kappa * kappa + m * m).sqrt());
    let x0 = (1.0 - b) / (1.0 + b);
    let c = kappa * x0 + m * (1.0 - x0 * x0).ln();
    loop {
        // Beta(m/2, m/2) as a share of squares of normals.
        let mut squares = |_: usize| stream.normal().powi(2);
        let (first, second): (f64, f64) = ((0..d - 1).map(&mut squares).sum(), (0..d - 1).map(&mut squares).sum());
        let z = first / (first + second);
        let w = (1.0 - (1.0 + b) * z) / (1.0 - (1.0 - b) * z);
        if kappa * w + m * (1.0 - x0 * w).ln() - c >= (1.0 - stream.uniform()).ln() {
            return w;
        }
    }
}
