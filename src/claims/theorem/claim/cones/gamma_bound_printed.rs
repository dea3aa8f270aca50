//! The bound on the gamma curve, as printed.

use super::gamma_bound;
use crate::theorem::prelude::*;

/// arXiv:2312.10794, (D.8), claimed for all t >= 0. It is false at small t for n = 2 and beta below
/// 0.046, where the right-hand side starts below 1 (0.974 at beta = 0).
///
/// # Derivation
///
/// At t = 0 the right-hand side is `(1/2) exp(n^2 e^beta / (2 (n + e^{beta/2})))`. For n = 2 and
/// beta = 0 that is `e^{2/3}/2 = 0.974`, below `1 - gamma(0) = 1`. The proof needs `gamma >= 1/2`,
/// which is reached by `t = n e^beta/2` (`gamma-bound`).
pub static ENTRY: Claim = Claim {
    name: "gamma-bound-printed",
    title: "Decay bound of gamma, as printed (all t >= 0)",
    then: "For SA, 1 - gamma(t) <= (1/2) exp( n^2 e^beta / (2 (n + e^{beta/2})) - n t / (n + \
           e^{beta/2}) ) for all t >= 0. Counterexample: n = 2, beta = 0, t = 0, where 1 <= 0.974 \
           fails.",
    domain: Domain {
        n: Sizes::Range(2, 64),
        dynamics: &["sa"],
        beta: Betas::Log(1e-3, 6.0),
        ..gamma_bound::DOMAIN
    },
    narrower: "t up to 1.5 n e^beta",
    source: "arXiv:2312.10794, (D.8)",
    status: Status::Misprinted,
    trials: (300, 1000),
    trial: |case, ctx| {
        // Half of the times are t = 0.
        let t = 3.0
            * (2.0 * ctx.uniform_in(0.0, 1.0) - 1.0).max(0.0).powi(3)
            * gamma_bound::start(case)?;
        gamma_bound::bound(case, ctx, t)
    },
    control: Control {
        what: "t = n e^beta / 2, n = 2, beta = 0",
        trial: |ctx| {
            gamma_bound::bound(&Case::new(2, 2, 0.0, "sa").with_law("orthonormal"), ctx, 1.0)
        },
    },
    ..Claim::INEQUALITY
};
