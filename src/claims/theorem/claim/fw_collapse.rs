//! Attention layers in R^d at finite beta: one point.

use crate::theorem::prelude::*;

/// Tokens of R^d under convex layers.
pub(super) const CONVEX: Domain = Domain {
    n: Sizes::Range(2, 12),
    d: Sizes::Range(1, 4),
    beta: Betas::Signed(0.01, 2.0),
    dynamics: &["sa"],
    laws: &["normal"],
    ..Domain::EQUAL_MASSES
};

/// Any two rows of weights share at least c, so the width in every direction shrinks by `1 - g c` at least.
///
/// # Derivation
///
/// Scores lie within `|beta| R^2` of 0, so every weight is at least `e^{-2 |beta| R^2}/n`. Two rows of weights share the sum over the n
/// tokens of the smaller weight, at least `c = e^{-2 |beta| R^2}`: the number of tokens cancels. So in any direction the averages of two
/// tokens differ by at most `1 - c` times the width, and after the layer the width is at most `(1 - g) + g (1 - c) = 1 - g c` of what it
/// was: with equality at beta = 0, where all averages are one point. Layers stay in the hull, so R does not grow; widths in all directions
/// tend to 0, and nested hulls to one point.
///
/// What rounding may do: coordinates are known to some `eps R` and an average of n to some `n eps R`; scores are known to some `d eps
/// |beta| R^2`, the weights relatively to that. A width is a difference of `<w, x>`, each of the size `|w| R`.
pub static ENTRY: Claim = Claim {
    name: "fw-collapse",
    title: "Convex attention layers: widths shrink by 1 - g c, to one point of the hull",
    statement: "x+ = (1-g) x + g sum_j softmax_j(beta <x_i, x_j>) x_j in R^d, |x_i| <= R, g in (0, 1]: a layer makes the width max_i <w, x_i> - \
                min_i <w, x_i> at most 1 - g c times as large, c = e^{-2 |beta| R^2} (for any number of tokens), to 16 eps (n + d)(1 + |beta| R^2) |w| R \
                (rounding); so that all tokens tend to one point of the hull. Tested for 2 |beta| R^2 <= 20, larger tokens being scaled down: \
                beyond, c is lost in rounding.",
    domain: CONVEX,
    narrower: "one layer, 8 directions",
    citation: "arXiv:2508.09628, Theorem on finite beta (factor derived)",
    trials: (60, 400),
    trial: |case, ctx| width(case, ctx, None),
    perturbed: "the constant c",
    control: Control { what: "c = 1 for two tokens", trial: |ctx| width(&Case::new(2, 1, 1.0, "sa"), ctx, Some(1.0)) },
    ..Claim::INEQUALITY
};

fn width(case: &Case, ctx: &mut Context, stated: Option<f64>) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (mut x, g) = (ctx.normals(n * d), ctx.uniform_in(0.05, 1.0));
    let far = x.chunks_exact(d).map(|r| dot(r, r)).fold(0.0, f64::max);
    let scale = (20.0 / (2.0 * case.beta.abs() * far)).sqrt().min(1.0);
    x.iter_mut().for_each(|v| *v *= scale);
    let (x, far) = (Tokens::flat(d, x)?, far * scale * scale);
    let c = ctx.stated(stated.unwrap_or((-2.0 * case.beta.abs() * far).exp()));
    let mut z = x.clone();
    Layer::new(g)?.apply(&Dynamics::of(Attention::new(case.beta)).with(Rescaled), &mut z);
    let rounding = 16.0 * f64::EPSILON * (n + d) as f64 * (1.0 + case.beta.abs() * far);
    let one = |w: &[f64]| {
        let range = |x: &Tokens| {
            let all = x.rows().map(|r| dot(r, w));
            all.clone().fold(f64::NEG_INFINITY, f64::max) - all.fold(f64::INFINITY, f64::min)
        };
        Finding::at_most(range(&z), (1.0 - g * c) * range(&x) + rounding * (dot(w, w) * far).sqrt())
    };
    // Of eight directions the closest to the bound.
    let found = ctx.normals(8 * d).chunks_exact(d).map(one).reduce(Finding::and);
    Ok(found.unwrap_or(Finding::Missed))
}
