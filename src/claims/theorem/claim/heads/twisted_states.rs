//! Rotary positions on a ring: twisted states.

use super::setting::{STEP, measured_gap, ring, turning};
use crate::theorem::prelude::*;
use crate::theory::rotary::{largest_growth_rate, rates};

const VELOCITY_ERROR: f64 = 1e-12;
const RATE_ERROR: f64 = 1e-5;
const LARGEST: i64 = 2;

/// Stability depends on p, q and beta.
///
/// # Derivation
///
/// At `theta_i = 2 pi q i / n` the velocity of token `i` is a sum over `k` of an odd function of `2
/// pi k / n`, so it is 0. The derivatives depend only on `i - j`, so the linearisation is circulant
/// (`theory::rotary`).
pub static ENTRY: Claim = Claim {
    name: "twisted-states",
    title: "Rotary positions on a ring: twisted states are stationary, with stability given by one \
            sum",
    lets: "USA on the circle have the scores `beta cos(theta_i - theta_j + 2 pi p (i - j) / n)`",
    then: "The twisted state `theta_i = 2 pi q i / n` is stationary. Apart from rotations, the \
           largest real part of the eigenvalues of its linearisation is that of `Lambda_m = -(1/n) \
           sum_k J_k (1 - e^{-2 pi i m k/n})`. Here `J_k = e^{beta cos((q+p) a_k)} (cos(q a_k) - \
           beta sin((q+p) a_k) sin(q a_k))`, `a_k = 2 pi k/n`.",
    tested: "to `{VELOCITY_ERROR} e^beta` (velocities) and `{RATE_ERROR} e^beta` (real part)",
    numbers: &[
        ("VELOCITY_ERROR", VELOCITY_ERROR),
        ("RATE_ERROR", RATE_ERROR),
        ("LARGEST", LARGEST as f64),
        ("STEP", STEP),
    ],
    domain: Domain {
        n: Sizes::Range(5, 16),
        d: Sizes::Fixed(2),
        beta: Betas::Linear(0.1, 3.0),
        dynamics: &["usa"],
        laws: &[],
        draws: "`p` and `q`",
        ..Domain::EQUAL_MASSES
    },
    narrower: "`p` and `q` from -{LARGEST} to {LARGEST}, central differences with step {STEP}",
    source: "derived; rotary positions: arXiv:2104.09864",
    trials: (8, 60),
    trial: |case, ctx| {
        let mut draw = || ctx.index(2 * LARGEST as usize + 1) as i64 - LARGEST;
        let (p, q) = (draw(), draw());
        twisted(case, ctx, p, q, q)
    },
    constant: "the growth rate",
    control: Control {
        what: "the rate of another twisted state",
        trial: |ctx| twisted(&Case::new(12, 2, 1.0, "usa"), ctx, 1, 1, 0),
    },
    ..Claim::IDENTITY
};

fn twisted(case: &Case, ctx: &mut Context, p: i64, q: i64, stated: i64) -> Result<Finding> {
    let (n, turn) = (case.n, ctx.uniform_in(0.0, TAU));
    let dynamics = ring(n, p, case.beta)?;
    let angles: Vec<f64> = (0..n).map(|i| turn + TAU * (q * i as i64) as f64 / n as f64).collect();
    let still = max_abs(&turning(&dynamics, &angles)?) / (VELOCITY_ERROR * case.beta.exp());
    let found = measured_gap(&dynamics, &angles)?;
    let claimed = ctx.claimed_constant(largest_growth_rate(&rates(n, p, stated, case.beta)));
    let rate = (found - claimed).abs() / (RATE_ERROR * case.beta.exp());
    Ok(Finding::identity(largest([still, rate]), 1.0))
}
