//! Tiles on matrix products: scores `X_I X_J^T`, weights in registers, then `W X_J` for one block and `W^T X_I` for the other.
//!
//! `w = e^{|beta| (sigma G - 1)}` from the inner product G: its error is about `|beta| sqrt(d) u`, whatever the drift. Each pair of
//! blocks is met once, so the `n^2 d` multiplications of the scores and the exponentials are halved: `3/2 n^2 d` fused operations in all.

use crate::kernel::close::sums::close;
use crate::kernel::doubtful::Doubtful;
use crate::kernel::job::{Job, Kernel};
use crate::kernel::limits::AWAKE_WORK;
use crate::kernel::sums::Sums;
use crate::kernel::tiles::blocks::layout;
use crate::kernel::tiles::chord::at_most;
use crate::kernel::tiles::panels::{Panels, Source, TokenPanel, groups};
use crate::kernel::workspace::Workspace;
use crate::num::simd::{Lanes, Task};
use crate::num::tile::{self, with_vectors};

/// Writes all drifts and masses.
fn sums(job: &Job, panels: &mut Panels, sums: (&mut [f64], &mut [f64])) {
    let (n, d) = (job.tokens.n(), job.tokens.d());
    // Three arrays of a panel and one strip of weights fit the second cache; four panels are worth two threads.
    let largest = (32768 / d).clamp(64, 512);
    let source = Source { level: job.level, rows: job.tokens.coordinates(), tokens: job.tokens, weighted: true };
    let (count, cap) = layout(n, largest, if n * n * d < AWAKE_WORK { 1 } else { 4 });
    let shape = Shape { beta: job.beta, causal: job.causal, d, cap };
    let tile = |a: &mut TokenPanel, b: Option<&mut TokenPanel>| {
        a.tile.resize(STRIP * cap);
        job.level.run(Tile { shape, a, b });
    };
    panels.load(&source, (count, cap), job.parallel());
    panels.meet(job.parallel(), |a| tile(a, None), |a, b| tile(a, Some(b)));
    panels.store(job.level, job.tokens, sums, job.parallel());
}

/// Rows whose weights are formed at once.
const STRIP: usize = 64;

/// Tokens summed over at a time: three vectors of each stay in the first cache.
const SOURCES: usize = 128;

/// Sizes and parameters of every tile.
#[derive(Clone, Copy)]
struct Shape {
    beta: f64,
    causal: bool,
    d: usize,
    cap: usize,
}

/// The later panel `a` with itself or with an earlier one.
struct Tile<'a> {
    shape: Shape,
    a: &'a mut TokenPanel,
    b: Option<&'a mut TokenPanel>,
}

impl Task for Tile<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        if L::WIDE { self.strips::<L, 8, 3>(l) } else { self.strips::<L, 4, 2>(l) }
    }
}

impl Tile<'_> {
    /// Strip by strip: its weights with a range of the other panel's tokens, then both sums.
    #[inline(always)]
    fn strips<L: Lanes<F = f64>, const R: usize, const V: usize>(self, l: L) {
        let Shape { causal, cap, .. } = self.shape;
        let TokenPanel { terms, columns, m, drift, mass, tile, led, .. } = self.a;
        let mut other = self.b;
        // What a strip does twice, its pairs with itself, is less in narrow ones.
        let width = if other.is_some() { STRIP } else { STRIP / 2 };
        let mut start = 0;
        while start < cap {
            let strip = (start, (start + width).min(cap));
            // With itself: the diagonal one-sided, then the later tokens for both (causal: the earlier ones for the strip alone).
            let later = if causal { (0, start) } else { (strip.1, cap) };
            let parts = if other.is_some() { [((0, cap), true), ((0, 0), false)] } else { [(strip, false), (later, true)] };
            for (range, apart) in parts {
                let both = apart && !causal;
                let masked = causal && !apart;
                let rectangle = Rectangle { shape: self.shape, strip, range };
                if let Some(b) = other.as_deref_mut() {
                    let down = if both { Some(&mut b.mass[..]) } else { None };
                    rectangle.weights::<L, R, V>(l, (columns, m), (&b.columns, &b.m), (tile, led), down, masked);
                    rectangle.update::<L, R, false>(l, tile, &b.terms, drift);
                    if both {
                        rectangle.update::<L, R, true>(l, tile, terms, &mut b.drift);
                    }
                } else {
                    let down = if both { Some(&mut mass[..]) } else { None };
                    rectangle.weights::<L, R, V>(l, (columns, m), (columns, m), (tile, led), down, masked);
                    rectangle.update::<L, R, false>(l, tile, terms, drift);
                    if both {
                        rectangle.update::<L, R, true>(l, tile, terms, drift);
                    }
                }
            }
            start = strip.1;
        }
    }
}

