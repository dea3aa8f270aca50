//! What several claims of the topic use: random interactions, symmetric matrices, critical points
//! from random clusters.

use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::landscape::interaction::InteractionCriticalPoint;
use crate::theorem::prelude::*;

/// Claims about tokens under a drawn interaction.
pub(super) const DRAWN: Domain = Domain {
    beta: Betas::Unused,
    dynamics: &[],
    laws: &["uniform", "cap:radius=0.3"],
    draws: "`phi`",
    ..Domain::ATTENTION
};

/// Claims about critical points on the circle.
pub(super) const CIRCLE: Domain = Domain { d: Sizes::Fixed(2), laws: &[], ..DRAWN };

/// Random starts of Newton's method in a trial.
const STARTS: usize = 8;

fn parse(formula: &str, parameters: &[(&str, f64)]) -> Result<Interaction> {
    Interaction::parse(formula, parameters)
}

/// An interaction without kinks: exponential, power, sigmoid, polynomial, cosh, sine, or the force
/// of a softened logarithm. Its values may have any sign; its poles are at a distance of at least
/// 0.3 from `[-1, 1]`.
pub(super) fn any_interaction(ctx: &mut Context) -> Result<Interaction> {
    let k = ctx.uniform_in(-8.0, 8.0);
    match ctx.index(7) {
        0 => parse("exp(k*s)", &[("k", k)]),
        1 => {
            let p = ctx.index(13) as f64;
            parse("s^p", &[("p", p)])
        }
        2 => {
            let c = ctx.uniform_in(-1.0, 1.0);
            parse("1/(1 + exp(-k*(s - c)))", &[("k", k), ("c", c)])
        }
        3 => polynomial((0..5).map(|_| ctx.uniform_in(-1.0, 1.0)).collect()),
        4 => parse("cosh(k*s)", &[("k", k)]),
        5 => parse("sin(k*s)", &[("k", k)]),
        _ => {
            let c = ctx.log_uniform_in(0.3, 10.0);
            parse("1/(1 + c - s)", &[("c", c)])
        }
    }
}

/// Largest steepness in claims about critical points. Forces of `e^{-16}` of the largest one remain
/// far above the residual 1e-11 of Newton's method.
pub(super) const STEEPEST: f64 = 8.0;

/// A positive, increasing interaction of at most this steepness: `W' = phi` is increasing and
/// convex.
pub(super) fn increasing_interaction(steepest: f64, ctx: &mut Context) -> Result<Interaction> {
    let k = ctx.log_uniform_in(0.1, steepest);
    let c = ctx.uniform_in(-0.5, 0.9);
    match ctx.index(5) {
        0 => parse("exp(k*s)", &[("k", k)]),
        1 => parse("1/(1 + exp(-k*(s + c)))", &[("k", k), ("c", c)]),
        2 => parse("ln(1 + exp(k*(s + c)))/k", &[("k", k), ("c", c)]),
        3 => parse("1.05 + c + tanh(k*s)", &[("k", k), ("c", c.max(0.0))]),
        _ => parse("1/(1 + c - s)", &[("c", 0.05 + c.abs())]),
    }
}

/// A positive interaction with all hypotheses of normalised rows.
pub(super) fn positive_interaction(ctx: &mut Context) -> Result<Interaction> {
    let k = ctx.uniform_in(-4.0, 4.0);
    match ctx.index(5) {
        0 => parse("exp(k*s)", &[("k", k)]),
        1 => {
            let c = ctx.uniform_in(-1.0, 1.0);
            parse("1/(1 + exp(-2*k*(s - c)))", &[("k", k), ("c", c)])
        }
        2 => parse("cosh(k*s)", &[("k", k)]),
        3 => parse("1.1 + sin(k*s)", &[("k", k)]),
        _ => {
            let c = ctx.log_uniform_in(0.3, 10.0);
            parse("1/(1 + c - s)", &[("c", c)])
        }
    }
}

/// `c_0 + c_1 s + c_2 s^2 + ...`.
pub(super) fn polynomial(coefficients: Vec<f64>) -> Result<Interaction> {
    let list: Vec<String> = coefficients.iter().map(ToString::to_string).collect();
    parse(&format!("polynomial:{}", list.join(",")), &[])
}

