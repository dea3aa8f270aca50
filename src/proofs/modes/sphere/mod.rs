//! Modes of `sum_i m_i e^{beta <x, x_i>}` on S^2: a cover of the sphere by cells, each shown to hold no mode or exactly one.
//!
//! Samples are sorted into boxes, and many samples of a box replaced by few points ([`sources`]): a fast Gauss sum whose error bound enters the proof.
//! A mode needs a sample with `beta sin^2 t <= 2 cos t` at its distance t, or the trace of the Hessian is positive: cells farther from all samples are empty. Every other
//! cell gets a Taylor polynomial with an error bound ([`patch`]) and is halved until the gradient has no zero, the Hessian a positive direction, or it is negative
//! definite on twice the cell and Newton's point is shown to be the one mode there.
//!
//! What a proof rests on: additions, products, quotients and roots of f64 are correctly rounded, and the vector exponential of [`crate::num::exp`] is right to 3 eps (a lemma:
//! a test compares its polynomials with the Taylor series in interval arithmetic and counts its rounding). Exponentials in bounds are those of interval
//! arithmetic; sums of samples and polynomials round by bounds counted a priori ([`patch`]). Libraries' tangents, logarithms and exponentials only choose where to look.

mod cell;
mod chart;
mod decide;
mod patch;
mod sources;
#[cfg(test)]
mod tests;

use super::Modes;
use crate::error::{Error, Result};
use crate::num::threads::parallel_allowed;
use crate::sphere::{Tokens, geometry::chord2};
use cell::Cell;
use chart::{Chart, length};
use decide::{Verdict, decide};
use patch::{Missing, Patch, shifted};
use rayon::prelude::*;
use sources::{Columns, MOST_WEIGHT, Sources};
use std::f64::consts::{FRAC_PI_2, SQRT_2};

/// Modes on S^2: unit vectors; centres and radii of cells that were not decided.
pub type SphereModes = Modes<[f64; 3], ([f64; 3], f64)>;

/// Halvings of a square before it gets its own polynomial, and how often that is done before it is given up.
const DEPTH: u32 = 5;
const GENERATIONS: u32 = 12;
/// Polynomials of parts of one cell before it is given up.
const PATCHES: u32 = 20_000;

/// Modes of the estimate with kernel `e^{beta <x, y>}` on S^2, beta in [0.1, 1e6].
///
/// Rows are unit vectors up to rounding; what is proved is said of `e^{-beta |x - y|^2 / 2}` with the coordinates of the tokens as they are, which is the same for exact
/// unit vectors up to a factor.
///
/// **Cost** linear in n. Samples that are too few to be replaced by points, about `200 beta` on the whole sphere, enter the polynomials of the cells within their range,
/// `min(90 beta, 2000)` of them, at 10 nanoseconds; sorting and replacing take about 0.3 microseconds a sample. **Errors** d not 3, beta out of range.
///
/// ```
/// use metastable::{proofs::modes::sphere, sphere::Tokens};
/// let x = Tokens::new(3, vec![1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1.]).unwrap();
/// let modes = sphere(&x, 20.0).unwrap();
/// assert_eq!(modes.proved().unwrap(), 6); // an octahedron
/// ```
pub fn sphere(samples: &Tokens, beta: f64) -> Result<SphereModes> {
    if samples.d() != 3 {
        return Err(Error::parameter("samples", format!("d = {}", samples.d()), "points on S^2, three coordinates a row"));
    }
    crate::error::in_range("beta", beta, 0.1, 1e6)?;
    crate::num::interval::trusted()?;
    // Side of the smallest cells in units of the faces, and how often the largest are halved to reach it.
    // Estimates of many samples are nearly flat and need better polynomials: errors fall with the eleventh power of the size, differences with the root of n / beta.
    let finer = (samples.n() as f64 / (1000.0 * beta)).max(1.0).powf(-1.0 / 22.0);
    let per_face = FRAC_PI_2 / (finer * (0.4 / beta.sqrt()).min(0.1));
    let depth = (per_face / 8.0).log2().floor().max(0.0) as u32;
    let tops = (per_face / f64::from(1 << depth)).ceil() as usize;
    let cell = |k: usize| Cell::new(k / (tops * tops), (k / tops % tops, k % tops), tops);
    // Squares whose sides are seen under this angle lie in discs of 0.71 (mid-face) to 0.82 (at corners of the cube) times that.
    let radius = DISC * 0.71 * FRAC_PI_2 / (tops << depth) as f64;
    let exact = Sources::new(samples, beta);
    let few = exact.compressed(beta, 2.0 * radius).unwrap_or(exact);
    let cover = Cover { few: &few, beta, range: 27.0 + (samples.n() as f64).ln(), depth, attraction: attraction(beta) };
    let all: Vec<u32> = (0..few.boxes.len() as u32).collect();
    let search = |room: &mut Columns, k: usize| {
        let mut found = Found { room: std::mem::take(room), ..Found::default() };
        cover.visit(&cell(k), &all, 0, &mut found);
        *room = std::mem::take(&mut found.room);
        found
    };
    let (count, mut room) = (6 * tops * tops, Columns::default());
    let parts: Vec<Found> = if parallel_allowed() {
        (0..count).into_par_iter().map_init(Columns::default, search).collect()
    } else {
        (0..count).map(|k| search(&mut room, k)).collect()
    };
    let (mut modes, mut undecided) = (Vec::new(), Vec::new());
    for part in parts {
        modes.extend(part.modes);
        undecided.extend(part.undecided);
    }
    modes.sort_by(|a: &Mode, b: &Mode| a.at[2].total_cmp(&b.at[2]).then(a.at[0].total_cmp(&b.at[0])));
    let located = distinct(&modes, &mut undecided);
    Ok(Modes { located, undecided })
}

