//! Modes of `sum_i m_i e^{beta <x, x_i>}` on S^2: the sphere is covered by facets, and each is
//! proved to contain no mode or exactly one.
//!
//! Samples are sorted into boxes, and many samples of a box are replaced by few points
//! ([`sources`]): a fast Gauss transform whose error bound enters the proof. At a mode, some sample
//! at distance t has `beta sin^2 t <= 2 cos t`; otherwise the trace of the Hessian is positive. So
//! facets farther from all samples contain no mode. Every other facet gets a Taylor polynomial with
//! an error bound ([`expansion`]) and is halved until one of three cases is proved: the gradient
//! has no zero; the Hessian has a positive direction; the Hessian is negative definite on twice the
//! square and Newton's point is close to the only mode there.
//!
//! A proof assumes that additions, products, quotients and roots of f64 are correctly rounded, and
//! that the vector exponential of [`crate::num::exp`] has an error of at most 3 eps (a test
//! compares its polynomials with the Taylor series in interval arithmetic and counts its rounding).
//! Exponentials in bounds are those of interval arithmetic. The rounding of sums and polynomials is
//! bounded a priori ([`expansion`]). Tangents, logarithms and exponentials of libraries only guide
//! the search.

mod chart;
mod decide;
mod expansion;
mod facet;
mod sources;
#[cfg(test)]
mod tests;

use super::Modes;
use crate::error::{Error, Result};
use crate::num::threads::parallel_allowed;
use crate::sphere::{Tokens, geometry::chord2};
use chart::{Chart, length};
use decide::{Decision, decide};
use expansion::{Expansion, Omitted, recentred};
use facet::Facet;
use rayon::prelude::*;
use sources::{Columns, MAX_WEIGHT_SUM, Sources};
use std::f64::consts::{FRAC_PI_2, SQRT_2};

/// Modes on S^2: unit vectors, and centres and radii of the undecided places.
pub type SphereModes = Modes<[f64; 3], ([f64; 3], f64)>;

/// Most halvings of a square before it gets a polynomial of its own.
const MAX_HALVINGS: u32 = 5;
/// Most polynomials in a sequence of nested squares.
const MAX_GENERATIONS: u32 = 12;
/// Most polynomials of one facet.
const MAX_EXPANSIONS: u32 = 20_000;

/// Modes of the estimate with kernel `e^{beta <x, y>}` on S^2, beta in [0.1, 1e6].
///
/// Rows are unit vectors up to rounding. The proof is for the kernel `e^{-beta |x - y|^2 / 2}` with
/// the coordinates of the tokens as they are; for exact unit vectors it differs only by a factor.
///
/// **Cost** linear in n. Sorting and replacing take about 0.3 microseconds per sample. Samples that
/// are too few to be replaced (about `200 beta` on the whole sphere) enter the polynomials of the
/// facets within their range, `min(90 beta, 2000)` of them, at 10 nanoseconds each. **Errors** d
/// not 3, beta out of range.
///
/// ```
/// use metastable::{proofs::modes::sphere, sphere::Tokens};
/// let x = Tokens::new(3, vec![1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1.]).unwrap();
/// let modes = sphere(&x, 20.0).unwrap();
/// assert_eq!(modes.count().unwrap(), 6); // an octahedron
/// ```
pub fn sphere(samples: &Tokens, beta: f64) -> Result<SphereModes> {
    if samples.d() != 3 {
        return Err(Error::parameter(
            "samples",
            format!("d = {}", samples.d()),
            "points on S^2, three coordinates a row",
        ));
    }
    crate::error::in_range("beta", beta, 0.1, 1e6)?;
    crate::num::interval::check_fp_environment()?;
    // Number of the smallest facets per side of a face, and of halvings from the largest facets to
    // them. Estimates of many samples are nearly flat and need better polynomials: errors decrease
    // with the eleventh power of the size, differences with the root of n / beta.
    let size_factor = (samples.n() as f64 / (1000.0 * beta)).max(1.0).powf(-1.0 / 22.0);
    let per_face = FRAC_PI_2 / (size_factor * (0.4 / beta.sqrt()).min(0.1));
    let depth = (per_face / 8.0).log2().floor().max(0.0) as u32;
    let tops = (per_face / f64::from(1 << depth)).ceil() as usize;
    let facet = |k: usize| Facet::new(k / (tops * tops), (k / tops % tops, k % tops), tops);
    // Facets whose sides have this angle lie in discs of 0.71 (mid-face) to 0.82 (at corners of the
    // cube) times the angle.
    let radius = DISC_RATIO * 0.71 * FRAC_PI_2 / (tops << depth) as f64;
    let all_samples = Sources::new(samples, beta);
    let sources = all_samples.with_replacements(beta, 2.0 * radius).unwrap_or(all_samples);
    let cover = ModeSearch {
        sources: &sources,
        beta,
        range: 27.0 + (samples.n() as f64).ln(),
        depth,
        mode_distance: mode_distance(beta),
    };
    let all: Vec<u32> = (0..sources.boxes.len() as u32).collect();
    let search = |buffer: &mut Columns, k: usize| {
        let mut found = ModesFound { buffer: std::mem::take(buffer), ..ModesFound::default() };
        cover.visit(&facet(k), &all, 0, &mut found);
        *buffer = std::mem::take(&mut found.buffer);
        found
    };
    let (count, mut buffer) = (6 * tops * tops, Columns::default());
    let parts: Vec<ModesFound> = if parallel_allowed() {
        (0..count).into_par_iter().map_init(Columns::default, search).collect()
    } else {
        (0..count).map(|k| search(&mut buffer, k)).collect()
    };
    let (mut modes, mut undecided) = (Vec::new(), Vec::new());
    for part in parts {
        modes.extend(part.modes);
        undecided.extend(part.undecided);
    }
    modes.sort_by(|a: &Mode, b: &Mode| {
        a.at[2].total_cmp(&b.at[2]).then(a.at[0].total_cmp(&b.at[0]))
    });
    let found = distinct(&modes, &mut undecided);
    let (located, errors) = found.iter().map(|m| (m.at, m.radius)).unzip();
    Ok(Modes { located, errors, undecided, is_constant: false })
}

