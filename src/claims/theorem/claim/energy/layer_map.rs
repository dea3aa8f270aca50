//! The layer map of equiangular tokens.

use super::setting::step;
use crate::theorem::prelude::*;
use crate::theory::equiangular::layer_map;

const ROUNDINGS: f64 = 8.0;
const LEAST_DISTANCE: f64 = 1e-3;

/// # Derivation
///
/// Every row has the weight a for the token itself and `b` for each other token. With `y_i = sum_j
/// A_ij x_j`: `<x_i, y_i> = a + (n-1) b rho` and `<x_i, y_j> = a rho + b (1 + (n-2) rho)`. As the
/// Gram matrix is `rho` plus `(1 - rho)` times the identity and rows sum to 1, `<y_i, y_j> = rho +
/// (1 - rho) sum_k A_ik A_jk`, which is `N_d` for `i = j` and `N_o` else. All pairs are alike, so
/// the new tokens are equiangular, and `rho'` is the inner product of two vectors `x + eta y`
/// divided by their squared length.
pub static ENTRY: Claim = Claim {
    name: "layer-map",
    title: "Layers map equiangular tokens by a closed formula",
    lets: "all inner products be `rho` in `(-1/(n-1), 1)`, `a = 1/(1 + (n-1) e^{-beta (1-rho)})` \
           and `a + (n-1) b = 1`, `N_d = rho + (1-rho) (a^2 + (n-1) b^2)`, `N_o = rho + (1-rho) (2 \
           a b + (n-2) b^2)`",
    then: "A layer `x <- normalise(x + eta sum_j A_ij x_j)` of SA makes all inner products `(rho + \
           2 eta (a rho + b (1 + (n-2) rho)) + eta^2 N_o)/(1 + 2 eta (a + (n-1) b rho) + eta^2 \
           N_d)`, for every `beta` and every `eta` in `(0, inf]`; at `eta = inf` this is \
           `N_o/N_d`.",
    tested: "to `{ROUNDINGS} eps (1 + |beta|) sqrt(n) (1 + eta)^2/|x + eta a|^2` (with `1/|a|^2` \
             at `eta = inf`)",
    numbers: &[("ROUNDINGS", ROUNDINGS), ("LEAST_DISTANCE", LEAST_DISTANCE)],
    domain: Domain {
        n: Sizes::Range(2, 48),
        beta: Betas::Signed(0.01, 100.0),
        dynamics: &["sa"],
        laws: &["equiangular"],
        condition: Some(Condition { text: "`d >= n`", holds: |case| case.d >= case.n }),
        corners: &[(2, 2, 0.0), (4, 4, 1.0), (32, 32, 9.0), (8, 10, 0.0)],
        ..Domain::EQUAL_MASSES
    },
    narrower: "`|rho - 1|`, `|rho + 1/(n-1)|` at least {LEAST_DISTANCE}",
    source: "derived; eta = inf is the layer of arXiv:2510.05554",
    trials: (100, 600),
    trial: |case, ctx| compare(case, ctx, case.n),
    constant: "the new `rho`",
    control: Control {
        what: "the formula for `n + 1` tokens",
        trial: |ctx| compare(&Case::new(4, 4, 1.0, "sa"), ctx, 5),
    },
    ..Claim::IDENTITY
};

fn compare(case: &Case, ctx: &mut Context, n: usize) -> Result<Finding> {
    let (eta, beta) = (step(ctx), case.beta);
    let rho = ctx.uniform_in(LEAST_DISTANCE - 1.0 / (case.n as f64 - 1.0), 1.0 - LEAST_DISTANCE);
    let mut x = ctx.tokens_with_law(case.n, case.d, &format!("equiangular:rho={rho}"))?;
    Layer::new(eta)?.apply(&case.build()?, &mut x);
    let stated = ctx.claimed_constant(layer_map(n, beta, rho, eta));
    let pairs = pairs(case.n);
    let worst = pairs.map(|(i, j)| (x.inner(i, j) - stated).abs()).fold(0.0, nan_max);
    // Rounding of x, of eta a and of the weights, divided by the vector that is normalised; the
    // formula is a quotient of sums of such squares.
    let cross = (-beta * (1.0 - rho)).exp();
    let a = 1.0 / (1.0 + (case.n as f64 - 1.0) * cross);
    let b = (1.0 - a) / (case.n as f64 - 1.0);
    let square = rho + (1.0 - rho) * (a * a + (case.n as f64 - 1.0) * b * b);
    let along = a + (case.n as f64 - 1.0) * b * rho;
    let stretch = if eta.is_infinite() {
        1.0 / square
    } else {
        (1.0 + eta).powi(2) / (1.0 + eta * (2.0 * along + eta * square))
    };
    Ok(Finding::identity(
        worst,
        ROUNDINGS * f64::EPSILON * (1.0 + beta.abs()) * (case.n as f64).sqrt() * stretch,
    ))
}
