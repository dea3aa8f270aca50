//! Normalised rows with any positive interaction: the metric in which the flow is a gradient.

use super::setting::{DRAWN, positive_interaction};
use crate::attention::interaction::{InteractionAttention, InteractionEnergy, RowSum};
use crate::num::quadrature::gauss_legendre;
use crate::theorem::prelude::*;

/// # Derivation
///
/// By `interaction-gradient` with D = I, `grad_i E = m_i sum_j m_j phi(s_ij) P_i x_j`, which is
/// `m_i Z_i x_i'`. So x' is the gradient in the metric `sum_i m_i Z_i(x) |u_i|^2`, which depends on
/// the point, and `dE/dt = sum_i m_i Z_i |x_i'|^2`, positive except at steady states.
///
/// In the round metric `sum_i m_i |u_i|^2` the flow is a gradient flow of some function only if the
/// form `sum_i m_i <x_i', dx_i>` is closed. It is for constant phi (Z_i = phi), and for two tokens
/// of equal masses: there Z_1 = Z_2 is a function of s, and so is the potential. For two tokens of
/// other masses closedness asks for Z_1 = Z_2, that is, for `phi(s) = phi(1)`.
pub static ENTRY: Claim = Claim {
    name: "interaction-dissipation",
    title: "Normalised rows with any positive interaction climb the same energy",
    lets: "phi > 0, W' = phi, E = (1/2) sum_ij m_i m_j W(<x_i, x_j>), Z_i = sum_j m_j phi(<x_i, \
           x_j>), and x_i' = (1/Z_i) P_i sum_j m_j phi(<x_i, x_j>) x_j",
    then: "dE/dt = sum_i m_i Z_i |x_i'|^2: the flow is the gradient flow of E in the metric sum_i \
           m_i Z_i |u_i|^2.",
    tested: "by the change of E along the flow for the time 1/(2 max |phi'/phi| + 2), against the \
             integral of its rate, to 1e-12 (max |phi| + max |phi'|)",
    domain: Domain { n: Sizes::Range(2, 16), d: Sizes::Range(2, 8), ..DRAWN },
    narrower: "interactions without kinks",
    source: "derived; arXiv:2312.10794, section 3.4, for the exponential",
    trials: (30, 200),
    trial: |case, ctx| along_the_flow(case, ctx, false),
    constant: "the exponent of Z_i",
    control: Control {
        what: "the rate sum_i m_i |x_i'|^2 of the round metric, times the mean of Z_i",
        trial: |ctx| along_the_flow(&Case::with_random_masses(6, 3, 0.0, ""), ctx, true),
    },
    ..Claim::IDENTITY
};

fn along_the_flow(case: &Case, ctx: &mut Context, is_round: bool) -> Result<Finding> {
    let (mut x, phi, d) = (ctx.tokens(case)?, positive_interaction(ctx)?, case.d);
    let energy = InteractionEnergy::new(phi.clone());
    let flow = Dynamics::single(InteractionAttention::new(phi.clone(), RowSum::Normalised)?);
    let exponent = ctx.claimed_constant(1.0);
    let (size, slope) = phi.sizes();
    let least = (0..=64)
        .map(|k| phi.value(f64::from(k) / 32.0 - 1.0))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    let length = 0.5 / (slope / least + 1.0);
    let before = energy.value(&x);
    let (mut work, mut now) = (0.0, 0.0);
    for (node, weight) in gauss_legendre(10).into_iter().rev() {
        let t = 0.5 * length * (1.0 + node);
        x = ctx.flow_to_with_tolerance(&flow, &x, t - now, SYMMETRY_TOLERANCE)?;
        now = t;
        let row_sum = |i: usize| -> Result<f64> {
            let terms = (0..case.n).map(|j| Ok(x.masses()[j] * phi.value(x.inner(i, j).min(1.0))?));
            terms.sum()
        };
        let sums = (0..case.n).map(row_sum).collect::<Result<Vec<f64>>>()?;
        let mean = dot(&sums, x.masses());
        let velocity = flow.velocity(&x);
        let rows = velocity.chunks_exact(d).zip(&sums).zip(x.masses());
        let rate: f64 = rows
            .map(|((v, z), m)| m * if is_round { mean } else { z.powf(exponent) } * dot(v, v))
            .sum();
        work += 0.5 * length * weight * rate;
    }
    x = ctx.flow_to_with_tolerance(&flow, &x, length - now, SYMMETRY_TOLERANCE)?;
    let change = energy.value(&x) - before;
    // A run has an error of 1e-13 at each of its ten ends; series have 1e-14 of the largest value.
    Ok(Finding::identity((change - work).abs(), 1e-12 * (size + slope)))
}
