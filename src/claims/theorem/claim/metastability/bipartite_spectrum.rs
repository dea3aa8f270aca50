//! General V: the linearised flow at two antipodal clusters.

use crate::theorem::prelude::*;
use crate::theory::bipartite;

/// SA with `Q^T K = V = S` symmetric.
pub(crate) const SYMMETRIC: Domain = Domain {
    n: Sizes::List(&[2, 4, 8, 16]),
    d: Sizes::Range(2, 6),
    beta: Betas::Log(0.05, 4.0),
    dynamics: &["sa"],
    ..Domain::EQUAL_MASSES
};

/// SA with `Q^T K = V = S` symmetric and any sign of beta lambda. There are three kinds of
/// perturbation: both clusters tilt alike, both rotate, and tokens of one cluster separate.
///
/// # Derivation
///
/// Put `x_j = s_j xi + u_j`, `s_j` the sign of its cluster, `u_j` orthogonal to xi. A row has the
/// weight `p = e^{beta lambda}/(2 cosh beta lambda)` on its own cluster, so
/// `sum_j A_ij V x_j = lambda m x_i` with `m = 2 p - 1 = tanh(beta lambda)`. A change of the
/// weights multiplies `S xi = lambda xi`, which the projection takes away. To first order
/// `u_i' = S (p mean_own(u) + (1 - p) mean_other(u)) - lambda m u_i`. For perturbations along an
/// eigenvector of S with eigenvalue mu the eigenvalues are `mu - lambda m` if both clusters move
/// alike, `mu (2 p - 1) - lambda m = m (mu - lambda)` if they move oppositely (a rotation), and
/// `-lambda m` if the mean over each cluster is 0.
pub static ENTRY: Claim = Claim {
    name: "bipartite-spectrum",
    title: "General V: eigenvalues at two antipodal clusters",
    lets: "Q^T K = V = S be symmetric with S xi = lambda xi, let half of the tokens be at xi and \
           half at -xi, and let m = tanh(beta lambda)",
    then: "Under SA, the linearised velocity along an eigenvector of S with eigenvalue mu has the \
           eigenvalues mu - lambda m (both clusters alike), m (mu - lambda) (rotation) and \
           -lambda m (mean 0 within each cluster).",
    tested: "as: central differences with step 1e-5 along such a u are the eigenvalue times u, to \
             1e-6 in every coordinate",
    domain: Domain { laws: &["placed"], ..SYMMETRIC },
    narrower: "lambda and mu in [-1.5, 1.5]",
    source: "arXiv:2604.26085 and 2511.11553 (abstracts); spectrum derived",
    trials: (24, 200),
    trial: |case, ctx| {
        let mode = ctx.index(3);
        rate(case, ctx, mode, 1.0)
    },
    constant: "the eigenvalue",
    control: Control {
        what: "m = 1 in the first eigenvalue",
        trial: |ctx| rate(&Case::new(4, 3, 1.0, "sa"), ctx, 0, 0.0),
    },
    ..Claim::IDENTITY
};

/// SA with a diagonal matrix S in a rotated basis; also returns the rows of the basis.
pub(crate) fn with_diagonal(beta: f64, values: &[f64], basis: &[f64]) -> Result<Dynamics> {
    let d = values.len();
    let entry =
        |k: usize| (0..d).map(|e| basis[e * d + k / d] * values[e] * basis[e * d + k % d]).sum();
    let s: Vec<f64> = (0..d * d).map(entry).collect();
    let head = Head::new(d, Some((d, s.clone())), None, Some((d, s)))?;
    Ok(Dynamics::single(Attention { heads: vec![head], ..Attention::new(beta) }))
}

/// Clusters at `xi` and `-xi`, with tokens displaced by these multiples of `e`.
pub(crate) fn antipodal_clusters(
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
    let values: Vec<f64> = (0..d).map(|_| ctx.uniform_in(-1.5, 1.5)).collect();
    let dynamics = with_diagonal(beta, &values, &basis)?;
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
    let step = 1e-5;
    let v = |sign: f64| -> Result<Vec<f64>> {
        Ok(dynamics.velocity(&antipodal_clusters(n, xi, e, |i| sign * step * shape(i))?))
    };
    let (up, down) = (v(1.0)?, v(-1.0)?);
    let rates = bipartite::rates(values[0], values[1], beta);
    let tilt = if share > 0.0 { rates.tilt } else { values[1] - values[0] };
    let stated = ctx.claimed_constant([tilt, rates.turn, rates.within][mode]);
    // Every coordinate of every token: the image of u is the eigenvalue times u.
    let off =
        |k: usize| ((up[k] - down[k]) / (2.0 * step) - stated * shape(k / d) * e[k % d]).abs();
    Ok(Finding::identity((0..n * d).map(off).fold(0.0, nan_max), 1e-6))
}
