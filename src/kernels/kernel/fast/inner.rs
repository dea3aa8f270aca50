//! Kernel for small d by inner products in registers: targets in lanes, sources one by one; nothing
//! is stored between score and velocity.
//!
//! `w = e^{|beta| (sigma G - 1)}` from the inner product G, as in [`super::products`]. Every pair
//! is evaluated twice, once for each token, so sums stay in registers and threads share only the
//! tokens.

use super::pair_weight::{Exponential, PairWeight};
use crate::kernel::algorithm::Kernel;
use crate::kernel::bounds::Bounds;
use crate::kernel::epilogue::epilogue_in_lanes;
use crate::kernel::flagged_rows::FlaggedRows;
use crate::kernel::limits::MIN_REPEATED_WORK;
use crate::kernel::problem::{Epilogue, KernelProblem, Weights};
use crate::kernel::tiles::blocks::BLOCK_MULTIPLE;
use crate::kernel::weight::Weight;
use crate::kernel::workspace::Workspace;
use crate::num::simd::{Float, SimdKernel, SimdOps};
use crate::num::threads::{join_if, parallel_allowed, workers_spinning};
use crate::num::vector::scale;
use std::ops::Range;

/// Largest dimension whose coordinates and sums fit the registers.
pub const MAX_D: usize = 8;

/// Sources per pass: independent chains of operations.
const UNROLL: usize = 4;

/// A range of targets.
struct Gather<'a, W> {
    problem: &'a KernelProblem<'a>,
    weight: W,
    /// The rows again, as a second slice: the compiler then reloads coordinates for the sums
    /// instead of keeping them in registers, of which there are too few.
    terms: &'a [f64],
    epilogue: &'a Epilogue,
    bounds: Bounds,
    rows: Range<usize>,
    /// Results for these targets only.
    out: &'a mut [f64],
    flagged: &'a mut Vec<usize>,
}

impl<W: PairWeight> SimdKernel for Gather<'_, W> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        match self.problem.tokens.d() {
            2 => self.with_dimension::<L, 2>(l),
            3 => self.with_dimension::<L, 3>(l),
            4 => self.with_dimension::<L, 4>(l),
            5 => self.with_dimension::<L, 5>(l),
            6 => self.with_dimension::<L, 6>(l),
            7 => self.with_dimension::<L, 7>(l),
            _ => self.with_dimension::<L, 8>(l),
        }
    }
}

impl<W: PairWeight> Gather<'_, W> {
    #[inline(always)]
    fn with_dimension<L: SimdOps<F = f64>, const D: usize>(self, l: L) {
        // Below this slope no weight underflows.
        let normal = 2.0 * self.weight.line().0.abs() < -0.99 * f64::UNDERFLOW_EXPONENT;
        let unit_mass = !W::TOGETHER && normal && self.problem.tokens.uniform_mass().is_some();
        if unit_mass { self.targets::<L, D, true>(l) } else { self.targets::<L, D, false>(l) }
    }

    #[inline(always)]
    fn targets<L: SimdOps<F = f64>, const D: usize, const UNIT_MASS: bool>(self, l: L) {
        let Self {
            problem: &KernelProblem { tokens, .. },
            weight,
            bounds,
            rows: targets,
            out,
            flagged,
            ..
        } = self;
        let sources = Sources {
            rows: tokens.coordinates().as_chunks().0,
            terms: self.terms.as_chunks().0,
            masses: tokens.masses(),
        };
        let (slope, shift) = weight.line();
        let (scale, shift, unit) = (
            l.constant(slope),
            l.constant(shift),
            l.constant(if UNIT_MASS { tokens.uniform_mass().unwrap_or(1.0) } else { 1.0 }),
        );
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
            let (mut v, mut mass) = sources.sums::<L, W, UNIT_MASS>(l, weight, &steep, shift);
            mass = l.mul(unit, mass);
            for k in 0..D {
                v[k] = l.mul(unit, v[k]);
            }
            let error = l.mul(l.splat(bounds.per_mass), mass);
            let error = if W::TOGETHER { l.add(l.splat(bounds.absolute), error) } else { error };
            let flags =
                epilogue_in_lanes(l, self.epilogue, (error, bounds.floor), &x, &mut v, mass);
            for k in 0..D {
                L::view_mut(&mut lanes[k])[0] = v[k];
            }
            for (lane, row) in out.iter_mut().enumerate() {
                for k in 0..D {
                    row[k] = lanes[k][lane];
                }
            }
            if l.largest(flags) > 0.0 {
                let mut marks = [0.0; 8];
                l.store(flags, &mut marks);
                flagged.extend(
                    (0..out.len()).filter(|lane| marks[*lane] > 0.0).map(|lane| first + lane),
                );
            }
        }
    }
}

/// All tokens, as sources.
struct Sources<'a, const D: usize> {
    rows: &'a [[f64; D]],
    terms: &'a [[f64; D]],
    masses: &'a [f64],
}

