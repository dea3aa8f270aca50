//! "Layer normalisation preserves the affine rank."

use super::super::heads::rank_collapse_cubic::ROWS;
use crate::theorem::prelude::*;

/// This is false: three tokens on a line that misses the multiples of 1 are mapped to an arc, not
/// to a line. Normalisation scales rows, so it preserves the rank of the matrix X C of centred
/// rows.
///
/// # Derivation
///
/// Let the line be a + s b and C = I - 1 1^T/d the centring. LN sends its points to sqrt(d) N(C a +
/// s C b). If C a and C b are independent, these are points of a circle in their plane, at distinct
/// angles for distinct s. A line meets a circle at most twice, so three of them are never collinear
/// and the second singular value of their differences is positive.
/// The correct statement: LN(X) = D X C with a positive diagonal D, so the rank of the matrix X C
/// of centred rows is preserved. It is 2 here, and the affine rank changes from 1 to 2. If C a and
/// C b are parallel (the control) all images are the two points +-N(C b), which lie on a line.
pub static ENTRY: Claim = Claim {
    name: "affine-rank-as-said",
    title: "Layer normalisation preserves the affine rank (as said)",
    then: "Three collinear tokens of R^d are collinear after LN(x) = sqrt(d) N(x - mean(x) 1).",
    tested: "as: the second singular value of their differences is at most 1e-7 of the first",
    domain: Domain { n: Sizes::Fixed(3), d: Sizes::Range(3, 8), laws: &["placed"], ..ROWS },
    narrower: "affine rank 1",
    source: "arXiv:2604.23681 (abstract, \"preserves affine rank exactly\")",
    status: Status::Folklore,
    correct: "LN(X) = D X C with a positive diagonal D: the rank of the centred rows X C is \
               preserved. The affine rank of three points on a line goes from 1 to 2.",
    trials: (10, 60),
    trial: |case, ctx| second(ctx, case.d, false),
    control: Control {
        what: "a line through the multiples of 1: the centred tokens lie on a line through 0",
        trial: |ctx| second(ctx, 4, true),
    },
    ..Claim::INEQUALITY
};

/// The second singular value of the differences of three normalised collinear tokens, relative to
/// the first.
fn second(ctx: &mut Context, d: usize, through_ones: bool) -> Result<Finding> {
    let (start, along) = (ctx.normals(d), ctx.normals(d));
    let token = |s: f64| {
        let mut x: Vec<f64> =
            (0..d).map(|c| if through_ones { 0.7 } else { start[c] } + s * along[c]).collect();
        let mean = x.iter().sum::<f64>() / d as f64;
        x.iter_mut().for_each(|v| *v -= mean);
        let size = norm(&x);
        scale((d as f64).sqrt() / size, &mut x);
        x
    };
    let [a, b, c] = [token(-1.0), token(0.3), token(1.2)];
    let (u, v): (Vec<f64>, Vec<f64>) = (0..d).map(|k| (b[k] - a[k], c[k] - a[k])).unzip();
    let dot = crate::num::sum::dot;
    let gram = symmetric_eigenvalues(&[dot(&u, &u), dot(&u, &v), dot(&u, &v), dot(&v, &v)], 2)
        .unwrap_or_default();
    let [low, high] = gram[..] else { return Ok(Finding::HypothesesMissed) };
    Ok(Finding::at_most((low.max(0.0) / high).sqrt(), 1e-7))
}
