//! Tokens in R^d: Gaussians stay Gaussian.

use super::setting::{UNIT, attention, evolve, gauss_hermite};
use crate::theorem::prelude::*;
use crate::theory::gaussian::{mean_factor, variance};

const TOLERANCE: f64 = 1e-7;
/// Of b s, and of b s t.
const STRENGTHS: (f64, f64) = (0.05, 0.25);
const LARGEST_SHIFT: f64 = 2.0;
const LATEST: f64 = 3.0;

/// The weight `e^{b x y}` shifts the mean of a Gaussian of variance s by `s b x`. The Gaussian is
/// represented by the nodes and weights of a Gauss-Hermite rule.
///
/// # Derivation
///
/// The weight `e^{b x y}` turns the law of `y`, normal of mean `m` and variance `s`, into a normal
/// one of mean `m + s b x`. So `x' = v (m + s b x)`, a linear field, under which the law stays
/// normal: `s' = 2 v b s^2`, hence `s(t) = s/(1 - 2 v b s t)`, and `m' = v m (1 + b s(t))`, whose
/// integral is `m e^{vt} (1 - 2 v b s t)^{-1/2}`. Nodes and masses of a Gauss-Hermite rule
/// integrate these moments up to rounding while the shifted mean stays well inside the nodes.
pub static ENTRY: Claim = Claim {
    name: "rd-gaussian",
    title: "`R^1`: mean and variance of a Gaussian",
    lets: "a Gaussian of mean `m` and variance `s` move by `x' = v E[x_j]` with scores `b x_i x_j` \
           and `v = 1` or -1",
    then: "As long as `2 v b s t < 1`, its variance is `s(t) = s/(1 - 2 v b s t)` and its mean \
           `m(t) = m e^{vt}/sqrt(1 - 2 v b s t)`.",
    tested: "with `n` weighted tokens at Gauss-Hermite nodes: `s(t)` to {TOLERANCE} of it, and \
             `m(t)` to `{TOLERANCE} (|m(t)| + sqrt(s))`",
    numbers: &[
        ("TOLERANCE", TOLERANCE),
        ("PARTS", 1.0 / STRENGTHS.1),
        ("LARGEST_SHIFT", LARGEST_SHIFT),
        ("LATEST", LATEST),
    ],
    domain: Domain {
        n: Sizes::Range(28, 40),
        d: Sizes::Fixed(1),
        beta: Betas::Log(0.1, 1.0),
        draws: "mean and variance of the Gaussian, the `sign v`, and `t`",
        ..UNIT
    },
    narrower: "`d = 1`; `b s` and `b s t` up to 1/{PARTS} and `b |m(t)| sqrt(s(t))` up to \
               {LARGEST_SHIFT}, which keeps the shifted law among the nodes; `t <= {LATEST}`",
    source: "arXiv:2501.18322 (abstract); equations derived",
    trials: (6, 40),
    trial: |case, ctx| moments(case, ctx, 1.0),
    constant: "`b`",
    control: Control {
        what: "`b` instead of `2 b` in the variance",
        trial: |ctx| moments(&Case::new(32, 1, 0.5, "sa"), ctx, 0.5),
    },
    ..Claim::IDENTITY
};

fn moments(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (s, share) =
        (ctx.uniform_in(STRENGTHS.0, STRENGTHS.1) / case.beta, ctx.uniform_in(-1.0, 1.0));
    let v = if ctx.index(2) == 0 { 1.0 } else { -1.0 };
    let t = ctx.uniform_in(STRENGTHS.0, STRENGTHS.1) / (case.beta * s);
    let t = t.min(LATEST);
    let (Some(at_end), Some(growth)) =
        (variance(s, case.beta, v, t), mean_factor(s, case.beta, v, t))
    else {
        return Ok(Finding::HypothesesMissed);
    };
    let m = share * (LARGEST_SHIFT / (case.beta * growth * at_end.sqrt())).min(1.0);
    let Some(rule) = gauss_hermite(case.n) else { return Ok(Finding::HypothesesMissed) };
    // Nodes with weights below rounding are left out.
    let rule: Vec<(f64, f64)> = rule.into_iter().filter(|r| r.1 > 1e-18).collect();
    let x = Tokens::flat(1, rule.iter().map(|r| m + s.sqrt() * r.0).collect())?
        .with_masses(&rule.iter().map(|r| r.1).collect::<Vec<_>>())?;
    let end = evolve(
        ctx,
        &attention(case.beta, x.n(), 1, None, Some((1, vec![v])), false)?,
        &x,
        t,
        1e-2,
    )?;
    let mean = end.mean()[0];
    let spread: f64 =
        end.numbers().iter().zip(end.masses()).map(|(x, w)| w * (x - mean).powi(2)).sum();
    let b = ctx.claimed_constant(factor * case.beta);
    let (Some(stated), Some(grown)) = (variance(s, b, v, t), mean_factor(s, b, v, t)) else {
        return Ok(Finding::HypothesesMissed);
    };
    let off_mean = (mean - m * grown).abs() / (m.abs() * grown + s.sqrt());
    Ok(Finding::identity(largest([(spread / stated - 1.0).abs(), off_mean]), TOLERANCE))
}
