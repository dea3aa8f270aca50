//! What the claims about tokens in R^d share.

use crate::attention::{Matrix, model::Model};
use crate::num::dense::symmetric_eigen;
use crate::theorem::prelude::*;

/// The part of a normal matrix that [`near_identity`] adds is one over this number.
pub const PARTS: f64 = 3.0;

/// Normal tokens of R^d under one head with value matrix V and scores `beta <Q x_i, x_j>`.
pub const FLAT: Domain = Domain {
    n: Sizes::Range(2, 12),
    d: Sizes::Range(1, 4),
    beta: Betas::Log(0.1, 2.0),
    dynamics: &["sa"],
    laws: &[],
    draws: "normal tokens",
    ..Domain::ATTENTION
};

/// The same with beta = 1 and equal masses.
pub const UNIT: Domain = Domain { beta: Betas::List(&[1.0]), masses: Masses::Equal, ..FLAT };

/// Points of R^d from normal numbers, with the masses of the case.
pub fn points(case: &Case, ctx: &mut Context) -> Result<Tokens> {
    let x = Tokens::flat(case.d, ctx.normals(case.n * case.d))?;
    match case.masses {
        Masses::Equal => Ok(x),
        Masses::Random => x.with_masses(&ctx.masses(case.n)),
    }
}

/// Attention in R^d with these Q and V, for x or (if `rescaled`) for `z = e^{-tV} x`.
pub fn attention(
    beta: f64,
    n: usize,
    d: usize,
    q: Option<Matrix>,
    v: Option<Matrix>,
    rescaled: bool,
) -> Result<Dynamics> {
    let model = Model {
        normalisation: (!rescaled).then(|| "none".into()),
        rescaled,
        heads: vec![[q, None, v, None]],
        ..Model::default()
    };
    model.build("sa", false, &Spec::new(beta, n), d)
}

/// Tokens of R^d after time t, at a multiple of the context's tolerance.
pub fn evolve(
    ctx: &mut Context,
    dynamics: &Dynamics,
    x: &Tokens,
    t: f64,
    share: f64,
) -> Result<Tokens> {
    let options = Options { rtol: ctx.rtol() * share, merge_radius: 0.0, ..Options::default() };
    let end = solve(dynamics, x, t, &options, &mut [])?;
    if end.outcome.end_state_is_known() {
        Ok(end.clusters)
    } else {
        Err(Error::Numerical { what: end.outcome.to_string() })
    }
}

/// `I + G/3` with normal G.
pub fn near_identity(ctx: &mut Context, d: usize) -> Vec<f64> {
    let g = ctx.normals(d * d);
    identity(d).iter().zip(&g).map(|(i, g)| i + g / PARTS).collect()
}

/// The largest distance to the nearest of 0 and the boundary of the hull, over all tokens, in the
/// plane of their first two coordinates.
pub fn depth_in_hull(z: &Tokens) -> f64 {
    // The smallest distance to a supporting line, over the normals of all lines through two tokens:
    // they include the edges.
    let lines = z.rows().flat_map(|a| z.rows().map(move |b| [a[1] - b[1], b[0] - a[0]]));
    let normals: Vec<[f64; 2]> = lines
        .filter_map(|w| Some(w[0].hypot(w[1])).filter(|l| *l > 0.0).map(|l| [w[0] / l, w[1] / l]))
        .collect();
    let reach = |w: &[f64; 2]| z.rows().map(|r| dot(w, &r[..2])).fold(f64::NEG_INFINITY, nan_max);
    if normals.is_empty() {
        return 0.0;
    }
    let supports: Vec<f64> = normals.iter().map(reach).collect();
    let depth = |r: &[f64]| {
        let lines = normals.iter().zip(&supports).map(|(w, s)| s - dot(w, &r[..2]));
        lines.fold(r[0].hypot(r[1]), nan_min)
    };
    z.rows().map(depth).fold(0.0, nan_max)
}

/// The diameter of the tokens in the plane of their first two coordinates.
pub fn plane_diameter(x: &Tokens) -> f64 {
    pairs(x.n())
        .map(|(i, j)| (x.row(i)[0] - x.row(j)[0]).hypot(x.row(i)[1] - x.row(j)[1]))
        .fold(0.0, nan_max)
}

/// The largest e such that four tokens have pairwise distances of at least e: the tokens have at
/// most three limits iff it tends to 0. The distance is the largest difference of these
/// coordinates.
pub fn spread_of_four(x: &Tokens, coordinates: &[usize]) -> f64 {
    let distance = |i: usize, j: usize| {
        coordinates.iter().map(|c| (x.row(i)[*c] - x.row(j)[*c]).abs()).fold(0.0, nan_max)
    };
    let mut widest = 0.0f64;
    for (i, j) in pairs(x.n()) {
        let two = distance(i, j);
        for k in i + 1..x.n() {
            let three = nan_min(two, nan_min(distance(i, k), distance(j, k)));
            for l in k + 1..x.n() {
                let to_l = nan_min(distance(i, l), nan_min(distance(j, l), distance(k, l)));
                widest = nan_max(widest, nan_min(three, to_l));
            }
        }
    }
    widest
}

/// Nodes and weights of the Gauss-Hermite rule for the standard normal law: eigenvalues of the
/// Jacobi matrix.
pub fn gauss_hermite(n: usize) -> Option<Vec<(f64, f64)>> {
    let entry =
        |i: usize, j: usize| if i.abs_diff(j) == 1 { (i.max(j) as f64).sqrt() } else { 0.0 };
    let (values, vectors) =
        symmetric_eigen(&(0..n * n).map(|k| entry(k / n, k % n)).collect::<Vec<_>>(), n)?;
    Some(values.into_iter().zip(vectors.chunks_exact(n).map(|v| v[0] * v[0])).collect())
}
