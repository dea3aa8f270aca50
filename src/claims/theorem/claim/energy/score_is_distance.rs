//! Scores that rank by distance.

use crate::theorem::prelude::*;

/// W = c I on the unit sphere; any other W gives another ranking.
///
/// # Derivation
///
/// <x, y> = 1 - |x - y|^2/2. If x^T W y depends only on |x - y|, it is invariant under all
/// rotations of the pair, so W commutes with them: W = c I for d >= 3, and c I up to a rotation of
/// the plane for d = 2, which a reflection excludes.
pub static ENTRY: Claim = Claim {
    name: "score-is-distance",
    title: "x^T W y = c (1 - |x - y|^2/2) on the unit sphere for W = c I",
    then: "For unit vectors x, y in R^d and W = c I, x^T W y = c (1 - |x - y|^2/2).",
    tested: "with c in [1/10, 10], to 1e-14 c d",
    domain: Domain { n: Sizes::Fixed(2), beta: Betas::Unused, ..Domain::SCORED },
    source: "an essay on attention as energy (for any W); derived",
    trials: (8, 60),
    trial: |case, ctx| {
        let (x, c) = (ctx.tokens(case)?, ctx.log_uniform_in(0.1, 10.0));
        Ok(ranked(&x, &vec![c; case.d], c))
    },
    control: Control {
        what: "W = diag(1, 4)",
        trial: |ctx| {
            let x = ctx.tokens(&Case::new(2, 2, 0.0, "softmax weights"))?;
            Ok(ranked(&x, &[1.0, 4.0], 1.0))
        },
    },
    ..Claim::IDENTITY
};

fn ranked(x: &Tokens, diagonal: &[f64], c: f64) -> Finding {
    let (a, b) = (x.row(0), x.row(1));
    let score: f64 = a.iter().zip(b).zip(diagonal).map(|((a, b), w)| w * a * b).sum();
    let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
    Finding::identity((score - c * (1.0 - 0.5 * square)).abs(), 1e-14 * c * diagonal.len() as f64)
}
