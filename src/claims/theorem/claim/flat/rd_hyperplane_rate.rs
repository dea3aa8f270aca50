//! Tokens in R^d under a good triple: the rate at which hyperplanes form.

use super::rd_leader::with_spectrum;
use super::rd_rescaling::{attention, evolve};
use crate::num::dense::{exponential, inverse};
use crate::theorem::prelude::*;

/// A token i that attends only to its leader l obeys `(z_l - z_i)' = -V (z_l - z_i)`. The part
/// along the left eigenvector decays as `e^{-lambda_1 t}`.
///
/// # Derivation
///
/// While the rows of a token and of its leader are one-hot on the leader, both obey
/// `x_i' = V x_l = x_l'`, so `z = e^{-tV} x` has `(z_l - z_i)' = -V (z_l - z_i)`. Its part along
/// the left eigenvector `phi_1^*` of lambda_1 is multiplied by `e^{-lambda_1 t}`, as stated. Rows
/// that are one-hot only to 1e-13 change it by a relative 1e-13.
pub static ENTRY: Claim = Claim {
    name: "rd-hyperplane-rate",
    title: "R^d, good triple: tokens reach their hyperplane at the rate e^{-lambda_1 t}",
    lets: "V have the eigenvalue lambda_1 in [1, 1.5] and others of modulus below 1/2, with left \
           eigenvector phi_1^*, and Q = K = I",
    then: "For tokens i and leaders l such that the rows of i and l are one-hot on l to 1e-13 at \
           lambda_1 t = 7, 8.5 and 10, and |phi_1^*(z_l - z_i)| >= 1e-4 at the first of these \
           times, phi_1^*(z_l - z_i) e^{lambda_1 t} has the same value at the first and the last \
           time, to 1e-6.",
    domain: Domain {
        n: Sizes::Range(6, 16),
        d: Sizes::Range(2, 3),
        beta: Betas::List(&[1.0]),
        masses: Masses::Equal,
        ..Domain::FLAT
    },
    narrower: "V with a basis of eigenvectors near an orthogonal one",
    source: "derived; arXiv:2305.05465, Theorem 4.3 (at most three hyperplanes, no rate)",
    trials: (6, 40),
    trial: |case, ctx| constancy(case, ctx, 1.0),
    constant: "lambda_1",
    control: Control {
        what: "lambda_1 increased by a hundredth",
        trial: |ctx| constancy(&Case::new(10, 2, 1.0, "sa"), ctx, 1.01),
    },
    ..Claim::IDENTITY
};

fn constancy(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let mut basis: Vec<f64> = ctx.normals(d * d).iter().map(|g| 0.3 * g).collect();
    (0..d).for_each(|k| basis[k * d + k] += 1.5);
    let values: Vec<f64> = (0..d)
        .map(|k| if k == 0 { ctx.uniform_in(1.0, 1.5) } else { ctx.uniform_in(-0.4, 0.4) })
        .collect();
    let x = Tokens::flat(d, ctx.normals(n * d))?;
    let left = inverse(&basis, d)[..d].to_vec();
    if left.iter().any(|v| !v.is_finite()) {
        return Ok(Finding::HypothesesMissed);
    }
    let dynamics =
        attention(case.beta, n, d, None, Some((d, with_spectrum(&basis, &values))), true)?;
    let times = [7.0, 8.5, 10.0].map(|s| s / values[0]);
    let mut states = Vec::new();
    for t in times {
        states.push((t, evolve(ctx, &dynamics, &x, t, 1e-2)?));
    }
    // The only token that a token attends to; `None` if its row is not one-hot.
    let seen_alone = |(t, z): &(f64, Tokens)| -> Vec<Option<usize>> {
        let growth = exponential(
            &with_spectrum(&basis, &values).iter().map(|v| v * t).collect::<Vec<_>>(),
            d,
        );
        let grown: Vec<Vec<f64>> = z.rows().map(|r| mul(&growth, r, 1)).collect();
        let of = |i: usize| {
            let score = |j: usize| case.beta * dot(&grown[i], &grown[j]);
            let leader = (0..n).max_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap_or(i);
            let others: f64 =
                (0..n).filter(|j| *j != leader).map(|j| (score(j) - score(leader)).exp()).sum();
            (others <= 1e-13).then_some(leader)
        };
        (0..n).map(of).collect()
    };
    let seen: Vec<Vec<Option<usize>>> = states.iter().map(seen_alone).collect();
    let (mut worst, mut counted) = (0.0f64, 0);
    let rate = ctx.claimed_constant(factor * values[0]);
    for i in 0..n {
        let Some(leader) = seen[0][i].filter(|l| *l != i) else { continue };
        let along = |z: &Tokens| -> f64 {
            (0..d).map(|c| left[c] * (z.row(leader)[c] - z.row(i)[c])).sum()
        };
        let (first, last) = (along(&states[0].1), along(&states[2].1));
        if seen.iter().any(|s| s[i] != Some(leader) || s[leader] != Some(leader))
            || first.abs() < 1e-4
        {
            continue;
        }
        counted += 1;
        worst = worst.max((last / first * (rate * (times[2] - times[0])).exp() - 1.0).abs());
    }
    Ok(if counted == 0 { Finding::HypothesesMissed } else { Finding::identity(worst, 1e-6) })
}
