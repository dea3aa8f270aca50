//! Inner products in registers, for few coordinates: targets in lanes, sources one by one, nothing stored between score and velocity.
//!
//! `w = e^{|beta| (sigma G - 1)}` from the inner product G, as in [`super::products`]; every pair twice, once for each of
//! its tokens, so that no sum leaves its register and threads share nothing but the tokens.

use crate::kernel::close::sums::close_lanes;
use crate::kernel::doubtful::Doubtful;
use crate::kernel::job::{Ending, Job, Kernel};
use crate::kernel::limits::LEAST_WORK;
use crate::kernel::sums::FLOOR;
use crate::kernel::tiles::blocks::GRAIN;
use crate::kernel::workspace::Workspace;
use crate::num::simd::{Float, Lanes, Task};
use crate::num::threads::{both, others_awake, parallel_allowed};
use std::ops::Range;

/// The largest dimension whose coordinates and sums fit the registers.
const LARGEST_D: usize = 8;

/// Sources taken together: their chains of dependent operations overlap.
const TOGETHER: usize = 4;

/// Some targets of one evaluation.
struct Gather<'a> {
    job: &'a Job<'a>,
    /// The rows once more: what a sum reads is not kept in a register from the score on, there are too few.
    terms: &'a [f64],
    ending: &'a Ending,
    /// Absolute error of a drift in units of its mass.
    per_mass: f64,
    rows: Range<usize>,
    /// Of these targets alone.
    out: &'a mut [f64],
    doubtful: &'a mut Vec<usize>,
}

impl Task for Gather<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        match self.job.tokens.d() {
            2 => self.plain::<L, 2>(l),
            3 => self.plain::<L, 3>(l),
            4 => self.plain::<L, 4>(l),
            5 => self.plain::<L, 5>(l),
            6 => self.plain::<L, 6>(l),
            7 => self.plain::<L, 7>(l),
            _ => self.plain::<L, 8>(l),
        }
    }
}

impl Gather<'_> {
    #[inline(always)]
    fn plain<L: Lanes<F = f64>, const D: usize>(self, l: L) {
        // No exponent reaches down to the smallest of the lanes.
        let normal = 2.0 * std::f64::consts::LOG2_E * self.job.beta.abs() < -0.99 * f64::SMALLEST;
        let plain = normal && self.job.tokens.uniform_mass().is_some();
        if plain { self.targets::<L, D, true>(l) } else { self.targets::<L, D, false>(l) }
    }

    #[inline(always)]
    fn targets<L: Lanes<F = f64>, const D: usize, const PLAIN: bool>(self, l: L) {
        let Self { job: &Job { tokens, beta, .. }, rows: targets, out, doubtful, .. } = self;
        let sources = Sources { rows: tokens.coordinates().as_chunks().0, terms: self.terms.as_chunks().0, masses: tokens.masses() };
        let slope = beta * std::f64::consts::LOG2_E;
        let (scale, shift, unit) = (l.constant(slope), l.constant(-slope.abs()), l.constant(tokens.uniform_mass().unwrap_or(1.0)));
        let (out, _) = out.as_chunks_mut::<D>();
        for (group, out) in out.chunks_mut(L::WIDTH).enumerate() {
            let first = targets.start + group * L::WIDTH;
            let mut lanes = [[0.0; 8]; D];
            for (lane, row) in sources.rows[first..first + out.len()].iter().enumerate() {
                for k in 0..D {
                    lanes[k][lane] = row[k];
                }
            }
            let (mut x, mut steep) = ([l.zero(); D], [l.zero(); D]);
            for k in 0..D {
                x[k] = L::view(&lanes[k])[0];
                steep[k] = l.mul(scale, x[k]);
            }
            let (mut v, mut mass) = sources.sums::<L, PLAIN>(l, &steep, shift);
            mass = l.mul(unit, mass);
            for k in 0..D {
                v[k] = l.mul(unit, v[k]);
            }
            let bad = close_lanes(l, self.ending, [self.per_mass, FLOOR], &x, &mut v, mass);
            for k in 0..D {
                L::view_mut(&mut lanes[k])[0] = v[k];
            }
            for (lane, row) in out.iter_mut().enumerate() {
                for k in 0..D {
                    row[k] = lanes[k][lane];
                }
            }
            if l.largest(bad) > 0.0 {
                let mut marks = [0.0; 8];
                l.store(bad, &mut marks);
                doubtful.extend((0..out.len()).filter(|lane| marks[*lane] > 0.0).map(|lane| first + lane));
            }
        }
    }
}

