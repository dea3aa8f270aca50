//! Collapse of tokens in an open hemisphere, at a rate that does not depend on their number.

use super::setting::{narrowing_time, plain_slowness, product, random_head, with_head};
use crate::attention::{
    model::{Model, PatternSpec},
    pattern::Pairs,
};
use crate::flow::Outcome;
use crate::num::dense;
use crate::sphere::cap::cap_radius;
use crate::theorem::prelude::*;

const ROTARY_BASE: f64 = 100.0;
const TIME_ERROR: f64 = 1e-7;
const MERGE_RADIUS: f64 = 1e-8;
const BOUND_RADIUS: f64 = 0.25 * MERGE_RADIUS;
const RATE_ERROR: f64 = 1e-11;
const LARGEST_BETA: f64 = 4.0;
const LEAST_RADIUS: f64 = 0.02;
const LEAST_COSINE: f64 = 0.01;
const LEAST_CHANGE: f64 = 1e-5;

/// arXiv:2312.10794, Lemma 6.4, with a rate for which any two tokens are the worst case. The proof
/// of the lemma gives the rate times the least mass.
///
/// # Derivation
///
/// Let `alpha = max_w min_i <x_i, w> > 0` be the cosine of `r`. By duality it is the least `|sum
/// p_i x_i|` over `p >= 0` with `sum p_i = 1`; a minimiser `p` has `sum p_i x_i = alpha w` with the
/// centre `w` of the cap, and `h_i = <x_i, w>` is `alpha` where `p_i > 0` and at least `alpha`
/// elsewhere. The derivative of `alpha` is that of `<sum p_i x_i, w>` at fixed `p` and `w`, for one
/// of the minimisers `p` (Danskin): `alpha' = sum_ij p_i a_ij (h_j - G_ij alpha)`. No term is
/// negative, because `h_j >= alpha` and `G_ij <= 1`. If `a_ij >= c m_j`, then `alpha' >= c sum_j
/// m_j (h_j - alpha <sum p_i x_i, x_j>)`, which is `c (1 - alpha^2) sum_j m_j h_j >= c alpha (1 -
/// alpha^2)`. With `alpha = cos r` this is `(log tan r)' <= -c`. So `r` tends to 0, the caps are
/// nested (`hemisphere-monotone`), and the speeds of the tokens are integrable: they converge to
/// one point.
///
/// The weights: under SA `a_ij = m_j e^{l_ij}/sum_k m_k e^{l_ik} >= m_j e^{-s}` if the logits `l`
/// of a row differ by at most `s`; under USA `a_ij = m_j e^{l_ij} >= m_j e^{-s}` if all are at
/// least `-s`. Two tokens at the angles `r` and `-r` have `r' = -a sin 2r` with the weight a of the
/// other token, and so `(log tan r)' = -2 a`: `e^{beta cos 2r}` under USA with equal masses 1/2,
/// and `2/(1 + e^{beta (1 - cos 2r)})` under SA.
///
/// For `Q = K = I` and `beta >= 0` the logits lie in `[beta cos 2r, beta]`, so `c = e^{-2 beta
/// sin^2 r}` (SA) and `c = e^{beta cos 2r}` (USA). Two tokens under USA attain it. As `r` tends to
/// 0 it is the rate at consensus (`consensus-rates`).
pub static ENTRY: Claim = Claim {
    name: "cone-collapse",
    title: "Tokens in an open hemisphere converge to one point: `tan r(t) <= tan r(0) e^{-ct}`",
    lets: "`V = I`, let the tokens lie in an open hemisphere, and let `r(t)` be the radius of \
           their smallest cap. Under SA let the logits of a row differ by at most `s`; under USA \
           (U1) let them be at least `-s`",
    then: "The tokens converge to one point, and `tan r(t) <= tan r(0) e^{-ct}` with `c = e^{-s}`, \
           for any number of tokens and any masses. Any `Q` and `K` have `s = 2 beta |Q^T K|` (SA) \
           and `s = beta |Q^T K|` (USA). For `Q = K = I`, `(log tan r)' <= -e^{-2 beta sin^2 r}` \
           (SA) and `(log tan r)' <= -e^{beta cos 2r}` (USA). Two tokens under USA attain this; \
           two equal tokens under SA have `(log tan r)' = -2/(1 + e^{2 beta sin^2 r})`.",
    tested: "for `Q = K = I`, for random `Q` and `K`, for rotary positions of base {ROTARY_BASE}, \
             and for the biases of ALiBi: the time to a smaller radius is at most the bound, up to \
             a factor 1 + {TIME_ERROR}. All tokens are within {MERGE_RADIUS} at the time when the \
             bound has `r = {BOUND_RADIUS}`. The rate of two equal tokens to {RATE_ERROR}",
    numbers: &[
        ("ROTARY_BASE", ROTARY_BASE),
        ("TIME_ERROR", TIME_ERROR),
        ("MERGE_RADIUS", MERGE_RADIUS),
        ("BOUND_RADIUS", BOUND_RADIUS),
        ("RATE_ERROR", RATE_ERROR),
        ("LARGEST_BETA", LARGEST_BETA),
        ("LEAST_RADIUS", LEAST_RADIUS),
        ("LEAST_COSINE", LEAST_COSINE),
        ("LEAST_CHANGE", LEAST_CHANGE),
    ],
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, LARGEST_BETA),
        laws: &["hemisphere", "cap:radius=0.8"],
        corners: &[(2, 2, 1.0)],
        ..Domain::ATTENTION
    },
    narrower: "`beta` up to {LARGEST_BETA}; random `Q` and `K` are `I` plus at most three times a \
               normalised Gaussian matrix; positions with `Q = K = I`; caps with `r >= \
               {LEAST_RADIUS}` and `cos r >= {LEAST_COSINE}`, and runs in which `r` changes by at \
               least a relative {LEAST_CHANGE} (for rounding)",
    source: "arXiv:2312.10794, Lemma 6.4; the rate is derived and has no factor of the least mass",
    trials: (40, 300),
    trial: |case, ctx| collapse(case, ctx, 3.0),
    constant: "the rate `c`",
    control: Control {
        what: "the repulsive flow, `V = -I`",
        trial: |ctx| {
            collapse(&Case::new(4, 3, 0.2, "repulsive-usa").with_law("hemisphere"), ctx, 0.1)
        },
    },
    ..Claim::INEQUALITY
};

