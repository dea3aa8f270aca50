//! Fourier kernel on the circle: moments `M_k = sum_j m_j conj(z_j)^k`, then `sum_k c_k M_k z_i^k`
//! by Horner's rule. Cost O(nK) for order K; the error is absolute.

use super::series::Series;
use crate::kernel::algorithm::Kernel;
use crate::kernel::problem::KernelProblem;
use crate::kernel::sums::Sums;
use crate::kernel::tiles::blocks::BLOCK_MULTIPLE;
use crate::kernel::weight::Weight;
use crate::kernel::weight_profile::{SeriesProfile, WeightProfile};
use crate::kernel::workspace::Workspace;
use crate::num::aligned::AlignedVec;
use crate::num::simd::{SimdKernel, SimdOps};
use rayon::prelude::*;
use std::sync::Arc;

/// The Fourier kernel.
pub struct Fourier;

/// Buffers of the kernels by series.
#[derive(Default)]
pub struct Moments {
    /// Coordinates of the tokens, one padded row per coordinate.
    pub x: AlignedVec<f64>,
    /// Masses, 0 for padding.
    pub m: AlignedVec<f64>,
    /// Moments of every part; later the coefficients of both series.
    pub parts: AlignedVec<f64>,
    /// Moments of all tokens.
    pub total: Vec<f64>,
    /// Per token: the mass, then the drift; one row each.
    pub sums: AlignedVec<f64>,
    /// The series, with the beta and d for which it was computed.
    pub series: Option<(f64, usize, Arc<Series>)>,
}

/// Tokens are split into this many parts for every number of threads, so sums have a fixed order.
pub const PARTS: usize = 64;
/// Absolute error of the truncated series, below the rounding of the sums.
const TOLERANCE: f64 = 1e-15;

impl Moments {
    /// Loads the tokens; returns the padded length of a part.
    pub fn load(&mut self, problem: &KernelProblem, rows: usize) -> usize {
        let (n, d) = (problem.tokens.n(), problem.tokens.d());
        let part = n.div_ceil(PARTS).next_multiple_of(BLOCK_MULTIPLE);
        let total = part * PARTS;
        self.x.reset(d * total);
        self.m.reset(total);
        self.sums.resize(rows * total);
        for (k, column) in self.x.chunks_exact_mut(total).enumerate() {
            problem
                .tokens
                .coordinates()
                .chunks_exact(d)
                .zip(column)
                .for_each(|(row, c)| *c = row[k]);
        }
        self.m[..n].copy_from_slice(problem.tokens.masses());
        part
    }

    /// The series of `e^{beta t - |beta|}` in d dimensions, computed once per beta.
    pub fn series(&mut self, beta: f64, d: usize, make: fn(f64, f64) -> Series) -> Arc<Series> {
        match &self.series {
            Some((own, dimension, series))
                if own.to_bits() == beta.to_bits() && *dimension == d =>
            {
                series.clone()
            }
            _ => {
                let series = Arc::new(make(beta, TOLERANCE));
                self.series = Some((beta, d, series.clone()));
                series
            }
        }
    }

    /// Sums the moments of the parts in order; each is a vector of partial sums.
    pub fn add_parts(&mut self, size: usize, width: usize) {
        self.total.clear();
        self.total.resize(size, 0.0);
        for part in self.parts.chunks_exact(size * width) {
            self.total
                .iter_mut()
                .zip(part.chunks_exact(width))
                .for_each(|(t, p)| *t += p.iter().sum::<f64>());
        }
    }
}

