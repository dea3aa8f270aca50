//! V with a spectrum: when two antipodal clusters are stable.

use super::bipartite_spectrum::{SYMMETRIC, halves, with_diagonal};
use crate::num::roots::bracketed_root;
use crate::theorem::prelude::*;
use crate::theory::bipartite::threshold;

/// For V = I the other eigenvalues are lambda itself: always above.
///
/// # Derivation
///
/// The common tilt along an eigenvector of mu grows at `mu - lambda tanh(beta lambda)` (`bipartite-spectrum`), which vanishes at `mu =
/// lambda tanh(beta lambda)`. For V = I the other eigenvalues equal lambda, above the threshold for every beta: antipodal halves are
/// unstable.
pub static ENTRY: Claim = Claim {
    name: "bipartite-threshold",
    title: "V with a spectrum: two antipodal clusters lose stability at mu = lambda tanh(beta lambda)",
    statement: "SA with Q^T K = V = S symmetric, two equal halves at xi and -xi, S xi = lambda xi: the growth rate of a common tilt along an eigenvector of eigenvalue mu, measured from velocities, vanishes at mu = lambda tanh(beta lambda), to 1e-7.",
    domain: Domain { d: Sizes::Range(2, 4), laws: &["placed"], ..SYMMETRIC },
    narrower: "lambda in [0.3, 1.5]",
    citation: "derived; arXiv:2604.26085 (abstract)",
    trials: (12, 80),
    trial: |case, ctx| place(case, ctx, 1.0),
    perturbed: "the threshold",
    control: Control { what: "mu = lambda", trial: |ctx| place(&Case::new(4, 2, 1.0, "sa"), ctx, 0.0) },
    ..Claim::IDENTITY
};

fn place(case: &Case, ctx: &mut Context, share: f64) -> Result<Finding> {
    let (n, d, beta) = (case.n, case.d, case.beta);
    let basis = ctx.rotation(d);
    let lambda = ctx.uniform_in(0.3, 1.5);
    let (xi, e) = (&basis[..d], &basis[d..2 * d]);
    let step = 1e-5;
    let tilt = |mu: f64| -> f64 {
        let values: Vec<f64> = (0..d).map(|k| [lambda, mu, 0.0][k.min(2)]).collect();
        let along = |sign: f64| -> Result<f64> {
            let x = halves(n, xi, e, |_| sign * step)?;
            Ok(dot(&with_diagonal(beta, &values, &basis)?.velocity(&x)[..d], e))
        };
        along(1.0).and_then(|up| Ok(up - along(-1.0)?)).unwrap_or(f64::NAN)
    };
    let found = bracketed_root(tilt, -0.5, 2.0, 1e-12).ok_or_else(|| Error::Numerical { what: "no threshold in [-0.5, 2]".into() })?;
    let stated = ctx.stated(if share > 0.0 { threshold(lambda, beta) } else { lambda });
    Ok(Finding::identity((found - stated).abs(), 1e-7))
}
