//! The orthonormal start follows the gamma curve.

use crate::theorem::prelude::*;
use crate::theory::equiangular::Equiangular;

/// 2312.10794, Theorem 6.8.
///
/// # Derivation
///
/// Let all G_ij = gamma for i != j, masses equal. Every off-diagonal weight is the same, a = e^{beta gamma}/(e^beta + (n-1) e^{beta
/// gamma}) for SA and e^{beta gamma}/n for USA, and as P_{x_i} x_i = 0, x_i' = a sum_{k != i} (x_k - gamma x_i). So
/// `<x_i', x_j> = a (1 + (n-2) gamma - (n-1) gamma^2) = a (1 - gamma) (1 + (n-1) gamma)`,
/// and gamma' = 2 a (1 - gamma) (1 + (n-1) gamma), the same for all pairs. The Gram matrix obeys an equation of its own
/// (`gram-equation`), and solutions are unique: equiangular tokens stay equiangular and follow the scalar equation, here from gamma(0) =
/// 0.
pub static ENTRY: Claim = Claim {
    name: "gamma-curve",
    title: "Orthonormal tokens follow gamma",
    statement: "From an orthonormal start all <x_i(t), x_j(t)> equal gamma(t), the solution of the scalar equation: deviation at most 1e-10, ten times the accuracy of the curve.",
    domain: Domain {
        n: Sizes::Range(2, 32),
        beta: Betas::Log(0.01, 4.0),
        laws: &["orthonormal"],
        also: Some(Also { text: "d >= n", holds: |case| case.d >= case.n }),
        corners: &[(8, 8, 1.0), (16, 16, 4.0), (32, 32, 4.0), (2, 2, 4.0)],
        ..Domain::EQUAL_MASSES
    },
    narrower: "beta <= 4: later, deviations from the equiangular family grow beyond any tolerance before they shrink; one time in (0.2, 1) of the whole climb",
    citation: "arXiv:2312.10794, Theorem 6.8",
    trials: (16, 120),
    trial: |case, ctx| follow(case, ctx, case.n),
    perturbed: "the time of the curve",
    control: Control {
        what: "the curve of n + 1 tokens",
        trial: |ctx| follow(&Case::new(8, 8, 1.0, "sa").with_law("orthonormal"), ctx, 9),
    },
    ..Claim::IDENTITY
};

/// Largest deviation of the Gram matrix from gamma at a random time.
fn follow(case: &Case, ctx: &mut Context, n: usize) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let curve = Equiangular::new(case.weights()?, n, case.beta, TimeScale::U1)?;
    let t = ctx.uniform_in(0.2, 1.0) * curve.level_time(0.0, 0.999)?.value;
    let end = ctx.flowed_within(&case.build()?, &x, t, 1e-3)?;
    let gamma = curve.at(0.0, ctx.stated(t))?;
    let worst = pairs(case.n).map(|(i, j)| (end.inner(i, j) - gamma).abs()).fold(0.0, nan_max);
    // The curve is right to 1e-11, the flow to 1e-12 per unit of its path.
    Ok(Finding::identity(worst, 1e-10))
}
