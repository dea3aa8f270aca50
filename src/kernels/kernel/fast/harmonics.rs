//! Kernel by spherical harmonics on S^2. Cost O(n L^2) for degree L; the error is absolute.
//!
//! `sum_j m_j e^{beta (x . x_j) - |beta|} = sum_lm lambda_l q_lm Y_lm(x)`,
//! `lambda_l = 4 pi e^{-|beta|} i_l`, with the moments `q_lm = sum_j m_j Y_lm(x_j)`. The drift is
//! the gradient of the same sum with `lambda_l / beta`. The real harmonics are polynomials,
//! `Y_l^{+-m} = Q_l^m(z) Re, Im (x + iy)^m`, so nothing is singular at the poles. For fixed m the
//! `Q_l^m` satisfy a three-term recurrence, and `dQ_l^m / dz` is a multiple of `Q_l^{m+1}`.

use super::fourier::{Moments, PARTS, order};
use super::series::Series;
use crate::kernel::algorithm::Kernel;
use crate::kernel::problem::KernelProblem;
use crate::kernel::sums::Sums;
use crate::kernel::weight::Weight;
use crate::kernel::workspace::Workspace;
use crate::num::simd::{SimdKernel, SimdOps};
use rayon::prelude::*;
use std::f64::consts::PI;

/// The kernel by spherical harmonics.
pub struct Harmonics;

impl Kernel for Harmonics {
    fn name(&self) -> &'static str {
        "harmonics"
    }

    fn summary(&self) -> &'static str {
        "d = 3: spherical harmonics, O(n beta); absolute error about 1e-13 of the largest weight"
    }

    fn unsupported_reason(&self, problem: &KernelProblem) -> Option<&'static str> {
        match (problem.tokens.d(), problem.causal, problem.two_sided, problem.weight) {
            (3, false, true, Weight::Exponential { beta }) => {
                (beta.abs() > 400.0).then_some("|beta| <= 400")
            }
            (3, false, true, Weight::Series { profile, .. }) => {
                profile.sphere.is_none().then_some("weights with a short series on S^2")
            }
            _ => Some("velocities on S^2, d = 3, without a mask"),
        }
    }

    fn cost(&self, problem: &KernelProblem) -> f64 {
        let order = order(problem, |p| p.sphere.as_ref());
        1e5 + problem.tokens.n() as f64 * order * order * 0.5
    }

    fn error_bound(&self, problem: &KernelProblem) -> f64 {
        match problem.weight {
            // Where they oscillate, the recurrences lose about one ulp per degree; sqrt(beta)
            // degrees matter.
            Weight::Exponential { beta } => {
                2e-15 + 0.5 * f64::EPSILON * (64.0 + 32.0 * beta.abs().sqrt())
            }
            Weight::Series { profile, .. } => {
                profile.sphere.as_ref().map_or(f64::INFINITY, |s| s.error)
            }
        }
    }

    fn sums<'a>(
        &self,
        problem: &KernelProblem,
        work: &'a mut Workspace,
        drifts: &mut [f64],
    ) -> Option<&'a mut Sums> {
        let Buffers { moments, table, row_sums } = work.buffers();
        row_sums.reset_to_sums(problem, problem.bounds_of_series(self.error_bound(problem)));
        let rows = (drifts, &mut row_sums.mass[..]);
        match problem.weight {
            Weight::Exponential { beta } => {
                let series = moments.series(beta, 3, Series::sphere);
                row_sums.bounds.absolute += series.tail;
                sums(problem, (moments, table), &series, rows);
            }
            Weight::Series { profile, .. } => {
                sums(problem, (moments, table), &profile.sphere.as_ref()?.series, rows);
            }
        }
        Some(row_sums)
    }
}

