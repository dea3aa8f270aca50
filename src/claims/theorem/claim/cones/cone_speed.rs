//! The explicit speed in the proof of cone collapse, with its exponent corrected.

use crate::sphere::cap::{Hemisphere, hemisphere};
use crate::theorem::prelude::*;
use std::f64::consts::FRAC_PI_3;

const LEAST_DEPTH: f64 = 1e-10;
const CONTROL_BETA: f64 = 8.0;
const PRINTED_CONTROL_BETA: f64 = 1.0;

/// arXiv:2312.10794, (6.7)-(6.8): two tokens at +-60 degrees from w violate the exponent of (6.8)
/// in version 4, a slip that version 5 does not have.
///
/// # Derivation
///
/// The speed is `sum_j A_ij (<x_j, w> - G_ij alpha)` with terms of at least `A_ij alpha (1 -
/// G_ij) >= 0`. Let `w = sum c_j x_j` with `c_j >= 0`; since `sum c_j >= |w| = 1` and `sum c_j G_ij
/// = alpha`, some `j` has `G_ij <= alpha`. With `alpha >= 1/2` all pairs are within 120 degrees, so
/// `A_ij >= m_j e^{-beta (1 - G_ij)} >= m_min e^{-3 beta/2}` for SA and the weight of USA is at
/// least `m_min e^{-beta/2}`.
///
/// As printed: two tokens at +-60 degrees from `w` have `alpha = 1/2`, `G = -1/2` and `A_12 =
/// 1/(1 + e^{3 beta/2})`, so the speed towards `w` is `A_12 alpha (1 - G) = (3/4)/(1 + e^{3
/// beta/2})`. The printed bound `e^{-beta}/8` is larger for `beta` above about 3.6.
pub static ENTRY: Claim = Claim {
    name: "cone-speed",
    title: "Speed of cone collapse, corrected exponent",
    lets: "`w` be a unit vector in the conic hull of the tokens and `alpha = min_i <x_i, w> >= \
           1/2`",
    then: "At the minimising token, `d/dt <x_i, w> >= m_min (1 - alpha) e^{-c}/2` with `c = 3 \
           beta/2` for SA and `c = beta/2` for USA (U1). So (6.7), with `c = 2 beta`, holds as \
           well.",
    numbers: &[("LEAST_DEPTH", LEAST_DEPTH), ("CONTROL_BETA", CONTROL_BETA)],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Range(2, 8),
        beta: Betas::Linear(0.0, 8.0),
        laws: &[],
        draws: "tokens in a cap of radius `pi/3`; `w` the centre of the smallest cap, or random",
        corners: &[(2, 2, 5.0)],
        ..Domain::ATTENTION
    },
    narrower: "`Q = K = I`; `1 - alpha >= {LEAST_DEPTH}`, for rounding",
    source: "arXiv:2312.10794, (6.7)-(6.8) of v4; v5 has this exponent, as quoted in a formal \
             statement",
    status: Status::Corrected,
    trials: (200, 2000),
    trial: |case, ctx| {
        let exponent = if case.row_weights()? == RowWeights::Exponential { 0.5 } else { 1.5 };
        let x = spread_out(case, ctx)?;
        if ctx.index(2) == 0 {
            return speed(case, ctx, &x, &[], exponent);
        }
        let weights: Vec<f64> = ctx.normals(case.n).iter().map(|z| (2.0 * z).exp()).collect();
        speed(case, ctx, &x, &weights, exponent)
    },
    constant: "the exponent `c`",
    control: Control {
        what: "the printed exponent `c = beta`: two tokens at +-60 degrees from `w`, `beta = \
               {CONTROL_BETA}`",
        trial: |ctx| {
            speed(
                &Case::new(2, 2, CONTROL_BETA, "sa"),
                ctx,
                &Tokens::from_angles(&[FRAC_PI_3, -FRAC_PI_3])?,
                &[],
                1.0,
            )
        },
    },
    variants: &[&PRINTED],
    ..Claim::INEQUALITY
};

