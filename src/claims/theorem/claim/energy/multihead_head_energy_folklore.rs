//! Several heads: "the energy of each head increases".

use super::multihead_usa_energy::{HEADS, energy_derivative, heads, random_forms};
use crate::theorem::prelude::*;

/// This is false: heads pull in different directions. In about half of all random configurations
/// the energy of some head decreases.
///
/// # Derivation
///
/// Let `g_h,i = P_i sum_j m_j e^{beta <x_i, B_h x_j>} B_h x_j`. Then grad_i E_h = m_i g_h,i
/// (`multihead-usa-energy`) and x_i' = sum_k g_k,i, so
/// `dE_h/dt = sum_i m_i (|g_h,i|^2 + sum_{k != h} <g_h,i, g_k,i>)`.
/// Only the sum over h is a sum of squares. At beta = 0 and B_2 = -2 B_1, two heads, dE_1/dt =
/// sum_i m_i (|g_1,i|^2 - 2 |g_1,i|^2) < 0, and by continuity for small beta.
pub static ENTRY: Claim = Claim {
    name: "multihead-head-energy-folklore",
    title: "Several heads: the energy of every head increases along USA (folklore)",
    lets: "Q_h^T K_h = V_h = B_h be symmetric for three heads",
    then: "Under USA, dE_h/dt >= 0 for every h.",
    domain: HEADS,
    narrower: "normal B_h of size about 1",
    source: "folklore; only the sum increases (claim multihead-usa-energy)",
    status: Status::Folklore,
    trials: (40, 300),
    trial: |case, ctx| least_derivative(case, ctx, 3),
    control: Control {
        what: "one head",
        trial: |ctx| least_derivative(&Case::with_random_masses(6, 3, 1.0, "usa"), ctx, 1),
    },
    ..Claim::INEQUALITY
};

fn least_derivative(case: &Case, ctx: &mut Context, count: usize) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let b = random_forms(case, ctx, count);
    let v =
        heads(case.beta, case.d, &b, Weights::Exponential { log_factor: 0.0 }, 1.0)?.velocity(&x);
    let scale: f64 = v.chunks_exact(case.d).zip(x.masses()).map(|(v, m)| m * dot(v, v)).sum();
    let least =
        b.iter().map(|b| energy_derivative(case.beta, b, &x, &v)).fold(f64::INFINITY, f64::min);
    Ok(Finding::nonnegative(least, scale).with_evaluation_error(1e-9))
}
