//! The layer map climbs the energy of a general positive form.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::attention::{Head, Spec, dynamics, layer::Layer};
use crate::error::Result;
use crate::num::{dense::mat_vec, softmax::log_sum_exp, stats::nan_min, sum::dot};
use crate::sphere::Tokens;

/// `V = Q^T K = B` symmetric positive semidefinite.
pub static ENTRY: Claim = Claim {
    name: "layer-energy-general",
    title: "A layer climbs the energy for V = Q^T K = B >= 0",
    statement: "For V = Q^T K = B symmetric positive semidefinite, log sum_ij m_i m_j e^{beta <x_i, B x_j>} never decreases under x_i <- normalise(x_i + eta sum_j A_ij B x_j), \
                whatever eta in [0, inf]: the change is at least -32 u (1 + beta).",
    hypotheses: "V = Q^T K = B >= 0, norm of B at most 1",
    applies: |case| case.beta >= 0.0,
    citation: "convexity of z -> sum_j m_j e^{beta <z, B x_j>} on R^d",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 4.0, "sa"), Case::new(8, 5, 20.0, "sa"), Case::new(5, 4, 2.0, "usa")],
    quick: 3,
    trials: (20, 150),
    trial: |case, ctx| climb(case, ctx, false),
    control: Control { what: "V = -Q^T K with eta = 0.3", trial: |ctx| climb(&Case::new(6, 3, 4.0, "sa"), ctx, true) },
};

fn climb(case: &Case, ctx: &mut Context, reversed: bool) -> Result<Finding> {
    let d = case.d;
    let mut w = vec![0.0; d * d];
    ctx.stream.normals(&mut w);
    let mut b = crate::num::dense::transpose_mul(&w, &w, d);
    // The trace bounds the norm.
    let trace: f64 = (0..d).map(|a| b[a * d + a]).sum();
    b.iter_mut().for_each(|v| *v /= trace);
    let scaled = |factor: f64| Some((d, b.iter().map(|v| factor * v).collect()));
    let head = Head::new(d, None, scaled(1.0), scaled(if reversed { -1.0 } else { 1.0 }))?;
    let dynamics = dynamics::build(case.dynamics, false, &Spec { heads: vec![head], ..Spec::new(case.beta, case.n) })?;
    let energy = |x: &Tokens| {
        let mut images = vec![0.0; x.coordinates().len()];
        x.rows().zip(images.chunks_exact_mut(d)).for_each(|(r, o)| mat_vec(&b, r, o));
        let term = |i: usize, j: usize| case.beta * dot(x.row(i), &images[j * d..(j + 1) * d]) + (x.masses()[i] * x.masses()[j]).ln();
        log_sum_exp(&(0..x.n() * x.n()).map(|p| term(p / x.n(), p % x.n())).collect::<Vec<_>>())
    };
    let mut x = ctx.weighted_tokens(case, "uniform")?;
    let eta = if reversed { 0.3 } else { [0.01, 0.3, 3.0, 1e6, f64::INFINITY][ctx.stream.index(5)] };
    let mut scratch = vec![0.0; x.coordinates().len()];
    let (mut before, mut worst) = (energy(&x), f64::INFINITY);
    for _ in 0..30 {
        Layer::new(eta)?.step(dynamics.as_ref(), &mut x, &mut scratch);
        let after = energy(&x);
        worst = nan_min(worst, after - before);
        before = after;
    }
    Ok(Finding::at_most(-worst, 32.0 * f64::EPSILON * (1.0 + case.beta)))
}
