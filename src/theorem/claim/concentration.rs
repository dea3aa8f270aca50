//! Concentration around gamma in high dimension.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin, flowed};
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::num::stats::slope;
use crate::theory::equiangular::Equiangular;

/// 2312.10794, Theorem 6.9, in the form that can be seen: the empirical slope in d.
pub static ENTRY: Claim = Claim {
    name: "concentration",
    title: "High dimension: inner products follow gamma",
    statement: "For uniform starts, max_ij |<x_i, x_j>(t) - gamma(t)| over t in {0.5, 1, 1.5, 2, 3} decays like d^{-1/2}: the log-log slope over d = 64, ..., 4096 is in [-0.6, -0.4] \
                (medians of 60 starts). The printed probability bound is vacuous at these d.",
    hypotheses: "n = 8 fixed, d growing, uniform start",
    applies: super::always,
    citation: "arXiv:2312.10794, Theorem 6.9",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(8, 4096, 2.0, "sa")],
    quick: 1,
    trials: (1, 3),
    trial: |case, ctx| fit(case, ctx, 0.5),
    control: Control { what: "claiming the slope -1", trial: |ctx| fit(&Case::new(8, 1024, 2.0, "sa"), ctx, 1.0) },
};

/// `0.1 - |slope + claimed|` of the median deviation against d.
fn fit(case: &Case, ctx: &mut Context, claimed: f64) -> Result<Finding> {
    let times = [0.5, 1.0, 1.5, 2.0, 3.0];
    let curve = Equiangular::sa(case.n, case.beta);
    let gamma: Vec<f64> = times.iter().map(|t| curve.at(0.0, *t)).collect::<Result<_>>()?;
    let (mut points, mut samples) = (Vec::new(), Vec::new());
    let mut d = 64;
    while d <= case.d {
        let small = Case { d, ..*case };
        let dynamics = small.build()?;
        let mut worst = Vec::new();
        for _ in 0..60 {
            // Only the span of the tokens matters: the flow is run on the Gram matrix's square root, in dimension n.
            let mut x = reduced(&ctx.tokens(&small, "uniform")?)?;
            let (mut t, mut sup) = (0.0, 0.0f64);
            for (time, g) in times.iter().zip(&gamma) {
                x = flowed(dynamics.as_ref(), &x, time - t, 1e3 * ctx.rtol)?;
                t = *time;
                sup = (0..x.n()).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| (x.inner(i, j) - g).abs()).fold(sup, nan_max);
            }
            worst.push(sup);
        }
        points.push(((d as f64).ln(), crate::num::stats::median(&worst).ln()));
        samples.push(((d as f64).ln(), worst));
        d *= 4;
    }
    // Bootstrap over starts: the standard error of the fitted slope.
    let resampled: Vec<f64> = (0..200)
        .map(|_| {
            let draw = |(x, w): &(f64, Vec<f64>), s: &mut crate::num::stream::Stream| {
                let again: Vec<f64> = w.iter().map(|_| w[s.index(w.len())]).collect();
                (*x, crate::num::stats::median(&again).ln())
            };
            slope(&samples.iter().map(|p| draw(p, &mut ctx.stream)).collect::<Vec<_>>())
        })
        .collect();
    let mean = resampled.iter().sum::<f64>() / 200.0;
    let deviation = (resampled.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 199.0).sqrt();
    Ok(Finding::Margin(Margin { value: 0.1 - (slope(&points) + claimed).abs(), sampling: 3.0 * deviation, ..Margin::default() }))
}

/// The same Gram matrix in dimension n: coordinates in an orthonormal basis of the span (exact by span invariance).
fn reduced(x: &crate::sphere::Tokens) -> Result<crate::sphere::Tokens> {
    let n = x.n();
    // Cholesky factor of the Gram matrix, row i = coordinates of token i.
    let g = x.gram();
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let s: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            l[i * n + j] = if i == j { (g[i * n + i] - s).max(0.0).sqrt() } else { (g[i * n + j] - s) / l[j * n + j] };
        }
    }
    crate::sphere::Tokens::normalised(n, l)
}
