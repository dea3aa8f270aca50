//! Hardmax with a definite form: solved.

use crate::theorem::prelude::*;

/// Hulls stay, and every token keeps to its cell: it moves on a straight line to the vertex of the cell.
///
/// # Derivation
///
/// A linear function is largest at a vertex of the hull. If `<x, v> >= <x, v'>` for all vertices v', then for `x+ = (1-g) x + g v` also
/// `<x+, v> - <x+, v'> = (1-g) (<x, v> - <x, v'>) + g (1 - <v, v'>) >= 0`: the token keeps to its cell, and a vertex, a unit vector,
/// stays where it is. So the hull stays, sigma(i) stays, and `x+ - v = (1-g) (x - v)` at every layer: the product.
pub static ENTRY: Claim = Claim {
    name: "fw-solved",
    title: "Hardmax, vertices that lead themselves: solved",
    statement: "x+ = x + g_t (argmax_v <x, v> - x), g_t in (0, 1), vertices v unit vectors among the tokens: x_i^t = Pi_t x_i^0 + (1 - Pi_t) v_sigma(i), Pi_t = prod_{s<t} (1 - g_s), sigma(i) the vertex of largest <x_i^0, v>; 30 layers, to 1e-13.",
    domain: Domain::HARDMAX,
    narrower: "B = I after a linear change of variables; no token within 1e-6 of the boundary of two cells",
    citation: "arXiv:2508.09628, Theorem on B > 0 (solution formula derived)",
    trials: (20, 200),
    trial: |case, ctx| solved(case, ctx, false),
    perturbed: "Pi_t",
    control: Control { what: "a token on the boundary of two cells", trial: |ctx| solved(&Case::new(6, 2, 0.0, "hardmax"), ctx, true) },
    ..Claim::IDENTITY
};

fn solved(case: &Case, ctx: &mut Context, on_boundary: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let m = (n / 2).max(2);
    let vertices = ctx.tokens_by(m, d, "uniform")?;
    let mut x = vertices.coordinates().to_vec();
    // Inside the hull of the vertices, where no token leads.
    for normals in ctx.normals((n - m) * m).chunks_exact(m) {
        let total = normals.iter().map(|g| g * g).sum::<f64>().max(f64::MIN_POSITIVE);
        x.extend((0..d).map(|c| normals.iter().enumerate().map(|(k, g)| g * g / total * vertices.row(k)[c]).sum::<f64>()));
    }
    if on_boundary {
        let middle: Vec<f64> = (0..d).map(|c| 0.5 * (vertices.row(0)[c] + vertices.row(1)[c])).collect();
        // The bisector of the first two may lie in a third cell: they are made the nearest ones.
        x.splice(m * d..(m + 1) * d, middle.iter().map(|v| 0.5 * v));
        x.splice(0..m * d, (0..m).flat_map(|i| if i < 2 { vertices.row(i).to_vec() } else { middle.iter().map(|v| -v).collect() }));
    }
    let start = Tokens::flat(d, x)?;
    let score = |i: usize, j: usize| dot(start.row(i), start.row(j));
    let leader = |i: usize| (0..m).max_by(|a, b| score(i, *a).total_cmp(&score(i, *b))).unwrap_or(0);
    for i in 0..n {
        let top = leader(i);
        let near = (0..n).any(|j| j != top && score(i, j) > score(i, top) - 1e-6);
        if near && !on_boundary {
            return Ok(Finding::Missed);
        }
    }
    let dynamics = Dynamics::of(Hardmax::new(None, 1e-12)?).with(Rescaled);
    let (mut z, mut left) = (start.clone(), 1.0);
    for _ in 0..30 {
        let g = ctx.uniform_in(0.02, 0.5);
        Layer::new(g)?.apply(&dynamics, &mut z);
        left *= 1.0 - g;
    }
    let left = ctx.stated(left);
    let stated = |i: usize, c: usize| left * start.row(i)[c] + (1.0 - left) * start.row(leader(i))[c];
    let off = (0..n * d).map(|k| (z.numbers()[k] - stated(k / d, k % d)).abs()).fold(0.0, nan_max);
    Ok(Finding::identity(off, 1e-13))
}
