//! The matrix of inner products, once: for systems whose weights stay in the first caches, on one thread.
//!
//! `w = e^{|beta| (sigma G - 1)}` from the inner product G, as in [`super::products`], but straight from the rows of the tokens: nothing
//! is laid out anew, and projections take `<x_i, s_i> = sum_j m_j w_ij G_ij`.

use crate::kernel::close::sums::close;
use crate::kernel::doubtful::Doubtful;
use crate::kernel::job::{Job, Kernel};
use crate::kernel::limits::AWAKE_WORK;
use crate::kernel::sums::Sums;
use crate::kernel::tiles::panels::groups;
use crate::kernel::tiles::squares::{SIDE, Strip};
use crate::kernel::workspace::Workspace;
use crate::num::aligned::Aligned;
use crate::num::simd::{Lanes, Level, Task};
use crate::num::tile::{add_outer, store, with_vectors};
use crate::sphere::Tokens;

/// The most tokens: their weights stay in the second cache.
pub const LARGEST_N: usize = 128;

/// The matrix and what belongs to its rows.
#[derive(Default)]
pub struct Gram {
    /// The lower triangle of `G`, then `m_j w_ij` at row j and column i, in rows of whole squares and vectors.
    weights: Aligned<f64>,
    /// The stamp of the tokens whose `G` it is, and the level it was computed at; none while it is weights.
    held: Option<(u64, Level)>,
    /// The rows of the tokens, with zeros up to whole vectors and squares, where they have none.
    padded: Aligned<f64>,
}

impl Gram {
    /// The lower triangle of inner products, with the diagonal, in rows of this length; nothing is computed when it is there already.
    pub fn products(&mut self, tokens: &Tokens, level: Level) -> (&[f64], usize) {
        let (n, d) = (tokens.n(), tokens.d());
        let stride = n.next_multiple_of(2 * SIDE);
        let held = Some((tokens.stamp(), level));
        if std::mem::replace(&mut self.held, held) == held {
            return (&self.weights, stride);
        }
        self.weights.resize(stride * stride);
        let width = d.next_multiple_of(level.width::<f64>());
        let size = if n == stride && d == width { 0 } else { stride * width };
        self.padded.reset(size);
        self.padded.chunks_exact_mut(width).zip(tokens.rows()).for_each(|(to, row)| to[..d].copy_from_slice(row));
        let rows = if self.padded.is_empty() { tokens.coordinates() } else { &self.padded[..] };
        for (i, out) in self.weights.chunks_exact_mut(SIDE * stride).enumerate() {
            level.run(Strip { rows, d: width, i: i * SIDE, out });
        }
        (&self.weights, stride)
    }
}

/// One evaluation: the drifts into `out`, their masses and radial parts.
struct Evaluate<'a> {
    job: &'a Job<'a>,
    gram: &'a mut Gram,
    sums: &'a mut Sums,
    out: &'a mut [f64],
}

impl Task for Evaluate<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(mut self, l: L) {
        let (_, stride) = self.gram.products(self.job.tokens, self.job.level);
        self.gram.held = None;
        self.sums.mass.resize(stride, 0.0);
        self.sums.radial.resize(stride, 0.0);
        self.weights(l, stride);
        if L::WIDE { self.sums::<L, 8>(l, stride) } else { self.sums::<L, 4>(l, stride) }
    }
}

impl Evaluate<'_> {
    /// The weights from the inner products, and their sums.
    #[inline(always)]
    fn weights<L: Lanes<F = f64>>(&mut self, l: L, stride: usize) {
        let &Job { tokens, beta, .. } = self.job;
        let weights = &mut self.gram.weights;
        mirror(l, weights, stride);
        let slope = beta * std::f64::consts::LOG2_E;
        let (slope, shift) = (l.constant(slope), l.constant(-slope.abs()));
        let (unit, uniform, masses) = (l.constant(tokens.uniform_mass().unwrap_or(1.0)), tokens.uniform_mass().is_some(), tokens.masses());
        let weights = &mut L::view_mut(weights)[..stride / L::WIDTH * tokens.n()];
        let radials = L::view_mut(&mut self.sums.radial);
        for (c, (mass, radial)) in L::view_mut(&mut self.sums.mass).iter_mut().zip(radials).enumerate() {
            let (mut z, mut along) = ([l.zero(); CHAINS], [l.zero(); CHAINS]);
            let rows = weights.chunks_mut(stride / L::WIDTH * CHAINS);
            for (rows, masses) in rows.zip(masses.chunks(CHAINS)) {
                let (mut g, mut t) = ([l.zero(); CHAINS], [shift; CHAINS]);
                for u in 0..masses.len() {
                    g[u] = rows[u * (stride / L::WIDTH) + c];
                    t[u] = l.fma(g[u], slope, shift);
                }
                let w = l.exp2_each::<CHAINS, false>(t);
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
    fn sums<L: Lanes<F = f64>, const R: usize>(&mut self, l: L, stride: usize) {
        // The coordinates of a group and the weights stay in the first cache.
        for (first, take) in groups::<L>(self.job.tokens.d()) {
            for i in (0..self.job.tokens.n()).step_by(R) {
                with_vectors!(L, take, V => self.block::<L, R, V>(l, stride, i, first));
            }
        }
    }

    #[inline(always)]
    fn block<L: Lanes<F = f64>, const R: usize, const V: usize>(&mut self, l: L, stride: usize, i: usize, first: usize) {
        let (tokens, d) = (self.job.tokens, self.job.tokens.d());
        let width = d.next_multiple_of(L::WIDTH);
        let Gram { weights, padded, .. } = &*self.gram;
        let rows = if padded.is_empty() { tokens.coordinates() } else { &padded[..] };
        let mut acc = [[l.zero(); V]; R];
        for (row, w) in rows.chunks_exact(width).zip(weights.chunks_exact(stride)).take(tokens.n()) {
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

/// Fills the upper triangle from the lower one.
#[inline(always)]
fn mirror<L: Lanes<F = f64>>(l: L, matrix: &mut [f64], stride: usize) {
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
    closed: Sums,
}

/// Sources whose exponentials overlap.
const CHAINS: usize = 4;

/// The matrix of inner products once.
pub struct GramMatrix;

impl Kernel for GramMatrix {
    fn name(&self) -> &'static str {
        "gram"
    }

    fn summary(&self) -> &'static str {
        "the matrix of inner products once, up to n = 128 on one thread, error |beta| sqrt(d) u of each drift"
    }

    fn refuses(&self, job: &Job) -> Option<&'static str> {
        let (n, d) = (job.tokens.n(), job.tokens.d());
        let large = n > LARGEST_N || n * n * d > AWAKE_WORK;
        let shape = (job.causal || large).then_some("at most 128 tokens and work for one thread (n^2 d up to 2^21), no mask");
        shape.or_else(|| super::products::too_steep(job))
    }

    fn cost(&self, job: &Job) -> f64 {
        let (n, d) = (job.tokens.n() as f64, job.tokens.d() as f64);
        n * n * (0.75 + 0.033 * d)
    }

    fn error(&self, job: &Job) -> f64 {
        // One chain of additions over all sources.
        super::products::rounding(job, job.tokens.n() as f64)
    }

    fn evaluate(&self, job: &Job, work: &mut Workspace, out: &mut [f64], doubtful: &mut Doubtful) {
        let Buffers { gram, closed } = work.of();
        closed.reset(job);
        (closed.per_mass, closed.sigma) = (self.error(job), 0.0);
        job.level.run(Evaluate { job, gram, sums: &mut *closed, out: &mut *out });
        close(job, closed, out, doubtful);
    }
}
