//! Hardmax with a definite form: the solution.

use crate::theorem::prelude::*;

/// The hull is constant and every token stays in its region of dominance, so it moves on a straight
/// line to the vertex of this region.
///
/// # Derivation
///
/// A linear function is largest at a vertex of the hull. If `<x, v> >= <x, v'>` for all vertices
/// v', then for `x+ = (1-g) x + g v` also
/// `<x+, v> - <x+, v'> = (1-g) (<x, v> - <x, v'>) + g (1 - <v, v'>) >= 0`: the token keeps its
/// vertex, and a vertex, a unit vector, does not move. So the hull and sigma(i) are constant, and
/// `x+ - v = (1-g) (x - v)` at every layer, which gives the product.
pub static ENTRY: Claim = Claim {
    name: "fw-solved",
    title: "Hardmax with vertices that are their own leaders: the solution",
    lets: "x+ = x + g_t (argmax_v <x, v> - x) with g_t in (0, 1), where the vertices v are unit \
           vectors among the tokens",
    then: "Then x_i^t = Pi_t x_i^0 + (1 - Pi_t) v_sigma(i) with Pi_t = prod_{s<t} (1 - g_s) and \
           sigma(i) the vertex with the largest <x_i^0, v>.",
    tested: "for 30 layers, to 1e-13",
    domain: Domain::HARDMAX,
    narrower: "B = I after a linear change of variables; no token within 1e-6 of a tie between two \
               vertices",
    source: "arXiv:2508.09628, Theorem on B > 0 (solution formula derived)",
    trials: (20, 200),
    trial: |case, ctx| solved(case, ctx, false),
    constant: "Pi_t",
    control: Control {
        what: "a token with a tie between two vertices",
        trial: |ctx| solved(&Case::new(6, 2, 0.0, "hardmax"), ctx, true),
    },
    ..Claim::IDENTITY
};

fn solved(case: &Case, ctx: &mut Context, on_boundary: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let m = (n / 2).max(2);
    let vertices = ctx.tokens_with_law(m, d, "uniform")?;
    let mut x = vertices.coordinates().to_vec();
    // Inside the hull of the vertices, where no token is a leader.
    for normals in ctx.normals((n - m) * m).chunks_exact(m) {
        let total = normals.iter().map(|g| g * g).sum::<f64>().max(f64::MIN_POSITIVE);
        x.extend((0..d).map(|c| {
            normals.iter().enumerate().map(|(k, g)| g * g / total * vertices.row(k)[c]).sum::<f64>()
        }));
    }
    if on_boundary {
        let middle: Vec<f64> =
            (0..d).map(|c| 0.5 * (vertices.row(0)[c] + vertices.row(1)[c])).collect();
        // A third vertex may dominate on the bisector of the first two: the two nearest vertices
        // are taken.
        x.splice(m * d..(m + 1) * d, middle.iter().map(|v| 0.5 * v));
        x.splice(
            0..m * d,
            (0..m).flat_map(|i| {
                if i < 2 { vertices.row(i).to_vec() } else { middle.iter().map(|v| -v).collect() }
            }),
        );
    }
    let start = Tokens::flat(d, x)?;
    let score = |i: usize, j: usize| dot(start.row(i), start.row(j));
    let leader =
        |i: usize| (0..m).max_by(|a, b| score(i, *a).total_cmp(&score(i, *b))).unwrap_or(0);
    for i in 0..n {
        let top = leader(i);
        let near = (0..n).any(|j| j != top && score(i, j) > score(i, top) - 1e-6);
        if near && !on_boundary {
            return Ok(Finding::HypothesesMissed);
        }
    }
    let dynamics = Dynamics::single(Hardmax::new(None, 1e-12)?).with_normalisation(Rescaled);
    let (mut z, mut left) = (start.clone(), 1.0);
    for _ in 0..30 {
        let g = ctx.uniform_in(0.02, 0.5);
        Layer::new(g)?.apply(&dynamics, &mut z);
        left *= 1.0 - g;
    }
    let left = ctx.claimed_constant(left);
    let stated =
        |i: usize, c: usize| left * start.row(i)[c] + (1.0 - left) * start.row(leader(i))[c];
    let off = (0..n * d).map(|k| (z.numbers()[k] - stated(k / d, k % d)).abs()).fold(0.0, nan_max);
    Ok(Finding::identity(off, 1e-13))
}
