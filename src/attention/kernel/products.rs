//! Tiles on matrix products: scores `X_I X_J^T`, weights in registers, then `W X_J` for one block and `W^T X_I` for the other.
//!
//! `w = e^{|beta| (sigma G - 1)}` from the inner product G: its error is about `|beta| sqrt(d) u`, whatever the drift. Each pair of
//! blocks is met once, so the `n^2 d` multiplications of the scores and the exponentials are halved: `3/2 n^2 d` fused operations in all.

use super::blocks::layout;
use super::choice::{Job, Kernel};
use super::panels::{Panel, Panels, Source};
use super::workspace::{Sums, Workspace};
use crate::num::simd::{Float, Lanes, Level, Task};

/// Computes all sums in precision `F`.
pub(super) fn sums<F: Float>(job: &Job, panels: &mut Panels<F>, sums: &mut Sums) {
    let (n, d) = (job.tokens.n(), job.tokens.d());
    // Three arrays of a panel and one strip of weights fit the second cache; four panels are worth two threads.
    let largest = (32768 / d).clamp(64, 512);
    let shape = layout(n, largest, if n * n * d < super::AWAKE_WORK { 1 } else { 4 });
    let source = Source { level: job.level, rows: job.tokens.coordinates(), tokens: job.tokens, weighted: true };
    panels.load(&source, shape, job.parallel());
    let shape = Shape { beta: job.beta, causal: job.causal, d, cap: panels.cap };
    let level: Level = job.level;
    panels.list.iter_mut().for_each(|p| p.tile.resize(STRIP * shape.cap));
    let own = |p: &mut Panel<F>| level.run(Tile { shape, a: p, b: None });
    let pair = |a: &mut Panel<F>, b: &mut Panel<F>| level.run(Tile { shape, a, b: Some(b) });
    panels.meet(job.parallel(), own, pair);
    sums.reset(n, d);
    // The products are sums of x_j, drifts are sums of x_j - sigma x_i.
    panels.store(job.level, job.tokens, if job.beta < 0.0 { -1.0 } else { 1.0 }, sums, job.parallel());
}

/// Rows whose weights are formed at once.
const STRIP: usize = 64;

/// Tokens summed over at a time: three of their slabs stay in the first cache.
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
struct Tile<'a, F> {
    shape: Shape,
    a: &'a mut Panel<F>,
    b: Option<&'a mut Panel<F>>,
}

impl<F: Float> Task for Tile<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, l: L) {
        // 32 registers hold 8 rows of 3 vectors of sums, 16 hold 4 rows of 2.
        if L::WIDTH * std::mem::size_of::<F>() == 64 { self.strips::<L, 8, 3>(l) } else { self.strips::<L, 4, 2>(l) }
    }
}

impl<F: Float> Tile<'_, F> {
    /// Strip by strip: its weights with a range of the other panel's tokens, then both sums.
    #[inline(always)]
    fn strips<L: Lanes<F = F>, const R: usize, const V: usize>(self, l: L) {
        let Shape { causal, cap, .. } = self.shape;
        let Panel { slabs, columns, m, drift, mass, tile, rows, .. } = self.a;
        let mut other = self.b;
        let mut start = 0;
        while start < cap {
            let strip = (start, (start + STRIP).min(cap));
            // With itself: the diagonal one-sided, then the later tokens for both (causal: the earlier ones for the strip alone).
            let later = if causal { (0, start) } else { (strip.1, cap) };
            let parts = if other.is_some() { [((0, cap), true), ((0, 0), false)] } else { [(strip, false), (later, true)] };
            for (range, apart) in parts {
                let both = apart && !causal;
                let masked = causal && !apart;
                let rectangle = Rectangle { shape: self.shape, strip, range };
                if let Some(b) = other.as_deref_mut() {
                    let down = if both { Some(&mut b.mass[..]) } else { None };
                    rectangle.weights::<L, R, V>(l, (columns, m), (&b.columns, &b.m), (tile, rows), down, masked);
                    rectangle.update::<L, R, V, false>(l, tile, &b.slabs, drift);
                    if both {
                        rectangle.update::<L, R, V, true>(l, tile, slabs, &mut b.drift);
                    }
                } else {
                    let down = if both { Some(&mut mass[..]) } else { None };
                    rectangle.weights::<L, R, V>(l, (columns, m), (columns, m), (tile, rows), down, masked);
                    rectangle.update::<L, R, V, false>(l, tile, slabs, drift);
                    if both {
                        rectangle.update::<L, R, V, true>(l, tile, slabs, drift);
                    }
                }
            }
            start = strip.1;
        }
    }
}

