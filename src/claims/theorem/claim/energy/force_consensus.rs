//! Attraction with constant weights.

use crate::num::dense::exponential;
use crate::theorem::prelude::*;

/// A linear flow to the mean, whose rate is twice the smallest positive eigenvalue of the
/// Laplacian.
///
/// # Derivation
///
/// x' = -2 L x with the Laplacian L of the weights, for each coordinate. L is symmetric and
/// positive semidefinite, constants are its kernel, and 1^T L = 0 keeps the mean. On the complement
/// of the constants L >= lambda_2, so the distance to the mean decays at least like e^{-2 lambda_2
/// t}.
///
/// Rounding: lambda_2 has an error of some `n eps lambda_n`, so the exponential of `-2 t L`, with
/// `log2 (8 lambda_n t)` squarings, an error of some `n eps (1 + lambda_n t)` in each entry; it
/// acts on all of x, of which only the distance to the mean decays.
pub static ENTRY: Claim = Claim {
    name: "force-consensus",
    title: "x_i' = 2 sum_j w_ij (x_j - x_i) with symmetric w: consensus at the rate 2 lambda_2",
    lets: "x consist of n normal rows, with symmetric weights w_ij in [0.1, 1], and let lambda_2 \
           and lambda_n be the second and the largest eigenvalue of the graph Laplacian",
    then: "Then |x(t) - mean| <= e^{-2 lambda_2 t} |x(0) - mean|, in the norm of all rows \
           together.",
    tested: "for t in [0.1, 3]/lambda_2, to 32 eps n (1 + lambda_n t) |x(0)|",
    domain: Domain { n: Sizes::Range(3, 8), ..Domain::MAPS },
    source: "Fiedler; derived",
    trials: (8, 60),
    trial: |case, ctx| contraction(ctx, case, false),
    constant: "the rate",
    control: Control {
        what: "the largest eigenvalue instead of the second",
        trial: |ctx| contraction(ctx, &Case::new(6, 3, 0.0, "maps of rows"), true),
    },
    ..Claim::INEQUALITY
};

fn contraction(ctx: &mut Context, case: &Case, largest: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.normals(n * d);
    let draws: Vec<f64> = (0..n * n).map(|_| ctx.uniform_in(0.1, 1.0)).collect();
    let weight = |i: usize, j: usize| draws[i.min(j) * n + i.max(j)];
    let degree = |i: usize| (0..n).filter(|j| *j != i).map(|j| weight(i, j)).sum::<f64>();
    let laplacian: Vec<f64> = (0..n * n)
        .map(|k| if k / n == k % n { degree(k / n) } else { -weight(k / n, k % n) })
        .collect();
    let Some(values) = symmetric_eigenvalues(&laplacian, n) else {
        return Ok(Finding::HypothesesMissed);
    };
    let rate = 2.0 * if largest { values[n - 1] } else { values[1] };
    let t = ctx.uniform_in(0.1, 3.0) / values[1];
    let flow = exponential(&laplacian.iter().map(|l| -2.0 * t * l).collect::<Vec<f64>>(), n);
    let end = mul(&flow, &x, d);
    let spread = |x: &[f64]| {
        let mean: Vec<f64> =
            (0..d).map(|c| x.iter().skip(c).step_by(d).sum::<f64>() / n as f64).collect();
        x.iter().enumerate().map(|(k, v)| (v - mean[k % d]).powi(2)).sum::<f64>().sqrt()
    };
    let rounding = 32.0 * f64::EPSILON * n as f64 * (1.0 + values[n - 1] * t) * norm(&x);
    Ok(Finding::at_most(
        spread(&end),
        (-ctx.claimed_constant(1.0) * rate * t).exp() * spread(&x) + rounding,
    ))
}
