//! Kernel for small systems: the whole Gram matrix at once, on one thread; the weights stay in the
//! L1 and L2 caches.
//!
//! `w = e^{|beta| (sigma G - 1)}` from the inner product G, as in [`super::products`], but computed
//! from the rows of the tokens without packing. The projection uses
//! `<x_i, s_i> = sum_j m_j w_ij G_ij`.

use crate::kernel::algorithm::Kernel;
use crate::kernel::limits::MIN_SPINNING_WORK;
use crate::kernel::problem::KernelProblem;
use crate::kernel::sums::Sums;
use crate::kernel::tiles::gram_strip::{GramStrip, STRIP_ROWS};
use crate::kernel::tiles::panels::groups;
use crate::kernel::workspace::Workspace;
use crate::num::aligned::AlignedVec;
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use crate::num::tile::{add_outer, store, with_vectors};
use crate::sphere::Tokens;

/// Largest number of tokens: the weights stay in the L2 cache.
pub const MAX_N: usize = 128;

/// The Gram matrix, and later the weights in its place.
#[derive(Default)]
pub struct Gram {
    /// Lower triangle of `G`; later `m_j w_ij` at row j, column i. Rows are padded to whole squares
    /// and vectors.
    weights: AlignedVec<f64>,
    /// Version of the tokens and instruction set of the stored `G`; `None` once it cached weights.
    cached: Option<(u64, Isa)>,
    /// Rows of the tokens, padded with zeros to whole vectors and squares; empty if no padding is
    /// needed.
    padded: AlignedVec<f64>,
}

impl Gram {
    /// The lower triangle of inner products with the diagonal, and the length of its rows. Reuses
    /// the stored one if the tokens are the same.
    pub fn products(&mut self, tokens: &Tokens, isa: Isa) -> (&[f64], usize) {
        let (n, d) = (tokens.n(), tokens.d());
        let stride = n.next_multiple_of(2 * STRIP_ROWS);
        let cached = Some((tokens.version(), isa));
        if std::mem::replace(&mut self.cached, cached) == cached {
            return (&self.weights, stride);
        }
        self.weights.resize(stride * stride);
        let width = d.next_multiple_of(isa.width::<f64>());
        let size = if n == stride && d == width { 0 } else { stride * width };
        self.padded.reset(size);
        self.padded
            .chunks_exact_mut(width)
            .zip(tokens.rows())
            .for_each(|(to, row)| to[..d].copy_from_slice(row));
        let rows = if self.padded.is_empty() { tokens.coordinates() } else { &self.padded[..] };
        for (i, out) in self.weights.chunks_exact_mut(STRIP_ROWS * stride).enumerate() {
            isa.run(GramStrip { rows, d: width, i: i * STRIP_ROWS, out });
        }
        (&self.weights, stride)
    }
}

/// One evaluation: writes the drifts, their masses and radial parts.
struct Evaluate<'a> {
    problem: &'a KernelProblem<'a>,
    gram: &'a mut Gram,
    sums: &'a mut Sums,
    out: &'a mut [f64],
}

impl SimdKernel for Evaluate<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(mut self, l: L) {
        let (_, stride) = self.gram.products(self.problem.tokens, self.problem.isa);
        self.gram.cached = None;
        self.sums.mass.resize(stride, 0.0);
        self.sums.radial.resize(stride, 0.0);
        self.weights(l, stride);
        if L::WIDE { self.sums::<L, 8>(l, stride) } else { self.sums::<L, 4>(l, stride) }
    }
}

