//! Tokens in R^d under a good triple: the rate at which hyperplanes form.

use super::rd_leader::with_spectrum;
use super::rd_rescaling::{FLAT, attention, flowed};
use super::{Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Sizes, Status};
use crate::error::Result;
use crate::num::{dense::inverse, sum::dot};
use crate::sphere::Tokens;

/// An attached token obeys `(z_l - z_i)' = -V (z_l - z_i)`, whose part along the left eigenvector decays as `e^{-lambda_1 t}`.
///
/// # Derivation
///
/// Once rows are one-hot, an attached token and its leader obey `x_i' = V x_l = x_l'`, so `z = e^{-tV} x` has `(z_l - z_i)' = -V (z_l -
/// z_i)`. Its part along the left eigenvector `phi_1^*` of lambda_1 is multiplied by `e^{-lambda_1 t}`, as stated. Rows that are one-hot
/// to 1e-13 change it by no more.
pub static ENTRY: Claim = Claim {
    name: "rd-hyperplane-rate",
    title: "R^d, good triple: tokens reach their hyperplane at the rate e^{-lambda_1 t}",
    statement: "V with eigenvalues lambda_1 in [1, 1.5] and others of modulus below 1/2, Q = K = I: for tokens whose rows are one-hot to 1e-13, phi_1^*(z_leader - z_i) e^{lambda_1 t} is the same at lambda_1 t = 9 and 13, to 1e-6.",
    domain: Domain { n: Sizes::Range(6, 16), d: Sizes::Range(2, 3), beta: Betas::List(&[1.0]), masses: Masses::Equal, ..FLAT },
    narrower: "V with a basis of eigenvectors near an orthogonal one",
    citation: "derived; arXiv:2305.05465, Theorem 4.3 (at most three hyperplanes, no rate)",
    status: Status::Theorem,
    kind: Kind::Identity,
    trials: (6, 40),
    trial: |case, ctx| constancy(case, ctx, 1.0),
    perturbed: "lambda_1",
    control: Control { what: "lambda_1 larger by a hundredth", trial: |ctx| constancy(&Case::new(10, 2, 1.0, "sa"), ctx, 1.01) },
    proof: None,
};

fn constancy(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let mut basis: Vec<f64> = ctx.normals(d * d).iter().map(|g| 0.3 * g).collect();
    (0..d).for_each(|k| basis[k * d + k] += 1.5);
    let values: Vec<f64> = (0..d).map(|k| if k == 0 { ctx.uniform_in(1.0, 1.5) } else { ctx.uniform_in(-0.4, 0.4) }).collect();
    let x = Tokens::flat(d, ctx.normals(n * d))?;
    let left = inverse(&basis, d)[..d].to_vec();
    if left.iter().any(|v| !v.is_finite()) {
        return Ok(Finding::Missed);
    }
    let dynamics = attention(case.beta, n, d, None, Some((d, with_spectrum(&basis, &values))), true)?;
    let times = [9.0 / values[0], 13.0 / values[0]];
    let first = flowed(ctx, &dynamics, &x, times[0], 1e-2)?;
    let last = flowed(ctx, &dynamics, &x, times[1], 1e-2)?;
    // Along phi_1 tokens of one sign follow the one with the largest <phi_1, x>: scores of the leader's row at the first time.
    let growth = crate::num::dense::exponential(&with_spectrum(&basis, &values).iter().map(|v| v * times[0]).collect::<Vec<_>>(), d);
    let grown: Vec<Vec<f64>> = first.rows().map(|r| crate::num::dense::mul(&growth, r, 1)).collect();
    let (mut worst, mut seen) = (0.0f64, 0);
    let rate = ctx.stated(factor * values[0]);
    for i in 0..n {
        let score = |j: usize| case.beta * dot(&grown[i], &grown[j]);
        let leader = (0..n).max_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap_or(i);
        let others: f64 = (0..n).filter(|j| *j != leader).map(|j| (score(j) - score(leader)).exp()).sum();
        let along = |z: &Tokens| -> f64 { (0..d).map(|c| left[c] * (z.row(leader)[c] - z.row(i)[c])).sum() };
        if leader == i || others > 1e-13 || along(&first).abs() < 1e-7 {
            continue;
        }
        seen += 1;
        worst = worst.max((along(&last) / along(&first) * (rate * (times[1] - times[0])).exp() - 1.0).abs());
    }
    Ok(if seen == 0 { Finding::Missed } else { Finding::identity(worst, 1e-6) })
}