/// The tokens `strip` of one panel with the tokens `range` of another.
struct Rectangle {
    shape: Shape,
    strip: (usize, usize),
    range: (usize, usize),
}

impl Rectangle {
    /// Weights into `tile`, with their sums by rows and (when asked) by columns.
    #[inline(always)]
    fn weights<L: Lanes<F = f64>, const R: usize, const V: usize>(
        &self,
        l: L,
        x: (&[f64], &[f64]),
        y: (&[f64], &[f64]),
        out: (&mut [f64], &mut [f64]),
        down: Option<&mut [f64]>,
        masked: bool,
    ) {
        let (from, to) = (self.range.0 / L::WIDTH, self.range.1 / L::WIDTH);
        let mut none = [];
        let down = down.map_or(&mut none[..], |t| L::view_mut(t));
        for (first, take) in tile::groups(to - from, V) {
            with_vectors!(L, take, N => self.columns::<L, R, N>(l, from + first, x, y, (out.0, out.1), down, masked));
        }
    }

    /// V vectors of columns from j.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the two panels and the tile between them")]
    fn columns<L: Lanes<F = f64>, const R: usize, const V: usize>(
        &self,
        l: L,
        j: usize,
        (x, mi): (&[f64], &[f64]),
        (y, mj): (&[f64], &[f64]),
        (tile, rows): (&mut [f64], &mut [f64]),
        down: &mut [L::V],
        masked: bool,
    ) {
        let Shape { beta, d, .. } = self.shape;
        let (from, to) = (self.range.0 / L::WIDTH, self.range.1 / L::WIDTH);
        let slope = beta * std::f64::consts::LOG2_E;
        let (slope, shift) = (l.constant(slope), l.constant(-slope.abs()));
        let (y, tile, rows) = (L::view(y), L::view_mut(tile), L::view_mut(rows));
        let mj = &L::view(mj)[j..j + V];
        let mut slabs = [&y[..0]; V];
        for v in 0..V {
            slabs[v] = &y[(j + v) * d..][..d];
        }
        let mut sums = [l.zero(); V];
        for i in (self.strip.0..self.strip.1).step_by(R) {
            // R divides the width: the R rows lie side by side in one slab.
            let slab = &x[i / L::WIDTH * d * L::WIDTH..][..d * L::WIDTH];
            let acc = tile::add_product_of_slabs(l, (slab, i % L::WIDTH), slabs, [[l.zero(); V]; R]);
            let masses = &mi[i..i + R];
            let totals = &mut rows[i..i + R];
            for r in 0..R {
                let place = (i - self.strip.0 + r) * (to - from) + j - from;
                let out = &mut tile[place..place + V];
                let m = l.splat(masses[r]);
                let mut t = acc[r];
                for v in 0..V {
                    t[v] = l.fma(acc[r][v], slope, shift);
                }
                let mut w = l.exp2_each::<V, false>(t);
                let mut total = totals[r];
                for v in 0..V {
                    if masked {
                        w[v] = at_most(l, j + v, i + r, w[v]);
                    }
                    total = l.fma(w[v], mj[v], total);
                    sums[v] = l.fma(w[v], m, sums[v]);
                    out[v] = w[v];
                }
                totals[r] = total;
            }
        }
        for (t, sum) in down.iter_mut().skip(j).zip(sums) {
            *t = l.add(*t, sum);
        }
    }