/// All tokens as sources.
struct Sources<'a, const D: usize> {
    rows: &'a [[f64; D]],
    terms: &'a [[f64; D]],
    masses: &'a [f64],
}

impl<const D: usize> Sources<'_, D> {
    /// `sum_j m_j w_j x_j` and `sum_j m_j w_j` for a vector of targets.
    #[inline(always)]
    fn sums<L: Lanes<F = f64>, const PLAIN: bool>(&self, l: L, steep: &[L::V; D], shift: L::V) -> ([L::V; D], L::V) {
        let mut sums = ([l.zero(); D], l.zero());
        let (groups, rest) = self.rows.as_chunks::<TOGETHER>();
        let (terms, last) = self.terms.as_chunks::<TOGETHER>();
        let mut t = groups.first().map_or([shift; TOGETHER], |g| exponents(l, shift, steep, g));
        for (g, terms) in terms.iter().enumerate() {
            // The inner products of the next ones overlap with these exponentials.
            let next = exponents(l, shift, steep, &groups[(g + 1).min(groups.len() - 1)]);
            add::<L, D, TOGETHER, PLAIN>(l, t, terms, &self.masses[g * TOGETHER..], &mut sums);
            t = next;
        }
        for (j, (row, term)) in rest.iter().zip(last).enumerate() {
            let t = exponents(l, shift, steep, std::array::from_ref(row));
            add::<L, D, 1, PLAIN>(l, t, std::array::from_ref(term), &self.masses[groups.len() * TOGETHER + j..], &mut sums);
        }
        sums
    }
}

/// Exponents of two of the weights of some sources.
#[inline(always)]
fn exponents<L: Lanes<F = f64>, const D: usize, const U: usize>(l: L, shift: L::V, steep: &[L::V; D], rows: &[[f64; D]; U]) -> [L::V; U] {
    let mut t = [shift; U];
    for k in 0..D {
        for u in 0..U {
            t[u] = l.fma(steep[k], l.splat(rows[u][k]), t[u]);
        }
    }
    t
}

/// Adds what some sources give.
#[inline(always)]
fn add<L: Lanes<F = f64>, const D: usize, const U: usize, const PLAIN: bool>(
    l: L,
    t: [L::V; U],
    terms: &[[f64; D]; U],
    masses: &[f64],
    (drift, mass): &mut ([L::V; D], L::V),
) {
    let mut w = l.exp2_each::<U, PLAIN>(t);
    if !PLAIN {
        for u in 0..U {
            w[u] = l.mul(w[u], l.splat(masses[u]));
        }
    }
    for k in 0..D {
        for u in 0..U {
            drift[k] = l.fma(w[u], l.splat(terms[u][k]), drift[k]);
        }
    }
    for u in 0..U {
        *mass = l.add(*mass, w[u]);
    }
}

/// Inner products in registers.
pub struct Inner;

impl Kernel for Inner {
    fn name(&self) -> &'static str {
        "inner"
    }

    fn summary(&self) -> &'static str {
        "inner products in registers up to d = 8, error |beta| sqrt(d) u of each drift; n^2 exponentials"
    }

    fn refuses(&self, job: &Job) -> Option<&'static str> {
        let shape = (job.causal || job.tokens.d() > LARGEST_D).then_some("at most 8 coordinates, no mask");
        shape.or_else(|| super::products::too_steep(job))
    }

    fn cost(&self, job: &Job) -> f64 {
        let (n, d) = (job.tokens.n() as f64, job.tokens.d() as f64);
        n * n * (0.2 + 0.062 * d)
    }

    fn error(&self, job: &Job) -> f64 {
        // One chain of additions over all sources.
        super::products::rounding(job, job.tokens.n() as f64)
    }

    fn evaluate(&self, job: &Job, _: &mut Workspace, out: &mut [f64], doubtful: &mut Doubtful) {
        let (n, d, per_mass) = (job.tokens.n(), job.tokens.d(), self.error(job));
        let ending = &job.ending();
        let gather = |rows: Range<usize>, out: &mut [f64], doubtful: &mut Vec<usize>| {
            let terms = job.tokens.coordinates();
            job.level.run(Gather { job, terms, ending, per_mass, rows, out, doubtful });
        };
        let middle = (n / 2).next_multiple_of(GRAIN).min(n);
        let (first, second) = out.split_at_mut(middle * d);
        let parallel = job.parallel() || (n * n * d >= LEAST_WORK && others_awake() && parallel_allowed());
        let (early, late) = doubtful.halves();
        both(parallel, || gather(0..middle, first, early), || gather(middle..n, second, late));
        doubtful.join();
    }
}
