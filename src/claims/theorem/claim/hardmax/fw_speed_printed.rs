//! Hardmax with a definite form: "exponentially fast".

use crate::theorem::prelude::*;

/// This is false: with `g_t = 2^{-t-1}` the fraction `prod (1 - 2^{-k}) = 0.288788...` of the
/// distance always remains. The steps must be bounded below.
///
/// # Derivation
///
/// A token keeps its vertex v (`fw-solved`), so x^{t+1} - v = (1 - g_t) (x^t - v), and the
/// remaining fraction of the distance is prod_t (1 - g_t). It tends to 0 if and only if sum_t g_t
/// diverges, and exponentially if the g_t are bounded below: (1 - g)^t. For g_t = 2^{-t-1} the sum
/// is 1 and the product is prod_{k>=1} (1 - 2^{-k}) = 0.288788..., always above a hundredth.
pub static ENTRY: Claim = Claim {
    name: "fw-speed-printed",
    title: "Hardmax, B > 0: tokens reach their vertices exponentially fast for any g_t in (0, 1) \
            (as printed)",
    then: "For every sequence g_t in (0, 1), tokens tend to their vertices exponentially fast.",
    tested: "with g_t = 2^{-t-1}: after 60 layers at most a hundredth of the distance remains",
    domain: Domain { n: Sizes::Range(3, 12), ..Domain::HARDMAX },
    narrower: "one sequence g_t",
    source: "arXiv:2508.09628 v1, Theorem on B > 0",
    status: Status::Misprinted,
    correct: "The remaining distance is the product of all 1 - g_t. It tends to 0 exponentially if \
               the steps are bounded below.",
    trials: (10, 60),
    trial: |case, ctx| remaining_distance(case, ctx, |t| 0.5f64.powi(t + 1)),
    control: Control {
        what: "g_t = 1/2 for all t",
        trial: |ctx| remaining_distance(&Case::new(6, 3, 0.0, "hardmax"), ctx, |_| 0.5),
    },
    ..Claim::INEQUALITY
};

/// The largest fraction of a token's distance that remains.
fn remaining_distance(case: &Case, ctx: &mut Context, g: fn(i32) -> f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let mut x = ctx.tokens_with_law(n, d, "uniform")?.coordinates().to_vec();
    // The last token is inside, near the first vertex.
    let inside: Vec<f64> = x[..d].iter().map(|v| 0.5 * v).collect();
    x.splice((n - 1) * d.., inside);
    let start = Tokens::flat(d, x)?;
    if (1..n - 1).any(|j| dot(start.row(0), start.row(j)) > 1.0 - 1e-6) {
        return Ok(Finding::HypothesesMissed);
    }
    let dynamics = Dynamics::single(Hardmax::new(None, 1e-12)?).with_normalisation(Rescaled);
    let mut z = start.clone();
    for t in 0..60 {
        Layer::new(g(t))?.apply(&dynamics, &mut z);
    }
    let distance = |x: &Tokens| {
        (0..d).map(|c| (x.row(n - 1)[c] - x.row(0)[c]).powi(2)).fold(0.0, nan_max).sqrt()
    };
    Ok(Finding::at_most(distance(&z) / distance(&start), 1e-2))
}
