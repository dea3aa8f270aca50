//! The dimension-free equation of the Gram matrix.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::attention::{Spec, dynamics};
use crate::error::Result;
use crate::num::stats::nan_max;

/// `G' = A-weighted differences`, closed in G for V = I and weights that depend on G.
pub static ENTRY: Claim = Claim {
    name: "gram-equation",
    title: "The Gram matrix obeys a closed, dimension-free equation",
    statement: "G_ij' = sum_k A_ik (G_kj - G_ik G_ij) + sum_k A_jk (G_ki - G_jk G_ij): integrating it from X(0) X(0)^T agrees with X(t) X(t)^T to 1e-8 (SA, USA, \
                causal SA).",
    hypotheses: "V = I, weights that depend on G only",
    applies: super::always,
    citation: "derived from arXiv:2312.10794, (2.3); used for equiangular and causal starts",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(5, 3, 2.0, "sa"), Case::new(4, 2, 1.0, "usa"), Case::new(5, 4, 2.0, "causal-sa"), Case::new(8, 3, 4.0, "sa")],
    quick: 3,
    trials: (3, 20),
    trial: |case, ctx| compare(case, ctx, case.beta),
    control: Control { what: "the Gram equation at beta + 1", trial: |ctx| compare(&Case::new(5, 3, 2.0, "sa"), ctx, 3.0) },
};

fn compare(case: &Case, ctx: &mut Context, beta: f64) -> Result<Finding> {
    let x = ctx.tokens(case, "uniform")?;
    let horizon = if case.dynamics == "usa" { 2.0 * (-case.beta).exp() } else { 2.0 };
    let flow = dynamics::build(case.dynamics, false, &Spec::new(case.beta, case.n))?;
    let end = flowed(flow.as_ref(), &x, horizon, ctx.rtol * 1e-2)?;
    let g = integrate(case, beta, x.gram(), horizon);
    let worst = end.gram().iter().zip(&g).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    Ok(Finding::at_most(worst, 1e-8))
}

/// Classical Runge-Kutta with 2000 steps: error far below 1e-10 at these rates, and no code shared with the sphere's integrators.
fn integrate(case: &Case, beta: f64, mut g: Vec<f64>, horizon: f64) -> Vec<f64> {
    let steps = 2000;
    let h = horizon / f64::from(steps);
    let shifted = |g: &[f64], k: &[f64], c: f64| -> Vec<f64> { g.iter().zip(k).map(|(a, b)| a + c * b).collect() };
    for _ in 0..steps {
        let k1 = field(case, beta, &g);
        let k2 = field(case, beta, &shifted(&g, &k1, 0.5 * h));
        let k3 = field(case, beta, &shifted(&g, &k2, 0.5 * h));
        let k4 = field(case, beta, &shifted(&g, &k3, h));
        for (i, v) in g.iter_mut().enumerate() {
            *v += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    g
}

fn field(case: &Case, beta: f64, g: &[f64]) -> Vec<f64> {
    let n = case.n;
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        let seen = if case.dynamics.starts_with("causal") { i + 1 } else { n };
        (0..seen).for_each(|j| a[i * n + j] = (beta * g[i * n + j]).exp());
        let z = if case.dynamics.ends_with("usa") { n as f64 } else { a[i * n..(i + 1) * n].iter().sum() };
        a[i * n..(i + 1) * n].iter_mut().for_each(|v| *v /= z);
    }
    let half = |i: usize, j: usize| -> f64 { (0..n).map(|k| a[i * n + k] * (g[k * n + j] - g[i * n + k] * g[i * n + j])).sum() };
    (0..n * n).map(|p| half(p / n, p % n) + half(p % n, p / n)).collect()
}
