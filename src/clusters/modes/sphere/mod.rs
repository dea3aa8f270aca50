//! Modes of `sum_i m_i e^{beta <x, x_i>}` on S^2: a cover of the sphere by cells, each shown to hold no mode or exactly one.
//!
//! A mode needs a sample with `beta sin^2 t <= 2 cos t` at its distance t, or the trace of the Hessian is positive: cells farther from all samples are empty. Every other
//! cell gets a Taylor polynomial with an error bound ([`patch`]) and is halved until the gradient has no zero, the Hessian a positive direction, or it is negative
//! definite on twice the cell and Newton's point is shown to be the one mode there.

mod patch;

use crate::error::{Error, Result};
use crate::num::{sum::dot, threads::parallel_allowed};
use crate::sphere::{
    Tokens,
    geometry::{chord2, dist, project, retract, tangent_basis},
};
use patch::{Patch, Polynomial, shifted, spreads};
use rayon::prelude::*;
use std::f64::consts::SQRT_2;

/// Modes on S^2.
#[derive(Clone, Debug, PartialEq)]
pub struct SphereModes {
    /// Number of modes; only those met before the proof failed when not certified.
    pub count: usize,
    /// Unit vectors.
    pub locations: Vec<[f64; 3]>,
    /// True if the count is proved, for exponentials right to 4 ulp.
    pub certified: bool,
    /// Centres and radii of cells that were not decided.
    pub undecided: Vec<([f64; 3], f64)>,
}

/// Samples whose kernel is below `e^{-RANGE}` are bounded, not summed.
const RANGE: f64 = 44.0;
/// Halvings of a square before it gets its own polynomial, and how often that is done before it is given up.
const DEPTH: u32 = 5;
const GENERATIONS: u32 = 3;

/// Modes of the estimate with kernel `e^{beta <x, y>}` on S^2, beta in [0.1, 1e6].
///
/// **Cost** linear in n: each sample enters the polynomials of the cells within its range, about `min(80 beta, 1700)` of them, at 0.1 microseconds. **Errors** d not 3, beta out of range.
///
/// ```
/// use metastable::{clusters::modes::sphere, sphere::Tokens};
/// let x = Tokens::new(3, vec![1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1.]).unwrap();
/// let modes = sphere(&x, 20.0).unwrap();
/// assert!(modes.certified && modes.count == 6); // an octahedron
/// ```
pub fn sphere(samples: &Tokens, beta: f64) -> Result<SphereModes> {
    if samples.d() != 3 {
        return Err(Error::parameter("samples", format!("d = {}", samples.d()), "points on S^2, three coordinates a row"));
    }
    crate::error::in_range("beta", beta, 0.1, 1e6)?;
    // Side of the smallest cells in the coordinates of a face of the cube, and how often the largest are halved to reach it.
    let per_face = 2.0 / (0.4 / beta.sqrt()).min(0.1);
    let depth = (per_face / 8.0).log2().floor().max(0.0) as u32;
    let tops = (per_face / f64::from(1 << depth)).ceil() as usize;
    // beta sin^2 t = 2 cos t.
    let cosine = 1.0 / (1.0 / beta + (1.0 / (beta * beta) + 1.0).sqrt());
    let cover = Cover { samples, beta, depth, attraction: cosine.acos() * (1.0 + 1e-9) };
    let all: Vec<u32> = (0..samples.n() as u32).collect();
    let search = |k: usize| {
        let mut found = Found::default();
        cover.visit(&Cell::top(k, tops), &all, 0, &mut found);
        found
    };
    let count = 6 * tops * tops;
    let parts: Vec<Found> =
        if parallel_allowed() { (0..count).into_par_iter().map(search).collect() } else { (0..count).map(search).collect() };
    let (mut modes, mut undecided) = (Vec::new(), Vec::new());
    for part in parts {
        modes.extend(part.modes);
        undecided.extend(part.undecided);
    }
    modes.sort_by(|a: &Mode, b: &Mode| a.at[2].total_cmp(&b.at[2]).then(a.at[0].total_cmp(&b.at[0])));
    let locations = distinct(&modes, &mut undecided);
    Ok(SphereModes { count: locations.len(), locations, certified: undecided.is_empty(), undecided })
}

/// One location per mode: cells overlap, so a mode near an edge is proved twice.
fn distinct(modes: &[Mode], undecided: &mut Vec<([f64; 3], f64)>) -> Vec<[f64; 3]> {
    let widest = modes.iter().fold(0.0f64, |m, v| m.max(v.radius));
    let mut kept: Vec<&Mode> = Vec::new();
    for mode in modes {
        let close = |m: &&&Mode| mode.at[2] - m.at[2] <= 2.0 * widest;
        let twin = kept.iter().rev().take_while(close).find(|m| dist(&m.at, &mode.at) <= m.radius + mode.radius);
        match twin {
            // One proof says that there is one mode within `alone`, the other that there is one here.
            Some(m) if dist(&m.at, &mode.at) + mode.radius < m.alone || dist(&m.at, &mode.at) + m.radius < mode.alone => {}
            Some(m) => undecided.push((mode.at, m.radius + mode.radius)),
            None => kept.push(mode),
        }
    }
    kept.iter().map(|m| m.at).collect()
}

