//! Epilogue: turns sums into velocities or fields. It computes `P_x drift` or `drift + sigma z x`,
//! multiplies by a factor, and flags rows whose error bound exceeds the accuracy.

use crate::kernel::bounds::Bounds;
use crate::kernel::flagged_rows::FlaggedRows;
use crate::kernel::problem::{Epilogue, KernelProblem, OutputForm, Weights};
use crate::kernel::sums::Sums;
use crate::kernel::weight::Weight;
use crate::num::simd::{SimdKernel, SimdOps};
use crate::num::threads::join_if;
use crate::num::vector::scale;
use crate::sphere::Tokens;
use std::ops::Range;

/// Turns the drifts in `out` into results in their unit, and flags rows. Rows that are divided by
/// a sum of 0 are 0.
pub fn finish(
    problem: &KernelProblem,
    sums: &mut Sums,
    out: &mut [f64],
    flagged: &mut FlaggedRows,
) {
    if matches!(problem.weight, Weight::Exponential { .. }) {
        return apply_epilogue(problem, sums, out, flagged);
    }
    let (d, unit, divided) =
        (problem.tokens.d(), sums.bounds.unit, problem.weights == Weights::Softmax);
    if problem.form == OutputForm::Difference {
        for (row, mass) in out.chunks_exact_mut(d).zip(&sums.mass) {
            scale(problem.sign * if divided { 1.0 / mass } else { unit }, row);
        }
    } else {
        if !divided && problem.two_sided && sums.bounds.absolute > 0.0 {
            // Errors are in units of the total mass; weights of both signs may have no sum.
            sums.mass.fill(1.0);
        }
        apply_epilogue(problem, sums, out, flagged);
        if !divided {
            scale(unit, out);
        }
    }
    if divided {
        let rows = out.chunks_exact_mut(d).zip(&sums.mass);
        rows.filter(|(_, mass)| **mass == 0.0).for_each(|(row, _)| row.fill(0.0));
    }
}

/// Turns the drifts in `out` into velocities or fields, and flags rows.
fn apply_epilogue(
    problem: &KernelProblem,
    sums: &Sums,
    out: &mut [f64],
    flagged: &mut FlaggedRows,
) {
    let (n, epilogue) = (problem.tokens.n(), &problem.epilogue());
    let part = |rows: Range<usize>, out: &mut [f64], flagged: &mut Vec<usize>| {
        problem.isa.run(EpilogueKernel { rows, x: problem.tokens, sums, epilogue, out, flagged });
    };
    let middle = n / 2;
    let (first, second) = out.split_at_mut(middle * problem.tokens.d());
    let (early, late) = flagged.two_lists();
    join_if(problem.parallel(), || part(0..middle, first, early), || part(middle..n, second, late));
    flagged.merge_lists();
}

/// The epilogue for a range of rows; `out` holds only these.
pub fn apply_epilogue_to_rows(
    problem: &KernelProblem,
    sums: &Sums,
    rows: Range<usize>,
    out: &mut [f64],
    flagged: &mut Vec<usize>,
) {
    problem.isa.run(EpilogueKernel {
        rows,
        x: problem.tokens,
        sums,
        epilogue: &problem.epilogue(),
        out,
        flagged,
    });
}

/// The epilogue of plain attention for a range of rows.
struct EpilogueKernel<'a> {
    rows: Range<usize>,
    x: &'a Tokens,
    sums: &'a Sums,
    epilogue: &'a Epilogue,
    /// On entry the drifts of these rows, on exit their results.
    out: &'a mut [f64],
    /// Rows whose error bound exceeds the accuracy or whose mass is below the floor.
    flagged: &'a mut Vec<usize>,
}

impl SimdKernel for EpilogueKernel<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        match self.x.d() {
            2 => self.rows::<L, 2>(l),
            3 => self.rows::<L, 3>(l),
            _ => self.rows::<L, 0>(l),
        }
    }
}

impl EpilogueKernel<'_> {
    /// `D` is the dimension, 0 for any.
    #[inline(always)]
    fn rows<L: SimdOps<F = f64>, const D: usize>(self, l: L) {
        let d = if D > 0 { D } else { self.x.d() };
        let (epilogue, sums, bounds) = (self.epilogue, self.sums, self.sums.bounds);
        let x = &self.x.coordinates()[self.rows.start * d..self.rows.end * d];
        let masses = &sums.mass[self.rows.clone()];
        for ((i, out), (x, &mass)) in
            self.rows.zip(self.out.chunks_exact_mut(d)).zip(x.chunks_exact(d).zip(masses))
        {
            let radial = match sums.radial.get(i) {
                _ if !epilogue.project => -sums.sigma * mass,
                Some(radial) => *radial,
                None if D > 0 => short_dot(x, out),
                None => dot(l, x, out),
            };
            let factor =
                if epilogue.softmax { epilogue.factors[0] / mass } else { epilogue.factors[0] };
            let longest = if D > 0 {
                project(x, radial, factor, epilogue.factors[1], out)
            } else {
                project_lanes(l, x, [radial, factor, epilogue.factors[1]], out)
            };
            if is_flagged(epilogue, bounds, mass, longest) {
                self.flagged.push(i);
            }
        }
    }
}

