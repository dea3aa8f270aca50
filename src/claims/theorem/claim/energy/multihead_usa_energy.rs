//! Several heads: USA increases the sum of their energies.

use super::setting::{derivative_along, energy, squared_speed};
use crate::attention::multi_head::MultiHead;
use crate::theorem::prelude::*;

const LENGTH: f64 = 1e-4;
const RATE_ERROR: f64 = 1e-6;
const ROUNDINGS: f64 = 24.0;

/// # Derivation
///
/// For symmetric `B_h` the derivative of `E_h` with respect to `x_i` is
/// `m_i sum_j m_j e^{beta <x_i, B_h x_j>} B_h x_j`: both occurrences of `x_i` in the double sum
/// contribute the same. Its tangential part is `m_i g_h,i` with
/// `g_h,i = P_i sum_j m_j e^{beta <x_i, B_h x_j>} B_h x_j`, and under USA `x_i' = sum_h g_h,i`. So
/// `grad_i E = m_i x_i'`, and `dE/dt = sum_i m_i |x_i'|^2`.
///
/// One head: `dE_h/dt = sum_i m_i (|g_h,i|^2 + sum_{k != h} <g_h,i, g_k,i>)`. Only the sum over `h`
/// is a sum of squares. At `beta = 0` and `B_2 = -2 B_1`, two heads, `dE_1/dt = -sum_i m_i
/// |g_1,i|^2 < 0`, and by continuity for small `beta`. In about half of all random configurations
/// the energy of some head decreases.
///
/// SA: with `Z_h`,`i` the sum of head `h` in row `i`, `x_i' = sum_k g_k,i/Z_k,i` and `dE/dt = sum_i
/// m_i <sum_h g_h,i, sum_k g_k,i/Z_k,i>`. For two heads and one token this is the quadratic form
/// `|g_1|^2/Z_1 + |g_2|^2/Z_2 + <g_1, g_2> (1/Z_1 + 1/Z_2)`, whose mixed coefficient `(1/Z_1 +
/// 1/Z_2)/2` is larger than the geometric mean of the others unless `Z_1 = Z_2`: it takes negative
/// values, for `g_1 = -l g_2` with `l` between 1 and `Z_1/Z_2`. At large `beta` the `Z_h` differ
/// more, and in about one of a hundred random configurations the negative terms of some tokens
/// exceed the others.
pub static ENTRY: Claim = Claim {
    name: "multihead-usa-energy",
    title: "Several heads: `dE/dt = sum_i m_i |x_i'|^2` for USA, with `E` the sum over heads",
    lets: LETS,
    then: "Under USA, `dE/dt = sum_i m_i |x_i'|^2`.",
    tested: "with central differences of `E` along geodesics of lengths `h = {LENGTH}` and {TWICE} \
             (Richardson). The tolerance is the sum of {RATE_ERROR} of `dE/dt`, `{ROUNDINGS} eps \
             (1 + beta max |B_h|)/h` of `E max |x_i'|` for rounding, and `h^4/30 (2 (1 + beta max \
             |B_h|))^5` of `E max |x_i'|` for the fifth derivative, with Frobenius norms",
    numbers: &[
        ("LENGTH", LENGTH),
        ("TWICE", 2.0 * LENGTH),
        ("RATE_ERROR", RATE_ERROR),
        ("ROUNDINGS", ROUNDINGS),
    ],
    domain: HEADS,
    narrower: NARROWER,
    source: "derived; compare arXiv:2605.04279 (abstract)",
    trials: (24, 200),
    trial: |case, ctx| {
        let b = random_forms(case, ctx, 3);
        dissipation(case, ctx, &b, 1.0)
    },
    constant: "`sum m_i |x_i'|^2`",
    control: Control {
        what: "`V_h = 2 B_h`",
        trial: |ctx| {
            let case = Case::with_random_masses(6, 3, 1.0, "usa");
            let b = random_forms(&case, ctx, 3);
            dissipation(&case, ctx, &b, 2.0)
        },
    },
    variants: &[&SA, &EACH_HEAD],
    ..Claim::IDENTITY
};

static SA: Claim = Claim {
    name: "multihead-sa-energy-folklore",
    title: "Several heads: the total energy increases along SA (folklore)",
    lets: LETS,
    then: "Under SA, `dE/dt >= 0`.",
    domain: Domain {
        n: Sizes::Fixed(6),
        d: Sizes::Fixed(3),
        beta: Betas::Linear(3.0, 6.0),
        dynamics: &["sa"],
        masses: Masses::Equal,
        ..HEADS
    },
    narrower: NARROWER,
    source: "folklore; arXiv:2605.04279 has conditions on the scores (abstract)",
    status: Status::Folklore,
    correct: "The total energy rises along USA. Along SA every head has its own normaliser, and \
              there is no common metric.",
    trials: (600, 3000),
    trial: |case, ctx| total(case, ctx, 3),
    control: Control { what: "one head", trial: |ctx| total(&Case::new(6, 3, 1.3, "sa"), ctx, 1) },
    ..Claim::INEQUALITY
};

