//! Perceptron and attention share one energy.

use super::setting::{derivative_along, energy, squared_speed};
use crate::attention::dense::{Activation, Linear};
use crate::attention::feed_forward::Mlp;
use crate::theorem::prelude::*;

const KINK: f64 = 1e-3;
const LENGTH: f64 = 1e-4;
const RATE_ERROR: f64 = 1e-6;
const ROUNDINGS: f64 = 24.0;

/// # Derivation
///
/// The derivative of `m_i w_k max(0, <a_k, x_i>)^2/2` with respect to `x_i` is `m_i w_k max(0,
/// <a_k, x_i>) a_k`, that is `m_i` times the output of the perceptron; the derivative of `E_beta`
/// is `m_i` times the output of USA (`gradient-structure`). So `grad_i E = m_i x_i'` and `dE/dt =
/// sum_i m_i |x_i'|^2`. The square is differentiable where its argument is 0, so the identity holds
/// at the kink of the activation too. But the second derivative of `E` jumps there, and a
/// difference across it has an error of first order in its step; such draws are left out.
pub static ENTRY: Claim = Claim {
    name: "perceptron-energy",
    title: "A perceptron and attention share one energy: `dE/dt = sum_i m_i |x_i'|^2`",
    lets: "`x_i' = P[sum_j m_j e^{beta <x_i, x_j>} x_j + sum_k w_k act(<a_k, x_i>) a_k]` with act \
           = max(0, .), and `E = E_beta + sum_i m_i sum_k w_k max(0, <a_k, x_i>)^2 / 2`",
    then: "`dE/dt = sum_i m_i |x_i'|^2`.",
    tested: "where all `|<a_k, x_i>| >= {KINK} |a_k|`, with central differences along geodesics of \
             lengths {LENGTH} and {TWICE} (Richardson). The tolerance is {RATE_ERROR} of `dE/dt` \
             plus, for rounding, `{ROUNDINGS} eps (1 + beta)/{LENGTH}` of `max |x_i'|` times \
             `E_beta + sum_k |w_k| |a_k|^2/2`",
    numbers: &[
        ("KINK", KINK),
        ("PARTS", 1.0 / KINK),
        ("LENGTH", LENGTH),
        ("TWICE", 2.0 * LENGTH),
        ("RATE_ERROR", RATE_ERROR),
        ("ROUNDINGS", ROUNDINGS),
    ],
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 5),
        beta: Betas::Log(0.2, 3.0),
        dynamics: &["usa"],
        ..Domain::ATTENTION
    },
    narrower: "three hidden units, normal `a_k` and `w_k`; no token is closer than 1/{PARTS} to a \
               kink of the activation",
    source: "arXiv:2601.21366 (energy); identity derived",
    trials: (20, 150),
    trial: |case, ctx| dissipation(case, ctx, 1.0),
    constant: "`sum m_i |x_i'|^2`",
    control: Control {
        what: "twice the potential of the perceptron",
        trial: |ctx| dissipation(&Case::with_random_masses(12, 3, 1.0, "usa"), ctx, 2.0),
    },
    ..Claim::IDENTITY
};

fn dissipation(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    /// Number of hidden units of the perceptron.
    const UNITS: usize = 3;
    let (n, d) = (case.n, case.d);
    let x = ctx.tokens(case)?;
    let (a, w) = (ctx.normals(UNITS * d), ctx.normals(UNITS));
    let second = (0..d * UNITS).map(|k| w[k % UNITS] * a[(k % UNITS) * d + k / UNITS]).collect();
    let mut both: Dynamics = dynamics::build(case.dynamics, false, &Spec::new(case.beta, n))?;
    let (first, second) = (
        Linear::new("first", d, a.clone(), vec![])?,
        Linear::new("second", UNITS, second, vec![])?,
    );
    both.sublayers.push(Box::new(Mlp::new("units", first, None, second, Activation::Relu)?));
    let v = both.velocity(&x);
    // The second derivative jumps at a kink. A step of 2e-4 does not reach it if the sine of the
    // angle to it is 1e-3.
    let distance = x
        .rows()
        .flat_map(|x| a.chunks_exact(d).map(move |a| dot(a, x).abs() / norm(a)))
        .fold(f64::INFINITY, nan_min);
    if distance < KINK {
        return Ok(Finding::HypothesesMissed);
    }
    let pairs = |x: &Tokens| energy(case.beta, &identity(d), x);
    let units = |row: &[f64]| -> f64 {
        a.chunks_exact(d).zip(&w).map(|(a, w)| 0.5 * w * dot(a, row).max(0.0).powi(2)).sum()
    };
    let potential = |x: &Tokens| {
        pairs(x) + factor * x.rows().zip(x.masses()).map(|(r, m)| m * units(r)).sum::<f64>()
    };
    let found = derivative_along(&x, &v, LENGTH, potential)?;
    let stated = ctx.claimed_constant(squared_speed(&x, &v));
    // The differences have the weights 4/3 and 1/3; the error of E is some 16 eps (1 + beta) of its
    // terms, and that of <a, x> the same fraction of |a|.
    let terms =
        pairs(&x) + a.chunks_exact(d).zip(&w).map(|(a, w)| 0.5 * w.abs() * dot(a, a)).sum::<f64>();
    let rounding = ROUNDINGS * f64::EPSILON * (1.0 + case.beta) / LENGTH * max_norm(&v, d) * terms;
    Ok(Finding::identity((found - stated).abs(), RATE_ERROR * stated + rounding))
}