/// The sigmoid of the pentagon, `1/(1 + e^{-10 (s + 1/4)})`.
pub(super) fn steep_sigmoid() -> Result<Interaction> {
    parse("1/(1 + exp(-10*(s + 0.25)))", &[])
}

/// The symmetric matrix with these eigenvalues and eigenvectors (the rows of `basis`).
pub(super) fn symmetric(values: &[f64], basis: &[f64]) -> Vec<f64> {
    let d = values.len();
    let entry = |i: usize, j: usize| -> f64 {
        (0..d).map(|e| basis[e * d + i] * values[e] * basis[e * d + j]).sum()
    };
    (0..d * d).map(|k| entry((k / d).min(k % d), (k / d).max(k % d))).collect()
}

/// A critical point with at least two clusters, by Newton's method from at most `most` random
/// clusters of n tokens; `None` if all starts end at one cluster or nowhere.
pub(super) fn critical_point(
    energy: &InteractionEnergy,
    (n, d): (usize, usize),
    most: usize,
    ctx: &mut Context,
) -> Result<Option<InteractionCriticalPoint>> {
    for _ in 0..STARTS {
        let clusters = 2 + ctx.index(most.min(n) - 1);
        let mut sizes = vec![1; clusters];
        for _ in clusters..n {
            sizes[ctx.index(clusters)] += 1;
        }
        let masses: Vec<f64> = sizes.iter().map(|s| *s as f64 / n as f64).collect();
        let start = ctx.tokens_with_law(clusters, d, "uniform")?.with_masses(&masses)?;
        let found = InteractionCriticalPoint::near(energy, &start, &sizes).ok();
        if let Some(point) = found.filter(|p| p.clusters.n() > 1) {
            return Ok(Some(point));
        }
    }
    Ok(None)
}

/// True if a critical point has a direction in which the energy increases.
pub(super) fn is_unstable(point: &InteractionCriticalPoint) -> Finding {
    Finding::answer(point.spectrum.unstable > 0)
}

/// The corners of a regular polygon.
pub(super) fn polygon(m: usize) -> Result<Tokens> {
    Tokens::from_angles(&(0..m).map(|k| TAU * k as f64 / m as f64).collect::<Vec<_>>())
}

/// The interaction power with this exponent.
pub(super) fn power(p: usize) -> Result<Interaction> {
    parse(&format!("power:p={p}"), &[])
}

/// Whole numbers of at most 128 bits.
pub(super) type Whole = i128;

/// The growth rates of displacements `cos(2 pi r j/m)`, r = 1, ..., m/2, of the regular m-gon
/// under `s^p`, times `2^{p+1} (p + 1)`: exact for p <= 63.
///
/// `cos^q t = 2^{1-q} sum_k C(q, (q-k)/2) cos(k t)` over k = q, q-2, ... > 0 and a constant. So for
/// `q = p + 1` these rates are `sum_k B_k ([k = r] + [k = -r] - 2 [k = 0])` modulo m with
/// `B_k = k^2 C(q, (q-k)/2)`.
pub(super) fn power_polygon_rates(p: usize, m: usize) -> Vec<Whole> {
    let q = p + 1;
    // Binomial coefficients C(q, j) for j <= q/2.
    let mut binomials: Vec<Whole> = vec![1];
    for j in 1..=q / 2 {
        let last = binomials[j - 1];
        binomials.push(last * (q - j + 1) as Whole / j as Whole);
    }
    let modes = (1..=q).rev().step_by(2).map(|k| (k, (k * k) as Whole * binomials[(q - k) / 2]));
    let modes: Vec<(usize, Whole)> = modes.collect();
    let rate = |r: usize| {
        let share = |k: usize| {
            Whole::from(k % m == r % m) + Whole::from((k + r).is_multiple_of(m))
                - 2 * Whole::from(k.is_multiple_of(m))
        };
        modes.iter().map(|(k, b)| b * share(*k)).sum()
    };
    (1..=m / 2).map(rate).collect()
}
