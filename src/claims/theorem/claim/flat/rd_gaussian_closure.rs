//! Tokens in R^d: Gaussians stay Gaussian also under L2 and Sinkhorn weights.

use super::setting::{UNIT, gauss_hermite};
use crate::theorem::prelude::*;

const TOLERANCE: f64 = 1e-9;
/// Of b s.
const STRENGTHS: (f64, f64) = (0.05, 0.25);
const LARGEST_MEAN: f64 = 2.0;

/// The conditional mean of the key is affine in the query, so the field is.
///
/// # Derivation
///
/// L2: the weight `e^{-b (x - y)^2/2}` turns the law of `y`, normal of mean `m` and variance `s`,
/// into a normal one of mean `(m + b s x)/(1 + b s)`. So `x' = v (m + b s x)/(1 + b s)`, a linear
/// field: `m' = v m` and `s' = 2 v b s^2/(1 + b s)`. Then `d/dt (log s - 1/(b s)) = 2 v`, so `s`
/// grows at most like `e^{2 v t}`, while softmax weights make it infinite in finite time
/// (rd-gaussian).
///
/// Sinkhorn: the weights are the density of a coupling of the law with itself, proportional to
/// `e^{b x y} f(x) f(y)`. The normal coupling of correlation `r` has this form if `r/(s (1 -
/// r^2)) = b`, hence `r = (sqrt(1 + 4 b^2 s^2) - 1)/(2 b s)`. Such a coupling is unique. So `x' = v
/// (m + r (x - m))`: `m' = v m` and `s' = 2 v r s`.
///
/// Sigmoid weights `1/(1 + e^{-b x y})` do not have this property. For `m = 0` their field `v
/// E[y/(1 + e^{-b x y})]` is odd, bounded by `|v| E|y|` and not 0. So it is not affine, and a
/// Gaussian does not stay one.
pub static ENTRY: Claim = Claim {
    name: "rd-gaussian-closure",
    title: "`R^1`: Gaussians stay Gaussian under L2 and Sinkhorn attention",
    lets: "a Gaussian of mean `m` and variance `s` moves by `x' = v E[y | x]`, where `y` has the \
           L2 weight `e^{-b (x - y)^2/2}` or the Sinkhorn weights with scores `b x y`",
    then: "The field is affine in `x`, `m' = v m`, and `s' = 2 v b s^2/(1 + b s)` for L2, `s' = \
           (v/b) (sqrt(1 + 4 b^2 s^2) - 1)` for Sinkhorn.",
    tested: "with `n` weighted tokens at Gauss-Hermite nodes: the affine part, `m'` and `s'` to \
             {TOLERANCE} of `|v| (|m| + sqrt(s))` and `|v| s`",
    numbers: &[
        ("TOLERANCE", TOLERANCE),
        ("PARTS", 1.0 / STRENGTHS.1),
        ("LARGEST_MEAN", LARGEST_MEAN),
    ],
    domain: Domain {
        n: Sizes::Range(28, 40),
        d: Sizes::Fixed(1),
        beta: Betas::Log(0.1, 1.0),
        draws: "mean and variance of the Gaussian, the `sign v`, and which weights",
        ..UNIT
    },
    narrower: "`d = 1`; `b s` up to 1/{PARTS} and `|m|` up to `{LARGEST_MEAN} sqrt(s)`, which \
               keeps the shifted law among the nodes",
    source: "arXiv:2501.18322 (abstract); equations derived",
    trials: (40, 400),
    trial: |case, ctx| rates(case, ctx, 1.0),
    constant: "`b`",
    control: Control {
        what: "`b/2` instead of `b` in the stated rates",
        trial: |ctx| rates(&Case::new(32, 1, 0.5, "sa"), ctx, 0.5),
    },
    ..Claim::IDENTITY
};

/// Iterations of Sinkhorn's method; the error falls by `r^2 <= 1/16` in each.
const ITERATIONS: usize = 40;

/// Row-normalised weights of all pairs of nodes.
fn weights(b: f64, x: &[f64], w: &[f64], sinkhorn: bool) -> Vec<Vec<f64>> {
    let kernel = |x: f64, y: f64| if sinkhorn { b * x * y } else { -0.5 * b * (x - y) * (x - y) };
    let table: Vec<Vec<f64>> =
        x.iter().map(|x_i| x.iter().map(|y| kernel(*x_i, *y).exp()).collect()).collect();
    let mut f = vec![1.0; x.len()];
    let sums = |f: &[f64]| -> Vec<f64> {
        let row = |k: &Vec<f64>| k.iter().zip(f).zip(w).map(|((k, f), w)| k * f * w).sum();
        table.iter().map(row).collect()
    };
    for _ in 0..if sinkhorn { ITERATIONS } else { 0 } {
        let sums = sums(&f);
        f.iter_mut().zip(sums).for_each(|(f, sum)| *f = (*f / sum).sqrt());
    }
    let sums = sums(&f);
    let row = |(k, sum): (&Vec<f64>, &f64)| {
        k.iter().zip(&f).zip(w).map(|((k, f), w)| k * f * w / sum).collect()
    };
    table.iter().zip(&sums).map(row).collect()
}

fn rates(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let b = case.beta;
    let s = ctx.uniform_in(STRENGTHS.0, STRENGTHS.1) / b;
    let m = ctx.uniform_in(-LARGEST_MEAN, LARGEST_MEAN);
    let m = m * s.sqrt();
    let (v, sinkhorn) = (if ctx.index(2) == 0 { 1.0 } else { -1.0 }, ctx.index(2) == 0);
    let Some(rule) = gauss_hermite(case.n) else { return Ok(Finding::HypothesesMissed) };
    // Nodes with weights below rounding are left out.
    let rule: Vec<(f64, f64)> = rule.into_iter().filter(|r| r.1 > 1e-18).collect();
    let x: Vec<f64> = rule.iter().map(|r| m + s.sqrt() * r.0).collect();
    let w: Vec<f64> = rule.iter().map(|r| r.1).collect();
    let field: Vec<f64> = weights(b, &x, &w, sinkhorn)
        .iter()
        .map(|row| v * row.iter().zip(&x).map(|(p, y)| p * y).sum::<f64>())
        .collect();
    let mean = |of: &dyn Fn(usize) -> f64| (0..x.len()).map(|i| w[i] * of(i)).sum::<f64>();
    let drift = mean(&|i| field[i]);
    let spread = 2.0 * mean(&|i| (x[i] - m) * field[i]);
    // The root mean square of what is not affine.
    let slope = 0.5 * spread / s;
    let rest = nan_max(mean(&|i| (field[i] - drift - slope * (x[i] - m)).powi(2)), 0.0).sqrt();
    let b = ctx.claimed_constant(factor * b);
    let stated = if sinkhorn {
        v / b * ((1.0 + 4.0 * b * b * s * s).sqrt() - 1.0)
    } else {
        2.0 * v * b * s * s / (1.0 + b * s)
    };
    let length = m.abs() + s.sqrt();
    let off = largest([(drift - v * m).abs() / length, rest / length, (spread - stated).abs() / s]);
    Ok(Finding::identity(off, TOLERANCE))
}
