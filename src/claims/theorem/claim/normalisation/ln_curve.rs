//! Normalisation schemes: equiangular tokens follow the reduced equation.

use crate::attention::normalisation::{
    Cod, LnScaling, Mix, NGpt, Normalisation, Peri, Post, Pre, Scheme,
};
use crate::theorem::prelude::*;
use crate::theory::normalised::SchemeCurve;

/// The schemes of arXiv:2510.22026 and the literal form of its LN scaling.
pub(crate) static SCHEMES: [Scheme; 7] =
    [Post, Pre, Peri, NGpt { alpha: 0.5 }, Cod, LnScaling, Mix { tau: 1.0 }];

/// The seven schemes reduce to one equation.
///
/// # Derivation
///
/// With own weight a and cross weight b,
/// `P_i A_i = b (sum_{k != i} theta_k - (n-1) gamma theta_i)`, and its product with `theta_j` is
/// `b (1 + (n-2) gamma - (n-1) gamma^2) = b (1 - gamma)((n-1) gamma + 1)`. The same for i and j
/// exchanged: `gamma' = (2b/s)(1 - gamma)((n-1) gamma + 1)`, with the same s for all tokens,
/// because by symmetry all radii and all `|A_i|` remain equal. `r' = rho` is the scheme's own
/// equation, with `<theta_i, A_i> = a + (n-1) b gamma` and
/// `|A_i|^2 = gamma + (1 - gamma)(a^2 + (n-1) b^2)`, as rows sum to 1.
pub static ENTRY: Claim = Claim {
    name: "ln-curve",
    title: "Normalisation schemes: equiangular tokens follow one equation for gamma and r",
    then: "Orthonormal tokens of a common radius in [0.5, 3] under post, pre, peri, nGPT, CoD, LN \
           scaling or mix remain equiangular, and gamma' = (2b/s)(1-gamma)((n-1) gamma + 1), r' = \
           rho with the scheme's s and rho.",
    tested: "at a time in [0.2, 8]: 1 - gamma and r to a relative 1e-8",
    domain: Domain {
        laws: &["orthonormal"],
        condition: Some(Condition { text: "d >= n", holds: |c| c.d >= c.n }),
        ..Domain::LAYERED
    },
    source: "arXiv:2510.22026, Section 4 (its table of schemes; reduction derived)",
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

/// Tokens under a scheme after time t, with this radius if the scheme has radii.
pub(crate) fn run(
    ctx: &mut Context,
    scheme: Scheme,
    beta: f64,
    x: Tokens,
    radii: &[f64],
    t: f64,
) -> Result<Tokens> {
    let x = if scheme.space().extra_per_token() > 0 { x.polar(radii)? } else { x };
    let options = Options { rtol: 1e-2 * ctx.rtol(), merge_radius: 0.0, ..Options::default() };
    let end = solve(
        &Dynamics::single(Attention::new(beta)).with_normalisation(scheme),
        &x,
        t,
        &options,
        &mut [],
    )?;
    if end.outcome.end_state_is_known() {
        Ok(end.clusters)
    } else {
        Err(Error::Numerical { what: end.outcome.to_string() })
    }
}

fn follow(case: &Case, ctx: &mut Context, scheme: Scheme, stated: Scheme) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let radius = ctx.log_uniform_in(0.5, 3.0);
    let t = ctx.log_uniform_in(0.2, 8.0);
    let end = run(ctx, scheme, case.beta, x, &vec![radius; case.n], t)?;
    let t = ctx.claimed_constant(t);
    let place = SchemeCurve::new(stated, case.n, case.beta)?.states(0.0, radius, &[t])?[0];
    let gap = (-place.depth).exp();
    let pairs = pairs(case.n);
    let angles = pairs
        .map(|(i, j)| (0.5 * chord2(end.row(i), end.row(j)) / gap - 1.0).abs())
        .fold(0.0, nan_max);
    let radii =
        end.extra_numbers().iter().map(|r| (r / place.radius - 1.0).abs()).fold(0.0, nan_max);
    Ok(Finding::identity(angles.max(radii), 1e-8))
}
