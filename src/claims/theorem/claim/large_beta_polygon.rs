//! How far the chain argument reaches: the regular polygon.

use super::large_beta_chains;
use crate::theorem::prelude::*;
use crate::theory::threshold::tau_star;

/// Seen in searches; not proved.
///
/// # Derivation
///
/// Open; what is known: tau = cos tau* is the positive root of beta (1 - tau^2) = (d-1) tau, and the left side over the right falls with
/// tau. So neighbours of the regular n-gon, cos = cos(2 pi/n), are farther apart than tau* if and only if beta sin^2(2 pi/n) > (d-1)
/// cos(2 pi/n): the threshold, for n >= 5. The n-gon is critical, so the statement fails below it.
/// Above (n-1) tau* < pi it is a theorem (`large-beta-chains`). Between the two a connected critical point would have to wind round the
/// sphere with steps of tau*, n of which just close a great circle: none was found.
pub static ENTRY: Claim = Claim {
    name: "large-beta-polygon",
    title: "The regular n-gon is the first critical point connected by steps of tau*",
    statement: "beta > (d-1) cos(2 pi/n)/sin^2(2 pi/n), about (d-1) n^2/(4 pi^2): at every critical point but consensus the tokens are not connected by steps of tau*. The regular n-gon \
                attains it. If true, the proof of the clustering theorem by cuts reaches down to a quarter of the threshold it is known for.",
    domain: Domain {
        n: Sizes::Range(5, 12),
        d: Sizes::Range(2, 4),
        beta: Betas::Per { lo: 1.02, hi: 4.0, name: "(d-1) cos(2 pi/n)/sin^2(2 pi/n)", unit: large_beta_chains::polygon },
        ..large_beta_chains::DOMAIN
    },
    citation: "found here; between arXiv:2312.10794, Theorem 5.1 and its problem 3",
    status: Status::Open,
    trials: (24, 120),
    trial: large_beta_chains::disconnected,
    perturbed: "tau*",
    control: Control { what: "the regular 9-gon at 0.98 of the threshold", trial: control },
    ..Claim::INEQUALITY
};

fn control(ctx: &mut Context) -> Result<Finding> {
    let case = Case::new(9, 3, 0.98 * large_beta_chains::polygon(9, 3), "usa");
    let x = ctx.tokens_by(case.n, case.d, "polygon")?;
    Ok(large_beta_chains::widest(&x, ctx.stated(tau_star(case.d, case.beta))))
}
