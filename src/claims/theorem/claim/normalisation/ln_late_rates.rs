//! Normalisation schemes: rates at late times.

use crate::attention::normalisation::{Cod, LnScaling, Mix, NGpt, Peri, Post, Pre, Scheme};
use crate::theorem::prelude::*;
use crate::theory::normalised::SchemeCurve;

const TOLERANCE: f64 = 1e-3;
const RADII: (f64, f64) = (0.5, 3.0);
const ALPHA: f64 = 0.5;
const MIX_TAU: f64 = 1.0;

/// A scheme, the function of t in which `log(1 - gamma)` is asymptotically linear, its slope, and
/// two times.
struct Late {
    scheme: Scheme,
    clock: fn(f64) -> f64,
    slope: f64,
    times: [f64; 2],
}

/// The clock t of an exponential approach.
const PLAIN: fn(f64) -> f64 = |t| t;
/// The clock of a slower approach, exponential in the root of t.
const ROOT: fn(f64) -> f64 = |t| (t + 1.0).sqrt();

/// Asymptotically `b -> 1/n`, `|A| -> 1` and `<theta, A> -> 1`, so `eps' = -2 eps / s`.
static TABLE: [Late; 7] = [
    Late { scheme: Post, clock: PLAIN, slope: -2.0, times: [60.0, 90.0] },
    Late { scheme: NGpt { alpha: ALPHA }, clock: PLAIN, slope: -2.0 * ALPHA, times: [60.0, 90.0] },
    Late { scheme: Cod, clock: ROOT, slope: -4.0, times: [1e4, 2e4] },
    Late { scheme: Pre, clock: f64::ln, slope: -2.0, times: [1e9, 1e10] },
    Late { scheme: Peri, clock: f64::ln, slope: -2.0, times: [1e9, 1e10] },
    Late { scheme: Mix { tau: MIX_TAU }, clock: f64::ln, slope: -2.0, times: [1e9, 1e10] },
    Late { scheme: LnScaling, clock: f64::ln, slope: -1.0, times: [1e14, 1e15] },
];

/// The trial uses the reduced equation, which tokens follow by `ln-curve`.
///
/// # Derivation
///
/// Near `gamma = 1` the weight `b` tends to `1/n` and `(n-1) gamma + 1` to `n`, so `eps' = -2
/// eps/s` (`ln-curve`), with `|A|` and `<theta, A>` near 1. Post: `s = 1`, `e^{-2t}`. nGPT: `s =
/// 1/alpha`. CoD: `s = sqrt(t+1)`, and the integral of `2/sqrt(t+1)` is `4 sqrt(t+1)`. Pre and
/// peri: `r' = 1`, `s = r ~ t`, so `eps' = -2 eps/t`: `t^{-2}`; mix behaves like pre
/// asymptotically. Literal LN scaling: `r' = 1/sqrt(t+1)`, `r ~ 2 sqrt t`, `s = r sqrt(t+1) ~ 2 t`,
/// so `eps' = -eps/t`: `t^{-1}`.
pub static ENTRY: Claim = Claim {
    name: "ln-late-rates",
    title: "Normalisation schemes: late rates",
    lets: "equiangular tokens have the inner product `gamma`, and let `eps = 1 - gamma`",
    then: "At late times `eps` decays like `e^{-2t}` for post, `e^{-2 alpha t}` for nGPT, `e^{-4 \
           sqrt(t+1)}` for CoD, `t^{-2}` for pre, peri and mix, and `t^{-1}` for literal LN \
           scaling.",
    tested: "by the slope of `log eps` as a function of `t`, `sqrt(t+1)` or `log t`, to \
             {TOLERANCE}",
    numbers: &[
        ("TOLERANCE", TOLERANCE),
        ("LEAST", RADII.0),
        ("MOST", RADII.1),
        ("PARTS", 1.0 / ALPHA),
        ("MIX_TAU", MIX_TAU),
    ],
    domain: Domain {
        d: Sizes::Unused,
        beta: Betas::Linear(0.0, 4.0),
        dynamics: &["sa"],
        laws: &[],
        draws: "a scheme and a length",
        ..Domain::EQUAL_MASSES
    },
    narrower: "the reduced equation, from `gamma = 0` and a length in [{LEAST}, {MOST}]; `alpha = \
               1/{PARTS}`, `tau = {MIX_TAU}`",
    source: "arXiv:2510.22026, Section 4; constants derived",
    trials: (14, 60),
    trial: |case, ctx| {
        let k = ctx.index(TABLE.len());
        slope(case, ctx, &TABLE[k], TABLE[k].slope)
    },
    constant: "the slope",
    control: Control {
        what: "literal LN scaling with the slope of pre",
        trial: |ctx| slope(&Case::new(8, 2, 2.0, "sa"), ctx, &TABLE[6], -2.0),
    },
    ..Claim::LAW
};

fn slope(case: &Case, ctx: &mut Context, row: &Late, stated: f64) -> Result<Finding> {
    let radius = ctx.log_uniform_in(RADII.0, RADII.1);
    let [a, b] = row.times;
    let places = SchemeCurve::new(row.scheme, case.n, case.beta)?.states(0.0, radius, &[a, b])?;
    let measured = (places[0].depth - places[1].depth) / ((row.clock)(b) - (row.clock)(a));
    Ok(Finding::law(measured, ctx.claimed_constant(stated), TOLERANCE, 0.0))
}