    /// `out_i += sum_j w_ij b_j` for the strip or (`TURNED`) for the range, in slabs.
    #[inline(always)]
    fn update<L: Lanes<F = f64>, const R: usize, const TURNED: bool>(&self, l: L, tile: &[f64], b: &[f64], out: &mut [f64]) {
        let cap = self.shape.cap;
        let (b, out) = (L::view(b), L::view_mut(out));
        let all = if TURNED { self.strip } else { self.range };
        for (first, take) in groups::<L>(self.shape.d) {
            let (b, out) = (&b[first * cap..(first + take) * cap], &mut out[first * cap..(first + take) * cap]);
            let mut from = all.0;
            while from < all.1 {
                let sources = (from, (from + SOURCES).min(all.1));
                with_vectors!(L, take, V => {
                    self.group::<L, R, V, TURNED>(l, tile, sources, b.as_chunks().0, out.as_chunks_mut().0);
                });
                from = sources.1;
            }
        }
    }

    /// V vectors of coordinates of some sources (`TURNED`: of all): R rows at a time, their sums in registers.
    #[inline(always)]
    fn group<L: Lanes<F = f64>, const R: usize, const V: usize, const TURNED: bool>(
        &self,
        l: L,
        tile: &[f64],
        sources: (usize, usize),
        b: &[[L::V; V]],
        out: &mut [[L::V; V]],
    ) {
        let stride = self.range.1 - self.range.0;
        let (targets, origin) = if TURNED { (self.range, self.strip.0) } else { (self.strip, self.range.0) };
        let from = sources.0 - origin;
        let count = sources.1 - sources.0;
        let terms = &b[sources.0..sources.1];
        for i in (0..targets.1 - targets.0).step_by(R) {
            let acc = if TURNED {
                tile::product_of_columns(l, (tile, stride, i), terms)
            } else {
                let mut rows = [&tile[..0]; R];
                for r in 0..R {
                    rows[r] = &tile[(i + r) * stride + from..][..count];
                }
                tile::product(l, rows, terms)
            };
            for r in 0..R {
                let sums = &mut out[targets.0 + i + r];
                for v in 0..V {
                    sums[v] = l.add(sums[v], acc[r][v]);
                }
            }
        }
    }
}

/// Tiles on matrix products.
pub struct Products;

impl Kernel for Products {
    fn name(&self) -> &'static str {
        "products"
    }

    fn summary(&self) -> &'static str {
        "tiles on matrix products, error |beta| sqrt(d) u of each drift; 3/2 n^2 d fused operations"
    }

    fn refuses(&self, job: &Job) -> Option<&'static str> {
        too_steep(job)
    }

    fn cost(&self, job: &Job) -> f64 {
        let (n, d) = (job.tokens.n() as f64, job.tokens.d() as f64);
        0.5 * n * n * (0.9 + 0.06 * d) + 1.5 * n * d
    }

    fn error(&self, job: &Job) -> f64 {
        error(job)
    }

    fn evaluate(&self, job: &Job, work: &mut Workspace, out: &mut [f64], doubtful: &mut Doubtful) {
        let Buffers { panels, closed } = work.of();
        closed.reset(job);
        (closed.per_mass, closed.sigma) = (self.error(job), 0.0);
        sums(job, panels, (&mut *out, &mut closed.mass));
        close(job, closed, out, doubtful);
    }
}

/// Panels, and the sums per token.
#[derive(Default)]
struct Buffers {
    panels: Panels,
    closed: Sums,
}

/// Exponents rounded to more than 0 by more than a little are outside the contract of the exponential: their errors stay below `0.01`.
pub fn too_steep(job: &Job) -> Option<&'static str> {
    (error(job) > 0.01).then_some("an inverse temperature at which inner products still tell weights apart")
}

/// Error of a drift row in units of its mass for sums of short sums: tiles of about 96 tokens.
fn error(job: &Job) -> f64 {
    rounding(job, job.tokens.n() as f64 / 96.0 + 96.0)
}

/// Error of a drift row in units of its mass: the inner products round like a random walk of d steps (twice its
/// deviation is taken) and lengths are 1 to 2u each, the sums like one of so many additions in a row.
pub fn rounding(job: &Job, additions: f64) -> f64 {
    let d = job.tokens.d() as f64;
    0.5 * f64::EPSILON * (job.beta.abs() * (4.0 + 2.0 * d.sqrt()) + 8.0 + 2.0 * additions.sqrt())
}
