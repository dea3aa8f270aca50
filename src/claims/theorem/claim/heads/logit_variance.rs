//! Scores are divided by the square root of the dimension.

use crate::theorem::prelude::*;

/// The inner product of independent normal vectors has the variance d.
///
/// # Derivation
///
/// z = sum_c q_c k_c has E z^2 = sum E q_c^2 E k_c^2 = d. In E z^4 the d terms with four equal
/// indices give E q^4 E k^4 = 9 each, the 3 d (d-1) pairs of pairs give 1: 3 d^2 + 6 d. Given q, z
/// is normal of variance `|q|^2`, and `|q|^2` is chi-squared with d degrees of freedom:
/// `E z^8 = 105 E |q|^8 = 105 d (d+2) (d+4) (d+6)`. So the standard errors are known exactly; an
/// empirical one of the heavy-tailed z^4 is too small whenever the sample mean is too small.
pub static ENTRY: Claim = Claim {
    name: "logit-variance",
    title: "Independent normal q, k: <q, k> has variance d and kurtosis 3 + 6/d",
    lets: "q and k in R^d be independent and standard normal",
    then: "Then <q, k> has the variance d and the kurtosis 3 + 6/d, so <q, k>/sqrt(d) has \
           variance 1.",
    tested: "with d in {4, 16, 64} and 4000 pairs: the means of <q, k>^2 and <q, k>^4 are d and \
             d^2 (3 + 6/d), each to 6 exact standard errors",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::List(&[4, 16, 64]),
        laws: &["uniform"],
        ..Domain::MAPS
    },
    source: "arXiv:1706.03762, footnote 4; kurtosis derived",
    trials: (3, 20),
    trial: |case, ctx| moments(ctx, case.d, false),
    control: Control { what: "k = q", trial: |ctx| moments(ctx, 16, true) },
    ..Claim::LAW
};

/// Squares of 4000 products of normal vectors.
pub(crate) fn squares(ctx: &mut Context, d: usize, same: bool) -> Vec<f64> {
    let (mut q, mut k) = (vec![0.0; d], vec![0.0; d]);
    let draw = |_| {
        ctx.method_rng().normals(&mut q);
        ctx.method_rng().normals(&mut k);
        dot(&q, if same { &q } else { &k }).powi(2)
    };
    (0..4000).map(draw).collect()
}

fn moments(ctx: &mut Context, d: usize, same: bool) -> Result<Finding> {
    let squares = squares(ctx, d, same);
    let fourth: Vec<f64> = squares.iter().map(|s| s * s).collect();
    let size = d as f64;
    let compared = |values: &[f64], stated: f64, square: f64| {
        let error = ((square - stated * stated) / values.len() as f64).sqrt();
        Finding::law(mean_and_error(values).0, stated, 6.0 * error, 0.0)
    };
    let (second, eighth) = (
        size * size * (3.0 + 6.0 / size),
        105.0 * size * (size + 2.0) * (size + 4.0) * (size + 6.0),
    );
    Ok(compared(&squares, size, second).and(compared(&fourth, second, eighth)))
}