/// Largest chord from a mode to the nearest sample: where the trace of the Hessian of one kernel
/// changes sign, `beta sin^2 t = 2 cos t`, with a margin for rounding. With q = 1/beta,
/// `cos t = 1 / (q + sqrt(1 + q^2))`, and the square of the chord is `2 (1 - cos t)`, written
/// without a difference.
fn mode_distance(beta: f64) -> f64 {
    let q = 1.0 / beta;
    let root = (1.0 + q * q).sqrt();
    (2.0 * (q + q * q / (1.0 + root)) / (q + root)).sqrt() * (1.0 + 1e-9)
}

/// One proof per mode. Squares overlap, so a mode near an edge may be proved twice.
fn distinct<'a>(modes: &'a [Mode], undecided: &mut Vec<([f64; 3], f64)>) -> Vec<&'a Mode> {
    let widest = modes.iter().fold(0.0f64, |m, v| m.max(v.radius));
    let mut found: Vec<&Mode> = Vec::new();
    for mode in modes {
        let may_overlap = |m: &&&Mode| mode.at[2] - m.at[2] <= 2.0 * widest;
        let distance = |m: &Mode| chord2(&m.at, &mode.at).sqrt();
        let same = found
            .iter()
            .rev()
            .take_while(may_overlap)
            .find(|m| distance(m) <= m.radius + mode.radius);
        match same {
            // The same mode: it lies here, where one of the two proofs excludes a second mode.
            Some(m)
                if distance(m) + mode.radius < m.isolation
                    || distance(m) + m.radius < mode.isolation => {}
            Some(m) => undecided.push((mode.at, m.radius + mode.radius)),
            None => found.push(mode),
        }
    }
    found
}

/// A proved mode: it lies within the chord `radius` of `at`, and no other mode within `isolation`.
struct Mode {
    at: [f64; 3],
    radius: f64,
    isolation: f64,
}

#[derive(Default)]
struct ModesFound {
    modes: Vec<Mode>,
    undecided: Vec<([f64; 3], f64)>,
    /// Number of polynomials made for the present facet.
    expansions: u32,
    /// Buffer for the points near a facet.
    buffer: Columns,
}

/// Radius of the disc of a polynomial, in radii of its facet.
const DISC_RATIO: f64 = 1.75;

struct ModeSearch<'a> {
    /// The samples, with many of them replaced by few points.
    sources: &'a Sources,
    beta: f64,
    /// Samples with a kernel below `e^{-range}` are bounded, not summed.
    range: f64,
    /// Number of halvings from the largest facets to those with a polynomial.
    depth: u32,
    /// Largest chord from a mode to the nearest sample.
    mode_distance: f64,
}

