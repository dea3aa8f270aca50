//! Tokens in R^d, V = -I: every token tends to 0.

use super::setting::{FLAT, attention, evolve, points};
use crate::theorem::prelude::*;

const SIZES: (f64, f64) = (0.03, 1.0);
const TIMES: (f64, f64) = (1.0, 30.0);
const RATE_ERROR: f64 = 1e-3;
const LEAST_M: f64 = 1e-4;

/// Two Lyapunov functions, and the rate that one of them gives.
///
/// # Derivation
///
/// With `Z_i = sum_j m_j e^{beta <x_i, x_j>}` the equation is
/// `m_i Z_i x_i' = -(1/(2 beta)) grad_i F`, `F = sum_ij m_i m_j e^{beta <x_i, x_j>}`. So
/// `F' = -2 beta sum_i m_i Z_i |x_i'|^2 <= 0`.
///
/// `M' = -2 sum_i m_i sum_j A_ij <x_i, x_j>`. For weights `m_j e^{s <x_i, x_j>}` the mean of `<x_i,
/// x_j>` over `j` has the derivative `Var_s` in `s`, the variance under these weights. So it is at
/// least `<x_i, c> + beta min_s Var_s`, `c` the mean of the tokens. The weights are at least `e^{-2
/// beta R^2} m_j`, `R` the largest `|x_j|`, so `Var_s >= e^{-2 beta R^2} Var_0`. The sum of `m_i
/// Var_0` over `i` is `tr S C >= tr C^2 >= (M - |c|^2)^2/d`, where `C` is the covariance and `S =
/// C + c c^T`. So `M` never increases, and `R^2 <= M(0)/mu`. Together `M' <= -2 |c|^2 - (2k/d) (M -
/// |c|^2)^2`. As `k M <= mu/(2e)`, the right side is largest at `c = 0`, and `(1/M)' >= 2k/d`.
///
/// The bound is attained to first order by small tokens with `c = 0` and `C` a multiple of `I`;
/// there `rd-repulsive` has the limit of each eigenvalue of `C`.
pub static ENTRY: Claim = Claim {
    name: "rd-decay",
    title: "`R^d`, `V = -I`: the energy and `sum m_i |x_i|^2` decrease, and every token tends to 0",
    lets: "`x_i' = -sum_j A_ij x_j` with `A_ij ~ m_j e^{beta <x_i, x_j>}`, `beta > 0`, `M = sum_i \
           m_i |x_i|^2`, `mu` the smallest mass and `k = beta e^{-2 beta M(0)/mu}`",
    then: "`sum_ij m_i m_j e^{beta <x_i, x_j>}` has the derivative `-2 beta sum_i m_i Z_i \
           |x_i'|^2`, `Z_i = sum_j m_j e^{beta <x_i, x_j>}`. `M` never increases, and `1/M(t) >= \
           1/M(0) + 2 k t/d`. So all tokens tend to 0 and `A_ij` to `m_j`.",
    tested: "the derivative to rounding, and the bound at a drawn time; in a half of the trials \
             from orthogonal pairs of opposite tokens, where it is attained to first order: there \
             `(1/M(t) - 1/M(0))/(2 beta t/d)` is 1 to `(beta M(0))^2/2` plus {RATE_ERROR}",
    numbers: &[
        ("SMALLEST", SIZES.0),
        ("LARGEST", SIZES.1),
        ("EARLIEST", TIMES.0),
        ("LATEST", TIMES.1),
        ("RATE_ERROR", RATE_ERROR),
        ("LEAST_M", LEAST_M),
    ],
    domain: Domain {
        draws: "normal tokens times a factor in [{SMALLEST}, {LARGEST}]; `t` in [{EARLIEST}, \
                {LATEST}]",
        ..FLAT
    },
    narrower: "`M(0) >= {LEAST_M}`, so that the fall of `M` is resolved",
    source: "arXiv:2305.05465, section on V = -I (the limit, as quoted in a formal statement); the \
             rate is derived",
    trials: (40, 300),
    trial: |case, ctx| {
        let size = ctx.log_uniform_in(SIZES.0, SIZES.1);
        let x = if ctx.index(2) == 0 {
            points(case, ctx)?
        } else {
            return from_pairs(case.d, case.beta, ctx, size, case.d as f64);
        };
        let scaled: Vec<f64> = x.coordinates().iter().map(|c| size * c).collect();
        let x = Tokens::flat(case.d, scaled)?.with_masses(x.masses())?;
        if size_of(&x) < LEAST_M {
            return Ok(Finding::HypothesesMissed);
        }
        Ok(energy_falls(case, &x)?.and(bound(case.beta, ctx, &x, case.d as f64)?.0))
    },
    constant: "the factor `2 k/d`",
    control: Control {
        what: "`2 k` instead of `2 k/d`, three pairs of opposite tokens in `R^3`",
        trial: |ctx| from_pairs(3, 1.0, ctx, 0.05, 1.0),
    },
    ..Claim::INEQUALITY
};