impl Kernel for Fourier {
    fn name(&self) -> &'static str {
        "fourier"
    }

    fn summary(&self) -> &'static str {
        "d = 2: Fourier series, O(n sqrt(beta)); absolute error about 1e-14 of the largest weight"
    }

    fn unsupported_reason(&self, problem: &KernelProblem) -> Option<&'static str> {
        let velocities = "velocities on the circle, d = 2, without a mask";
        match (problem.tokens.d(), problem.causal, problem.two_sided, problem.weight) {
            (2, false, true, Weight::Exponential { beta }) => {
                (beta.abs() > 2e4).then_some("|beta| <= 20000")
            }
            (2, false, true, Weight::Series { profile, .. }) => {
                profile.circle.is_none().then_some("weights with a short series on the circle")
            }
            _ => Some(velocities),
        }
    }

    fn cost(&self, problem: &KernelProblem) -> f64 {
        2000.0 + problem.tokens.n() as f64 * order(problem, |p| p.circle.as_ref()) * 0.5
    }

    fn error_bound(&self, problem: &KernelProblem) -> f64 {
        match problem.weight {
            // Each power of z adds a rounding error u, and about sqrt(beta) powers matter. The
            // other terms are the rounding of the sums.
            Weight::Exponential { beta } => {
                2.0 * TOLERANCE + 0.5 * f64::EPSILON * (16.0 + 8.0 * beta.abs().sqrt())
            }
            Weight::Series { profile, .. } => {
                profile.circle.as_ref().map_or(f64::INFINITY, |s| s.error)
            }
        }
    }

    fn sums<'a>(
        &self,
        problem: &KernelProblem,
        work: &'a mut Workspace,
        drifts: &mut [f64],
    ) -> Option<&'a mut Sums> {
        let Buffers { moments, row_sums } = work.buffers();
        row_sums.reset_to_sums(problem, problem.bounds_of_series(self.error_bound(problem)));
        let rows = (drifts, &mut row_sums.mass[..]);
        match problem.weight {
            Weight::Exponential { beta } => {
                let series = moments.series(beta, 2, Series::circle);
                row_sums.bounds.absolute += series.tail;
                sums(problem, moments, &series, rows);
            }
            Weight::Series { profile, .. } => {
                sums(problem, moments, &profile.circle.as_ref()?.series, rows);
            }
        }
        Some(row_sums)
    }
}

/// The number of coefficients of a series, estimated for an exponential.
pub fn order(
    problem: &KernelProblem,
    series: impl Fn(&WeightProfile) -> Option<&SeriesProfile>,
) -> f64 {
    match problem.weight {
        Weight::Exponential { beta } => (70.0 * beta.abs()).sqrt() + 16.0,
        Weight::Series { profile, .. } => series(profile).map_or(f64::INFINITY, |s| s.order()),
    }
}

/// Writes `sum_j m_j w_ij` and the tangent part of `sum_j m_j w_ij x_j` for the weight of a series
/// on the circle.
fn sums(
    problem: &KernelProblem,
    moments: &mut Moments,
    series: &Series,
    (out, masses): (&mut [f64], &mut [f64]),
) {
    let part = moments.load(problem, 2);
    let order = series.kernel.len();
    let total = part * PARTS;
    let width = problem.isa.width::<f64>();
    moments.parts.resize(PARTS * 2 * order * width);
    {
        let Moments { x, m, parts, .. } = &mut *moments;
        let (x, y) = x.split_at(total);
        let task = |(p, out): (usize, &mut [f64])| {
            let range = p * part..(p + 1) * part;
            problem.isa.run(Gather {
                x: &x[range.clone()],
                y: &y[range.clone()],
                m: &m[range],
                out,
            });
        };
        if problem.parallel() {
            parts.par_chunks_exact_mut(2 * order * width).enumerate().for_each(task);
        } else {
            parts.chunks_exact_mut(2 * order * width).enumerate().for_each(task);
        }
    }
    moments.add_parts(2 * order, width);
    // Coefficients of both series, highest order first: real and imaginary parts for the mass,
    // then for the drift.
    let Moments { x, sums, total: moment, parts, .. } = moments;
    let coefficients = &mut parts[..4 * order];
    for (k, c) in coefficients.chunks_exact_mut(4).rev().enumerate() {
        let (re, im) = (moment[2 * k], moment[2 * k + 1]);
        c.copy_from_slice(&[
            series.kernel[k] * re,
            series.kernel[k] * im,
            series.primitive[k] * re,
            series.primitive[k] * im,
        ]);
    }
    let (x, y) = x.split_at(total);
    let (mass, drift) = sums.split_at_mut(total);
    let task = |(p, (mass, drift)): (usize, (&mut [f64], &mut [f64]))| {
        let range = p * part..(p + 1) * part;
        problem.isa.run(Evaluate {
            x: &x[range.clone()],
            y: &y[range],
            c: coefficients,
            mass,
            drift,
        });
    };
    if problem.parallel() {
        mass.par_chunks_exact_mut(part)
            .zip(drift.par_chunks_exact_mut(part))
            .enumerate()
            .for_each(task);
    } else {
        mass.chunks_exact_mut(part).zip(drift.chunks_exact_mut(part)).enumerate().for_each(task);
    }
    let rows = out.chunks_exact_mut(2).zip(problem.tokens.rows());
    for (i, ((out, row), total)) in rows.zip(masses).enumerate() {
        *total = mass[i];
        (out[0], out[1]) = (-drift[i] * row[1], drift[i] * row[0]);
    }
}