/// Writes `sum_j m_j w_ij` and the tangent part of `sum_j m_j w_ij x_j` for the weight of a series
/// on S^2.
fn sums(
    problem: &KernelProblem,
    (moments, HarmonicTable { recurrence: table, terms }): (&mut Moments, &mut HarmonicTable),
    series: &Series,
    (out, masses): (&mut [f64], &mut [f64]),
) {
    let part = moments.load(problem, 4);
    if table.start.len() != series.kernel.len() {
        *table = Recurrence::new(series.kernel.len() - 1);
    }
    let table = &*table;
    let (size, width, total) = (table.size(), problem.isa.width::<f64>(), part * PARTS);
    moments.parts.resize(PARTS * size * width);
    {
        let Moments { x, m, parts, .. } = &mut *moments;
        let task = |(p, out): (usize, &mut [f64])| {
            problem.isa.run(Gather {
                table,
                x: coordinates(x, total, p, part),
                m: &m[p * part..(p + 1) * part],
                out,
            });
        };
        if problem.parallel() {
            parts.par_chunks_exact_mut(size * width).enumerate().for_each(task);
        } else {
            parts.chunks_exact_mut(size * width).enumerate().for_each(task);
        }
    }
    moments.add_parts(size, width);
    let Moments { x, sums, total: q, .. } = moments;
    table.terms(q, series, terms);
    let terms = &terms[..];
    let task = |p: usize, out: [&mut [f64]; 4]| {
        problem.isa.run(Evaluate { table, terms, x: coordinates(x, total, p, part), out })
    };
    let mut rows = sums.chunks_exact_mut(total);
    let mut row = || rows.next().unwrap_or_default();
    let (a, b, c, d) = (row(), row(), row(), row());
    if problem.parallel() {
        let parts = a
            .par_chunks_mut(part)
            .zip(b.par_chunks_mut(part))
            .zip(c.par_chunks_mut(part).zip(d.par_chunks_mut(part)));
        parts.enumerate().for_each(|(p, ((a, b), (c, d)))| task(p, [a, b, c, d]));
    } else {
        let parts = a
            .chunks_mut(part)
            .zip(b.chunks_mut(part))
            .zip(c.chunks_mut(part).zip(d.chunks_mut(part)));
        parts.enumerate().for_each(|(p, ((a, b), (c, d)))| task(p, [a, b, c, d]));
    }
    for (i, (out, total)) in out.chunks_exact_mut(3).zip(masses).enumerate() {
        *total = a[i];
        out.copy_from_slice(&[b[i], c[i], d[i]]);
    }
}

/// Moments, the recurrence, and the sums per token.
#[derive(Default)]
struct Buffers {
    moments: Moments,
    table: HarmonicTable,
    row_sums: Sums,
}

/// The three coordinate rows of part p.
fn coordinates(x: &[f64], total: usize, p: usize, part: usize) -> [&[f64]; 3] {
    [0, 1, 2].map(|k| &x[k * total + p * part..][..part])
}

/// The recurrence and the coefficients, reused from call to call.
#[derive(Default)]
pub struct HarmonicTable {
    recurrence: Recurrence,
    terms: Vec<[f64; 6]>,
}

/// `Q_l^m` from `Q_m^m`: `Q_l^m = alpha (z Q_{l-1}^m - gamma Q_{l-2}^m)`.
#[derive(Default)]
struct Recurrence {
    order: usize,
    /// `Q_m^m`, constants.
    start: Vec<f64>,
    /// `alpha, alpha gamma` for `m`, then `l = m+1..=L`.
    steps: Vec<Vec<[f64; 2]>>,
}

impl Recurrence {
    fn new(order: usize) -> Self {
        let mut start = vec![(0.25 / PI).sqrt()];
        for m in 1..=order {
            // Orthonormal real harmonics: sqrt(2) enters at m = 1, the sign (-1)^m is left out.
            let doubled = if m == 1 { 2.0 } else { 1.0 };
            let factor: f64 = doubled * (2 * m + 1) as f64 / (2 * m) as f64;
            start.push(start[m - 1] * factor.sqrt());
        }
        let square = |x: usize| (x * x) as f64;
        let alpha = |l: usize, m: usize| ((4.0 * square(l) - 1.0) / (square(l) - square(m))).sqrt();
        let gamma =
            |l: usize, m: usize| ((square(l - 1) - square(m)) / (4.0 * square(l - 1) - 1.0)).sqrt();
        let step = |l: usize, m: usize| {
            [alpha(l, m), if l == m + 1 { 0.0 } else { alpha(l, m) * gamma(l, m) }]
        };
        let steps = (0..=order).map(|m| (m + 1..=order).map(|l| step(l, m)).collect()).collect();
        Self { order, start, steps }
    }

    /// Number of moments: two for every `m <= l <= L`.
    fn size(&self) -> usize {
        (self.order + 1) * (self.order + 2)
    }

    /// Coefficients for every `(m, l)` in the order of the recurrence: those of `Q_l^m Re` and
    /// `Q_l^m Im` in the sum of the kernel, in the sum of the primitive, and in the z-derivative
    /// (from degree l, order m - 1).
    fn terms(&self, q: &[f64], series: &Series, out: &mut Vec<[f64; 6]>) {
        let index =
            |m: usize, l: usize| 2 * (m * (self.order + 1) - m * m.saturating_sub(1) / 2 + l - m);
        out.clear();
        for m in 0..=self.order {
            for l in m..=self.order {
                let (kernel, primitive) =
                    (4.0 * PI * series.kernel[l], 4.0 * PI * series.primitive[l]);
                let (re, im) = (q[index(m, l)], q[index(m, l) + 1]);
                let mut down = [0.0; 2];
                if m > 0 {
                    // dQ_l^{m-1}/dz = sqrt((l-m+1)(l+m)) Q_l^m, without the sqrt(2) between orders
                    // 0 and 1.
                    let single = if m == 1 { 0.5 } else { 1.0 };
                    let factor = primitive * (single * ((l - m + 1) * (l + m)) as f64).sqrt();
                    down = [factor * q[index(m - 1, l)], factor * q[index(m - 1, l) + 1]];
                }
                out.push([
                    kernel * re,
                    kernel * im,
                    primitive * re,
                    primitive * im,
                    down[0],
                    down[1],
                ]);
            }
        }
    }
}

