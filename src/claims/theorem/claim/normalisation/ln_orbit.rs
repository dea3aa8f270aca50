//! Normalisation schemes: pre, peri and literal LN scaling follow the same curve.

use super::setting::{ORTHONORMAL, run};
use crate::attention::normalisation::{LnScaling, Mix, Peri, Pre, Scheme};
use crate::theorem::prelude::*;
use crate::theory::normalised::SchemeCurve;

const TIMES: (f64, f64) = (1.0, 30.0);
const RADII: (f64, f64) = (0.5, 3.0);
const TOLERANCE: f64 = 1e-8;

static SCHEMES: [Scheme; 3] = [Pre, Peri, LnScaling];

/// `d gamma/d r = (2b/r)(1-gamma)((n-1) gamma + 1) / (a + (n-1) b gamma)` for all three schemes,
/// whose speeds differ by the factors `|A|` and `sqrt(t+1)`.
///
/// # Derivation
///
/// By `ln-curve` `gamma' = (2b/s)(1 - gamma)((n-1) gamma + 1)`, and `r' = rho`. Pre: `s = r`,
/// `rho = <theta, A>`; peri divides the output by `|A|`, literal LN scaling by `sqrt(t+1)`: both
/// `s` and `1/rho` are multiplied by that factor. So
/// `d gamma/d r = (2b/r)(1 - gamma)((n-1) gamma + 1) / (a + (n-1) b gamma)` is one equation for all
/// three: one orbit at different speeds.
pub static ENTRY: Claim = Claim {
    name: "ln-orbit",
    title: "Pre, peri and literal LN scaling: one curve in the `(r, gamma)` plane",
    lets: "orthonormal tokens of a common length `r` move by pre, peri or literal LN scaling, and \
           let `gamma` be the inner product of two directions",
    then: "The three schemes move `(r, gamma)` on the same curve, at different speeds.",
    tested: "at a time in [{FIRST}, {LAST}]: the length is that of pre at the same `gamma`, to a \
             relative {TOLERANCE}",
    numbers: &[
        ("FIRST", TIMES.0),
        ("LAST", TIMES.1),
        ("TOLERANCE", TOLERANCE),
        ("LEAST", RADII.0),
        ("MOST", RADII.1),
    ],
    domain: Domain { draws: "a scheme and a length", ..ORTHONORMAL },
    narrower: "`Q = K = V = I`; `{LEAST} <= r <= {MOST}` at the start",
    source: "derived, for the schemes of arXiv:2510.22026",
    trials: (10, 60),
    trial: |case, ctx| {
        let k = ctx.index(SCHEMES.len());
        same_radius(case, ctx, SCHEMES[k])
    },
    constant: "the length",
    control: Control {
        what: "the scheme mix, whose length is constant at first",
        trial: |ctx| {
            same_radius(&Case::new(6, 6, 2.0, "sa").with_law("orthonormal"), ctx, Mix { tau: 1.0 })
        },
    },
    ..Claim::IDENTITY
};

fn same_radius(case: &Case, ctx: &mut Context, scheme: Scheme) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let radius = ctx.log_uniform_in(RADII.0, RADII.1);
    let t = ctx.log_uniform_in(TIMES.0, TIMES.1);
    let end = run(ctx, scheme, case.beta, (x, radius), t)?;
    let depth = -(0.5 * chord2(end.row(0), end.row(1))).ln();
    let stated = ctx.claimed_constant(
        SchemeCurve::new(Pre, case.n, case.beta)?.radius_at_depth(0.0, radius, depth)?,
    );
    Ok(Finding::identity((end.extra_numbers()[0] / stated - 1.0).abs(), TOLERANCE))
}