/// Moments, and the sums per token.
#[derive(Default)]
struct Buffers {
    moments: Moments,
    row_sums: Sums,
}

/// Vectors of tokens per pass.
const UNROLL: usize = 4;

struct Gather<'a> {
    x: &'a [f64],
    y: &'a [f64],
    m: &'a [f64],
    /// `Re M_k, Im M_k`, each a vector of partial sums.
    out: &'a mut [f64],
}

impl SimdKernel for Gather<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        self.out.fill(0.0);
        let (x, y, m) = (L::view(self.x), L::view(self.y), L::view(self.m));
        let groups = x.chunks(UNROLL).zip(y.chunks(UNROLL)).zip(m.chunks(UNROLL));
        for ((x, y), m) in groups {
            // conj(z)^k m, from k = 0.
            let (mut re, mut im) = ([l.zero(); UNROLL], [l.zero(); UNROLL]);
            let (mut c, mut s) = ([l.zero(); UNROLL], [l.zero(); UNROLL]);
            for r in 0..x.len() {
                (re[r], c[r], s[r]) = (m[r], x[r], l.sub(l.zero(), y[r]));
            }
            for moment in L::view_mut(self.out).chunks_exact_mut(2) {
                let (mut real, mut imaginary) = (l.zero(), l.zero());
                for r in 0..UNROLL {
                    (real, imaginary) = (l.add(real, re[r]), l.add(imaginary, im[r]));
                    let next = l.fma(re[r], c[r], l.sub(l.zero(), l.mul(im[r], s[r])));
                    im[r] = l.fma(re[r], s[r], l.mul(im[r], c[r]));
                    re[r] = next;
                }
                (moment[0], moment[1]) = (l.add(moment[0], real), l.add(moment[1], imaginary));
            }
        }
    }
}

struct Evaluate<'a> {
    x: &'a [f64],
    y: &'a [f64],
    /// Four numbers per order, highest first.
    c: &'a [f64],
    mass: &'a mut [f64],
    drift: &'a mut [f64],
}

impl SimdKernel for Evaluate<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let (x, y) = (L::view(self.x), L::view(self.y));
        let (mass, drift) = (L::view_mut(self.mass), L::view_mut(self.drift));
        for v in 0..x.len() {
            let (c, s, minus_s) = (x[v], y[v], l.sub(l.zero(), y[v]));
            let mut a = [l.zero(); 4];
            for term in self.c.chunks_exact(4) {
                let [re, im, drift_re, drift_im] = a;
                a = [
                    l.fma(re, c, l.fma(im, minus_s, l.splat(term[0]))),
                    l.fma(re, s, l.fma(im, c, l.splat(term[1]))),
                    l.fma(drift_re, c, l.fma(drift_im, minus_s, l.splat(term[2]))),
                    l.fma(drift_re, s, l.fma(drift_im, c, l.splat(term[3]))),
                ];
            }
            mass[v] = a[0];
            // sum_j m_j w sin(theta_j - theta_i) = -Im sum_k b_k M_k z^k.
            drift[v] = l.sub(l.zero(), a[3]);
        }
    }
}