/// The dynamics of a trial and, as a function of `sin^2 r`, the reciprocal of its rate.
type Setting = (Dynamics, Box<dyn Fn(f64) -> f64>);

/// Q = K = I, with rotary positions, with ALiBi, or random Q and K.
fn setting(case: &Case, ctx: &mut Context, most: f64) -> Result<Setting> {
    let (head, weights) = (random_head(case.d, most, ctx)?, case.row_weights()?);
    // Bounds on logits in [-size - bias, size] count twice for SA, except for the bias.
    let factor = if weights == RowWeights::Exponential { 1.0 } else { 2.0 };
    let bounded = |size: f64, bias: f64| -> Box<dyn Fn(f64) -> f64> {
        Box::new(move |_| (factor * size + bias).exp())
    };
    let with_pattern = |pattern: PatternSpec| {
        let model = Model { patterns: vec![pattern], ..Model::default() };
        model.build(case.dynamics, false, &Spec::new(case.beta, case.n), case.d)
    };
    Ok(match ctx.index(4) {
        0 => (case.build()?, Box::new(plain_slowness(weights, case.beta))),
        1 if case.d.is_multiple_of(2) => (
            with_pattern(PatternSpec::Rotary(ROTARY_BASE, Pairs::Adjacent))?,
            bounded(case.beta, 0.0),
        ),
        // One head has the slope 2^-8.
        1 | 2 => {
            (with_pattern(PatternSpec::Alibi)?, bounded(case.beta, (case.n as f64 - 1.0) / 256.0))
        }
        _ => {
            let a = product(&head, case.d);
            let squares = dense::transpose_mul(&a, &a, case.d);
            let q = symmetric_eigenvalues(&squares, case.d)
                .unwrap_or_default()
                .iter()
                .copied()
                .fold(0.0, nan_max)
                .sqrt();
            (with_head(case, head)?, bounded(case.beta * q, 0.0))
        }
    })
}

