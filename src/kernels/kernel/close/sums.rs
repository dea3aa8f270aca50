//! From sums to velocities and fields: `P_x drift`, or `drift + sigma z x`, times a factor, with the doubtful rows noted.

use crate::kernel::doubtful::Doubtful;
use crate::kernel::job::{Ending, Job};
use crate::kernel::sums::Sums;
use crate::num::simd::{Lanes, Task};
use crate::num::threads::both;
use crate::sphere::Tokens;
use std::ops::Range;

/// Makes velocities or fields of the drifts in `out` and notes the doubtful rows.
pub fn close(job: &Job, sums: &Sums, out: &mut [f64], doubtful: &mut Doubtful) {
    let (n, ending) = (job.tokens.n(), &job.ending());
    let part = |rows: Range<usize>, out: &mut [f64], doubtful: &mut Vec<usize>| {
        job.level.run(Close { rows, x: job.tokens, sums, ending, out, doubtful });
    };
    let middle = n / 2;
    let (first, second) = out.split_at_mut(middle * job.tokens.d());
    let (early, late) = doubtful.halves();
    both(job.parallel(), || part(0..middle, first, early), || part(middle..n, second, late));
    doubtful.join();
}

/// The same for some rows alone; `out` holds these.
pub fn close_rows(job: &Job, sums: &Sums, rows: Range<usize>, out: &mut [f64], doubtful: &mut Vec<usize>) {
    job.level.run(Close { rows, x: job.tokens, sums, ending: &job.ending(), out, doubtful });
}

/// Closes rows of plain attention.
struct Close<'a> {
    rows: Range<usize>,
    x: &'a Tokens,
    sums: &'a Sums,
    ending: &'a Ending,
    /// Of these rows alone: their drifts at first.
    out: &'a mut [f64],
    /// Rows whose bound exceeds the accuracy or whose mass is below the floor.
    doubtful: &'a mut Vec<usize>,
}

impl Task for Close<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        match self.x.d() {
            2 => self.rows::<L, 2>(l),
            3 => self.rows::<L, 3>(l),
            _ => self.rows::<L, 0>(l),
        }
    }
}

impl Close<'_> {
    /// `D` is the dimension, 0 for any.
    #[inline(always)]
    fn rows<L: Lanes<F = f64>, const D: usize>(self, l: L) {
        let d = if D > 0 { D } else { self.x.d() };
        let (ending, sums, bounds) = (self.ending, self.sums, self.sums.bounds());
        let x = &self.x.coordinates()[self.rows.start * d..self.rows.end * d];
        let masses = &sums.mass[self.rows.clone()];
        for ((i, out), (x, &mass)) in self.rows.zip(self.out.chunks_exact_mut(d)).zip(x.chunks_exact(d).zip(masses)) {
            let radial = match sums.radial.get(i) {
                _ if !ending.project => -sums.sigma * mass,
                Some(radial) => *radial,
                None if D > 0 => short_dot(x, out),
                None => dot(l, x, out),
            };
            let factor = if ending.softmax { ending.factors[0] / mass } else { ending.factors[0] };
            let longest = if D > 0 {
                project(x, radial, factor, ending.factors[1], out)
            } else {
                project_lanes(l, x, [radial, factor, ending.factors[1]], out)
            };
            if is_doubtful(ending, bounds, mass, longest) {
                self.doubtful.push(i);
            }
        }
    }
}

/// True when the error of a row may exceed the accuracy, for sums of this mass and a row whose largest entry is `longest` before factors.
#[inline(always)]
fn is_doubtful(ending: &Ending, [per_mass, absolute, floor]: [f64; 3], mass: f64, longest: f64) -> bool {
    let error = per_mass * mass + absolute;
    // A softmax divides by the mass: its relative error adds to that of the drift.
    // A field is as long as its mass.
    let length = if ending.project { longest } else { mass };
    let kept = error <= ending.accuracy * length && absolute <= ending.accuracy * mass;
    !(kept || error == 0.0) || mass < floor || mass.is_nan()
}

/// Makes velocities or fields of sums `sum_j m_j w_ij x_j` with a row in every lane; 1 where [`is_doubtful`] would say so.
#[inline(always)]
pub fn close_lanes<L: Lanes<F = f64>, const D: usize>(
    l: L,
    ending: &Ending,
    [per_mass, floor]: [f64; 2],
    x: &[L::V; D],
    v: &mut [L::V; D],
    mass: L::V,
) -> L::V {
    let mut radial = l.zero();
    if ending.project {
        radial = l.mul(x[0], v[0]);
        for k in 1..D {
            radial = l.fma(x[k], v[k], radial);
        }
    }
    let [first, second] = ending.factors.map(|f| l.splat(f));
    let first = if ending.softmax { l.div(first, mass) } else { first };
    let (back, mut longest) = (l.sub(l.zero(), radial), l.zero());
    for k in 0..D {
        let u = l.fma(back, x[k], v[k]);
        longest = l.max(longest, l.max(u, l.sub(l.zero(), u)));
        v[k] = l.mul(l.mul(u, first), second);
    }
    let length = if ending.project { longest } else { mass };
    let (yes, no) = (l.splat(1.0), l.zero());
    let lost = l.select(l.greater(l.mul(l.splat(per_mass), mass), l.mul(l.splat(ending.accuracy), length)), yes, no);
    // Also where the mass is not a number.
    l.select(l.greater(mass, l.splat(floor)), lost, yes)
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
fn dot<L: Lanes<F = f64>>(l: L, a: &[f64], b: &[f64]) -> f64 {
    let whole = a.len() - a.len() % L::WIDTH;
    let ((a4, a1), (b4, b1)) = (L::view(&a[..whole]).as_chunks::<CHAINS>(), L::view(&b[..whole]).as_chunks::<CHAINS>());
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

/// Chains of dependent operations that overlap.
const CHAINS: usize = 4;

/// Makes `(drift - radial x)` times both factors of a drift and returns the largest entry before them.
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

/// The same in lanes.
#[inline(always)]
fn project_lanes<L: Lanes<F = f64>>(l: L, x: &[f64], factors: [f64; 3], out: &mut [f64]) -> f64 {
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