fn flow(beta: f64, x: &Tokens) -> Result<Dynamics> {
    let minus = identity(x.d()).iter().map(|v| -v).collect();
    attention(beta, x.n(), x.d(), None, Some((x.d(), minus)), false)
}

/// M.
fn size_of(x: &Tokens) -> f64 {
    x.rows().zip(x.masses()).map(|(r, m)| m * dot(r, r)).sum()
}

/// The derivative of F along the velocities, and the claimed one.
fn energy_falls(case: &Case, x: &Tokens) -> Result<Finding> {
    let v = flow(case.beta, x)?.velocity(x);
    let (m, d) = (x.masses(), x.d());
    let velocity = |i: usize| &v[i * d..(i + 1) * d];
    let reach = x.rows().map(norm).fold(0.0, nan_max);
    let (mut along, mut claimed, mut terms) = (0.0, 0.0, 0.0);
    for i in 0..x.n() {
        let weight = |j: usize| m[j] * (case.beta * x.inner(i, j)).exp();
        let inner = |j: usize| dot(velocity(i), x.row(j));
        let factor = 2.0 * case.beta * m[i];
        let z: f64 = (0..x.n()).map(weight).sum();
        along += factor * (0..x.n()).map(|j| weight(j) * inner(j)).sum::<f64>();
        claimed -= factor * z * dot(velocity(i), velocity(i));
        terms += factor * z * norm(velocity(i)) * reach;
    }
    // Sums of n and of d products, and exponents with the error beta R^2 eps.
    let factor = (x.n() + d) as f64 + case.beta * reach * reach;
    Ok(Finding::identity((along - claimed).abs(), 8.0 * f64::EPSILON * factor * terms))
}

/// The bound at a drawn time, and the ratio of `1/M(t) - 1/M(0)` to `2 beta t/d`.
fn bound(beta: f64, ctx: &mut Context, x: &Tokens, dimension: f64) -> Result<(Finding, f64)> {
    let t = ctx.log_uniform_in(TIMES.0, TIMES.1);
    let end = evolve(ctx, &flow(beta, x)?, x, t, 1.0)?;
    let (first, last) = (size_of(x), size_of(&end));
    let least = x.masses().iter().copied().fold(1.0, nan_min);
    let k = beta * (-2.0 * beta * first / least).exp();
    let growth = ctx.claimed_constant(2.0 * k / dimension);
    let gained = 1.0 / last - 1.0 / first;
    Ok((Finding::at_least(gained, growth * t), gained * x.d() as f64 / (2.0 * beta * t)))
}

/// The same for tokens `+-size e_k`, where the ratio is near 1.
fn from_pairs(
    d: usize,
    beta: f64,
    ctx: &mut Context,
    size: f64,
    dimension: f64,
) -> Result<Finding> {
    let unit = identity(d);
    let x = Tokens::flat(
        d,
        unit.iter().map(|c| size * c).chain(unit.iter().map(|c| -size * c)).collect(),
    )?;
    let (inequality, ratio) = bound(beta, ctx, &x, dimension)?;
    // M = size^2, and with u = beta M the tokens have (1/M)' = (2/M) sinh u/(cosh u + d - 1). For
    // u <= 2 this is 2 beta/d times a number between tanh(u)/u > 1 - u^2/3 and sinh(u)/u, which is
    // below 1 + u^2/4.
    let u = beta * size * size;
    let near = Finding::law(ratio, 1.0, 0.5 * u * u + RATE_ERROR, 0.0);
    Ok(inequality.and(near))
}
