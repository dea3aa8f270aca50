//! Inner products concentrate around gamma in high dimension.

use crate::num::stats::{median, slope};
use crate::theorem::prelude::*;
use crate::theory::equiangular::Equiangular;

/// arXiv:2312.10794, Theorem 6.9, tested through the decay in d.
///
/// # Derivation
///
/// The slope is not proved; the argument is as follows. Uniform tokens have `G_ij(0) = O(d^{-1/2})`
/// for i != j, with Gaussian fluctuations of that size, while an orthonormal start has 0. For Q = K
/// = V = I the Gram matrix obeys a closed equation that does not depend on d (`gram-equation`),
/// whose right-hand side has a Lipschitz constant of the order `1 + |beta|`. So at a fixed time the
/// distance of `G(t)` from the equiangular solution, `gamma(t)` off the diagonal, is at most a
/// constant (in d) times `d^{-1/2}`, and to first order it is a linear image of the Gaussian
/// fluctuations: its median decreases with slope -1/2. The number of pairs enters only the
/// constant.
pub static ENTRY: Claim = Claim {
    name: "concentration",
    title: "High dimension: inner products follow gamma",
    then: "From uniform starts, max_ij |<x_i, x_j>(t) - gamma(t)| over t in {0.5, 2} decays like \
           d^{-1/2}.",
    tested: "as: the slope of the logarithm of its median over 256 starts, as a function of log d \
             for d = 64, 512, 4096, is -1/2 to 0.1. (The printed probability bound is vacuous for \
             these d.)",
    domain: Domain {
        n: Sizes::Range(4, 8),
        d: Sizes::Unused,
        beta: Betas::Linear(0.0, 3.0),
        dynamics: &["sa"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "SA; two times instead of all; the decay in d, not the probability",
    source: "arXiv:2312.10794, Theorem 6.9",
    status: Status::Observation,
    trials: (4, 16),
    trial: |case, ctx| {
        let claimed = ctx.claimed_constant(-0.5);
        fitted_slope(case, ctx, claimed)
    },
    constant: "the slope -1/2",
    control: Control {
        what: "the slope -1",
        trial: |ctx| fitted_slope(&Case::new(8, 2, 2.0, "sa"), ctx, -1.0),
    },
    ..Claim::LAW
};

/// Random starts for each dimension.
const STARTS: usize = 256;

/// The slope of the median deviation against d, with its bootstrap error. The starts are drawn from
/// the method's random stream, since the claim is about their law.
fn fitted_slope(case: &Case, ctx: &mut Context, claimed: f64) -> Result<Finding> {
    let times = [0.5, 2.0];
    let curve = Equiangular::sa(case.n, case.beta);
    let gamma: Vec<f64> = times.iter().map(|t| curve.gamma(0.0, *t)).collect::<Result<_>>()?;
    let (dynamics, uniform) = (case.build()?, Law::parse("uniform")?);
    let mut samples: Vec<(f64, Vec<f64>)> = Vec::new();
    for d in [64usize, 512, 4096] {
        let mut worst = Vec::new();
        for _ in 0..STARTS {
            // Only the span of the tokens matters: the flow is integrated for the square root of
            // the Gram matrix, root, in dimension n.
            let mut x = in_span_basis(&uniform.sample(case.n, d, ctx.method_rng())?)?;
            let (mut t, mut sup) = (0.0, 0.0f64);
            for (time, g) in times.iter().zip(&gamma) {
                x = ctx.flow_to_with_tolerance(&dynamics, &x, time - t, 1e4)?;
                t = *time;
                sup = pairs(x.n()).map(|(i, j)| (x.inner(i, j) - g).abs()).fold(sup, nan_max);
            }
            worst.push(sup);
        }
        samples.push(((d as f64).ln(), worst));
    }
    let fitted = |pick: &mut dyn FnMut(&[f64]) -> f64| {
        slope(&samples.iter().map(|(x, w)| (*x, pick(w).ln())).collect::<Vec<_>>())
    };
    let again = |w: &[f64], stream: &mut Stream| {
        median(&w.iter().map(|_| w[stream.index(w.len())]).collect::<Vec<_>>())
    };
    let resampled: Vec<f64> =
        (0..200).map(|_| fitted(&mut |w| again(w, ctx.method_rng()))).collect();
    let mean = resampled.iter().sum::<f64>() / 200.0;
    let error = (resampled.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 199.0).sqrt();
    Ok(Finding::law(fitted(&mut median), claimed, 0.1, error))
}

/// The same Gram matrix in dimension n: coordinates in an orthonormal basis of the span (exact by
/// span invariance).
fn in_span_basis(x: &Tokens) -> Result<Tokens> {
    let n = x.n();
    // Cholesky factor of the Gram matrix, row i = coordinates of token i.
    let g = x.gram();
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let s: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            l[i * n + j] = if i == j {
                (g[i * n + i] - s).max(0.0).sqrt()
            } else {
                (g[i * n + j] - s) / l[j * n + j]
            };
        }
    }
    Tokens::normalised(n, l)
}