/// Vectors to take of those left, at most `most`; a last single one after threes is avoided by two of two.
#[inline(always)]
pub(super) fn three_or_two(left: usize, most: usize) -> usize {
    if left == most + 1 && most > 2 { 2 } else { left.min(most) }
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
    fn weights<L: Lanes, const R: usize, const V: usize>(
        &self,
        l: L,
        x: (&[L::F], &[L::F]),
        y: (&[L::F], &[L::F]),
        out: (&mut [L::F], &mut [L::F]),
        down: Option<&mut [L::F]>,
        masked: bool,
    ) {
        let (from, to) = (self.range.0 / L::WIDTH, self.range.1 / L::WIDTH);
        let mut none = [];
        let down = down.map_or(&mut none[..], |t| L::view_mut(t));
        let mut j = from;
        while j < to {
            let take = three_or_two(to - j, V);
            match take {
                3 => self.columns::<L, R, 3>(l, j, x, y, (out.0, out.1), down, masked),
                2 => self.columns::<L, R, 2>(l, j, x, y, (out.0, out.1), down, masked),
                _ => self.columns::<L, R, 1>(l, j, x, y, (out.0, out.1), down, masked),
            }
            j += take;
        }
    }

    /// V vectors of columns from j.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the two panels and the tile between them")]
    fn columns<L: Lanes, const R: usize, const V: usize>(
        &self,
        l: L,
        j: usize,
        (x, mi): (&[L::F], &[L::F]),
        (y, mj): (&[L::F], &[L::F]),
        (tile, rows): (&mut [L::F], &mut [L::F]),
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
            let mut acc = [[l.zero(); V]; R];
            // R divides the width: the R rows lie side by side in one slab.
            let slab = &x[i / L::WIDTH * d * L::WIDTH..][..d * L::WIDTH];
            for (k, a) in slab.chunks_exact(L::WIDTH).enumerate().take(d) {
                let a = &a[i % L::WIDTH..][..R];
                for r in 0..R {
                    let one = l.splat(a[r]);
                    for v in 0..V {
                        acc[r][v] = l.fma(one, slabs[v][k], acc[r][v]);
                    }
                }
            }
            let masses = &mi[i..i + R];
            let totals = &mut rows[i..i + R];
            for r in 0..R {
                let place = (i - self.strip.0 + r) * (to - from) + j - from;
                let out = &mut tile[place..place + V];
                let m = l.splat(masses[r]);
                for v in 0..V {
                    let mut w = l.exp2(l.min(l.fma(acc[r][v], slope, shift), l.zero()));
                    if masked {
                        w = super::coordinates::at_most(l, j + v, i + r, w);
                    }
                    totals[r] = l.fma(w, mj[v], totals[r]);
                    sums[v] = l.fma(w, m, sums[v]);
                    out[v] = w;
                }
            }
        }
        for (t, sum) in down.iter_mut().skip(j).zip(sums) {
            *t = l.add(*t, sum);
        }
    }

    /// `out_i += sum_j w_ij b_j` for the strip or (`TURNED`) for the range, in slabs.
    #[inline(always)]
    fn update<L: Lanes, const R: usize, const V: usize, const TURNED: bool>(&self, l: L, tile: &[L::F], b: &[L::F], out: &mut [L::F]) {
        let cap = self.shape.cap;
        let (b, out) = (L::view(b), L::view_mut(out));
        let slabs = b.len() / cap;
        let all = if TURNED { self.strip } else { self.range };
        let mut first = 0;
        while first < slabs {
            let take = three_or_two(slabs - first, V);
            let (terms, sums) = (&b[first * cap..], &mut out[first * cap..]);
            let mut from = all.0;
            while from < all.1 {
                let sources = (from, (from + SOURCES).min(all.1));
                match take {
                    3 => self.group::<L, R, 3, TURNED>(l, tile, sources, terms, sums),
                    2 => self.group::<L, R, 2, TURNED>(l, tile, sources, terms, sums),
                    _ => self.group::<L, R, 1, TURNED>(l, tile, sources, terms, sums),
                }
                from = sources.1;
            }
            first += take;
        }
    }

    /// V slabs of some sources (`TURNED`: of all): R rows at a time, their sums in registers.
    #[inline(always)]
    fn group<L: Lanes, const R: usize, const V: usize, const TURNED: bool>(
        &self,
        l: L,
        tile: &[L::F],
        sources: (usize, usize),
        b: &[L::V],
        out: &mut [L::V],
    ) {
        let cap = self.shape.cap;
        let stride = self.range.1 - self.range.0;
        let (targets, across) = if TURNED { (self.range, self.strip) } else { (self.strip, self.range) };
        let from = sources.0 - across.0;
        let count = sources.1 - sources.0;
        let mut terms = [&b[..0]; V];
        for v in 0..V {
            terms[v] = &b[v * cap + sources.0..][..count];
        }
        for i in (0..targets.1 - targets.0).step_by(R) {
            let mut acc = [[l.zero(); V]; R];
            if TURNED {
                for (j, row) in tile.chunks_exact(stride).enumerate().take(count) {
                    let row = &row[i..i + R];
                    for r in 0..R {
                        let w = l.splat(row[r]);
                        for v in 0..V {
                            acc[r][v] = l.fma(w, terms[v][j], acc[r][v]);
                        }
                    }
                }
            } else {
                let mut rows = [&tile[..0]; R];
                for r in 0..R {
                    rows[r] = &tile[(i + r) * stride + from..][..count];
                }
                for j in 0..count {
                    for r in 0..R {
                        let w = l.splat(rows[r][j]);
                        for v in 0..V {
                            acc[r][v] = l.fma(w, terms[v][j], acc[r][v]);
                        }
                    }
                }
            }
            for v in 0..V {
                let sums = &mut out[v * cap + targets.0 + i..][..R];
                for r in 0..R {
                    sums[r] = l.add(sums[r], acc[r][v]);
                }
            }
        }
    }
}

