//! The curvature identity.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::attention::{Energy, EnergyScale};
use crate::error::Result;
use crate::num::sum::dot;
use crate::sphere::geometry::project;

/// A sum of second derivatives over block rotations, at every configuration.
pub static ENTRY: Claim = Claim {
    name: "curvature-identity",
    title: "Curvature identity",
    statement: "sum_v Hess E_beta[U_v, U_v] = sum_ij m_i m_j e^{beta G_ij} (1 - G_ij) [(d - 2 - G_ij) + beta (1 - G_ij^2)] with U_v = (P_{x_i} v)_i over an \
                orthonormal basis v, for every configuration, to 1e-10 relative.",
    hypotheses: "none",
    applies: super::always,
    citation: "derived; gives the landscape part of Markdahl, Thunberg, Goncalves 2018 and arXiv:2405.18273 for d >= 3",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(5, 2, 2.0, "usa"), Case::new(6, 3, 5.0, "usa"), Case::new(4, 6, 1.0, "usa"), Case::new(12, 4, 9.0, "usa")],
    quick: 4,
    trials: (10, 100),
    trial: |case, ctx| identity(case, ctx, case.beta),
    control: Control { what: "the right-hand side at beta + 1", trial: |ctx| identity(&Case::new(6, 3, 5.0, "usa"), ctx, 6.0) },
};

fn identity(case: &Case, ctx: &mut Context, beta: f64) -> Result<Finding> {
    let x = ctx.weighted_tokens(case, "uniform")?;
    let energy = Energy::new(case.beta, EnergyScale::Mean);
    let mut left = 0.0;
    for axis in 0..case.d {
        let mut u = vec![0.0; x.coordinates().len()];
        for (row, x) in u.chunks_exact_mut(case.d).zip(x.rows()) {
            row[axis] = 1.0;
            project(x, row);
        }
        left += dot(&u, &energy.hess_vec(&x, &u)?);
    }
    let (mut right, mut scale) = (0.0, 0.0);
    for i in 0..case.n {
        for j in 0..case.n {
            let g = x.inner(i, j);
            let term = x.masses()[i] * x.masses()[j] * (case.beta * g).exp() * (1.0 - g);
            right += term * ((case.d as f64 - 2.0 - g) + beta * (1.0 - g * g));
            scale += term * (case.d as f64 + beta);
        }
    }
    Ok(Finding::at_most((left - right).abs() / scale, 1e-10))
}