/// True if the error bound of a row exceeds the accuracy. `longest` is the largest entry of the row
/// before the factors are applied.
#[inline(always)]
fn is_flagged(epilogue: &Epilogue, bounds: Bounds, mass: f64, longest: f64) -> bool {
    let Bounds { per_mass, absolute, floor, .. } = bounds;
    let error = per_mass * mass + absolute;
    // SA divides by the mass, so the relative error of the mass adds to that of the drift. A field
    // has about the norm of its mass.
    let length = if epilogue.project { longest } else { mass };
    let within_bound = error <= epilogue.accuracy * length && absolute <= epilogue.accuracy * mass;
    !(within_bound || error == 0.0) || mass < floor || mass.is_nan()
}

/// The epilogue for sums `sum_j m_j w_ij x_j` with one row per lane. Returns 1 in lanes where
/// [`is_flagged`] would be true for this error bound of the drift.
#[inline(always)]
pub fn epilogue_in_lanes<L: SimdOps<F = f64>, const D: usize>(
    l: L,
    epilogue: &Epilogue,
    (error, floor): (L::V, f64),
    x: &[L::V; D],
    v: &mut [L::V; D],
    mass: L::V,
) -> L::V {
    let mut radial = l.zero();
    if epilogue.project {
        radial = l.mul(x[0], v[0]);
        for k in 1..D {
            radial = l.fma(x[k], v[k], radial);
        }
    }
    let [first, second] = epilogue.factors.map(|f| l.splat(f));
    let first = if epilogue.softmax { l.div(first, mass) } else { first };
    let (back, mut longest) = (l.sub(l.zero(), radial), l.zero());
    for k in 0..D {
        let u = l.fma(back, x[k], v[k]);
        longest = l.max(longest, l.max(u, l.sub(l.zero(), u)));
        v[k] = l.mul(l.mul(u, first), second);
    }
    let length = if epilogue.project { longest } else { mass };
    let (yes, no) = (l.splat(1.0), l.zero());
    let inaccurate = l.select(l.greater(error, l.mul(l.splat(epilogue.accuracy), length)), yes, no);
    // The comparison is false for NaN, which is flagged as well.
    l.select(l.greater(mass, l.splat(floor)), inaccurate, yes)
}

#[inline(always)]
fn short_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        sum += a * b;
    }
    sum
}

#[inline(always)]
fn dot<L: SimdOps<F = f64>>(l: L, a: &[f64], b: &[f64]) -> f64 {
    let whole = a.len() - a.len() % L::WIDTH;
    let ((a4, a1), (b4, b1)) =
        (L::view(&a[..whole]).as_chunks::<CHAINS>(), L::view(&b[..whole]).as_chunks::<CHAINS>());
    let mut sums = [l.zero(); CHAINS];
    for (a, b) in a4.iter().zip(b4) {
        for c in 0..CHAINS {
            sums[c] = l.fma(a[c], b[c], sums[c]);
        }
    }
    for (a, b) in a1.iter().zip(b1) {
        sums[0] = l.fma(*a, *b, sums[0]);
    }
    let sum = l.add(l.add(sums[0], sums[1]), l.add(sums[2], sums[3]));
    l.sum(sum) + short_dot(&a[whole..], &b[whole..])
}

/// Independent chains of operations.
const CHAINS: usize = 4;

/// Replaces the drift by `(drift - radial x)` times both factors. Returns the largest entry before
/// the factors.
#[inline(always)]
fn project(x: &[f64], radial: f64, factor: f64, second: f64, out: &mut [f64]) -> f64 {
    let mut longest = 0.0f64;
    for (o, x) in out.iter_mut().zip(x) {
        let v = *o - radial * x;
        longest = if v.abs() > longest { v.abs() } else { longest };
        *o = v * factor * second;
    }
    longest
}

/// [`project`] in SIMD.
#[inline(always)]
fn project_lanes<L: SimdOps<F = f64>>(l: L, x: &[f64], factors: [f64; 3], out: &mut [f64]) -> f64 {
    let whole = x.len() - x.len() % L::WIDTH;
    let [radial, factor, second] = factors;
    let (minus, first, last) = (l.splat(-radial), l.splat(factor), l.splat(second));
    let (mut longest, mut least) = ([l.zero(); CHAINS], [l.zero(); CHAINS]);
    let (x4, x1) = L::view(&x[..whole]).as_chunks::<CHAINS>();
    let (o4, o1) = L::view_mut(&mut out[..whole]).as_chunks_mut::<CHAINS>();
    for (x, o) in x4.iter().zip(o4) {
        for c in 0..CHAINS {
            let v = l.fma(minus, x[c], o[c]);
            (longest[c], least[c]) = (l.max(longest[c], v), l.min(least[c], v));
            o[c] = l.mul(l.mul(v, first), last);
        }
    }
    for (x, o) in x1.iter().zip(o1) {
        let v = l.fma(minus, *x, *o);
        (longest[0], least[0]) = (l.max(longest[0], v), l.min(least[0], v));
        *o = l.mul(l.mul(v, first), last);
    }
    for c in 0..CHAINS {
        longest[c] = l.max(longest[c], l.sub(l.zero(), least[c]));
    }
    let longest = l.max(l.max(longest[0], longest[1]), l.max(longest[2], longest[3]));
    let rest = project(&x[whole..], radial, factor, second, &mut out[whole..]);
    rest.max(l.largest(longest))
}
