//! Bounds on the velocity and on the weights.

use crate::num::sum::block_sum;
use crate::theorem::prelude::*;

/// `|x_i'| <= 1` (SA) and `<= e^|beta|` (USA); a Lipschitz constant; softmax rows are positive, sum
/// to 1, and do not depend on a common factor of the masses.
///
/// # Derivation
///
/// For the Lipschitz constant let all tokens move by at most eps. The projection of
/// `y_i = sum_j a_ij x_j`, `|y_i| <= 1`, changes by `eps |y_i|`, the values move `y_i` by eps, and
/// the logits, `dl_ij = beta (<dx_i, x_j> + <x_i, dx_j>)`, move it by the covariance of `x_j` and
/// `dl_ij` under the row, at most `2 |beta| eps`. Unnormalised weights are at most `e^|beta|` and
/// satisfy the same estimate.
pub static ENTRY: Claim = Claim {
    name: "speed-bound",
    title: "Speeds are at most 1 (SA) and e^|beta| (USA); rows sum to 1",
    lets: "w = 1 for SA and w = e^|beta| for USA (U1)",
    then: "Then |x_i'| <= w, and the velocities of two sets of tokens with the same masses differ \
           by at most 2 (1 + |beta|) w times their largest distance. Softmax rows are positive, \
           sum to 1 to 4 eps, and change by at most 4 eps if all masses are multiplied by a \
           common factor.",
    domain: Domain {
        n: Sizes::Range(1, 64),
        beta: Betas::Signed(0.01, 100.0),
        dynamics: &["sa", "usa", "causal-sa", "causal-usa"],
        laws: &["uniform", "cap:radius=0.3"],
        corners: &[(2, 2, 0.0), (64, 64, 0.0), (64, 2, 1.0)],
        ..Domain::ATTENTION
    },
    narrower: "Q = K = I; |beta| is limited so that no weight underflows",
    source: "arXiv:2312.10794, (2.3): convex combinations of unit vectors; the Lipschitz \
               constant is derived",
    trials: (80, 400),
    trial: |case, ctx| bound(case, ctx, 1.0),
    constant: "the bound of the speed",
    control: Control {
        what: "a hundredth of the bounds",
        trial: |ctx| bound(&Case::with_random_masses(6, 3, 0.5, "sa"), ctx, 0.01),
    },
    ..Claim::INEQUALITY
};

fn bound(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let y = Tokens::from_parts(
        case.d,
        ctx.tokens_with_law(case.n, case.d, case.law)?.coordinates().to_vec(),
        x.masses().to_vec(),
    );
    let (v, w) = (ctx.velocity(case, &x)?, ctx.velocity(case, &y)?);
    // Velocities have a relative error of 1e-13, and a token of vanishing own weight may attain the
    // bound.
    let limit = factor * ctx.claimed_constant(case.largest_weight()?) * (1.0 + 1e-13);
    let speed = Finding::at_most(v.chunks_exact(case.d).map(norm).fold(0.0, nan_max), limit);
    let difference: Vec<f64> = v.iter().zip(&w).map(|(a, b)| a - b).collect();
    let apart = x.rows().zip(y.rows()).map(|(a, b)| dist(a, b)).fold(0.0, nan_max);
    let change = Finding::at_most(
        difference.chunks_exact(case.d).map(norm).fold(0.0, nan_max),
        factor * case.lipschitz()? * apart,
    );
    Ok(speed.and(change).and(rows(case, ctx, &x)))
}

/// A row of weights as the dynamics computes it.
fn rows(case: &Case, ctx: &mut Context, x: &Tokens) -> Finding {
    let attention = Attention::new(case.beta);
    let (i, factor) = (ctx.index(case.n), ctx.log_uniform_in(1e-3, 1e3));
    let row = attention.row_weights(x, 0, i);
    let scaled = Tokens::from_parts(
        case.d,
        x.coordinates().to_vec(),
        x.masses().iter().map(|m| factor * m).collect(),
    );
    let moved = row
        .iter()
        .zip(attention.row_weights(&scaled, 0, i))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, nan_max);
    let positive = if row.iter().all(|a| *a > 0.0) { 0.0 } else { 1.0 };
    Finding::identity(nan_max((block_sum(&row) - 1.0).abs(), moved) + positive, 4.0 * f64::EPSILON)
}
