//! The matrix of inner products, once: for systems whose weights stay in the first caches, on one thread.
//!
//! `w = e^{|beta| (sigma G - 1)}` from the inner product G, as in [`super::products`], but straight from the rows of the tokens: nothing
//! is laid out anew, each row of sums is closed where its registers are, and projections take `<x_i, s_i> = sum_j m_j w_ij G_ij`.

use crate::kernel::close::sums::is_doubtful;
use crate::kernel::doubtful::Doubtful;
use crate::kernel::job::{Ending, Job, Kernel};
use crate::kernel::limits::AWAKE_WORK;
use crate::kernel::sums::FLOOR;
use crate::kernel::tiles::panels::{groups, most};
use crate::kernel::tiles::squares::{SIDE, Strip};
use crate::kernel::workspace::Workspace;
use crate::num::aligned::Aligned;
use crate::num::simd::{Lanes, Level, Task};
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
    /// The rows of the tokens, with zeros up to whole vectors and squares, where they have none; the same of the results.
    padded: Aligned<f64>,
    closed: Aligned<f64>,
    /// `sum_j m_j w_ij`; the multiple of `x_i` added to row i and its factor; its largest entries, by lanes.
    mass: Aligned<f64>,
    back: Aligned<f64>,
    factor: Aligned<f64>,
    longest: Aligned<f64>,
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

/// One evaluation.
struct Evaluate<'a> {
    job: &'a Job<'a>,
    ending: &'a Ending,
    /// See [`Sums::bounds`](crate::kernel::sums::Sums).
    bounds: [f64; 3],
    gram: &'a mut Gram,
    out: &'a mut [f64],
    doubtful: &'a mut Vec<usize>,
}

impl Task for Evaluate<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(mut self, l: L) {
        let (n, d) = (self.job.tokens.n(), self.job.tokens.d());
        let (_, stride) = self.gram.products(self.job.tokens, self.job.level);
        let Gram { padded, held, closed, mass, back, factor, longest, .. } = &mut *self.gram;
        *held = None;
        [mass, back, factor].into_iter().for_each(|b| b.resize(stride));
        longest.reset(stride * L::WIDTH);
        closed.resize(padded.len());
        self.weights(l, stride);
        // Nobody asks how long a field is.
        let field = self.ending.sigma.is_some();
        match (most::<L>() == 3, field) {
            (true, true) => self.sums::<L, 8, false>(l, stride),
            (true, false) => self.sums::<L, 8, true>(l, stride),
            (false, true) => self.sums::<L, 4, false>(l, stride),
            (false, false) => self.sums::<L, 4, true>(l, stride),
        }
        let rows = self.gram.closed.chunks_exact(d.next_multiple_of(L::WIDTH));
        self.out.chunks_exact_mut(d).zip(rows).for_each(|(out, row)| out.copy_from_slice(&row[..d]));
        let unit = self.job.tokens.uniform_mass().unwrap_or(1.0);
        for (i, longest) in L::view(&self.gram.longest).iter().enumerate().take(n) {
            let longest = if field { 0.0 } else { unit * l.largest(*longest) };
            if is_doubtful(self.ending, self.bounds, unit * self.gram.mass[i], longest) {
                self.doubtful.push(i);
            }
        }
    }
}

