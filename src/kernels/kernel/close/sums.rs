//! From sums to velocities and fields: `P_x drift`, or `drift + sigma z x`, times a factor, with the doubtful rows noted.

use crate::kernel::doubtful::Doubtful;
use crate::kernel::job::{Ending, Job};
use crate::kernel::sums::Sums;
use crate::kernel::tiles::blocks::both;
use crate::num::simd::{Lanes, Task};
use crate::sphere::Tokens;
use std::ops::Range;

/// Writes all rows of a job from its sums and notes the doubtful ones.
pub fn close(job: &Job, sums: &Sums, out: &mut [f64], doubtful: &mut Doubtful) {
    let (x, d, bounds, ending) = (job.tokens, job.tokens.d(), sums.bounds(), &job.ending());
    let part = |rows: Range<usize>, out: &mut [f64], doubtful: &mut Vec<usize>| {
        let (drift, mass) = (&sums.drift[rows.start * d..rows.end * d], &sums.mass[rows.clone()]);
        job.level.run(Close { rows, x, drift, mass, bounds, ending, out, doubtful });
    };
    let middle = x.n() / 2;
    let (first, second) = out.split_at_mut(middle * d);
    let (early, late) = doubtful.halves();
    both(job.parallel(), || part(0..middle, first, early), || part(middle..x.n(), second, late));
    doubtful.join();
}

/// The same for some rows alone; `out` holds these.
pub fn close_rows(job: &Job, sums: &Sums, rows: Range<usize>, out: &mut [f64], doubtful: &mut Vec<usize>) {
    let (d, bounds, ending) = (job.tokens.d(), sums.bounds(), &job.ending());
    let (drift, mass) = (&sums.drift[rows.start * d..rows.end * d], &sums.mass[rows.clone()]);
    job.level.run(Close { rows, x: job.tokens, drift, mass, bounds, ending, out, doubtful });
}

/// Closes rows of plain attention.
struct Close<'a> {
    pub rows: Range<usize>,
    pub x: &'a Tokens,
    /// `sum_j m_j w_ij x_j - sigma z_i x_i` of these rows alone.
    pub drift: &'a [f64],
    /// `z_i` of these rows alone.
    pub mass: &'a [f64],
    /// See [`Sums::bounds`].
    pub bounds: [f64; 3],
    pub ending: &'a Ending,
    /// Of these rows alone.
    pub out: &'a mut [f64],
    /// Rows whose bound exceeds the accuracy or whose mass is below the floor.
    pub doubtful: &'a mut Vec<usize>,
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
        let ending = self.ending;
        let x = &self.x.coordinates()[self.rows.start * d..self.rows.end * d];
        let sums = self.drift.chunks_exact(d).zip(self.mass);
        for (((i, out), x), (drift, &mass)) in self.rows.zip(self.out.chunks_exact_mut(d)).zip(x.chunks_exact(d)).zip(sums) {
            let radial = match ending.sigma {
                Some(sigma) => -sigma * mass,
                None if D > 0 => short_dot(x, drift),
                None => dot(l, x, drift),
            };
            let factor = if ending.softmax { ending.factors[0] / mass } else { ending.factors[0] };
            let longest = if D > 0 {
                project(x, drift, radial, factor, ending.factors[1], out)
            } else {
                project_lanes(l, x, drift, [radial, factor, ending.factors[1]], out)
            };
            if is_doubtful(ending, self.bounds, mass, longest) {
                self.doubtful.push(i);
            }
        }
    }
}

/// True when the error of a row may exceed the accuracy, for sums of this mass and a row whose largest entry is `longest` before factors.
#[inline(always)]
pub fn is_doubtful(ending: &Ending, [per_mass, absolute, floor]: [f64; 3], mass: f64, longest: f64) -> bool {
    let error = per_mass * mass + absolute;
    // A softmax divides by the mass: its relative error adds to that of the drift.
    // A field is as long as its mass.
    let length = if ending.sigma.is_some() { mass } else { longest };
    let kept = error <= ending.accuracy * length && absolute <= ending.accuracy * mass;
    !(kept || error == 0.0) || mass < floor || mass.is_nan()
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

/// Writes `(drift - radial x)` times both factors and returns the largest entry before them.
#[inline(always)]
fn project(x: &[f64], drift: &[f64], radial: f64, factor: f64, second: f64, out: &mut [f64]) -> f64 {
    let mut longest = 0.0f64;
    for ((o, s), x) in out.iter_mut().zip(drift).zip(x) {
        let v = s - radial * x;
        longest = if v.abs() > longest { v.abs() } else { longest };
        *o = v * factor * second;
    }
    longest
}

/// The same in lanes.
#[inline(always)]
fn project_lanes<L: Lanes<F = f64>>(l: L, x: &[f64], drift: &[f64], factors: [f64; 3], out: &mut [f64]) -> f64 {
    let whole = x.len() - x.len() % L::WIDTH;
    let [radial, factor, second] = factors;
    let (minus, first, last) = (l.splat(-radial), l.splat(factor), l.splat(second));
    let mut longest = [l.zero(); CHAINS];
    let (x4, x1) = L::view(&x[..whole]).as_chunks::<CHAINS>();
    let (s4, s1) = L::view(&drift[..whole]).as_chunks::<CHAINS>();
    let (o4, o1) = L::view_mut(&mut out[..whole]).as_chunks_mut::<CHAINS>();
    for ((x, s), o) in x4.iter().zip(s4).zip(o4) {
        for c in 0..CHAINS {
            let v = l.fma(minus, x[c], s[c]);
            longest[c] = l.max(longest[c], l.max(v, l.sub(l.zero(), v)));
            o[c] = l.mul(l.mul(v, first), last);
        }
    }
    for ((x, s), o) in x1.iter().zip(s1).zip(o1) {
        let v = l.fma(minus, *x, *s);
        longest[0] = l.max(longest[0], l.max(v, l.sub(l.zero(), v)));
        *o = l.mul(l.mul(v, first), last);
    }
    let longest = l.max(l.max(longest[0], longest[1]), l.max(longest[2], longest[3]));
    let rest = project(&x[whole..], &drift[whole..], radial, factor, second, &mut out[whole..]);
    rest.max(l.largest(longest))
}
