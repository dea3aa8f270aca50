//! The energy of any interaction and its flow.

use super::setting::{DRAWN, any_interaction, symmetric};
use crate::attention::interaction::{Interaction, InteractionAttention, InteractionEnergy, RowSum};
use crate::num::quadrature::gauss_legendre;
use crate::sphere::geometry::{exp, project};
use crate::theorem::prelude::*;

const LARGEST_NORM: f64 = 0.99;
const ROUNDINGS: f64 = 64.0;

/// # Derivation
///
/// The token `x_i` is in both arguments of `E = (1/2) sum_ij m_i m_j W(<x_i, D x_j>)`. For `D =
/// D^T` both contribute the same, also for `j = i`: the derivative with respect to `x_i` is `m_i
/// sum_j m_j phi(<x_i, D x_j>) D x_j`. Its tangential part is `m_i x_i'`. In the metric `sum_i m_i
/// |u_i|^2` the gradient is therefore `x'`, and `dE/dt = sum_i m_i |x_i'|^2`. If `D` is not
/// symmetric, the second argument contributes `D^T` instead.
pub static ENTRY: Claim = Claim {
    name: "interaction-gradient",
    title: "USA with any interaction and symmetric `D` is a gradient flow",
    lets: "`W' = phi`, `D` be symmetric, `E = (1/2) sum_ij m_i m_j W(<x_i, D x_j>)`, and `x_i' = \
           P_i sum_j m_j phi(<x_i, D x_j>) D x_j`",
    then: "`grad_i E = m_i x_i'`. So `dE/dt = sum_i m_i |x_i'|^2`.",
    tested: "along geodesics of length 1/{PARTS}: the change of `E` is the integral of `sum_i m_i \
             <x_i', u_i>` over the speeds `u_i`, to `{ROUNDINGS} eps (max |phi| + max |phi'|)`",
    numbers: &[("PARTS", 1.0 / LENGTH), ("ROUNDINGS", ROUNDINGS), ("LARGEST_NORM", LARGEST_NORM)],
    domain: Domain {
        n: Sizes::Range(1, 24),
        d: Sizes::Range(2, 16),
        draws: "`phi`, `D` of norm up to {LARGEST_NORM} (or `I`), geodesics",
        ..DRAWN
    },
    narrower: "interactions without kinks",
    source: "derived; arXiv:2501.03096 for e^{<x, D y>}",
    trials: (40, 300),
    trial: |case, ctx| along_geodesics(case, ctx, true),
    constant: "the rate of change of `E`",
    control: Control {
        what: "a matrix `D` that is not symmetric, with the energy of its symmetric part",
        trial: |ctx| along_geodesics(&Case::with_random_masses(6, 3, 0.0, ""), ctx, false),
    },
    ..Claim::IDENTITY
};

/// Length of a geodesic. Ten Gauss points on it resolve interactions whose poles are at a distance
/// of 0.3 from `[-1, 1]` to 1e-14.
const LENGTH: f64 = 0.2;

fn along_geodesics(case: &Case, ctx: &mut Context, is_symmetric: bool) -> Result<Finding> {
    let (x, phi, d) = (ctx.tokens(case)?, any_interaction(ctx)?, case.d);
    let sizes = phi.sizes();
    let (energy, flow) = if is_symmetric && ctx.index(3) == 0 {
        (InteractionEnergy::new(phi.clone()), InteractionAttention::new(phi, RowSum::Plain)?)
    } else {
        with_matrix(d, phi, is_symmetric, ctx)?
    };
    let flow = Dynamics::single(flow);
    let mut u = ctx.normals(case.n * d);
    for (row, x) in u.chunks_exact_mut(d).zip(x.rows()) {
        project(x, row);
        let speed = norm(row).max(f64::MIN_POSITIVE);
        divide(row, speed);
    }
    // The tokens at time t and their velocities along the geodesics.
    let at = |t: f64| -> Result<(Tokens, Vec<f64>)> {
        let rows = x.rows().zip(u.chunks_exact(d));
        let (mut place, mut speed) = (Vec::new(), Vec::new());
        for (x, u) in rows {
            place.extend(exp(x, &u.iter().map(|v| t * v).collect::<Vec<_>>()));
            speed.extend(x.iter().zip(u).map(|(x, u)| t.cos() * u - t.sin() * x));
        }
        Ok((Tokens::normalised(d, place)?.with_masses(x.masses())?, speed))
    };
    let mut work = 0.0;
    for (node, weight) in gauss_legendre(14) {
        let (tokens, speed) = at(0.5 * LENGTH * (1.0 + node))?;
        let velocity = flow.velocity(&tokens);
        let rows = velocity.chunks_exact(d).zip(speed.chunks_exact(d)).zip(tokens.masses());
        let power: f64 = rows.map(|((v, u), m)| m * dot(v, u)).sum();
        work += 0.5 * LENGTH * weight * power;
    }
    let change = energy.value(&at(LENGTH)?.0) - energy.value(&x);
    let claimed = ctx.claimed_constant(1.0) * work;
    // Series have errors of 1e-14 of the largest value, and displaced coordinates of 2 eps.
    let allowed = ROUNDINGS * f64::EPSILON * (sizes.0 + sizes.1);
    Ok(Finding::identity((change - claimed).abs(), allowed))
}

/// Energy and flow with a matrix; for a matrix that is not symmetric the energy has its symmetric
/// part.
fn with_matrix(
    d: usize,
    phi: Interaction,
    is_symmetric: bool,
    ctx: &mut Context,
) -> Result<(InteractionEnergy, InteractionAttention)> {
    let basis = ctx.rotation(d);
    let values: Vec<f64> = (0..d).map(|_| ctx.uniform_in(-LARGEST_NORM, LARGEST_NORM)).collect();
    let form = symmetric(&values, &basis);
    let energy = InteractionEnergy::new(phi.clone()).with_form(d, (d, form.clone()))?;
    let flow = InteractionAttention::new(phi, RowSum::Plain)?;
    if is_symmetric {
        return Ok((energy, flow.with_form(d, (d, form))?));
    }
    let mut skewed = form;
    for (i, j) in pairs(d) {
        skewed[i * d + j] += 0.5;
        skewed[j * d + i] -= 0.5;
    }
    let head = Head::new(d, None, Some((d, skewed.clone())), Some((d, skewed)))?;
    Ok((energy, flow.with_heads(vec![head])?))
}
