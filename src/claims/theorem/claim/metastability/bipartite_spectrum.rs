//! General V: the linearised flow at two antipodal clusters.

use super::setting::{SYMMETRIC, symmetric_attention};
use crate::num::roots::bracketed_root;
use crate::theorem::prelude::*;
use crate::theory::bipartite;

const STEP: f64 = 1e-5;
const IMAGE_ERROR: f64 = 1e-6;
const THRESHOLD_ERROR: f64 = 1e-7;
const LARGEST: f64 = 1.5;
const LEAST_LAMBDA: f64 = 0.3;

/// # Derivation
///
/// Put `x_j = s_j xi + u_j`, `s_j` the sign of its cluster, `u_j` orthogonal to `xi`. A row has the
/// weight `p = e^{beta lambda}/(2 cosh beta lambda)` on its own cluster, so `sum_j A_ij V x_j =
/// lambda m x_i` with `m = 2 p - 1 = tanh(beta lambda)`. A change of the weights multiplies `S xi =
/// lambda xi`, which the projection takes away. To first order `u_i' = S (p mean_own(u) + (1 - p)
/// mean_other(u)) - lambda m u_i`. For perturbations along an eigenvector of `S` with eigenvalue
/// `mu` the eigenvalues are `mu - lambda m` if both clusters move alike, `mu (2 p - 1) - lambda m =
/// m (mu - lambda)` if they move oppositely (a rotation), and `-lambda m` if the mean over each
/// cluster is 0.
///
/// The first is positive for `mu` above `lambda tanh(beta lambda)`. For `V = I` the other
/// eigenvalues of `S` are `lambda`, above the threshold for every `beta`: antipodal clusters are
/// unstable.
pub static ENTRY: Claim = Claim {
    name: "bipartite-spectrum",
    title: "General `V`: eigenvalues at two antipodal clusters, unstable above `mu = lambda \
            tanh(beta lambda)`",
    lets: "`Q^T K = V = S` be symmetric with `S xi = lambda xi`, let half of the tokens be at `xi` \
           and half at `-xi`, and let `m = tanh(beta lambda)`",
    then: "Under SA, the linearised velocity along an eigenvector of `S` with eigenvalue `mu` has \
           the eigenvalues `mu - lambda m` (both clusters alike), `m (mu - lambda)` (rotation) and \
           `-lambda m` (mean 0 within each cluster). The first vanishes at `mu = lambda tanh(beta \
           lambda)`.",
    tested: "by central differences with step {STEP}: the image of such a `u` is the eigenvalue \
             times `u`, to {IMAGE_ERROR} in every coordinate, and the first vanishes at this `mu`, \
             to {THRESHOLD_ERROR}",
    numbers: &[
        ("STEP", STEP),
        ("IMAGE_ERROR", IMAGE_ERROR),
        ("THRESHOLD_ERROR", THRESHOLD_ERROR),
        ("LARGEST", LARGEST),
        ("LEAST_LAMBDA", LEAST_LAMBDA),
    ],
    domain: Domain { laws: &[], draws: "`S` and one of the modes", ..SYMMETRIC },
    narrower: "`lambda` and `mu` in [-{LARGEST}, {LARGEST}]; the threshold for `lambda` in \
               [{LEAST_LAMBDA}, {LARGEST}]",
    source: "derived; the setting: arXiv:2604.26085 and 2511.11553 (abstracts)",
    trials: (28, 200),
    trial: |case, ctx| {
        let mode = ctx.index(4);
        if mode == 3 { threshold(case, ctx) } else { rate(case, ctx, mode, 1.0) }
    },
    constant: "the eigenvalue, or the threshold",
    control: Control {
        what: "`m = 1` in the first eigenvalue",
        trial: |ctx| rate(&Case::new(4, 3, 1.0, "sa"), ctx, 0, 0.0),
    },
    ..Claim::IDENTITY
};

/// Clusters at `xi` and `-xi`, with tokens displaced by these multiples of `e`.
fn antipodal_clusters(
    n: usize,
    xi: &[f64],
    e: &[f64],
    shift: impl Fn(usize) -> f64,
) -> Result<Tokens> {
    let sign = |i: usize| if i < n / 2 { 1.0 } else { -1.0 };
    let rows = (0..n)
        .flat_map(|i| xi.iter().zip(e).map(|(x, e)| sign(i) * x + shift(i) * e).collect::<Vec<_>>())
        .collect();
    Tokens::normalised(xi.len(), rows)
}

fn rate(case: &Case, ctx: &mut Context, mode: usize, share: f64) -> Result<Finding> {
    let (n, d, beta) = (case.n, case.d, case.beta);
    // A cluster of one token has no perturbation of mean 0.
    let mode = if mode == 2 && n == 2 { 0 } else { mode };
    let basis = ctx.rotation(d);
    let values: Vec<f64> = (0..d).map(|_| ctx.uniform_in(-LARGEST, LARGEST)).collect();
    let dynamics = symmetric_attention(beta, &values, &basis)?;
    let (xi, e) = (&basis[..d], &basis[d..2 * d]);
    let shape = |i: usize| match mode {
        0 => 1.0,
        1 => {
            if i < n / 2 {
                1.0
            } else {
                -1.0
            }
        }
        // The two halves of the first cluster.
        _ => {
            if i >= n / 2 {
                0.0
            } else if i < n / 4 {
                1.0
            } else {
                -1.0
            }
        }
    };
    let v = |sign: f64| -> Result<Vec<f64>> {
        Ok(dynamics.velocity(&antipodal_clusters(n, xi, e, |i| sign * STEP * shape(i))?))
    };
    let (up, down) = (v(1.0)?, v(-1.0)?);
    let rates = bipartite::rates(values[0], values[1], beta);
    let tilt = if share > 0.0 { rates.tilt } else { values[1] - values[0] };
    let stated = ctx.claimed_constant([tilt, rates.turn, rates.within][mode]);
    // Every coordinate of every token: the image of u is the eigenvalue times u.
    let off =
        |k: usize| ((up[k] - down[k]) / (2.0 * STEP) - stated * shape(k / d) * e[k % d]).abs();
    Ok(Finding::identity((0..n * d).map(off).fold(0.0, nan_max), IMAGE_ERROR))
}

/// The root of the first eigenvalue as a function of mu, compared with the formula.
fn threshold(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let (n, d, beta) = (case.n, case.d, case.beta);
    let basis = ctx.rotation(d);
    let lambda = ctx.uniform_in(LEAST_LAMBDA, LARGEST);
    let (xi, e) = (&basis[..d], &basis[d..2 * d]);
    let tilt = |mu: f64| -> f64 {
        let values: Vec<f64> = (0..d).map(|k| [lambda, mu, 0.0][k.min(2)]).collect();
        let along = |sign: f64| -> Result<f64> {
            let x = antipodal_clusters(n, xi, e, |_| sign * STEP)?;
            Ok(dot(&symmetric_attention(beta, &values, &basis)?.velocity(&x)[..d], e))
        };
        along(1.0).and_then(|up| Ok(up - along(-1.0)?)).unwrap_or(f64::NAN)
    };
    let found = bracketed_root(tilt, -0.5, 2.0, 1e-12)
        .ok_or_else(|| Error::Numerical { what: "no threshold in [-0.5, 2]".into() })?;
    let stated = ctx.claimed_constant(bipartite::threshold(lambda, beta));
    Ok(Finding::identity((found - stated).abs(), THRESHOLD_ERROR))
}
