//! Spectrum of the linearisation at consensus.

use super::cone_collapse;
use crate::attention::Variant;
use crate::num::dense;
use crate::sphere::geometry::{exp, project};
use crate::theorem::prelude::*;

/// The eigenvalues are -1 for SA, `-e^{beta s}` for USA and `-(1 - 1/k)` for causal SA.
///
/// # Derivation
///
/// Put `x_i = xi + u_i` with `u_i` orthogonal to xi. At consensus all scores are
/// `s = <Q xi, K xi>`, and a change of the weights multiplies `P_xi xi = 0`: to first order the
/// weights are those of consensus, `a_ij = m_j r` with `r = 1` (SA), `r = e^{beta s}` (USA, U1).
/// From `P_{x_i} x_j = x_j - <x_i, x_j> x_i` to first order `u_j - u_i`,
/// `u_i' = sum_j a_ij (u_j - u_i) = r (mean(u) - u_i)`.
///
/// Equal `u_i` have the eigenvalue 0 (d - 1 directions), and `u_i` of mean 0 have the eigenvalue -r
/// ((n-1)(d-1) directions). A causal mask replaces the mean by the mean over `j <= i`. The matrix
/// is then triangular; for equal masses its diagonal entries, the eigenvalues, are `1/k - 1`.
pub static ENTRY: Claim = Claim {
    name: "consensus-rates",
    title: "Spectrum of the flow at consensus",
    lets: "V = I, with any Q, K and masses",
    then: "The linearisation at consensus x_i = xi is u_i' = r (mean_i(u) - u_i), where mean_i is \
           the weighted mean over the tokens visible to i, r = 1 for SA and causal SA, and r = \
           e^{beta <Q xi, K xi>} for USA (U1). So the eigenvalues are -r, (n-1)(d-1) times, and \
           0, d-1 times; for causal SA with equal masses they are 0 and -(1 - 1/k), k = 2..n, \
           each d-1 times.",
    tested: "as: extrapolated differences along random directions agree to 256 eps^{4/5} (1 + \
             beta |Q^T K|) r (Frobenius norm)",
    domain: Domain {
        n: Sizes::Range(2, 32),
        d: Sizes::Range(2, 16),
        beta: Betas::Log(0.01, 30.0),
        dynamics: &["sa", "usa", "causal-sa"],
        laws: &["placed"],
        ..Domain::ATTENTION
    },
    narrower: "Q and K are I plus at most a normalised Gaussian matrix",
    source: "linearisation of arXiv:2312.10794, (2.3) and arXiv:2411.04990",
    trials: (60, 500),
    trial: |case, ctx| {
        let head = cone_collapse::random_head(case.d, 1.0, ctx)?;
        let xi = ctx.tokens_with_law(1, case.d, "uniform")?.coordinates().to_vec();
        linearised(case, ctx, &head, &xi, case.beta)
    },
    constant: "the rate r",
    control: Control {
        what: "the rate of USA at another beta",
        trial: |ctx| {
            let xi = ctx.tokens_with_law(1, 2, "uniform")?.coordinates().to_vec();
            linearised(&Case::with_random_masses(4, 2, 1.0, "usa"), ctx, &Head::default(), &xi, 1.5)
        },
    },
    ..Claim::IDENTITY
};

/// Let `V xi = lambda xi`. Compares the derivative of the velocity at consensus in xi along a
/// random direction u with `r (P V mean_i(u) - lambda u_i)`, where r belongs to `beta`, and the
/// velocity at consensus with 0.
pub(crate) fn linearised(
    case: &Case,
    ctx: &mut Context,
    head: &Head,
    xi: &[f64],
    beta: f64,
) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (variant, masses) = (case.variant()?, ctx.masses(n));
    let point = |rows: Vec<f64>| Tokens::normalised(d, rows)?.with_masses(&masses);
    let mut u = ctx.normals(n * d);
    u.chunks_exact_mut(d).for_each(|row| project(xi, row));
    let largest = u.chunks_exact(d).map(norm).fold(f64::MIN_POSITIVE, nan_max);
    divide(&mut u, largest);
    let dynamics = cone_collapse::with_head(case, head.clone())?;
    let product = cone_collapse::product(head, d);
    let size = 1.0 + case.beta * norm(&product);
    // eps^{1/5} balances the rounding eps/h of displaced coordinates against the remainder h^4 of
    // one extrapolation.
    let h = f64::EPSILON.powf(0.2) / size;
    let difference = |h: f64| -> Result<Vec<f64>> {
        let at = |s: f64| -> Result<Vec<f64>> {
            let rows = u
                .chunks_exact(d)
                .flat_map(|r| exp(xi, &r.iter().map(|v| s * v).collect::<Vec<_>>()))
                .collect();
            Ok(dynamics.velocity(&point(rows)?))
        };
        Ok(at(h)?.iter().zip(at(-h)?).map(|(a, b)| (a - b) / (2.0 * h)).collect())
    };
    let mut found: Vec<f64> =
        difference(h)?.iter().zip(difference(0.5 * h)?).map(|(a, b)| (4.0 * b - a) / 3.0).collect();
    found.chunks_exact_mut(d).for_each(|row| project(xi, row));
    let mut image = vec![0.0; d];
    dense::mat_vec(&product, xi, &mut image);
    let rate =
        ctx.claimed_constant(variant.weights.log_consensus_row_sum(beta * dot(xi, &image)).exp());
    let expected = expected(variant, head, &masses, xi, &u);
    let true_rate = variant.weights.log_consensus_row_sum(case.beta * dot(xi, &image)).exp();
    let strength = head.matrices()[2].map_or(1.0, |v| 1.0 + norm(v));
    let still =
        dynamics.velocity(&point(xi.repeat(n))?).iter().fold(0.0, |m, v| nan_max(m, v.abs()));
    let worst = found.iter().zip(&expected).map(|(f, e)| (f - rate * e).abs()).fold(still, nan_max);
    Ok(Finding::identity(worst, 256.0 * f64::EPSILON.powf(0.8) * size * true_rate * strength))
}

/// `P V mean_i(u) - lambda u_i`.
fn expected(variant: Variant, head: &Head, masses: &[f64], xi: &[f64], u: &[f64]) -> Vec<f64> {
    let (n, d) = (masses.len(), xi.len());
    let image = |v: &[f64]| match head.matrices()[2] {
        None => v.to_vec(),
        Some(m) => {
            let mut out = vec![0.0; d];
            dense::mat_vec(m, v, &mut out);
            out
        }
    };
    let lambda = dot(xi, &image(xi));
    let mut out = Vec::with_capacity(u.len());
    for (i, own) in u.chunks_exact(d).enumerate() {
        let seen = variant.visible_count(i, n);
        let total: f64 = masses[..seen].iter().sum();
        let mut mean = vec![0.0; d];
        u.chunks_exact(d)
            .zip(&masses[..seen])
            .for_each(|(r, m)| mean.iter_mut().zip(r).for_each(|(a, v)| *a += m / total * v));
        let mut row = image(&mean);
        project(xi, &mut row);
        out.extend(row.iter().zip(own).map(|(a, v)| a - lambda * v));
    }
    out
}