/// The chord at which the trace of the Hessian of one kernel changes sign, `beta sin^2 t = 2 cos t`, a little more for rounding: with q = 1/beta,
/// `cos t = 1 / (q + sqrt(1 + q^2))` and the square of the chord is `2 (1 - cos t)`, written without a difference.
fn attraction(beta: f64) -> f64 {
    let q = 1.0 / beta;
    let root = (1.0 + q * q).sqrt();
    (2.0 * (q + q * q / (1.0 + root)) / (q + root)).sqrt() * (1.0 + 1e-9)
}

/// One location per mode: cells overlap, so a mode near an edge is proved twice.
fn distinct(modes: &[Mode], undecided: &mut Vec<([f64; 3], f64)>) -> Vec<[f64; 3]> {
    let widest = modes.iter().fold(0.0f64, |m, v| m.max(v.radius));
    let mut kept: Vec<&Mode> = Vec::new();
    for mode in modes {
        let close = |m: &&&Mode| mode.at[2] - m.at[2] <= 2.0 * widest;
        let apart = |m: &Mode| chord2(&m.at, &mode.at).sqrt();
        let twin = kept.iter().rev().take_while(close).find(|m| apart(m) <= m.radius + mode.radius);
        match twin {
            // One proof says that there is one mode within `alone`, the other that there is one here.
            Some(m) if apart(m) + mode.radius < m.alone || apart(m) + m.radius < mode.alone => {}
            Some(m) => undecided.push((mode.at, m.radius + mode.radius)),
            None => kept.push(mode),
        }
    }
    kept.iter().map(|m| m.at).collect()
}

/// A proved mode: it lies within `radius` of `at`, and no other within `alone`, distances in space.
struct Mode {
    at: [f64; 3],
    radius: f64,
    alone: f64,
}

#[derive(Default)]
struct Found {
    modes: Vec<Mode>,
    undecided: Vec<([f64; 3], f64)>,
    /// Polynomials of parts of the present cell.
    patches: u32,
    /// Room for the points near a cell.
    room: Columns,
}

/// The disc of a cell's polynomial in radii of the cell.
const DISC: f64 = 1.75;

struct Cover<'a> {
    /// The samples, many of them replaced by few points.
    few: &'a Sources,
    beta: f64,
    /// Samples whose kernel is below `e^{-range}` are bounded, not summed.
    range: f64,
    /// Halvings from the largest cells to those with a polynomial.
    depth: u32,
    /// No mode is farther than this from all samples, in space.
    attraction: f64,
}

