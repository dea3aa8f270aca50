//! Normalisation schemes: initial speed of orthonormal tokens.

use super::setting::{ORTHONORMAL, place};
use crate::attention::normalisation::{Cod, LnScaling, NGpt, Peri, Post, Pre, Scheme};
use crate::theorem::prelude::*;

const TOLERANCE: f64 = 1e-12;
const RADII: (f64, f64) = (1.5, 3.0);
const ALPHA: f64 = 0.5;

/// A scheme, and its `gamma'(0)` as a function of n, beta and the radius.
type Row = (Scheme, fn(f64, f64, f64) -> f64);

/// `2b/s` at gamma = 0, where `b = 1/(e^beta + n - 1)` and `|A| = sqrt(e^{2 beta} + n - 1) b`.
static TABLE: [Row; 6] = [
    (Post, |n, b, _| 2.0 / (b.exp() + n - 1.0)),
    (Cod, |n, b, _| 2.0 / (b.exp() + n - 1.0)),
    (Pre, |n, b, r| 2.0 / (r * (b.exp() + n - 1.0))),
    (LnScaling, |n, b, r| 2.0 / (r * (b.exp() + n - 1.0))),
    (Peri, |n, b, r| 2.0 / (r * ((2.0 * b).exp() + n - 1.0).sqrt())),
    (NGpt { alpha: ALPHA }, |n, b, _| 2.0 * ALPHA / ((2.0 * b).exp() + n - 1.0).sqrt()),
];

/// The speeds follow from `ln-curve`.
///
/// # Derivation
///
/// `ln-curve` at `gamma = 0`: `gamma'(0) = 2 b/s` with `b = 1/(e^beta + n - 1)` and `|A|^2 = a^2 +
/// (n-1) b^2 = (e^{2 beta} + n - 1)/(e^beta + n - 1)^2`. Post and CoD have `s = 1` at `t = 0`, pre
/// and LN scaling `s = r_0`, peri `s = r_0 |A|`, nGPT `s = |A|/alpha`.
pub static ENTRY: Claim = Claim {
    name: "ln-initial-speed",
    title: "Normalisation schemes: initial speeds of orthonormal tokens",
    lets: "orthonormal tokens have a common length `r_0`, and let `gamma` be the inner product of \
           two directions",
    then: "`gamma'(0)` is `2/(e^beta + n - 1)` for post and CoD, `2/(r_0 (e^beta + n - 1))` for \
           pre and LN scaling, `2/(r_0 sqrt(e^{2 beta} + n - 1))` for peri, and `2 alpha/sqrt(e^{2 \
           beta} + n - 1)` for nGPT.",
    tested: "to a relative {TOLERANCE}",
    numbers: &[
        ("TOLERANCE", TOLERANCE),
        ("LEAST", RADII.0),
        ("MOST", RADII.1),
        ("PARTS", 1.0 / ALPHA),
    ],
    domain: Domain { draws: "a scheme and a length", ..ORTHONORMAL },
    narrower: "`Q = K = V = I`; `{LEAST} <= r_0 <= {MOST}`; `alpha = 1/{PARTS}`",
    source: "arXiv:2510.22026, Section 4 (speeds derived)",
    trials: (24, 200),
    trial: |case, ctx| {
        let k = ctx.index(TABLE.len());
        speed(case, ctx, k, k)
    },
    constant: "`gamma'(0)`",
    control: Control {
        what: "the speed of post for the scheme pre",
        trial: |ctx| speed(&Case::new(6, 6, 2.0, "sa").with_law("orthonormal"), ctx, 2, 0),
    },
    ..Claim::IDENTITY
};

fn speed(case: &Case, ctx: &mut Context, run: usize, stated: usize) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.tokens(case)?;
    let radius = ctx.log_uniform_in(RADII.0, RADII.1);
    let scheme = TABLE[run].0;
    let placed = place(scheme, x.clone(), radius)?;
    let v =
        Dynamics::single(Attention::new(case.beta)).with_normalisation(scheme).velocity(&placed);
    let stated = ctx.claimed_constant((TABLE[stated].1)(n as f64, case.beta, radius));
    let closing = |i: usize, j: usize| -> f64 {
        (0..d).map(|c| v[i * d + c] * x.row(j)[c] + v[j * d + c] * x.row(i)[c]).sum()
    };
    let off = pairs(n).map(|(i, j)| (closing(i, j) / stated - 1.0).abs()).fold(0.0, nan_max);
    Ok(Finding::identity(off, TOLERANCE))
}
