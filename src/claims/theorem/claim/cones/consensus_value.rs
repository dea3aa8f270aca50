//! Consensus under a general value matrix.

use super::setting::{LINEARISED, linearised, random_head};
use crate::theorem::prelude::*;

const LARGEST_LAMBDA: f64 = 2.0;

/// At `x_i = xi` with `V xi = lambda xi` the eigenvalues are `-lambda` and `mu_k - lambda`.
///
/// # Derivation
///
/// As in `consensus-rates` the change of the weights multiplies `P_xi V xi = lambda P_xi xi = 0`.
/// To first order `P_{x_i} V x_j` is `P V u_j - lambda u_i`, the last term from `P_{x_i} xi =
/// -u_i`. Hence `u_i' = r (P V mean(u) - lambda u_i)`. Differences of tokens have the eigenvalue
/// `-r lambda`; the mean obeys `u' = r (P V - lambda) u`, and `P V` on the vectors orthogonal to
/// `xi` has the eigenvalues of `V` except `lambda`, because it is `V` on the quotient space by its
/// eigenvector.
pub static ENTRY: Claim = Claim {
    name: "consensus-value",
    title: "Consensus at an eigenvector of `V`: eigenvalues `-lambda` and `mu_k - lambda`",
    lets: "`V` have a real eigenvector `xi`, `V xi = lambda xi`, with any `Q`, `K` and masses",
    then: "Consensus at `xi` is stationary, and its linearisation is `u_i' = r (P V mean(u) - \
           lambda u_i)`, where `P` is the projection along `xi`, `r = 1` for SA and `r = e^{beta \
           <Q xi, K xi>}` for USA (U1). So the eigenvalues divided by `r` are `-lambda`, \
           `(n-1)(d-1)` times, and `mu_k - lambda` for the other eigenvalues `mu_k` of `V`.",
    tested: "by extrapolated differences along random directions, to `{LINEARISED} eps^{4/5} (1 + \
             beta |Q^T K|) (1 + |V|) r` (Frobenius norms)",
    numbers: &[("LINEARISED", LINEARISED), ("LARGEST_LAMBDA", LARGEST_LAMBDA)],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Range(2, 12),
        beta: Betas::Log(0.01, 30.0),
        laws: &[],
        draws: "a point of consensus, a direction, masses, `V`",
        ..Domain::ATTENTION
    },
    narrower: "`Q` and `K` are `I` plus at most a normalised Gaussian matrix, `|lambda| <= \
               {LARGEST_LAMBDA}`",
    source: "derived: linearisation of arXiv:2312.10794, (2.3) at consensus",
    trials: (60, 500),
    trial: |case, ctx| spectrum(case, ctx, false),
    constant: "the rate `r`",
    control: Control {
        what: "`V` transposed, which has other eigenvectors",
        trial: |ctx| spectrum(&Case::with_random_masses(3, 3, 1.0, "sa"), ctx, true),
    },
    ..Claim::IDENTITY
};

fn spectrum(case: &Case, ctx: &mut Context, transposed: bool) -> Result<Finding> {
    let d = case.d;
    let head = random_head(d, 1.0, ctx)?;
    let xi = ctx.tokens_with_law(1, d, "uniform")?.coordinates().to_vec();
    let lambda = ctx.uniform_in(-LARGEST_LAMBDA, LARGEST_LAMBDA);
    // Every V with V xi = lambda xi is W (I - xi xi^T) + lambda xi xi^T.
    let w: Vec<f64> = ctx.normals(d * d).iter().map(|z| z / (d as f64).sqrt()).collect();
    let mut v = vec![0.0; d * d];
    for (row, w) in v.chunks_exact_mut(d).zip(w.chunks_exact(d)) {
        let along = dot(w, &xi);
        row.iter_mut().zip(w.iter().zip(&xi)).for_each(|(v, (w, x))| *v = w - along * x);
    }
    (0..d * d).for_each(|k| v[k] += lambda * xi[k / d] * xi[k % d]);
    if transposed {
        v = (0..d * d).map(|k| v[(k % d) * d + k / d]).collect();
    }
    let [q, k, _] = head.matrices().map(|m| m.map(|m| (d, m.to_vec())));
    linearised(case, ctx, &Head::new(d, q, k, Some((d, v)))?, &xi, case.beta)
}
