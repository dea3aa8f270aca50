//! Order on the circle.

use super::{Case, Claim, Control, Expected, Finding};
use crate::error::Result;
use crate::num::stats::nan_min;
use crate::sphere::Tokens;
use crate::theorem::conformance::velocity;
use std::f64::consts::TAU;

/// A common field on the circle cannot let tokens pass each other.
pub static ENTRY: Claim = Claim {
    name: "cyclic-order",
    title: "Cyclic order on the circle is preserved",
    statement: "On the circle the lifted angles of SA and USA keep their cyclic order: the sorted gaps stay positive and sum to 2 pi.",
    hypotheses: "d = 2, no mask",
    applies: |case| case.d == 2 && !case.dynamics.starts_with("causal"),
    citation: "uniqueness for the common field X[mu]; false for causal masks",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(8, 2, 2.0, "sa"), Case::new(6, 2, 1.0, "usa"), Case::new(16, 2, 12.0, "sa")],
    quick: 2,
    trials: (6, 60),
    trial: |case, ctx| {
        let x = ctx.tokens(case, "uniform")?;
        smallest_gap(case, &x)
    },
    control: Control {
        what: "causal SA from (0, 1.2, 1.15), beta = 1",
        trial: |_| smallest_gap(&Case::new(3, 2, 1.0, "causal-sa"), &Tokens::from_angles(&[0.0, 1.2, 1.15])?),
    },
};

/// Integrates the lifted angles by small Runge-Kutta steps; the smallest signed gap between initial neighbours, over its initial value, at any time up to 3 (USA: 3 e^{-beta}).
fn smallest_gap(case: &Case, x: &Tokens) -> Result<Finding> {
    let dynamics = case.build()?;
    let speed = |theta: &[f64]| -> Result<Vec<f64>> {
        let x = Tokens::from_angles(theta)?;
        let v = velocity(dynamics.as_ref(), &x);
        Ok(x.rows().zip(v.chunks_exact(2)).map(|(x, v)| x[0] * v[1] - x[1] * v[0]).collect())
    };
    let mut theta = x.angles();
    let mut order: Vec<usize> = (0..case.n).collect();
    order.sort_by(|&a, &b| theta[a].total_cmp(&theta[b]));
    let gaps = |theta: &[f64]| -> Vec<f64> {
        (0..case.n).map(|k| theta[order[(k + 1) % case.n]] - theta[order[k]] + if k + 1 == case.n { TAU } else { 0.0 }).collect()
    };
    let start = gaps(&theta);
    let (mut worst, h) = (1.0f64, 0.02 / if case.dynamics == "usa" { case.beta.exp() } else { 1.0 });
    let moved = |theta: &[f64], k: &[f64], c: f64| -> Vec<f64> { theta.iter().zip(k).map(|(t, k)| t + c * k).collect() };
    for _ in 0..150 {
        let k1 = speed(&theta)?;
        let k2 = speed(&moved(&theta, &k1, 0.5 * h))?;
        let k3 = speed(&moved(&theta, &k2, 0.5 * h))?;
        let k4 = speed(&moved(&theta, &k3, h))?;
        for (i, t) in theta.iter_mut().enumerate() {
            *t += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
        worst = gaps(&theta).iter().zip(&start).map(|(g, s)| g / s).fold(worst, nan_min);
    }
    Ok(Finding::exact(worst))
}
