//! What claims of this topic share: the range of orthonormal tokens, and runs of a scheme.

use crate::attention::normalisation::{Normalisation, Scheme};
use crate::theorem::prelude::*;

/// Orthonormal tokens.
pub(super) const ORTHONORMAL: Domain = Domain {
    laws: &["orthonormal"],
    condition: Some(Condition { text: "`d >= n`", holds: |c| c.d >= c.n }),
    ..Domain::LAYERED
};

/// Tokens with a common length if the scheme has lengths.
pub(super) fn place(scheme: Scheme, x: Tokens, radius: f64) -> Result<Tokens> {
    if scheme.space().extra_per_token() > 0 {
        let radii = vec![radius; x.n()];
        x.polar(&radii)
    } else {
        Ok(x)
    }
}

/// Tokens of a common length under a scheme after time t.
pub(super) fn run(
    ctx: &mut Context,
    scheme: Scheme,
    beta: f64,
    (x, radius): (Tokens, f64),
    t: f64,
) -> Result<Tokens> {
    let x = place(scheme, x, radius)?;
    let options = Options { rtol: 1e-2 * ctx.rtol(), merge_radius: 0.0, ..Options::default() };
    let flow = Dynamics::single(Attention::new(beta)).with_normalisation(scheme);
    let end = solve(&flow, &x, t, &options, &mut [])?;
    if end.outcome.end_state_is_known() {
        Ok(end.clusters)
    } else {
        Err(Error::Numerical { what: end.outcome.to_string() })
    }
}
