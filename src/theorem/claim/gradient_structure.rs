//! Gradient structure of SA and USA.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::attention::{Energy, EnergyScale};
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::num::sum::dot;
use crate::sphere::geometry::exp;
use crate::theorem::conformance::{relative, velocity};

/// 2312.10794, Lemma 3.6 and section 3.4, with masses.
pub static ENTRY: Claim = Claim {
    name: "gradient-structure",
    title: "SA and USA are gradient flows of E_beta",
    statement: "m_i x_i' = grad_i E_beta (USA, U1) and m_i Z_i x_i' = grad_i E_beta with Z_i = sum_j m_j e^{beta G_ij} (SA); and grad E is the derivative \
                of E: central differences along geodesics agree to 1e-7.",
    hypotheses: "Q^T K = V = I, any masses",
    applies: super::always,
    citation: "arXiv:2312.10794, Lemma 3.6, Remark 3.8, section 3.4",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 2.0, "sa"), Case::new(5, 2, 1.0, "usa"), Case::new(12, 6, 5.0, "sa"), Case::new(8, 4, 3.0, "usa")],
    quick: 4,
    trials: (10, 100),
    trial: |case, ctx| structure(case, ctx, false),
    control: Control {
        what: "the SA velocity taken for a gradient in the round metric",
        trial: |ctx| structure(&Case::new(6, 3, 2.0, "sa"), ctx, true),
    },
};

fn structure(case: &Case, ctx: &mut Context, round: bool) -> Result<Finding> {
    let x = ctx.weighted_tokens(case, "uniform")?;
    let energy = Energy::new(case.beta, EnergyScale::Mean);
    let grad = energy.grad(&x)?;
    let mut flow = velocity(case.build()?.as_ref(), &x);
    for (i, row) in flow.chunks_exact_mut(case.d).enumerate() {
        let z: f64 = (0..case.n).map(|j| x.masses()[j] * (case.beta * x.inner(i, j)).exp()).sum();
        let weight = x.masses()[i] * if case.dynamics == "sa" && !round { z } else { 1.0 };
        row.iter_mut().for_each(|v| *v *= weight);
    }
    // Differences along the geodesics exp(+-h u) have error h^2 beta^2 + u/h: 1e-5 balances them at 1e-10.
    let (u, h) = (ctx.tangent(&x), 1e-5);
    let along = |h: f64| -> Result<f64> {
        let moved: Vec<f64> =
            x.rows().zip(u.chunks_exact(case.d)).flat_map(|(x, u)| exp(x, &u.iter().map(|v| h * v).collect::<Vec<_>>())).collect();
        energy.value(&crate::sphere::Tokens::new(case.d, moved)?.with_masses(x.masses())?)
    };
    let difference = (along(h)? - along(-h)?) / (2.0 * h);
    let slope = (difference - dot(&grad, &u)).abs() / dot(&grad, &grad).sqrt();
    Ok(Finding::at_most(nan_max(relative(&flow, &grad) * 1e5, slope), 1e-7))
}
