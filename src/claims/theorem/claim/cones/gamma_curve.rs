//! An orthonormal start follows the gamma curve.

use crate::theorem::prelude::*;
use crate::theory::equiangular::Equiangular;

const SHARES: (f64, f64) = (0.2, 1.0);
const LAST_GAMMA: f64 = 0.999;
const TOLERANCE: f64 = 1e-10;
const LARGEST_BETA: f64 = 4.0;

/// The curve that tokens in high dimension follow (`concentration`).
///
/// # Derivation
///
/// Let all `G_ij = gamma` for `i != j`, masses equal. Every off-diagonal weight is `a`, and as
/// `P_{x_i} x_i = 0`, `x_i' = a sum_{k != i} (x_k - gamma x_i)`. So `<x_i', x_j> = a (1 + (n-2)
/// gamma - (n-1) gamma^2) = a (1 - gamma) (1 + (n-1) gamma)`, and `gamma' = 2 a (1 - gamma) (1 +
/// (n-1) gamma)`, the same for all pairs. The Gram matrix obeys a closed equation
/// (`gram-equation`), and solutions are unique: equiangular tokens stay equiangular and follow the
/// scalar equation, here from `gamma(0) = 0`.
pub static ENTRY: Claim = Claim {
    name: "gamma-curve",
    title: "Orthonormal tokens follow `gamma`",
    lets: "`gamma' = 2 a (1 - gamma) (1 + (n-1) gamma)`, `gamma(0) = 0`, with `a = e^{beta \
           gamma}/(e^beta + (n-1) e^{beta gamma})` for SA and `a = e^{beta gamma}/n` for USA (U1)",
    then: "From an orthonormal start, `<x_i(t), x_j(t)> = gamma(t)` for all `i != j`.",
    tested: "at one time in ({LEAST}, {MOST}) of that of `gamma = {LAST_GAMMA}`, to {TOLERANCE}, \
             ten times the accuracy of the curve",
    numbers: &[
        ("LEAST", SHARES.0),
        ("MOST", SHARES.1),
        ("LAST_GAMMA", LAST_GAMMA),
        ("TOLERANCE", TOLERANCE),
        ("LARGEST_BETA", LARGEST_BETA),
    ],
    domain: Domain {
        n: Sizes::Range(2, 32),
        beta: Betas::Log(0.01, LARGEST_BETA),
        laws: &["orthonormal"],
        condition: Some(Condition { text: "`d >= n`", holds: |case| case.d >= case.n }),
        corners: &[(8, 8, 1.0), (16, 16, 4.0), (32, 32, 4.0), (2, 2, 4.0)],
        ..Domain::EQUAL_MASSES
    },
    narrower: "`beta <= {LARGEST_BETA}`: for larger `beta`, deviations from equal inner products \
               grow beyond any tolerance before they decrease",
    source: "arXiv:2312.10794, Theorem 6.8",
    trials: (16, 120),
    trial: |case, ctx| compare(case, ctx, case.n),
    constant: "the time at which the curve is evaluated",
    control: Control {
        what: "the curve for `n + 1` tokens",
        trial: |ctx| compare(&Case::new(8, 8, 1.0, "sa").with_law("orthonormal"), ctx, 9),
    },
    ..Claim::IDENTITY
};

/// Largest deviation of the Gram matrix from gamma at a random time.
fn compare(case: &Case, ctx: &mut Context, n: usize) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let curve = Equiangular::new(case.row_weights()?, n, case.beta, TimeScale::U1)?;
    let t = ctx.uniform_in(SHARES.0, SHARES.1) * curve.level_time(0.0, LAST_GAMMA)?.value;
    let end = ctx.flow_to_with_tolerance(&case.build()?, &x, t, 1e-3)?;
    let gamma = curve.gamma(0.0, ctx.claimed_constant(t))?;
    let worst = pairs(case.n).map(|(i, j)| (end.inner(i, j) - gamma).abs()).fold(0.0, nan_max);
    // The error of the curve is 1e-11, that of the flow 1e-12 per unit of path length.
    Ok(Finding::identity(worst, TOLERANCE))
}
