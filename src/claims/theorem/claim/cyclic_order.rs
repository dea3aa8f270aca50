//! Order on the circle.

use super::rotation::SHARE;
use crate::theorem::prelude::*;

/// A common field on the circle cannot let tokens pass each other. More: with `phi` the angle to a token and E, Var its mean and variance
/// under the row of weights, the field of SA has the derivative `beta Var(sin phi) - E cos phi >= -1` (for beta < 0: `>= -1 - |beta|`),
/// that of USA `sum m e^{beta cos phi} (beta sin^2 phi - cos phi) >= -e^|beta|`; a gap closes no faster. For beta >= 0
/// it closes as fast near consensus.
///
/// # Derivation
///
/// SA and USA without a mask move all tokens by one vector field of the circle, `theta' = X(theta, mu)`, whose solutions are unique:
/// tokens cannot pass each other. Under a causal mask each token has its own field, and they can.
///
/// With phi the angle from a place to a token, E, Var and Cov under the row of weights there, the field of SA is `E sin(phi)`. A move of
/// the place changes phi by -1 and the logits `beta cos(phi)` by `beta sin(phi)`, so its derivative is `beta Var(sin phi) - E cos(phi) >=
/// -1`, and for `beta < 0` at least `-1 - |beta|`. That of USA is `sum m e^{beta cos phi} (beta sin^2(phi) - cos(phi)) >= -e^{|beta|}`:
/// for b > 0 the function `(cos - b sin^2) e^{b cos} = (1/b) sum k^2 I_k(b) cos(k phi)` is in size at most its value at 0, `e^b`, and -b
/// turns it by pi and changes its sign. The difference of two neighbours' velocities is the integral of this derivative over their gap,
/// so `gap' >= -rate * gap`. For beta >= 0 the rate is that of consensus, near which gaps close as fast; for
/// `beta < 0` consensus closes at the smaller rates 1 (SA) and `e^{-|beta|}` (USA), and the bounds are not claimed to be sharp.
pub static ENTRY: Claim = Claim {
    name: "cyclic-order",
    title: "Cyclic order on the circle is preserved",
    statement: "On the circle the lifted angles of SA and USA keep their cyclic order, and no gap closes faster than at this rate (for beta >= 0 that of consensus): \
                gap(t) >= gap(0) e^{-rate t}, rate = 1 + max(-beta, 0) for SA and e^|beta| for USA (U1); to 2e-12.",
    domain: Domain {
        n: Sizes::Range(1, 64),
        d: Sizes::Fixed(2),
        dynamics: &["sa", "usa"],
        corners: &[(8, 2, 0.0), (5, 2, 2.0), (16, 2, 12.0)],
        ..Domain::SYMMETRY
    },
    narrower: "Q = K = V = I",
    citation: "uniqueness for the common field X[mu]; false for causal masks; the rate is derived",
    trials: (40, 250),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        gaps(case, ctx, &x)
    },
    perturbed: "the rate",
    control: Control {
        what: "causal SA from (0, 1.2, 1.15), beta = 1",
        trial: |ctx| gaps(&Case::new(3, 2, 1.0, "causal-sa"), ctx, &Tokens::from_angles(&[0.0, 1.2, 1.15])?),
    },
    ..Claim::INEQUALITY
};

/// The smallest distance of a gap from its bound at a random time up to three units of the rate.
fn gaps(case: &Case, ctx: &mut Context, x: &Tokens) -> Result<Finding> {
    let rate = match case.weights()? {
        RowWeights::Exponential => case.beta.abs().exp(),
        RowWeights::Softmax | RowWeights::Sinkhorn => 1.0 + (-case.beta).max(0.0),
    };
    let t = ctx.uniform_in(0.0, 3.0) / rate;
    let stated = ctx.stated(rate);
    let end = ctx.flowed_within(&case.build()?, x, t, SHARE)?;
    let angles = x.angles();
    let mut order: Vec<usize> = (0..case.n).collect();
    order.sort_by(|&a, &b| angles[a].total_cmp(&angles[b]));
    let (before, after) = (lifted(x, &order), lifted(&end, &order));
    let margins = before.iter().zip(after).map(|(b, a)| Finding::at_least(a + 2e-12, b * (-stated * t).exp()));
    Ok(margins.reduce(Finding::and).unwrap_or(Finding::Missed))
}

/// Gaps between neighbours of the order, in `(-pi, pi]` but for the one that goes round: they add up to one turn.
fn lifted(x: &Tokens, order: &[usize]) -> Vec<f64> {
    let n = order.len();
    let gap = |k: usize| {
        let (a, b) = (x.row(order[k]), x.row(order[(k + 1) % n]));
        (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1])
    };
    let mut gaps: Vec<f64> = (0..n).map(gap).collect();
    if gaps.iter().sum::<f64>() < PI {
        let widest = (0..n).min_by(|a, b| gaps[*a].total_cmp(&gaps[*b])).unwrap_or(0);
        gaps[widest] += TAU;
    }
    gaps
}
