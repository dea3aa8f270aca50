//! Tokens in R^d under a paranormal V, with scores that mix its two subspaces.

use super::rd_rescaling::{attention, evolve};
use crate::theorem::prelude::*;

/// One estimate of the printed proof needs scores that respect the two subspaces. This claim tests
/// the conclusion without this hypothesis.
pub static ENTRY: Claim = Claim {
    name: "rd-paranormal",
    title: "R^3, V = diag(1, 1, -1/2): tokens tend to the boundary of a polygon times a line, for \
            any positive scores",
    lets: "V = diag(1, 1, -1/2) with scores <Q x_i, Q x_j>, Q = I + G/3, G normal",
    then: "The rescaled tokens z tend to the boundary of a polygon in the plane of (z_1, z_2), \
           times a line, or to 0.",
    tested: "at t = 12: every token has (z_1, z_2) within 1e-3 of the boundary of their convex \
             hull or of 0, in units of the diameter at the start (the hull may shrink to a point)",
    domain: Domain {
        n: Sizes::Range(5, 10),
        d: Sizes::Fixed(3),
        beta: Betas::List(&[1.0]),
        masses: Masses::Equal,
        ..Domain::FLAT
    },
    narrower: "d = 3, dim F = 2; evaluated at t = 12",
    source: "arXiv:2305.05465, Theorem 5.3 (paranormal V; its proof covers scores that respect \
               the two subspaces)",
    status: Status::Open,
    kind: Kind::Every(0.25),
    trials: (28, 200),
    trial: |case, ctx| hull_distance(ctx, case.n, 1.0),
    control: Control {
        what: "V = diag(-1, -1, -1/2), under which there is no leader",
        trial: |ctx| hull_distance(ctx, 10, -1.0),
    },
    ..Claim::EVERY
};

fn hull_distance(ctx: &mut Context, n: usize, first: f64) -> Result<Finding> {
    let (x, g) = (Tokens::flat(3, ctx.normals(3 * n))?, ctx.normals(9));
    let q: Vec<f64> = (0..9).map(|k| g[k] / 3.0 + if k % 4 == 0 { 1.0 } else { 0.0 }).collect();
    // <Q x, Q y> = <Q^T Q x, y>.
    let form = crate::num::dense::transpose_mul(&q, &q, 3);
    let v = vec![first, 0.0, 0.0, 0.0, first, 0.0, 0.0, 0.0, -0.5];
    let z =
        evolve(ctx, &attention(1.0, n, 3, Some((3, form)), Some((3, v)), true)?, &x, 12.0, 1.0)?;
    let directions: Vec<[f64; 2]> =
        (0..720).map(|k| TAU * f64::from(k) / 720.0).map(|t| [t.cos(), t.sin()]).collect();
    let supports = |of: &Tokens| -> Vec<f64> {
        directions
            .iter()
            .map(|w| of.rows().map(|r| dot(w, &r[..2])).fold(f64::NEG_INFINITY, f64::max))
            .collect()
    };
    // The diameter at the start, since the hull shrinks to a point if all tokens follow one leader.
    let start = supports(&x);
    let size = (0..720).map(|k| start[k] + start[(k + 360) % 720]).fold(0.0, f64::max);
    // Distance to the boundary of the hull: the smallest distance to a supporting line, over the
    // normals of all lines through two tokens, which include the edges.
    let lines = z.rows().flat_map(|a| z.rows().map(move |b| [a[1] - b[1], b[0] - a[0]]));
    let normals: Vec<[f64; 2]> = lines
        .filter_map(|w| Some(w[0].hypot(w[1])).filter(|l| *l > 0.0).map(|l| [w[0] / l, w[1] / l]))
        .collect();
    let reach = |w: &[f64; 2]| z.rows().map(|r| dot(w, &r[..2])).fold(f64::NEG_INFINITY, f64::max);
    let inside = |r: &[f64]| {
        let depth =
            normals.iter().map(|w| reach(w) - dot(w, &r[..2])).fold(f64::INFINITY, f64::min);
        depth > 1e-3 * size && r[0].hypot(r[1]) > 1e-3 * size
    };
    Ok(Finding::answer(!z.rows().any(inside)))
}
