//! Dissipation identities.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed, plain};
use crate::attention::{Energy, EnergyScale};
use crate::error::Result;
use crate::num::sum::dot;
use crate::theorem::conformance::velocity;

/// 2312.10794, (3.6) and Lemma 3.7.
pub static ENTRY: Claim = Claim {
    name: "dissipation",
    title: "Dissipation identities of SA and USA",
    statement: "dE_beta/dt = sum_i m_i |x_i'|^2 (USA) and dE_beta/dt = sum_i m_i Z_i |x_i'|^2, Z_i = sum_j m_j e^{beta G_ij} (SA): differences of E along \
                the trajectory agree to 1e-6 relative.",
    hypotheses: "Q^T K = V = I, any masses",
    applies: super::always,
    citation: "arXiv:2312.10794, (3.6), Lemma 3.7",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(5, 3, 2.0, "sa"), Case::new(6, 2, 1.0, "usa"), Case::new(10, 4, 4.0, "sa"), Case::new(8, 3, 2.0, "usa")],
    quick: 4,
    trials: (5, 40),
    trial: |case, ctx| identity(case, ctx, false),
    control: Control { what: "the USA identity for the SA flow", trial: |ctx| identity(&Case::new(5, 3, 2.0, "sa"), ctx, true) },
};

fn identity(case: &Case, ctx: &mut Context, without_z: bool) -> Result<Finding> {
    let x = ctx.weighted_tokens(case, "uniform")?;
    let (forward, energy) = (case.build()?, Energy::new(case.beta, EnergyScale::Mean));
    let backward = plain(if case.dynamics == "sa" { "repulsive-sa" } else { "repulsive-usa" }, case.beta, case.n)?;
    let rtol = ctx.rtol * 1e-3;
    // Fourth-order differences; the step is small against the fastest rate of the flow.
    let h = 4e-3 / (1.0 + case.beta) / if case.dynamics == "usa" { case.beta.exp() } else { 1.0 };
    let at = |k: f64| -> Result<f64> {
        let dynamics = if k > 0.0 { &forward } else { &backward };
        energy.value(&flowed(dynamics.as_ref(), &x, k.abs() * h, rtol)?)
    };
    let rate = (8.0 * (at(1.0)? - at(-1.0)?) - (at(2.0)? - at(-2.0)?)) / (12.0 * h);
    let v = velocity(forward.as_ref(), &x);
    let mut claimed = 0.0;
    for (i, row) in v.chunks_exact(case.d).enumerate() {
        let z: f64 = (0..case.n).map(|j| x.masses()[j] * (case.beta * x.inner(i, j)).exp()).sum();
        claimed += x.masses()[i] * dot(row, row) * if case.dynamics == "sa" && !without_z { z } else { 1.0 };
    }
    Ok(Finding::at_most((rate / claimed - 1.0).abs(), 1e-6))
}