static PRINTED: Claim = Claim {
    name: "cone-speed-printed",
    title: "Speed of cone collapse, exponent as printed in `v4`",
    lets: "`w` be the centre of the smallest cap and `alpha = min_i <x_i, w> >= 1/2`",
    then: "At the minimising token, `d/dt <x_i, w> >= (1 - alpha)/(2 n e^{beta})`.",
    numbers: &[("LEAST_DEPTH", LEAST_DEPTH), ("CONTROL_BETA", PRINTED_CONTROL_BETA)],
    domain: Domain {
        n: Sizes::Range(2, 8),
        d: Sizes::Range(2, 4),
        beta: Betas::Linear(0.0, 20.0),
        dynamics: &["sa"],
        laws: &[],
        draws: "tokens in a cap of radius `pi/3`",
        ..Domain::EQUAL_MASSES
    },
    narrower: "`Q = K = I`; `1 - alpha >= {LEAST_DEPTH}`, for rounding",
    source: "arXiv:2312.10794, (6.8) of v4 (2024): e^{beta} in the place of e^{2 beta}. (6.7) of \
             v4 and v5 (2025, as quoted in a formal statement) have e^{2 beta}",
    status: Status::Misprinted,
    trials: (800, 2000),
    trial: |case, ctx| {
        let x = spread_out(case, ctx)?;
        speed(case, ctx, &x, &[], 1.0)
    },
    control: Control {
        what: "two tokens at +-60 degrees at `beta = {CONTROL_BETA}`, where the printed bound \
               holds",
        trial: |ctx| {
            let x = Tokens::from_angles(&[FRAC_PI_3, -FRAC_PI_3])?;
            speed(&Case::new(2, 2, PRINTED_CONTROL_BETA, "sa"), ctx, &x, &[], 1.0)
        },
    },
    ..Claim::INEQUALITY
};

/// Tokens within 60 degrees of e_1, mostly near the edge, with the masses of the case.
fn spread_out(case: &Case, ctx: &mut Context) -> Result<Tokens> {
    let directions = ctx.tokens_with_law(case.n, case.d, "uniform")?;
    let mut x = directions.coordinates().to_vec();
    for row in x.chunks_exact_mut(case.d) {
        let angle = FRAC_PI_3 * (1.0 - ctx.uniform_in(0.0, 1.0).powi(4));
        row[0] = 0.0;
        if !retract(row) {
            row[1] = 1.0;
        }
        scale(angle.sin(), row);
        row[0] = angle.cos();
    }
    let x = Tokens::normalised(case.d, x)?;
    match case.masses {
        Masses::Equal => Ok(x),
        Masses::Random => x.with_masses(&ctx.masses(case.n)),
    }
}

/// Compares the speed towards `w = sum weights_j x_j` (without weights: the centre of the smallest
/// cap) with the bound with `e^{-exponent beta}`.
fn speed(
    case: &Case,
    ctx: &mut Context,
    x: &Tokens,
    weights: &[f64],
    exponent: f64,
) -> Result<Finding> {
    let mut w = vec![0.0; x.d()];
    x.rows().zip(weights).for_each(|(r, c)| axpy(*c, r, &mut w));
    if weights.is_empty() {
        let Hemisphere::Open { w: centre, .. } = hemisphere(x) else {
            return Ok(Finding::HypothesesMissed);
        };
        w = centre;
    }
    if !retract(&mut w) {
        return Ok(Finding::HypothesesMissed);
    }
    let v = ctx.velocity(case, x)?;
    // Heights from chords: 1 - <x, w> = |x - w|^2 / 2.
    let depth: Vec<f64> = x.rows().map(|r| 0.5 * chord2(r, &w)).collect();
    let low = (0..x.n()).max_by(|&a, &b| depth[a].total_cmp(&depth[b])).unwrap_or(0);
    // For tokens closer than 1e-5 only a few digits of the heights are correct.
    if depth[low] > 0.5 + 1e-12 || depth[low] < LEAST_DEPTH {
        return Ok(Finding::HypothesesMissed);
    }
    let lightest = x.masses().iter().copied().fold(f64::INFINITY, nan_min);
    let own = &v[low * x.d()..(low + 1) * x.d()];
    let bound = 0.5 * lightest * depth[low] * (-ctx.claimed_constant(exponent) * case.beta).exp();
    // The error of the velocity is relative to its length; its component along w has the same
    // absolute error.
    let error =
        16.0 * f64::EPSILON * ((1.0 + case.beta) * norm(own) / bound + depth[low].sqrt().recip());
    Ok(Finding::at_least(dot(own, &w), bound).with_evaluation_error(error))
}