impl Evaluate<'_> {
    /// Turns inner products into weights and sums them.
    #[inline(always)]
    fn weights<L: SimdOps<F = f64>>(&mut self, l: L, stride: usize) {
        let (tokens, beta) = (self.problem.tokens, self.problem.beta());
        let weights = &mut self.gram.weights;
        mirror(l, weights, stride);
        let slope = beta * std::f64::consts::LOG2_E;
        let (slope, shift) = (l.constant(slope), l.constant(-slope.abs()));
        let (unit, uniform, masses) = (
            l.constant(tokens.uniform_mass().unwrap_or(1.0)),
            tokens.uniform_mass().is_some(),
            tokens.masses(),
        );
        let weights = &mut L::view_mut(weights)[..stride / L::WIDTH * tokens.n()];
        let radials = L::view_mut(&mut self.sums.radial);
        for (c, (mass, radial)) in
            L::view_mut(&mut self.sums.mass).iter_mut().zip(radials).enumerate()
        {
            let (mut z, mut along) = ([l.zero(); CHAINS], [l.zero(); CHAINS]);
            let rows = weights.chunks_mut(stride / L::WIDTH * CHAINS);
            for (rows, masses) in rows.zip(masses.chunks(CHAINS)) {
                let (mut g, mut t) = ([l.zero(); CHAINS], [shift; CHAINS]);
                for u in 0..masses.len() {
                    g[u] = rows[u * (stride / L::WIDTH) + c];
                    t[u] = l.fma(g[u], slope, shift);
                }
                let w = l.exp2_array::<CHAINS, false>(t);
                for u in 0..masses.len() {
                    let w = if uniform { w[u] } else { l.mul(w[u], l.splat(masses[u])) };
                    rows[u * (stride / L::WIDTH) + c] = w;
                    z[u] = l.add(z[u], w);
                    along[u] = l.fma(w, g[u], along[u]);
                }
            }
            *mass = l.mul(unit, l.add(l.add(z[0], z[1]), l.add(z[2], z[3])));
            *radial = l.mul(unit, l.add(l.add(along[0], along[1]), l.add(along[2], along[3])));
        }
    }

    /// `sum_j m_j w_ij x_j`: R rows of V vectors of coordinates at a time.
    #[inline(always)]
    fn sums<L: SimdOps<F = f64>, const R: usize>(&mut self, l: L, stride: usize) {
        // The coordinates of a group and the weights stay in the L1 cache.
        for (first, take) in groups::<L>(self.problem.tokens.d()) {
            for i in (0..self.problem.tokens.n()).step_by(R) {
                with_vectors!(L, take, V => self.block::<L, R, V>(l, stride, i, first));
            }
        }
    }

    #[inline(always)]
    fn block<L: SimdOps<F = f64>, const R: usize, const V: usize>(
        &mut self,
        l: L,
        stride: usize,
        i: usize,
        first: usize,
    ) {
        let (tokens, d) = (self.problem.tokens, self.problem.tokens.d());
        let width = d.next_multiple_of(L::WIDTH);
        let Gram { weights, padded, .. } = &*self.gram;
        let rows = if padded.is_empty() { tokens.coordinates() } else { &padded[..] };
        let mut acc = [[l.zero(); V]; R];
        for (row, w) in rows.chunks_exact(width).zip(weights.chunks_exact(stride)).take(tokens.n())
        {
            let (row, w) = (&row[first * L::WIDTH..][..V * L::WIDTH], &w[i..i + R]);
            let mut x = [l.zero(); V];
            for v in 0..V {
                x[v] = l.load(&row[v * L::WIDTH..]);
            }
            if let Some(w) = w.first_chunk() {
                add_outer(l, w, &x, &mut acc);
            }
        }
        let unit = l.splat(tokens.uniform_mass().unwrap_or(1.0));
        for (out, sums) in self.out[i * d..].chunks_exact_mut(d).zip(&acc) {
            for v in 0..V {
                store(l, l.mul(unit, sums[v]), &mut out[(first + v) * L::WIDTH..]);
            }
        }
    }
}

/// Copies the lower triangle to the upper one.
#[inline(always)]
fn mirror<L: SimdOps<F = f64>>(l: L, matrix: &mut [f64], stride: usize) {
    let mut block = [l.zero(); 8];
    for i in (0..stride).step_by(L::WIDTH) {
        for j in (0..i).step_by(L::WIDTH) {
            l.transpose(&matrix[i * stride + j..], stride, &mut block);
            for c in 0..L::WIDTH {
                l.store(block[c], &mut matrix[(j + c) * stride + i..]);
            }
        }
        for r in 1..L::WIDTH {
            for c in 0..r {
                matrix[(i + c) * stride + i + r] = matrix[(i + r) * stride + i + c];
            }
        }
    }
}

/// The matrix, and the sums per token.
#[derive(Default)]
pub struct Buffers {
    pub gram: Gram,
    row_sums: Sums,
}

/// Sources whose exponentials are independent.
const CHAINS: usize = 4;

/// The kernel by the Gram matrix.
pub struct GramMatrix;

impl Kernel for GramMatrix {
    fn name(&self) -> &'static str {
        "gram"
    }

    fn summary(&self) -> &'static str {
        "Gram matrix, n up to 128, one thread; error |beta| sqrt(d) u of the mass"
    }

    fn unsupported_reason(&self, problem: &KernelProblem) -> Option<&'static str> {
        let (n, d) = (problem.tokens.n(), problem.tokens.d());
        let large = n > MAX_N || n * n * d > MIN_SPINNING_WORK;
        let shape = (problem.causal || large)
            .then_some("at most 128 tokens and work for one thread (n^2 d up to 2^21), no mask");
        shape
            .or_else(|| super::products::unsupported(problem))
            .or_else(|| problem.not_exponential())
    }

    fn cost(&self, problem: &KernelProblem) -> f64 {
        let (n, d) = (problem.tokens.n() as f64, problem.tokens.d() as f64);
        n * n * (0.75 + 0.033 * d)
    }

    fn error_bound(&self, problem: &KernelProblem) -> f64 {
        // One chain of n additions.
        super::products::rounding_bound(problem, problem.tokens.n() as f64)
    }

    fn sums<'a>(
        &self,
        problem: &KernelProblem,
        work: &'a mut Workspace,
        drifts: &mut [f64],
    ) -> Option<&'a mut Sums> {
        let Buffers { gram, row_sums } = work.buffers();
        let bounds = problem.bounds_of_products(self.error_bound(problem));
        row_sums.reset_to_sums(problem, bounds);
        problem.isa.run(Evaluate { problem, gram, sums: &mut *row_sums, out: drifts });
        Some(row_sums)
    }
}
