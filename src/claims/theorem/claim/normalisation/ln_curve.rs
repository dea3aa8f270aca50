//! Normalisation schemes: equiangular tokens follow the reduced equation.

use super::setting::{ORTHONORMAL, run};
use crate::attention::normalisation::{Cod, LnScaling, Mix, NGpt, Peri, Post, Pre, Scheme};
use crate::theorem::prelude::*;
use crate::theory::normalised::SchemeCurve;

const TIMES: (f64, f64) = (0.2, 8.0);
const RADII: (f64, f64) = (0.5, 3.0);
const TOLERANCE: f64 = 1e-8;
const ALPHA: f64 = 0.5;
const MIX_TAU: f64 = 1.0;

/// The schemes of arXiv:2510.22026 and the literal form of its LN scaling.
static SCHEMES: [Scheme; 7] =
    [Post, Pre, Peri, NGpt { alpha: ALPHA }, Cod, LnScaling, Mix { tau: MIX_TAU }];

/// The seven schemes reduce to one equation.
///
/// # Derivation
///
/// With own weight a and cross weight `b`, `P_i A_i = b (sum_{k != i} theta_k - (n-1) gamma
/// theta_i)`, and its product with `theta_j` is `b (1 + (n-2) gamma - (n-1) gamma^2) = b (1 -
/// gamma)((n-1) gamma + 1)`. The same for `i` and `j` exchanged: `gamma' = (2b/s)(1 - gamma)((n-1)
/// gamma + 1)`, with the same `s` for all tokens, because by symmetry all radii and all `|A_i|`
/// remain equal. `r' = rho` is the scheme's own equation, with `<theta_i, A_i> = a + (n-1) b gamma`
/// and `|A_i|^2 = gamma + (1 - gamma)(a^2 + (n-1) b^2)`, as rows sum to 1.
pub static ENTRY: Claim = Claim {
    name: "ln-curve",
    title: "Normalisation schemes: equiangular tokens follow one equation for `gamma` and `r`",
    lets: "orthonormal tokens of a common length `r` move by post, pre, peri, nGPT, CoD, LN \
           scaling or mix, let `s` and `rho` be the scale and the growth of the length of the \
           scheme, `gamma` the inner product of two directions, and `b` the weight of another \
           token",
    then: "The tokens remain equiangular and of a common length, with `gamma' = (2b/s) (1 - gamma) \
           ((n-1) gamma + 1)` and `r' = rho`.",
    tested: "at a time in [{FIRST}, {LAST}] from `r` in [{LEAST}, {MOST}]: `1 - gamma` and `r` to \
             a relative {TOLERANCE}",
    numbers: &[
        ("FIRST", TIMES.0),
        ("LAST", TIMES.1),
        ("LEAST", RADII.0),
        ("MOST", RADII.1),
        ("TOLERANCE", TOLERANCE),
        ("PARTS", 1.0 / ALPHA),
        ("MIX_TAU", MIX_TAU),
    ],
    domain: Domain { draws: "a scheme", ..ORTHONORMAL },
    narrower: "`Q = K = V = I`; `alpha = 1/{PARTS}` (nGPT), `tau = {MIX_TAU}` (mix)",
    source: "derived, for the schemes of arXiv:2510.22026, Section 4",
    trials: (12, 80),
    trial: |case, ctx| {
        let k = ctx.index(SCHEMES.len());
        follow(case, ctx, SCHEMES[k], SCHEMES[k])
    },
    constant: "the time",
    control: Control {
        what: "the curve of post for the scheme pre",
        trial: |ctx| follow(&Case::new(6, 6, 2.0, "sa").with_law("orthonormal"), ctx, Pre, Post),
    },
    ..Claim::IDENTITY
};

fn follow(case: &Case, ctx: &mut Context, scheme: Scheme, stated: Scheme) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let radius = ctx.log_uniform_in(RADII.0, RADII.1);
    let t = ctx.log_uniform_in(TIMES.0, TIMES.1);
    let end = run(ctx, scheme, case.beta, (x, radius), t)?;
    let t = ctx.claimed_constant(t);
    let place = SchemeCurve::new(stated, case.n, case.beta)?.states(0.0, radius, &[t])?[0];
    let gap = (-place.depth).exp();
    let pairs = pairs(case.n);
    let angles = pairs
        .map(|(i, j)| (0.5 * chord2(end.row(i), end.row(j)) / gap - 1.0).abs())
        .fold(0.0, nan_max);
    let radii =
        end.extra_numbers().iter().map(|r| (r / place.radius - 1.0).abs()).fold(0.0, nan_max);
    Ok(Finding::identity(largest([angles, radii]), TOLERANCE))
}