impl Cover<'_> {
    /// The chord beyond which samples are left out for polynomials about points at most two radii of a cell away.
    fn reach(&self, radius: f64) -> f64 {
        // beta |x - y|^2 / 2 = range.
        ((2.0 * self.range / self.beta).sqrt() + 2.0 * radius) * (1.0 + 1e-12)
    }

    /// Finds the boxes of samples near a cell, and its modes.
    fn visit(&self, cell: &Cell, parents: &[u32], depth: u32, found: &mut Found) {
        let (c, radius) = (cell.centre(), cell.radius());
        let (reach, pull) = (self.reach(radius), self.attraction + radius);
        let (mut near, mut alone, mut farthest) = (Vec::with_capacity(parents.len()), true, 0.0f64);
        for &i in parents {
            let b = &self.few.boxes[i as usize];
            let apart = chord2(&c, &b.centre).sqrt();
            let far = apart * (1.0 - 1e-12) - b.chord;
            alone &= far > pull;
            if far <= reach {
                near.push(i);
                farthest = farthest.max(apart + b.chord);
            }
        }
        if alone {
            return;
        }
        if depth < self.depth {
            cell.quarters().iter().for_each(|q| self.visit(q, &near, depth + 1, found));
            return;
        }
        let half = cell.half_side();
        let mut columns = std::mem::take(&mut found.room);
        self.few.gather(&near, &mut columns);
        let near =
            Near { columns, all: near.len() == self.few.boxes.len(), home: c, stray: 2.0 * radius, farthest: farthest + 2.0 * radius };
        let patch = self.patch(cell.chart(), &near, DISC * radius);
        found.patches = 0;
        self.settle(&Spot { patch: &patch, near: &near, generation: 0 }, [0.0; 2], half, 0, found);
        found.room = near.columns;
    }

    fn patch(&self, chart: Chart, near: &Near, radius: f64) -> Patch {
        let far = if near.all { 0.0 } else { self.few.total * MOST_WEIGHT };
        // What was gathered serves centres this near to the middle of the cell.
        let far = if chord2(&chart.centre, &near.home).sqrt() <= near.stray { far } else { f64::INFINITY };
        Patch::new(
            &near.columns,
            self.beta,
            chart,
            &Missing { far, range: self.range, farthest: near.farthest, lost: self.few.lost },
            radius,
        )
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
        let lacking = match decide(&here, half, (first, second), length(middle) + 2.0 * SQRT_2 * half <= patch.radius * (1.0 - 1e-12)) {
            Verdict::None => return,
            Verdict::One { at: z, radius, alone } => {
                let at = patch.chart.point([middle[0] + z[0], middle[1] + z[1]]);
                // Lengths in the chart are at most those in space, and at least 0.9 of them.
                found.modes.push(Mode { at, radius: 1.2 * radius, alone });
                return;
            }
            Verdict::Open { lacking } => lacking,
        };
        // Halving makes the polynomial vary less, but not what it lacks.
        if depth == DEPTH || depth >= 2 && lacking {
            return self.again(spot, middle, half, found);
        }
        let h = 0.5 * half;
        for (s, t) in [(-h, -h), (-h, h), (h, -h), (h, h)] {
            self.settle(spot, [middle[0] + s, middle[1] + t], h * (1.0 + 1e-12), depth + 1, found);
        }
    }

    /// A square with a polynomial about its own centre, whose bound is smaller by the eleventh power of the radius.
    fn again(&self, spot: &Spot, middle: [f64; 2], half: f64, found: &mut Found) {
        // The charts of squares this small, or of cells this large, would not be sure to cover what they are for.
        let odd = !(1e-11..=0.12).contains(&half);
        if spot.generation == GENERATIONS || found.patches == PATCHES || odd {
            found.undecided.push((spot.patch.chart.point(middle), 1.5 * half));
            return;
        }
        found.patches += 1;
        let (chart, half) = spot.patch.chart.about(middle, half);
        // Smaller discs than needed would gain nothing against rounding.
        let radius = (3.0 * half).max(0.15 * spot.patch.radius);
        let patch = self.patch(chart, spot.near, radius);
        self.settle(&Spot { patch: &patch, near: spot.near, generation: spot.generation + 1 }, [0.0; 2], half, 0, found);
    }
}

/// Points within range of a cell.
struct Near {
    columns: Columns,
    /// Whether none is left out.
    all: bool,
    /// Middle of the cell they were gathered for, and how far from it a centre may be.
    home: [f64; 3],
    stray: f64,
    /// Distance of the farthest from any such centre.
    farthest: f64,
}

/// A polynomial, its samples, and how many came before it.
struct Spot<'a> {
    patch: &'a Patch,
    near: &'a Near,
    generation: u32,
}