/// Tiles on matrix products in `f64`.
pub struct Products;

impl Kernel for Products {
    fn name(&self) -> &'static str {
        "products"
    }

    fn summary(&self) -> &'static str {
        "tiles on matrix products, error |beta| sqrt(d) u of each drift; 3/2 n^2 d fused operations"
    }

    fn refuses(&self, _: &Job) -> Option<&'static str> {
        None
    }

    fn cost(&self, job: &Job) -> f64 {
        let (n, d) = (job.tokens.n() as f64, job.tokens.d() as f64);
        0.5 * n * n * (1.0 + 0.07 * d)
    }

    fn error(&self, job: &Job) -> f64 {
        error(job, 0.5 * f64::EPSILON)
    }

    fn sums(&self, job: &Job, space: &mut Workspace) {
        sums(job, &mut space.panels, &mut space.sums);
        space.sums.per_mass = self.error(job);
    }
}

/// Error of a drift row in units of its mass, for unit roundoff `u`: the inner products round like a random walk of d steps (twice its
/// deviation is taken) and lengths are 1 to 2u each, the sums like one of `n/96 + 96`.
pub(super) fn error(job: &Job, u: f64) -> f64 {
    let (n, d) = (job.tokens.n() as f64, job.tokens.d() as f64);
    u * (job.beta.abs() * (4.0 + 2.0 * d.sqrt()) + 8.0 + 2.0 * (n / 96.0 + 96.0).sqrt())
}
