//! Long context: the cosine of equiangular tokens after one layer.

use crate::theorem::prelude::*;
use crate::theory::equiangular::layer_map;

const RHOS: (f64, f64) = (0.05, 0.95);
const SHARES: (f64, f64) = (0.0, 2.0);
const LIMITS: [f64; 3] = [0.7, 1.0, 1.3];
const EXPONENT: f64 = 0.3;
const CONTROL_N: usize = 32;
const CONTROL_RHO: f64 = 0.3;

/// # Derivation
///
/// Every row has the weight a for the token itself and `b = (1 - a)/(n - 1)` for each other token.
/// By `layer-map` at `eta = inf` the new cosine is `N_o/N_d` with `N_d = rho + (1-rho) a^2 +
/// delta_d`, `delta_d = (1-rho) (1-a)^2/(n-1)`, and `N_o = rho + delta_o`, `delta_o = (1-rho) (2 a
/// b + (n-2) b^2)`, which is at most `(1-rho) (1-a^2)/(n-1)`. Both deltas are between 0 and
/// `(1-rho)/(n-1)`. With the cosine `c = rho/(rho + (1-rho) a^2)` the difference `N_o/N_d - c` is
/// `(delta_o - c delta_d)/N_d`, and `c <= 1`, `N_d >= rho`.
///
/// With `beta = gamma log n` the odds of a are `n^{gamma (1-rho)}/(n-1)`, so that a tends to 0, 1/2
/// or 1 for `gamma (1-rho)` below, at or above 1.
pub static ENTRY: Claim = Claim {
    name: "long-context-cosine",
    title: "Long context: one attention layer makes equiangular tokens equal for `gamma < 1/(1 - \
            rho)`, and keeps their cosine for larger `gamma`",
    lets: "`n` tokens have all inner products `rho` in (0, 1), let `y_i = sum_j A_ij x_j` with SA \
           at `beta = gamma log n`, and `a = 1/(1 + (n-1) n^{-gamma (1-rho)})`",
    then: "The cosine of `y_i` and `y_j` is `rho/(rho + (1-rho) a^2)` up to `(1-rho)/((n-1) rho)`. \
           So for `n -> infinity` it tends to 1 for `gamma < 1/(1-rho)`, to `4 rho/(1 + 3 rho)` at \
           `gamma = 1/(1-rho)`, and to `rho` for larger `gamma`.",
    tested: "with layers of the drawn `n`; the limits at `n = 10^12` by the formula of layer-map, \
             at `gamma (1-rho) = {BELOW}`, {CRITICAL} and {ABOVE}, to the size of what is left, `2 \
             n^{-{EXPONENT}} (1-rho)/rho`",
    numbers: &[
        ("LEAST_RHO", RHOS.0),
        ("MOST_RHO", RHOS.1),
        ("LEAST_SHARE", SHARES.0),
        ("MOST_SHARE", SHARES.1),
        ("BELOW", LIMITS[0]),
        ("CRITICAL", LIMITS[1]),
        ("ABOVE", LIMITS[2]),
        ("EXPONENT", EXPONENT),
        ("CONTROL_N", CONTROL_N as f64),
        ("CONTROL_RHO", CONTROL_RHO),
    ],
    domain: Domain {
        n: Sizes::Range(2, 48),
        d: Sizes::Range(2, 64),
        beta: Betas::Unused,
        dynamics: &["sa"],
        laws: &[],
        draws: "`rho` in [{LEAST_RHO}, {MOST_RHO}], `gamma (1-rho)` in [{LEAST_SHARE}, \
                {MOST_SHARE}]",
        condition: Some(Condition { text: "`d >= n`", holds: |case| case.d >= case.n }),
        corners: &[(48, 64, 0.0)],
        ..Domain::EQUAL_MASSES
    },
    source: "arXiv:2510.05554 (the three limits, as quoted in the survey arXiv:2512.01868); the \
             bound is derived",
    trials: (60, 400),
    trial: |case, ctx| {
        let (rho, share) = (ctx.uniform_in(RHOS.0, RHOS.1), ctx.uniform_in(SHARES.0, SHARES.1));
        Ok(after_a_layer(case, ctx, (rho, share), 1.0)?.and(limits(rho)))
    },
    constant: "the bound",
    control: Control {
        what: "`a = 0`, the limit of small `gamma`, at `gamma = 1/(1-rho)` for `n = {CONTROL_N}`, \
               `rho = {CONTROL_RHO}`",
        trial: |ctx| {
            let case = Case::new(CONTROL_N, 40, 1.0, "sa");
            after_a_layer(&case, ctx, (CONTROL_RHO, 1.0), 0.0)
        },
    },
    ..Claim::INEQUALITY
};

/// The cosine after a layer at `gamma = share/(1 - rho)`, for the weight a times a factor.
fn after_a_layer(
    case: &Case,
    ctx: &mut Context,
    (rho, share): (f64, f64),
    factor: f64,
) -> Result<Finding> {
    let n = case.n as f64;
    let beta = share / (1.0 - rho) * n.ln();
    let mut x = ctx.tokens_with_law(case.n, case.d, &format!("equiangular:rho={rho}"))?;
    let sa = Case::new(case.n, case.d, beta, "sa");
    Layer::new(f64::INFINITY)?.apply(&sa.build()?, &mut x);
    let a = factor / (1.0 + (n - 1.0) * n.powf(-share));
    let known = rho / (rho + (1.0 - rho) * a * a);
    let bound = ctx.claimed_constant((1.0 - rho) / ((n - 1.0) * rho));
    let off = pairs(case.n).map(|(i, j)| (x.inner(i, j) - known).abs()).fold(0.0, nan_max);
    // Rounding of scores and of a sum of n terms, divided by a vector of length sqrt rho or more.
    let rounding = 16.0 * f64::EPSILON * (1.0 + beta) * n.sqrt() / rho;
    Ok(Finding::at_most(off, bound).with_evaluation_error(rounding / bound))
}

/// The three limits, from 10^12 tokens.
fn limits(rho: f64) -> Finding {
    let n = 1_000_000_000_000;
    let left = 2.0 * (n as f64).powf(-EXPONENT) * (1.0 - rho) / rho;
    let at = |(share, limit): (f64, f64)| {
        let beta = share / (1.0 - rho) * (n as f64).ln();
        Finding::law(layer_map(n, beta, rho, f64::INFINITY), limit, left, 0.0)
    };
    let critical = 4.0 * rho / (1.0 + 3.0 * rho);
    at((LIMITS[0], 1.0)).and(at((LIMITS[1], critical))).and(at((LIMITS[2], rho)))
}