impl<const D: usize> Sources<'_, D> {
    /// `sum_j m_j w_j x_j` and `sum_j m_j w_j` for a vector of targets.
    #[inline(always)]
    fn sums<L: SimdOps<F = f64>, W: PairWeight, const UNIT_MASS: bool>(
        &self,
        l: L,
        weight: W,
        steep: &[L::V; D],
        shift: L::V,
    ) -> ([L::V; D], L::V) {
        let mut sums = ([l.zero(); D], l.zero());
        let (groups, rest) = self.rows.as_chunks::<UNROLL>();
        let (terms, last) = self.terms.as_chunks::<UNROLL>();
        let mut t = groups.first().map_or([shift; UNROLL], |g| exponents(l, shift, steep, g));
        for (g, terms) in terms.iter().enumerate() {
            // Compute the next inner products now: they overlap with these exponentials.
            let next = exponents(l, shift, steep, &groups[(g + 1).min(groups.len() - 1)]);
            let masses = &self.masses[g * UNROLL..];
            add::<L, W, D, UNROLL, UNIT_MASS>(l, weight, t, (terms, masses), &mut sums);
            t = next;
        }
        if W::TOGETHER {
            if !rest.is_empty() {
                // With other sources of mass 0: this code is long, so there is one copy.
                let (mut rows, mut masses) = ([[0.0; D]; UNROLL], [0.0; UNROLL]);
                rows[..rest.len()].copy_from_slice(rest);
                masses[..rest.len()].copy_from_slice(&self.masses[groups.len() * UNROLL..]);
                let t = exponents(l, shift, steep, &rows);
                add::<L, W, D, UNROLL, UNIT_MASS>(l, weight, t, (&rows, &masses), &mut sums);
            }
            return sums;
        }
        for (j, (row, term)) in rest.iter().zip(last).enumerate() {
            let t = exponents(l, shift, steep, std::array::from_ref(row));
            let masses = &self.masses[groups.len() * UNROLL + j..];
            let terms = (std::array::from_ref(term), masses);
            add::<L, W, D, 1, UNIT_MASS>(l, weight, t, terms, &mut sums);
        }
        sums
    }
}

/// Exponents of 2 of the weights of some sources.
#[inline(always)]
fn exponents<L: SimdOps<F = f64>, const D: usize, const U: usize>(
    l: L,
    shift: L::V,
    steep: &[L::V; D],
    rows: &[[f64; D]; U],
) -> [L::V; U] {
    let mut t = [shift; U];
    for k in 0..D {
        for u in 0..U {
            t[u] = l.fma(steep[k], l.splat(rows[u][k]), t[u]);
        }
    }
    t
}

/// Adds the contribution of some sources.
#[inline(always)]
fn add<
    L: SimdOps<F = f64>,
    W: PairWeight,
    const D: usize,
    const U: usize,
    const UNIT_MASS: bool,
>(
    l: L,
    weight: W,
    t: [L::V; U],
    (terms, masses): (&[[f64; D]; U], &[f64]),
    (drift, mass): &mut ([L::V; D], L::V),
) {
    let mut w = weight.values::<L, U, UNIT_MASS>(l, t);
    if !UNIT_MASS {
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

/// The kernel by inner products in registers.
pub struct Inner;

impl Kernel for Inner {
    fn name(&self) -> &'static str {
        "inner"
    }

    fn summary(&self) -> &'static str {
        "inner products in registers, d up to 8; error |beta| sqrt(d) u of the mass; n^2 exponentials"
    }

    fn unsupported_reason(&self, problem: &KernelProblem) -> Option<&'static str> {
        let shape =
            (problem.causal || problem.tokens.d() > MAX_D).then_some("d at most 8, no mask");
        shape.or_else(|| super::products::unsupported(problem))
    }

    fn cost(&self, problem: &KernelProblem) -> f64 {
        let (n, d) = (problem.tokens.n() as f64, problem.tokens.d() as f64);
        let weight = match problem.weight {
            Weight::Exponential { .. } => 0.2,
            Weight::Series { profile, .. } => profile.cost + 0.05,
        };
        n * n * (weight + 0.062 * d)
    }

    fn error_bound(&self, problem: &KernelProblem) -> f64 {
        // One chain of n additions.
        super::products::rounding_bound(problem, problem.tokens.n() as f64)
    }

    fn keeps_masses(&self) -> bool {
        false
    }

    fn evaluate(
        &self,
        problem: &KernelProblem,
        _: &mut Workspace,
        out: &mut [f64],
        flagged: &mut FlaggedRows,
    ) {
        let bounds = problem.bounds_of_products(self.error_bound(problem));
        match problem.weight {
            Weight::Exponential { beta } => {
                evaluate(problem, Exponential { beta }, bounds, out, flagged);
            }
            Weight::Series { series, .. } => {
                evaluate(problem, series, bounds, out, flagged);
                if problem.weights != Weights::Softmax {
                    scale(bounds.unit, out);
                }
            }
        }
    }
}

/// Writes velocities or fields in the unit of the weights, and lists the rows whose error is too
/// large.
fn evaluate<W: PairWeight>(
    problem: &KernelProblem,
    weight: W,
    bounds: Bounds,
    out: &mut [f64],
    flagged: &mut FlaggedRows,
) {
    let (n, d) = (problem.tokens.n(), problem.tokens.d());
    let epilogue = &problem.epilogue();
    let gather = |rows: Range<usize>, out: &mut [f64], flagged: &mut Vec<usize>| {
        let terms = problem.tokens.coordinates();
        problem.isa.run(Gather { problem, weight, terms, epilogue, bounds, rows, out, flagged });
    };
    let middle = (n / 2).next_multiple_of(BLOCK_MULTIPLE).min(n);
    let (first, second) = out.split_at_mut(middle * d);
    let parallel = problem.parallel()
        || (n * n * d >= MIN_REPEATED_WORK && workers_spinning() && parallel_allowed());
    let (early, late) = flagged.two_lists();
    join_if(parallel, || gather(0..middle, first, early), || gather(middle..n, second, late));
    flagged.merge_lists();
}
