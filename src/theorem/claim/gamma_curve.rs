//! The orthonormal start follows the gamma curve.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::attention::TimeScale;
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::theory::equiangular::Equiangular;

/// 2312.10794, Theorem 6.8.
pub static ENTRY: Claim = Claim {
    name: "gamma-curve",
    title: "Orthonormal tokens follow gamma",
    statement: "From an orthonormal start all <x_i(t), x_j(t)> equal gamma(t), the solution of the scalar equation, to 1e-8.",
    hypotheses: "d >= n, orthonormal start",
    applies: |case| case.d >= case.n,
    citation: "arXiv:2312.10794, Theorem 6.8",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(8, 8, 1.0, "sa"), Case::new(4, 6, 3.0, "usa"), Case::new(32, 32, 4.0, "sa"), Case::new(16, 16, 2.0, "usa")],
    quick: 2,
    trials: (3, 10),
    trial: |case, ctx| follow(case, ctx, case.n),
    control: Control { what: "the curve of n + 1 tokens", trial: |ctx| follow(&Case::new(8, 8, 1.0, "sa"), ctx, 9) },
};

/// `1e-8 - max_ij |G_ij - gamma(t)|` at a random time.
fn follow(case: &Case, ctx: &mut Context, n: usize) -> Result<Finding> {
    let x = ctx.tokens(case, "orthonormal")?;
    let (curve, horizon) = match case.dynamics {
        "usa" => (Equiangular::usa(n, case.beta, TimeScale::U1)?, 2.0 * case.n as f64 * (-case.beta).exp() + 0.5),
        _ => (Equiangular::sa(n, case.beta), 6.0),
    };
    let t = horizon * ctx.stream.uniform_in(0.2, 1.0);
    let end = flowed(case.build()?.as_ref(), &x, t, ctx.rtol * 1e-3)?;
    let gamma = curve.at(0.0, t)?;
    let worst = (0..case.n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| (end.inner(i, j) - gamma).abs()).fold(0.0, nan_max);
    Ok(Finding::at_most(worst, 1e-8))
}
