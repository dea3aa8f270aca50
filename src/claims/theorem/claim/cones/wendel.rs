//! Wendel's theorem.

use crate::sphere::cap::{Hemisphere, hemisphere};
use crate::theorem::prelude::*;
use crate::theory::wendel::probability;

/// For n <= d all points lie in a hemisphere almost surely (arXiv:2312.10794, Theorem 6.3), so that
/// `cone-collapse` applies to every uniform start.
///
/// # Derivation
///
/// The points are in general position almost surely. Signs `s_i` are called good if some `w` has
/// `<w, s_i x_i>` > 0 for all `i`; good sign vectors are the cells into which the `n` hyperplanes
/// orthogonal to the `x_i` cut `R^d`. Let there be `C(n, d)` of them. The n-th hyperplane cuts in
/// two exactly the cells that it meets, and these are the cells of the other `n - 1` within it:
/// `C(n, d) = C(n-1, d) + C(n-1, d-1)`, with `C(1, d) = C(n, 1) = 2`. So `C(n, d) = 2 sum_{k<d}
/// binom(n-1, k)`. The law does not change if points are reflected, so all `2^n` sign vectors are
/// good with the same probability, and that is `C(n, d)/2^n`. For `n <= d` the sum has all binomial
/// coefficients of `n - 1`.
pub static ENTRY: Claim = Claim {
    name: "wendel",
    title: "Wendel: the probability that random points lie in one hemisphere",
    then: "The probability that `n` iid uniform points of `S^{d-1}` lie in a common open \
           hemisphere is `2^{-(n-1)} sum_{k<d} C(n-1, k)`, which is 1 for `n <= d`.",
    tested: "by the frequency in {DRAWS} draws, to eight standard errors, three of which are \
             counted as the sampling error of the margin; for `n <= d` every draw lies in a \
             hemisphere",
    numbers: &[("DRAWS", DRAWS as f64)],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Range(2, 12),
        laws: &["uniform"],
        ..Domain::FREE
    },
    source: "arXiv:2312.10794, Theorem 6.7 (Wendel 1962)",
    trials: (6, 30),
    trial: |case, ctx| frequency(case, ctx, probability(case.n, case.d)),
    constant: "the probability",
    control: Control {
        what: "the formula with `d + 1` in place of `d`",
        trial: |ctx| frequency(&Case::new(6, 3, 0.0, ""), ctx, probability(6, 4)),
    },
    ..Claim::LAW
};

/// Draws whose frequency is compared with the probability.
const DRAWS: usize = 2000;

fn frequency(case: &Case, ctx: &mut Context, p: f64) -> Result<Finding> {
    let p = ctx.claimed_constant(p);
    let law = Law::parse(case.law)?;
    let mut inside = 0usize;
    for _ in 0..DRAWS {
        inside += usize::from(matches!(
            hemisphere(&law.sample(case.n, case.d, ctx.method_rng())?),
            Hemisphere::Open { .. }
        ));
    }
    if case.n <= case.d {
        return Ok(Finding::exact(inside, DRAWS));
    }
    // A frequency of 0 or 1 gets the standard error of a frequency that differs by one draw.
    let spread = (p * (1.0 - p)).max(1.0 / DRAWS as f64);
    let standard_error = (spread / DRAWS as f64).sqrt();
    Ok(Finding::law(inside as f64 / DRAWS as f64, p, 8.0 * standard_error, standard_error))
}