fn collapse(case: &Case, ctx: &mut Context, most: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let (dynamics, slowness) = setting(case, ctx, most)?;
    // Errors of the flow are relative to 1. Near 0 and pi/2, those of log tan r are larger.
    let Some(before) = cap_radius(&x).filter(|r| *r > LEAST_RADIUS && r.cos() > LEAST_COSINE)
    else {
        return Ok(Finding::HypothesesMissed);
    };
    ctx.asserts_convergence_for_any_scores(case, &x);
    let bound = |to: f64| narrowing_time(before, to, &slowness);
    let fastest =
        dynamics.velocity(&x).chunks_exact(x.d()).map(norm).fold(f64::MIN_POSITIVE, nan_max);
    // Where the bound is far from sharp, the tokens need less time than it allows.
    let t = nan_min(bound(ctx.uniform_in(0.3, 0.9) * before), 20.0 * before / fastest);
    let narrower = ctx.flow_to_with_tolerance(&dynamics, &x, t, 1e-2)?;
    let after = cap_radius(&narrower).unwrap_or(PI);
    // Logits that differ by 100 stop tokens up to rounding.
    if (after / before - 1.0).abs() < LEAST_CHANGE {
        return Ok(Finding::HypothesesMissed);
    }
    if after > before {
        return Ok(Finding::answer(false));
    }
    let rate = ctx.claimed_constant(1.0);
    let allowed = |to: f64| bound(to) / rate;
    // Smaller radii are rounding errors, and far below the bound.
    let found = Finding::at_most(t, allowed(nan_max(after, 1e-9)) * (1.0 + TIME_ERROR));
    let found = found.and(one_cluster(ctx, &dynamics, &x, allowed)?);
    Ok(if most > 1.0 { found.and(two_tokens(case, ctx)?) } else { found })
}

/// The rate of two equal tokens, which is known.
fn two_tokens(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let r = ctx.uniform_in(0.05, 1.5);
    let x = Tokens::from_angles(&[r, -r])?;
    let pair = Case::new(2, 2, case.beta, case.dynamics);
    let v = ctx.velocity(&pair, &x)?;
    // The tangent at the angle r is (-sin r, cos r).
    let rate = (v[1] * r.cos() - v[0] * r.sin()) / (r.sin() * r.cos());
    let known = match case.row_weights()? {
        RowWeights::Exponential => (case.beta * (2.0 * r).cos()).exp(),
        _ => 2.0 / (1.0 + (2.0 * case.beta * r.sin().powi(2)).exp()),
    };
    Ok(Finding::identity((rate / -known - 1.0).abs(), RATE_ERROR))
}

/// Yes if all tokens are within 1e-8 at the time in which the bound reaches a quarter of this
/// radius. (A cap of half the radius suffices; the flow sees a cluster only at the end of a step.)
fn one_cluster(
    ctx: &mut Context,
    dynamics: &Dynamics,
    x: &Tokens,
    allowed: impl Fn(f64) -> f64,
) -> Result<Finding> {
    let options = Options {
        rtol: ctx.rtol(),
        merge_radius: MERGE_RADIUS,
        stop_at_one_cluster: true,
        max_steps: 40_000,
        ..Options::default()
    };
    let horizon = allowed(BOUND_RADIUS).min(1e300);
    let end = solve(dynamics, x, horizon, &options, &mut [])?;
    Ok(match end.outcome {
        Outcome::OneCluster { .. } => Finding::answer(true),
        o if o.end_state_is_known() => Finding::answer(end.clusters.diameter() <= MERGE_RADIUS),
        other => Finding::Unfinished(other.to_string()),
    })
}