impl Evaluate<'_> {
    /// The weights from the inner products, their sums, and how the rows are closed.
    #[inline(always)]
    fn weights<L: Lanes<F = f64>>(&mut self, l: L, stride: usize) {
        let &Job { tokens, beta, .. } = self.job;
        let Gram { weights, mass, back, factor, .. } = &mut *self.gram;
        let (ending, unit) = (self.ending, tokens.uniform_mass().unwrap_or(1.0));
        mirror(l, weights, stride);
        let slope = beta * std::f64::consts::LOG2_E;
        let (slope, shift) = (l.constant(slope), l.constant(-slope.abs()));
        let uniform = tokens.uniform_mass().is_some();
        let masses = tokens.masses();
        let weights = &mut L::view_mut(weights)[..stride / L::WIDTH * tokens.n()];
        let (back, factor) = (L::view_mut(back), L::view_mut(factor));
        for (c, mass) in L::view_mut(mass).iter_mut().enumerate() {
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
            *mass = l.add(l.add(z[0], z[1]), l.add(z[2], z[3]));
            let radial = l.add(l.add(along[0], along[1]), l.add(along[2], along[3]));
            back[c] = l.sub(l.zero(), if ending.sigma.is_some() { l.zero() } else { radial });
            let first = l.constant(ending.factors[0]);
            factor[c] = if ending.softmax { l.div(first, *mass) } else { l.mul(first, l.constant(unit)) };
        }
    }

    /// `sum_j m_j w_ij x_j`, closed: R rows of V vectors of coordinates at a time.
    #[inline(always)]
    fn sums<L: Lanes<F = f64>, const R: usize, const LONGEST: bool>(&mut self, l: L, stride: usize) {
        let d = self.job.tokens.d();
        // The coordinates of a group and the weights stay in the first cache.
        for (first, take) in groups::<L>(d) {
            for i in (0..self.job.tokens.n()).step_by(R) {
                match take {
                    3 => self.block::<L, R, 3, LONGEST>(l, stride, i, first),
                    2 => self.block::<L, R, 2, LONGEST>(l, stride, i, first),
                    _ => self.block::<L, R, 1, LONGEST>(l, stride, i, first),
                }
            }
        }
    }

    #[inline(always)]
    fn block<L: Lanes<F = f64>, const R: usize, const V: usize, const LONGEST: bool>(
        &mut self,
        l: L,
        stride: usize,
        i: usize,
        first: usize,
    ) {
        let (tokens, ending) = (self.job.tokens, self.ending);
        let width = tokens.d().next_multiple_of(L::WIDTH);
        let Gram { weights, padded, closed, back, factor, longest, .. } = &mut *self.gram;
        let rows = if padded.is_empty() { tokens.coordinates() } else { &padded[..] };
        let mut acc = [[l.zero(); V]; R];
        for (row, w) in rows.chunks_exact(width).zip(weights.chunks_exact(stride)).take(tokens.n()) {
            let (row, w) = (&row[first * L::WIDTH..][..V * L::WIDTH], &w[i..i + R]);
            let mut x = [l.zero(); V];
            for v in 0..V {
                x[v] = l.load(&row[v * L::WIDTH..]);
            }
            for r in 0..R {
                let w = l.splat(w[r]);
                for v in 0..V {
                    acc[r][v] = l.fma(w, x[v], acc[r][v]);
                }
            }
        }
        let out = if closed.is_empty() { &mut *self.out } else { &mut closed[..] };
        let (longest, back, factor) = (&mut L::view_mut(longest)[i..i + R], &back[i..i + R], &factor[i..i + R]);
        let second = l.splat(ending.factors[1]);
        for r in 0..R {
            let (back, factor) = (l.splat(back[r]), l.splat(factor[r]));
            let at = (i + r) * width + first * L::WIDTH;
            let (x, out) = (&rows[at..][..V * L::WIDTH], &mut out[at..][..V * L::WIDTH]);
            for v in 0..V {
                let s = l.fma(back, l.load(&x[v * L::WIDTH..]), acc[r][v]);
                if LONGEST {
                    longest[r] = l.max(longest[r], l.max(s, l.sub(l.zero(), s)));
                }
                l.store(l.mul(l.mul(s, factor), second), &mut out[v * L::WIDTH..]);
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
        shape.or_else(|| super::products::too_steep(job, 0.5 * f64::EPSILON))
    }

    fn cost(&self, job: &Job) -> f64 {
        let (n, d) = (job.tokens.n() as f64, job.tokens.d() as f64);
        n * n * (0.75 + 0.033 * d)
    }

    fn error(&self, job: &Job) -> f64 {
        // One chain of additions over all sources.
        super::products::rounding(job, 0.5 * f64::EPSILON, job.tokens.n() as f64)
    }

    fn evaluate(&self, job: &Job, work: &mut Workspace, out: &mut [f64], doubtful: &mut Doubtful) {
        let bounds = [self.error(job), 0.0, FLOOR];
        job.level.run(Evaluate { job, ending: &job.ending(), bounds, gram: work.of(), out, doubtful: &mut doubtful.rows });
    }
}
