//! Attention layers in R^d at finite beta: all tokens tend to one point.

use crate::theorem::prelude::*;

/// Tokens of R^d under convex layers.
pub(crate) const CONVEX: Domain = Domain {
    n: Sizes::Range(2, 12),
    d: Sizes::Range(1, 4),
    beta: Betas::Signed(0.01, 2.0),
    dynamics: &["sa"],
    laws: &["normal"],
    ..Domain::EQUAL_MASSES
};

/// Convex layers in R^d. Any two rows of weights have at least the weight c in common, so the width
/// in every direction shrinks by a factor of at most 1 - g c.
///
/// # Derivation
///
/// Scores lie within `|beta| R^2` of 0, so every weight is at least `e^{-2 |beta| R^2}/n`. The
/// weight that two rows have in common, the sum over the n tokens of the smaller weight, is at
/// least `c = e^{-2 |beta| R^2}`; the number of tokens cancels. So in any direction the averages of
/// two tokens differ by at most `1 - c` times the width, and after the layer the width is at most
/// `(1 - g) + g (1 - c) = 1 - g c` times its previous value, with equality at beta = 0, where all
/// averages coincide. Layers stay in the hull, so R does not grow; widths in all directions tend to
/// 0, and nested hulls to one point.
///
/// Rounding: coordinates have an error of some `eps R`, an average of n of some `n eps R`; scores
/// have an error of some `d eps |beta| R^2`, and so have the weights, relatively. A width is a
/// difference of `<w, x>`, each of the size `|w| R`.
pub static ENTRY: Claim = Claim {
    name: "fw-collapse",
    title: "Convex attention layers: widths shrink by the factor 1 - g c, and all tokens tend to \
            one point",
    lets: "x_i+ = (1-g) x_i + g sum_j softmax_j(beta <x_i, x_j>) x_j in R^d with |x_i| <= R and g \
           in (0, 1], and let c = e^{-2 |beta| R^2}",
    then: "For any number of tokens and any vector w, a layer multiplies the width max_i <w, x_i> \
           - min_i <w, x_i> by at most 1 - g c. So all tokens tend to one point of their convex \
           hull.",
    tested: "for 2 |beta| R^2 <= 20 (larger tokens are scaled down, since then c is lost in \
             rounding), to 16 eps (n + d)(1 + |beta| R^2) |w| R",
    domain: CONVEX,
    narrower: "one layer, 8 directions",
    source: "arXiv:2508.09628, Theorem on finite beta (factor derived)",
    trials: (60, 400),
    trial: |case, ctx| width_bound(case, ctx, None),
    constant: "the constant c",
    control: Control {
        what: "c = 1 for two tokens",
        trial: |ctx| width_bound(&Case::new(2, 1, 1.0, "sa"), ctx, Some(1.0)),
    },
    ..Claim::INEQUALITY
};

fn width_bound(case: &Case, ctx: &mut Context, stated: Option<f64>) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (mut x, g) = (ctx.normals(n * d), ctx.uniform_in(0.05, 1.0));
    let far = x.chunks_exact(d).map(|r| dot(r, r)).fold(0.0, f64::max);
    let scale = (20.0 / (2.0 * case.beta.abs() * far)).sqrt().min(1.0);
    x.iter_mut().for_each(|v| *v *= scale);
    let (x, far) = (Tokens::flat(d, x)?, far * scale * scale);
    let c = ctx.claimed_constant(stated.unwrap_or((-2.0 * case.beta.abs() * far).exp()));
    let mut z = x.clone();
    Layer::new(g)?
        .apply(&Dynamics::single(Attention::new(case.beta)).with_normalisation(Rescaled), &mut z);
    let rounding = 16.0 * f64::EPSILON * (n + d) as f64 * (1.0 + case.beta.abs() * far);
    let one = |w: &[f64]| {
        let range = |x: &Tokens| {
            let all = x.rows().map(|r| dot(r, w));
            all.clone().fold(f64::NEG_INFINITY, f64::max) - all.fold(f64::INFINITY, f64::min)
        };
        Finding::at_most(range(&z), (1.0 - g * c) * range(&x) + rounding * (dot(w, w) * far).sqrt())
    };
    // The direction, of eight, that is closest to the bound.
    let found = ctx.normals(8 * d).chunks_exact(d).map(one).reduce(Finding::and);
    Ok(found.unwrap_or(Finding::HypothesesMissed))
}
