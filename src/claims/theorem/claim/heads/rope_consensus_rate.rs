//! Rotary positions on a ring: the rate of consensus.

use super::setting::{STEP, measured_gap, ring};
use crate::theorem::prelude::*;
use crate::theory::rotary::{largest_growth_rate, rates};

const TOLERANCE: f64 = 1e-5;

/// At consensus the linearisation is a weighted graph Laplacian, for all positions.
///
/// # Derivation
///
/// At consensus `d theta_i' = (1/n) sum_j e^{beta cos(w (i - j))} (d theta_j - d theta_i)`: a
/// circulant matrix, whose eigenvalues are sums over the ring (`theory::rotary`).
pub static ENTRY: Claim = Claim {
    name: "rope-consensus-rate",
    title: "Rotary positions on a ring: the rate of consensus is the gap of a circulant Laplacian",
    lets: "USA on the circle have the scores `beta cos(theta_i - theta_j + w (i - j))` with `w = 2 \
           pi p / n`",
    then: "Apart from rotations of all tokens, the largest real part of the eigenvalues of the \
           linearisation at consensus is that of `Lambda_m = -(1/n) sum_k e^{beta cos(2 pi p k / \
           n)} (1 - e^{-2 pi i m k / n})`.",
    tested: "to a relative {TOLERANCE}",
    numbers: &[("TOLERANCE", TOLERANCE), ("STEP", STEP)],
    domain: Domain {
        n: Sizes::Range(3, 16),
        d: Sizes::Fixed(2),
        beta: Betas::Linear(0.1, 3.0),
        dynamics: &["usa"],
        laws: &[],
        draws: "`p`",
        ..Domain::EQUAL_MASSES
    },
    narrower: "`p` from 0 to `n - 1`, central differences with step {STEP}",
    source: "derived; rotary positions: arXiv:2104.09864",
    trials: (8, 60),
    trial: |case, ctx| gap(case, ctx, false),
    constant: "the gap",
    control: Control {
        what: "the gap without positions",
        trial: |ctx| gap(&Case::new(12, 2, 2.0, "usa"), ctx, true),
    },
    ..Claim::IDENTITY
};

fn gap(case: &Case, ctx: &mut Context, plain: bool) -> Result<Finding> {
    let p = if plain { 1 } else { ctx.index(case.n) as i64 };
    let found = measured_gap(&ring(case.n, p, case.beta)?, &vec![0.3; case.n])?;
    let stated = ctx.claimed_constant(largest_growth_rate(&rates(
        case.n,
        if plain { 0 } else { p },
        0,
        case.beta,
    )));
    Ok(Finding::identity((found - stated).abs(), TOLERANCE * stated.abs()))
}