/// Vectors of tokens per pass.
const UNROLL: usize = 4;

struct Gather<'a> {
    table: &'a Recurrence,
    x: [&'a [f64]; 3],
    m: &'a [f64],
    /// Two vectors of partial sums per `(m, l)`.
    out: &'a mut [f64],
}

impl SimdKernel for Gather<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        self.out.fill(0.0);
        let (x, y, z, m) =
            (L::view(self.x[0]), L::view(self.x[1]), L::view(self.x[2]), L::view(self.m));
        let out = L::view_mut(self.out);
        for first in (0..x.len()).step_by(UNROLL) {
            let count = UNROLL.min(x.len() - first);
            let (mut re, mut im, mut height) =
                ([l.zero(); UNROLL], [l.zero(); UNROLL], [l.zero(); UNROLL]);
            for r in 0..count {
                (re[r], height[r]) = (m[first + r], z[first + r]);
            }
            let mut moment = out.chunks_exact_mut(2);
            for (start, steps) in self.table.start.iter().zip(&self.table.steps) {
                let (mut now, mut before) = ([l.splat(*start); UNROLL], [l.zero(); UNROLL]);
                for step in std::iter::once(&[0.0; 2]).chain(steps) {
                    if step[0] > 0.0 {
                        let (alpha, back) = (l.splat(step[0]), l.splat(-step[1]));
                        for r in 0..UNROLL {
                            let next =
                                l.fma(l.mul(alpha, height[r]), now[r], l.mul(back, before[r]));
                            (before[r], now[r]) = (now[r], next);
                        }
                    }
                    let Some(sum) = moment.next() else { return };
                    let (mut a, mut b) = (sum[0], sum[1]);
                    for r in 0..UNROLL {
                        (a, b) = (l.fma(now[r], re[r], a), l.fma(now[r], im[r], b));
                    }
                    (sum[0], sum[1]) = (a, b);
                }
                for r in 0..count {
                    let (c, s) = (x[first + r], y[first + r]);
                    let next = l.fma(re[r], c, l.sub(l.zero(), l.mul(im[r], s)));
                    im[r] = l.fma(re[r], s, l.mul(im[r], c));
                    re[r] = next;
                }
            }
        }
    }
}

struct Evaluate<'a> {
    table: &'a Recurrence,
    terms: &'a [[f64; 6]],
    x: [&'a [f64]; 3],
    /// Mass and the three coordinates of the drift.
    out: [&'a mut [f64]; 4],
}

impl SimdKernel for Evaluate<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let (x, y, z) = (L::view(self.x[0]), L::view(self.x[1]), L::view(self.x[2]));
        let [mass, dx, dy, dz] = self.out;
        let (mass, dx, dy, dz) =
            (L::view_mut(mass), L::view_mut(dx), L::view_mut(dy), L::view_mut(dz));
        for v in 0..x.len() {
            // (x + iy)^m and (x + iy)^{m-1} times m.
            let (mut re, mut im) = (l.constant(1.0), l.zero());
            let (mut lower_re, mut lower_im) = (l.zero(), l.zero());
            let mut sums = [l.zero(); 4];
            let mut terms = self.terms.iter();
            for (order, (start, steps)) in
                self.table.start.iter().zip(&self.table.steps).enumerate()
            {
                let (mut now, mut before) = (l.splat(*start), l.zero());
                let mut a = [l.zero(); 6];
                for step in std::iter::once(&[0.0; 2]).chain(steps) {
                    if step[0] > 0.0 {
                        let next = l.fma(
                            l.mul(l.splat(step[0]), z[v]),
                            now,
                            l.mul(l.splat(-step[1]), before),
                        );
                        (before, now) = (now, next);
                    }
                    let Some(term) = terms.next() else { return };
                    for k in 0..6 {
                        a[k] = l.fma(l.splat(term[k]), now, a[k]);
                    }
                }
                let m = l.constant(order as f64);
                sums[0] = l.fma(a[0], re, l.fma(a[1], im, sums[0]));
                sums[1] = l.fma(m, l.fma(a[2], lower_re, l.mul(a[3], lower_im)), sums[1]);
                sums[2] = l.fma(m, l.sub(l.mul(a[3], lower_re), l.mul(a[2], lower_im)), sums[2]);
                sums[3] = l.fma(a[4], lower_re, l.fma(a[5], lower_im, sums[3]));
                (lower_re, lower_im) = (re, im);
                let next = l.sub(l.mul(re, x[v]), l.mul(im, y[v]));
                im = l.fma(re, y[v], l.mul(im, x[v]));
                re = next;
            }
            (mass[v], dx[v], dy[v], dz[v]) = (sums[0], sums[1], sums[2], sums[3]);
        }
    }
}
