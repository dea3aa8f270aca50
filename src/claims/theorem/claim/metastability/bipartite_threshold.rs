//! General V: the stability threshold of two antipodal clusters.

use super::bipartite_spectrum::{SYMMETRIC, antipodal_clusters, with_diagonal};
use crate::num::roots::bracketed_root;
use crate::theorem::prelude::*;
use crate::theory::bipartite::threshold;

/// For V = I all other eigenvalues are lambda, which is always above the threshold.
///
/// # Derivation
///
/// A perturbation that moves both clusters alike along an eigenvector of mu grows at the rate
/// `mu - lambda tanh(beta lambda)` (`bipartite-spectrum`), which vanishes at
/// `mu = lambda tanh(beta lambda)`. For V = I the other eigenvalues equal lambda, above the
/// threshold for every beta: antipodal clusters are unstable.
pub static ENTRY: Claim = Claim {
    name: "bipartite-threshold",
    title: "General V: two antipodal clusters lose stability at mu = lambda tanh(beta lambda)",
    lets: "Q^T K = V = S be symmetric, S xi = lambda xi, with half of the tokens at xi and half \
           at -xi",
    then: "Under SA, the growth rate of a perturbation that moves both clusters alike along an \
           eigenvector with eigenvalue mu vanishes at mu = lambda tanh(beta lambda).",
    tested: "with rates measured from velocities, to 1e-7",
    domain: Domain { d: Sizes::Range(2, 4), laws: &["placed"], ..SYMMETRIC },
    narrower: "lambda in [0.3, 1.5]",
    source: "derived; arXiv:2604.26085 (abstract)",
    trials: (12, 80),
    trial: |case, ctx| stability_threshold(case, ctx, 1.0),
    constant: "the threshold",
    control: Control {
        what: "mu = lambda",
        trial: |ctx| stability_threshold(&Case::new(4, 2, 1.0, "sa"), ctx, 0.0),
    },
    ..Claim::IDENTITY
};

fn stability_threshold(case: &Case, ctx: &mut Context, share: f64) -> Result<Finding> {
    let (n, d, beta) = (case.n, case.d, case.beta);
    let basis = ctx.rotation(d);
    let lambda = ctx.uniform_in(0.3, 1.5);
    let (xi, e) = (&basis[..d], &basis[d..2 * d]);
    let step = 1e-5;
    let tilt = |mu: f64| -> f64 {
        let values: Vec<f64> = (0..d).map(|k| [lambda, mu, 0.0][k.min(2)]).collect();
        let along = |sign: f64| -> Result<f64> {
            let x = antipodal_clusters(n, xi, e, |_| sign * step)?;
            Ok(dot(&with_diagonal(beta, &values, &basis)?.velocity(&x)[..d], e))
        };
        along(1.0).and_then(|up| Ok(up - along(-1.0)?)).unwrap_or(f64::NAN)
    };
    let found = bracketed_root(tilt, -0.5, 2.0, 1e-12)
        .ok_or_else(|| Error::Numerical { what: "no threshold in [-0.5, 2]".into() })?;
    let stated = ctx.claimed_constant(if share > 0.0 { threshold(lambda, beta) } else { lambda });
    Ok(Finding::identity((found - stated).abs(), 1e-7))
}