/// A proved mode: it lies within `radius` of `at`, and no other within `alone`.
struct Mode {
    at: [f64; 3],
    radius: f64,
    alone: f64,
}

#[derive(Default)]
struct Found {
    modes: Vec<Mode>,
    undecided: Vec<([f64; 3], f64)>,
}

/// A square of a face of the cube, projected to the sphere.
struct Cell {
    face: usize,
    u: (f64, f64),
    v: (f64, f64),
}

impl Cell {
    fn top(k: usize, per_face: usize) -> Self {
        let (face, i, j) = (k / (per_face * per_face), k / per_face % per_face, k % per_face);
        let edge = |i: usize| -1.0 + 2.0 * i as f64 / per_face as f64;
        Self { face, u: (edge(i), edge(i + 1)), v: (edge(j), edge(j + 1)) }
    }

    fn point(&self, u: f64, v: f64) -> [f64; 3] {
        let mut p = self.on_face(u, v, 1.0);
        retract(&mut p);
        p
    }

    /// Coordinates u, v in the face and `w` across it.
    fn on_face(&self, u: f64, v: f64, w: f64) -> [f64; 3] {
        let s = if self.face.is_multiple_of(2) { w } else { -w };
        match self.face / 2 {
            0 => [s, u, v],
            1 => [u, s, v],
            _ => [u, v, s],
        }
    }

    fn centre(&self) -> [f64; 3] {
        self.point(0.5 * (self.u.0 + self.u.1), 0.5 * (self.v.0 + self.v.1))
    }

    fn corners(&self) -> [[f64; 3]; 4] {
        [(self.u.0, self.v.0), (self.u.0, self.v.1), (self.u.1, self.v.0), (self.u.1, self.v.1)].map(|(u, v)| self.point(u, v))
    }

    /// Distance of the farthest corner from the centre, a little more for rounding.
    fn radius(&self) -> f64 {
        let c = self.centre();
        self.corners().iter().map(|p| dist(&c, p)).fold(0.0, f64::max) * (1.0 + 1e-9) + 1e-15
    }

    /// Orthonormal tangent axes at the centre, the first along u.
    fn axes(&self) -> [[f64; 3]; 2] {
        let c = self.centre();
        let mut e = self.on_face(1.0, 0.0, 0.0);
        project(&c, &mut e);
        retract(&mut e);
        [e, [c[1] * e[2] - c[2] * e[1], c[2] * e[0] - c[0] * e[2], c[0] * e[1] - c[1] * e[0]]]
    }

    fn quarters(&self) -> [Self; 4] {
        let (u, v) = (0.5 * (self.u.0 + self.u.1), 0.5 * (self.v.0 + self.v.1));
        let part = |u: (f64, f64), v: (f64, f64)| Self { face: self.face, u, v };
        [
            part((self.u.0, u), (self.v.0, v)),
            part((u, self.u.1), (self.v.0, v)),
            part((self.u.0, u), (v, self.v.1)),
            part((u, self.u.1), (v, self.v.1)),
        ]
    }
}

struct Cover<'a> {
    samples: &'a Tokens,
    beta: f64,
    /// Halvings from the largest cells to those with a polynomial.
    depth: u32,
    /// No mode is farther than this from all samples.
    attraction: f64,
}

