//! Several heads: "the total energy increases along SA".

use super::multihead_usa_energy::{HEADS, energy_derivative, heads, random_forms};
use crate::theorem::prelude::*;

/// This is false: each head has its own partition function, so there is no common metric. In about
/// one of a hundred random configurations the energy decreases.
///
/// # Derivation
///
/// With g_h,i as in `multihead-head-energy-folklore` and Z_h,i the sum of head h in row i, SA has
/// x_i' = sum_k g_k,i/Z_k,i, so dE/dt = `sum_i m_i <sum_h g_h,i, sum_k g_k,i/Z_k,i>`. For one head
/// that is sum_i m_i |g_i|^2/Z_i >= 0.
/// For two heads and one token it is the quadratic form |g_1|^2/Z_1 + |g_2|^2/Z_2 + `<g_1, g_2>`
/// (1/Z_1 + 1/Z_2), whose mixed coefficient (1/Z_1 + 1/Z_2)/2 is larger than the geometric mean of
/// the others unless Z_1 = Z_2: it takes negative values, for g_1 = -l g_2 with l between 1 and
/// Z_1/Z_2. At large beta the Z_h differ more, and the negative terms of some tokens exceed the
/// others.
pub static ENTRY: Claim = Claim {
    name: "multihead-sa-energy-folklore",
    title: "Several heads: the total energy increases along SA (folklore)",
    lets: "Q_h^T K_h = V_h = B_h be symmetric for three heads and E = sum_h (1/(2 beta)) sum_ij \
           m_i m_j e^{beta <x_i, B_h x_j>}",
    then: "Under SA, dE/dt >= 0.",
    domain: Domain {
        n: Sizes::Fixed(6),
        d: Sizes::Fixed(3),
        beta: Betas::Linear(3.0, 6.0),
        dynamics: &["sa"],
        masses: Masses::Equal,
        ..HEADS
    },
    narrower: "normal B_h of size about 1",
    source: "folklore; arXiv:2605.04279 has conditions on the scores (abstract)",
    status: Status::Folklore,
    correct: "The total energy rises along USA. Along SA every head has its own normaliser, and \
               there is no common metric.",
    trials: (600, 3000),
    trial: |case, ctx| total(case, ctx, 3),
    control: Control { what: "one head", trial: |ctx| total(&Case::new(6, 3, 1.3, "sa"), ctx, 1) },
    ..Claim::INEQUALITY
};

fn total(case: &Case, ctx: &mut Context, count: usize) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let b = random_forms(case, ctx, count);
    let v = heads(case.beta, case.d, &b, Weights::Softmax, 1.0)?.velocity(&x);
    let each: Vec<f64> = b.iter().map(|b| energy_derivative(case.beta, b, &x, &v)).collect();
    let scale: f64 = each.iter().map(|p| p.abs()).sum();
    Ok(Finding::nonnegative(each.iter().sum(), scale).with_evaluation_error(1e-9))
}