impl ModeSearch<'_> {
    /// The chord beyond which samples are omitted from polynomials about points at most two radii
    /// of a facet from its centre.
    fn reach(&self, radius: f64) -> f64 {
        // beta |x - y|^2 / 2 = range.
        ((2.0 * self.range / self.beta).sqrt() + 2.0 * radius) * (1.0 + 1e-12)
    }

    /// Finds the boxes of samples near a facet, and the modes on it.
    fn visit(&self, facet: &Facet, parents: &[u32], depth: u32, found: &mut ModesFound) {
        let (c, radius) = (facet.centre(), facet.radius());
        let (reach, mode_range) = (self.reach(radius), self.mode_distance + radius);
        let (mut near, mut no_mode, mut farthest) =
            (Vec::with_capacity(parents.len()), true, 0.0f64);
        for &i in parents {
            let b = &self.sources.boxes[i as usize];
            let distance = chord2(&c, &b.centre).sqrt();
            let nearest = distance * (1.0 - 1e-12) - b.radius;
            no_mode &= nearest > mode_range;
            if nearest <= reach {
                near.push(i);
                farthest = farthest.max(distance + b.radius);
            }
        }
        if no_mode {
            return;
        }
        if depth < self.depth {
            facet.quarters().iter().for_each(|q| self.visit(q, &near, depth + 1, found));
            return;
        }
        let half = facet.half_side();
        let mut columns = std::mem::take(&mut found.buffer);
        self.sources.gather(&near, &mut columns);
        let near = Neighbours {
            columns,
            all: near.len() == self.sources.boxes.len(),
            origin: c,
            max_offset: 2.0 * radius,
            farthest: farthest + 2.0 * radius,
        };
        let expansion = self.expansion(facet.chart(), &near, DISC_RATIO * radius);
        found.expansions = 0;
        self.decide_square(
            &Problem { expansion: &expansion, near: &near, generation: 0 },
            [0.0; 2],
            half,
            0,
            found,
        );
        found.buffer = near.columns;
    }

    fn expansion(&self, chart: Chart, near: &Neighbours, radius: f64) -> Expansion {
        let mass = if near.all { 0.0 } else { self.sources.total * MAX_WEIGHT_SUM };
        // The points were gathered for centres this close to the middle of the facet.
        let mass = if chord2(&chart.centre, &near.origin).sqrt() <= near.max_offset {
            mass
        } else {
            f64::INFINITY
        };
        Expansion::new(
            &near.columns,
            self.beta,
            chart,
            &Omitted {
                mass,
                range: self.range,
                farthest: near.farthest,
                replacement_error: self.sources.replacement_error,
            },
            radius,
        )
    }

    /// Decides a square of a chart, or its quarters. Squares that the polynomial cannot decide get
    /// one of their own.
    fn decide_square(
        &self,
        problem: &Problem,
        middle: [f64; 2],
        half: f64,
        depth: u32,
        found: &mut ModesFound,
    ) {
        // After one undecided square the count is not proved in any case.
        if !found.undecided.is_empty() {
            return;
        }
        let expansion = problem.expansion;
        let here = recentred(&expansion.polynomial, middle);
        let (first, second) = (1.001 * expansion.remainder.0, 1.001 * expansion.remainder.1);
        let remainder_too_large = match decide(
            &here,
            half,
            (first, second),
            length(middle) + 2.0 * SQRT_2 * half <= expansion.radius * (1.0 - 1e-12),
        ) {
            Decision::NoMode => return,
            Decision::OneMode { at: z, radius, isolation } => {
                let at = expansion.chart.point([middle[0] + z[0], middle[1] + z[1]]);
                // Lengths in the chart are between 0.9 and 1 times those in space.
                found.modes.push(Mode { at, radius: 1.2 * radius, isolation });
                return;
            }
            Decision::Undecided { remainder_too_large } => remainder_too_large,
        };
        // Halving reduces the variation of the polynomial, not its remainder.
        if depth == MAX_HALVINGS || depth >= 2 && remainder_too_large {
            return self.refine(problem, middle, half, found);
        }
        let h = 0.5 * half;
        for (s, t) in [(-h, -h), (-h, h), (h, -h), (h, h)] {
            self.decide_square(
                problem,
                [middle[0] + s, middle[1] + t],
                h * (1.0 + 1e-12),
                depth + 1,
                found,
            );
        }
    }

    /// Decides a square with a polynomial about its own centre, whose remainder is smaller by the
    /// eleventh power of the radius.
    fn refine(&self, problem: &Problem, middle: [f64; 2], half: f64, found: &mut ModesFound) {
        // Outside these sizes the charts are not proved to cover the square.
        let out_of_range = !(1e-11..=0.12).contains(&half);
        if problem.generation == MAX_GENERATIONS
            || found.expansions == MAX_EXPANSIONS
            || out_of_range
        {
            found.undecided.push((problem.expansion.chart.point(middle), 1.5 * half));
            return;
        }
        found.expansions += 1;
        let (chart, half) = problem.expansion.chart.about(middle, half);
        // Smaller discs gain nothing, because of rounding.
        let radius = (3.0 * half).max(0.15 * problem.expansion.radius);
        let expansion = self.expansion(chart, problem.near, radius);
        self.decide_square(
            &Problem {
                expansion: &expansion,
                near: problem.near,
                generation: problem.generation + 1,
            },
            [0.0; 2],
            half,
            0,
            found,
        );
    }
}

/// Points within range of a facet.
struct Neighbours {
    columns: Columns,
    /// Whether all points are included.
    all: bool,
    /// Middle of the facet for which they were gathered, and the largest distance of a centre from
    /// it.
    origin: [f64; 3],
    max_offset: f64,
    /// Largest distance of a point from any such centre.
    farthest: f64,
}

/// A polynomial, its points, and the number of polynomials of larger squares before it.
struct Problem<'a> {
    expansion: &'a Expansion,
    near: &'a Neighbours,
    generation: u32,
}
