//! Localmax: every token whose score is within a tolerance of the largest is a leader.

use crate::theorem::prelude::*;

/// # Derivation
///
/// For 0 < s < 1 a layer moves every token to a convex combination of itself, with weight 1 - s,
/// and of its leaders. So the new tokens lie in the old convex hull, and the support function of
/// the hull does not increase in any direction, for any tolerance.
pub static ENTRY: Claim = Claim {
    name: "hm-localmax-hull",
    title: "Localmax layers: the convex hull does not grow",
    lets: "x_i+ = x_i + s (m_i - x_i) with 0 < s < 1, where m_i is the mean of the x_j with <x_i, \
           x_j> >= M - T (1 + |M|), M = max_k <x_i, x_k>, T in [0.01, 0.5]",
    then: "The convex hull does not grow.",
    tested: "as: max_j <w, x_j> does not increase in 40 layers for 64 directions w, to 1e-13 of \
             the hull",
    domain: Domain {
        n: Sizes::Range(3, 20),
        d: Sizes::Fixed(2),
        laws: &["normal"],
        ..Domain::HARDMAX
    },
    narrower: "d = 2",
    source: "arXiv:2509.15958 (abstract: the hull tends to a polytope); derived",
    trials: (10, 100),
    trial: |case, ctx| {
        let x = Tokens::flat(2, ctx.normals(2 * case.n))?;
        let (s, tolerance) = (ctx.uniform_in(0.1, 0.9), ctx.log_uniform_in(0.01, 0.5));
        shrinks(x, s, tolerance)
    },
    control: Control {
        what: "s = 3",
        trial: |ctx| shrinks(Tokens::flat(2, ctx.normals(16))?, 3.0, 0.2),
    },
    ..Claim::INEQUALITY
};

fn shrinks(mut x: Tokens, s: f64, tolerance: f64) -> Result<Finding> {
    let dynamics = Dynamics::single(Hardmax::new(None, tolerance)?).with_normalisation(Rescaled);
    let directions: Vec<[f64; 2]> =
        (0..64).map(|k| TAU * f64::from(k) / 64.0).map(|t| [t.cos(), t.sin()]).collect();
    let support = |x: &Tokens| -> Vec<f64> {
        directions
            .iter()
            .map(|w| x.rows().map(|r| dot(w, r)).fold(f64::NEG_INFINITY, f64::max))
            .collect()
    };
    let size = x.numbers().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let (mut before, mut worst) = (support(&x), f64::NEG_INFINITY);
    for _ in 0..40 {
        Layer::new(s)?.apply(&dynamics, &mut x);
        let after = support(&x);
        worst = after.iter().zip(&before).map(|(a, b)| a - b).fold(worst, f64::max);
        before = after;
    }
    Ok(Finding::nonnegative(1e-13 - worst / size, 1e-13))
}

/// The number of leaders of the start, and the largest distance by which one of them has moved
/// after 200 layers of step 1/2.
pub(crate) fn leader_displacement(
    ctx: &mut Context,
    n: usize,
    tolerance: f64,
) -> Result<Option<f64>> {
    let x = Tokens::flat(2, ctx.normals(2 * n))?;
    let (rule, strict) = (Hardmax::new(None, tolerance)?, Hardmax::new(None, 1e-12)?);
    let mut leaders = Vec::new();
    for i in 0..n {
        if strict.leaders(&x, i)? == [i] && rule.leaders(&x, i)? == [i] {
            leaders.push(i);
        }
    }
    let (dynamics, mut z) = (Dynamics::single(rule).with_normalisation(Rescaled), x.clone());
    for _ in 0..200 {
        Layer::new(0.5)?.apply(&dynamics, &mut z);
    }
    let far = |i: &usize| (z.row(*i)[0] - x.row(*i)[0]).hypot(z.row(*i)[1] - x.row(*i)[1]);
    Ok(leaders.iter().map(far).fold(None, |m: Option<f64>, v| Some(m.map_or(v, |m| m.max(v)))))
}
