//! Causal attention with frozen centres: where all other tokens end.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::attention::{Spec, dynamics};
use crate::error::Result;
use crate::sphere::Tokens;
use std::f64::consts::TAU;

/// 2411.04990, Theorem 5.2, with the sign that its second condition needs.
pub static ENTRY: Claim = Claim {
    name: "frozen-centres",
    title: "Causal attention, frozen centres: every token ends within eps beta^{-1/2} of a centre",
    statement: "d = 2, causal SA after m frozen centres of weights 2, equispaced: if N h((c-1-2 eps) beta^{-1/2}) < h(eps beta^{-1/2}) and -N g((c-2 eps) beta^{-1/2}) < g(eps beta^{-1/2}), N = n + 2m, c beta^{-1/2} the \
                separation, every token ends within eps beta^{-1/2} of a centre (eps = 0.09). Flowed to t = 50, then token after token moved to the stable point of its own equation (mean shift): its limit once \
                those before it are at theirs.",
    hypotheses: "d = 2, V = I, m = 4, beta = 64 or 48",
    applies: |case| window(case.beta, case.n, 4),
    citation: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990, Theorem 5.2 (second condition printed without its minus sign)",
    expected: Expected::Holds,
    almost_sure: true,
    cases: &[Case::new(60, 2, 64.0, "causal-sa"), Case::new(200, 2, 64.0, "causal-sa"), Case::new(100, 2, 48.0, "causal-sa")],
    quick: 1,
    trials: (2, 10),
    trial: |case, ctx| ends(case, ctx, 4),
    control: Control { what: "32 centres, not separated", trial: |ctx| ends(&Case::new(60, 2, 64.0, "causal-sa"), ctx, 32) },
};

const EPS: f64 = 0.09;

/// The two conditions of the theorem for m equispaced centres of weight 2.
fn window(beta: f64, n: usize, m: usize) -> bool {
    let (width, total) = (1.0 / beta.sqrt(), (n + 2 * m) as f64);
    let c = TAU / m as f64 / width;
    let h = |x: f64| (beta * (x.cos() - 1.0)).exp() * x.sin();
    let g = |x: f64| (beta * (x.cos() - 1.0)).exp() * (x.cos() - beta * x.sin().powi(2));
    c > 2.0 + 2.0 * EPS && total * h((c - 1.0 - 2.0 * EPS) * width) < h(EPS * width) && -total * g((c - 2.0 * EPS) * width) < g(EPS * width)
}

fn ends(case: &Case, ctx: &mut Context, m: usize) -> Result<Finding> {
    let place = |j: usize| TAU * j as f64 / m as f64;
    let mut angles: Vec<f64> = (0..m).map(place).collect();
    angles.extend((0..case.n).map(|_| ctx.stream.uniform_in(0.0, TAU)));
    let masses: Vec<f64> = (0..angles.len()).map(|i| if i < m { 2.0 } else { 1.0 }).collect();
    let x = Tokens::from_angles(&angles)?.with_masses(&masses)?;
    let flow = dynamics::build("sa", true, &Spec::new(case.beta, x.n()))?;
    // Nothing moves the first tokens: their velocity is e^{-beta (1 - cos(2 pi/m))}, 1e-28 at m = 4.
    let mut limits = flowed(flow.as_ref(), &x, 50.0, ctx.rtol)?.angles();
    for k in m..limits.len() {
        limits[k] = stable_point(case.beta, &limits[..k], &masses, limits[k]);
    }
    let far = |t: f64| (0..m).map(|j| (t - place(j) - TAU * ((t - place(j)) / TAU).round()).abs()).fold(f64::INFINITY, f64::min);
    let worst = limits.iter().skip(m).map(|t| far(*t)).fold(0.0, f64::max);
    Ok(Finding::exact(EPS / case.beta.sqrt() - worst))
}

/// Where mean shift under the tokens before it takes a token.
fn stable_point(beta: f64, before: &[f64], masses: &[f64], start: f64) -> f64 {
    let mut at = start;
    for _ in 0..100_000 {
        let nearest = before.iter().map(|t| (at - t).cos()).fold(-1.0, f64::max);
        let pull = before.iter().zip(masses).fold((0.0, 0.0), |(s, c), (t, m)| {
            let w = m * (beta * ((t - at).cos() - nearest)).exp();
            (s + w * (t - at).sin(), c + w * (t - at).cos())
        });
        let step = pull.0.atan2(pull.1);
        at += step;
        if step.abs() < 1e-14 {
            break;
        }
    }
    at
}