impl Cover<'_> {
    /// Finds the samples near a cell, and its modes.
    fn visit(&self, cell: &Cell, parents: &[u32], depth: u32, found: &mut Found) {
        let (c, radius) = (cell.centre(), cell.radius());
        let chord = |angle: f64| (2.0 * (0.5 * angle.min(std::f64::consts::PI)).sin()).powi(2);
        // 1 - cos r = RANGE / beta.
        let range = 2.0 * (0.5 * RANGE / self.beta).min(1.0).sqrt().asin();
        // Polynomials about other points of the cell, a little more than its radius away, use the same list.
        let (reach, pull) = (chord(range + 2.0 * radius), chord(self.attraction + radius));
        let (mut near, mut alone) = (Vec::with_capacity(parents.len()), true);
        for &i in parents {
            let square = chord2(&c, self.samples.row(i as usize));
            alone &= square > pull;
            if square <= reach * (1.0 + 1e-12) {
                near.push(i);
            }
        }
        if alone {
            return;
        }
        if depth < self.depth {
            cell.quarters().iter().for_each(|q| self.visit(q, &near, depth + 1, found));
            return;
        }
        let axes = cell.axes();
        // Edges are great circles; in the chart they bulge by less than radius^3 beyond their corners.
        let half = cell.corners().iter().fold(0.0f64, |m, p| m.max(dot(&axes[0], p).abs()).max(dot(&axes[1], p).abs()));
        let half = (half + radius.powi(3)) * (1.0 + 1e-9) + 1e-15;
        let patch = self.patch((c, axes), &near, 1.75 * radius);
        self.settle(&Spot { patch: &patch, near: &near, generation: 0 }, [0.0; 2], half, 0, found);
    }

    fn patch(&self, place: ([f64; 3], [[f64; 3]; 2]), near: &[u32], radius: f64) -> Patch {
        Patch::new(self.samples, self.beta, place, near, (self.samples.n() - near.len(), RANGE), radius)
    }

    /// Decides a square of a chart, or its quarters; squares that the polynomial cannot decide get one of their own.
    fn settle(&self, spot: &Spot, middle: [f64; 2], half: f64, depth: u32, found: &mut Found) {
        // One undecided square is enough to lose the proof.
        if !found.undecided.is_empty() {
            return;
        }
        let patch = spot.patch;
        let here = shifted(&patch.polynomial, middle);
        let (first, second) = (1.001 * patch.lacks.0, 1.001 * patch.lacks.1);
        let (slopes, bend) = spreads(&here, half);
        let steepest = here[1][0].hypot(here[0][1]);
        let top = largest_eigenvalue(&here);
        if steepest > 1.001 * slopes[0].hypot(slopes[1]) + first || top > 1.001 * bend + second {
            return;
        }
        if here[1][0].abs() > 1.001 * slopes[0] + first || here[0][1].abs() > 1.001 * slopes[1] + first {
            return;
        }
        let inside = middle[0].hypot(middle[1]) + 2.0 * SQRT_2 * half <= patch.radius;
        let concavity = -(top + 1.001 * spreads(&here, 2.0 * half).1 + second);
        if inside && concavity > 0.0 {
            let z = newton(&here, half);
            let away = z[0].abs().max(z[1].abs());
            let there = shifted(&here, z);
            // The gradient turns by at least the concavity per unit of length, so its zero is this near.
            let radius = 1.001 * (there[1][0].hypot(there[0][1]) + first) / concavity + 1e-15;
            // Ten times as near as any other, so that two proofs of one mode are known as such.
            if away + 10.0 * radius < 2.0 * half {
                if away <= half + radius {
                    let at = patch.point([middle[0] + z[0], middle[1] + z[1]]);
                    // Lengths in the chart are at most those in space, and at least 0.9 of them.
                    found.modes.push(Mode { at, radius: 1.2 * radius, alone: 2.0 * half - away });
                }
                return;
            }
        }
        if depth == DEPTH {
            return self.again(spot, middle, half, found);
        }
        let h = 0.5 * half;
        for (s, t) in [(-h, -h), (-h, h), (h, -h), (h, h)] {
            self.settle(spot, [middle[0] + s, middle[1] + t], h * (1.0 + 1e-12), depth + 1, found);
        }
    }

    /// A square with a polynomial about its own centre, whose bound is smaller by the eleventh power of the radius.
    fn again(&self, spot: &Spot, middle: [f64; 2], half: f64, found: &mut Found) {
        let c = spot.patch.point(middle);
        if spot.generation == GENERATIONS {
            found.undecided.push((c, 1.5 * half));
            return;
        }
        let basis = tangent_basis(&c);
        let axes = [[basis[0], basis[1], basis[2]], [basis[3], basis[4], basis[5]]];
        // The other axes are turned (1.42) and lengths in the first chart are at least 0.95 of those in space.
        let half = 1.5 * half;
        // Smaller discs than needed would gain nothing against rounding.
        let patch = self.patch((c, axes), spot.near, (3.0 * half).max(0.15 * spot.patch.radius));
        self.settle(&Spot { patch: &patch, near: spot.near, generation: spot.generation + 1 }, [0.0; 2], half, 0, found);
    }
}

/// A polynomial, its samples, and how many came before it.
struct Spot<'a> {
    patch: &'a Patch,
    near: &'a [u32],
    generation: u32,
}

/// Of the Hessian at the origin of a polynomial.
fn largest_eigenvalue(c: &Polynomial) -> f64 {
    let (a, b, d) = (2.0 * c[2][0], c[1][1], 2.0 * c[0][2]);
    0.5 * (a + d) + (0.5 * (a - d)).hypot(b)
}

/// A zero of the gradient near the origin by Newton's method, at most four `half` away.
fn newton(c: &Polynomial, half: f64) -> [f64; 2] {
    let mut z = [0.0; 2];
    for _ in 0..30 {
        let there = shifted(c, z);
        let (g, (a, b, d)) = ([there[1][0], there[0][1]], (2.0 * there[2][0], there[1][1], 2.0 * there[0][2]));
        let det = a * d - b * b;
        let step = [-(d * g[0] - b * g[1]) / det, -(a * g[1] - b * g[0]) / det];
        let length = step[0].abs().max(step[1].abs());
        if !length.is_finite() || z[0].abs().max(z[1].abs()) + length > 4.0 * half {
            return [4.0 * half; 2];
        }
        z = [z[0] + step[0], z[1] + step[1]];
        if length < 1e-14 * half {
            break;
        }
    }
    z
}