static EACH_HEAD: Claim = Claim {
    name: "multihead-head-energy-folklore",
    title: "Several heads: the energy of every head increases along USA (folklore)",
    lets: LETS,
    then: "Under USA, `dE_h/dt >= 0` for every `h`.",
    domain: HEADS,
    narrower: NARROWER,
    source: "folklore; only the sum increases",
    status: Status::Folklore,
    trials: (40, 300),
    trial: |case, ctx| least_derivative(case, ctx, 3),
    control: Control {
        what: "one head",
        trial: |ctx| least_derivative(&Case::with_random_masses(6, 3, 1.0, "usa"), ctx, 1),
    },
    ..Claim::INEQUALITY
};

const LETS: &str = "`Q_h^T K_h = V_h = B_h` be symmetric for three heads, and `E = sum_h E_h` with \
                    `E_h = (1/(2 beta)) sum_ij m_i m_j e^{beta <x_i, B_h x_j>}`";
const NARROWER: &str = "normal `B_h` of size about 1";

/// The range for three heads with `Q^T K = V = B_h` symmetric.
const HEADS: Domain = Domain {
    n: Sizes::Range(3, 12),
    d: Sizes::Range(2, 5),
    beta: Betas::Log(0.2, 3.0),
    dynamics: &["usa"],
    ..Domain::ATTENTION
};

/// Symmetric normal matrices.
fn random_forms(case: &Case, ctx: &mut Context, heads: usize) -> Vec<Vec<f64>> {
    let d = case.d;
    let draw = |ctx: &mut Context| {
        let g = ctx.normals(d * d);
        (0..d * d).map(|k| (g[k] + g[(k % d) * d + k / d]) / (2.0 * d as f64).sqrt()).collect()
    };
    (0..heads).map(|_| draw(ctx)).collect()
}

/// SA or USA with these heads, V_h a multiple of B_h.
fn heads(beta: f64, d: usize, b: &[Vec<f64>], weights: Weights, value: f64) -> Result<Dynamics> {
    let head = |b: &Vec<f64>| {
        Head::new(d, Some((d, b.clone())), None, Some((d, b.iter().map(|v| value * v).collect())))
    };
    let heads = b.iter().map(head).collect::<Result<Vec<_>>>()?;
    Ok(Dynamics::single(MultiHead::new(beta, heads)?.with_weights(weights)))
}

/// The derivative of the energy of one head along velocities.
fn energy_derivative(beta: f64, b: &[f64], x: &Tokens, v: &[f64]) -> f64 {
    let d = x.d();
    let images: Vec<Vec<f64>> = x.rows().map(|r| mul(b, r, 1)).collect();
    let m = x.masses();
    let pair = |i: usize, j: usize| {
        m[i] * m[j]
            * (beta * dot(x.row(i), &images[j])).exp()
            * dot(&v[i * d..(i + 1) * d], &images[j])
    };
    (0..x.n()).map(|i| (0..x.n()).map(|j| pair(i, j)).sum::<f64>()).sum()
}

fn dissipation(case: &Case, ctx: &mut Context, b: &[Vec<f64>], value: f64) -> Result<Finding> {
    let (x, beta) = (ctx.tokens(case)?, case.beta);
    let v = heads(beta, case.d, b, Weights::Exponential { log_factor: 0.0 }, value)?.velocity(&x);
    let total = |x: &Tokens| b.iter().map(|b| energy(beta, b, x)).sum();
    let found = derivative_along(&x, &v, LENGTH, total)?;
    let stated = ctx.claimed_constant(squared_speed(&x, &v));
    // The differences have the weights 4/3 and 1/3; the relative error of E is some 16 eps (1 +
    // beta |B|).
    let strength = b.iter().map(|b| norm(b)).fold(0.0, nan_max);
    let scale = max_norm(&v, case.d) * total(&x);
    let rounding = ROUNDINGS * f64::EPSILON * (1.0 + beta * strength) / LENGTH;
    // Richardson's rule has the error h^4/30 times the fifth derivative; each derivative of an
    // exponential along a path of unit speed multiplies it by at most 2 (1 + beta |B|).
    let bent = 1e-16 / 30.0 * (2.0 * (1.0 + beta * strength)).powi(5);
    Ok(Finding::identity((found - stated).abs(), RATE_ERROR * stated + (rounding + bent) * scale))
}

fn total(case: &Case, ctx: &mut Context, count: usize) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let b = random_forms(case, ctx, count);
    let v = heads(case.beta, case.d, &b, Weights::Softmax, 1.0)?.velocity(&x);
    let each: Vec<f64> = b.iter().map(|b| energy_derivative(case.beta, b, &x, &v)).collect();
    let scale: f64 = each.iter().map(|p| p.abs()).sum();
    Ok(Finding::nonnegative(each.iter().sum(), scale).with_evaluation_error(1e-9))
}

fn least_derivative(case: &Case, ctx: &mut Context, count: usize) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let b = random_forms(case, ctx, count);
    let v =
        heads(case.beta, case.d, &b, Weights::Exponential { log_factor: 0.0 }, 1.0)?.velocity(&x);
    let scale = squared_speed(&x, &v);
    let least =
        b.iter().map(|b| energy_derivative(case.beta, b, &x, &v)).fold(f64::INFINITY, nan_min);
    Ok(Finding::nonnegative(least, scale).with_evaluation_error(1e-9))
}
