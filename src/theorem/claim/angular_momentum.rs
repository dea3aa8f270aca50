//! Angular momentum.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::theorem::conformance::velocity;

/// `sum_i m_i x_i ^ x_i' = 0` (USA), `sum_i m_i Z_i x_i ^ x_i' = 0` (SA).
pub static ENTRY: Claim = Claim {
    name: "angular-momentum",
    title: "Angular momentum vanishes",
    statement: "sum_i m_i x_i ^ x_i' = 0 for USA and sum_i m_i Z_i x_i ^ x_i' = 0 for SA (antisymmetry of the pair forces), to 1e-13 of the largest term.",
    hypotheses: "Q = K = V = I, any masses",
    applies: super::always,
    citation: "arXiv:2312.10794, section 7 (circle); antisymmetry in general",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 2.0, "sa"), Case::new(7, 2, 1.0, "usa"), Case::new(12, 5, 6.0, "sa"), Case::new(9, 4, 3.0, "usa")],
    quick: 4,
    trials: (10, 100),
    trial: |case, ctx| momentum(case, ctx, case.dynamics == "sa"),
    control: Control { what: "SA without the weights Z_i", trial: |ctx| momentum(&Case::new(6, 3, 2.0, "sa"), ctx, false) },
};

fn momentum(case: &Case, ctx: &mut Context, with_z: bool) -> Result<Finding> {
    let x = ctx.weighted_tokens(case, "uniform")?;
    let v = velocity(case.build()?.as_ref(), &x);
    let d = case.d;
    let (mut total, mut scale) = (vec![0.0; d * d], f64::MIN_POSITIVE);
    for (i, (x_i, v_i)) in x.rows().zip(v.chunks_exact(d)).enumerate() {
        let z: f64 = if with_z { (0..case.n).map(|j| x.masses()[j] * (case.beta * x.inner(i, j)).exp()).sum() } else { 1.0 };
        for a in 0..d {
            for b in 0..d {
                let term = x.masses()[i] * z * (x_i[a] * v_i[b] - x_i[b] * v_i[a]);
                total[a * d + b] += term;
                scale = scale.max(term.abs());
            }
        }
    }
    Ok(Finding::at_most(total.iter().fold(0.0f64, |m, t| nan_max(m, t.abs())) / scale, 1e-13))
}
