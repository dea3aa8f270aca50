//! Tiles on matrix products: scores `X_I X_J^T`, weights in registers, then `W X_J` for one block and `W^T X_I` for the other.
//!
//! `w = e^{|beta| (sigma G - 1)}` from the inner product G: its error is about `|beta| sqrt(d) u`, whatever the drift. Each pair of
//! blocks is met once, so the `n^2 d` multiplications of the scores and the exponentials are halved: `3/2 n^2 d` fused operations in all.

use super::choice::{Job, Kernel};
use super::panels::{Panel, Panels};
use super::workspace::{Sums, Workspace};
use crate::num::simd::{Float, Lanes, Level, Task};

/// Computes all sums in precision `F`.
pub(super) fn sums<F: Float>(job: &Job, panels: &mut Panels<F>, sums: &mut Sums) {
    panels.load(job.tokens, job.level.width::<F>(), true);
    let shape = Shape { beta: job.beta, causal: job.causal, d: panels.d, cap: panels.cap };
    let level: Level = job.level;
    let own = |p: &mut Panel<F>| level.run(Tile { shape, a: p, b: None });
    let pair = |a: &mut Panel<F>, b: &mut Panel<F>| level.run(Tile { shape, a, b: Some(b) });
    panels.meet(job.parallel(), own, pair);
    sums.reset(job.tokens.n(), job.tokens.d());
    // The products are sums of x_j, drifts are sums of x_j - sigma x_i.
    panels.store(job.tokens, if job.beta < 0.0 { -1.0 } else { 1.0 }, sums);
}

/// Sizes and parameters of every tile.
#[derive(Clone, Copy)]
struct Shape {
    beta: f64,
    causal: bool,
    d: usize,
    cap: usize,
}

/// The later block `a` with itself or with an earlier one.
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
        if L::WIDTH * std::mem::size_of::<F>() == 64 { self.with_rows::<L, 8, 3>(l) } else { self.with_rows::<L, 4, 2>(l) }
    }
}

impl<F: Float> Tile<'_, F> {
    #[inline(always)]
    fn with_rows<L: Lanes<F = F>, const R: usize, const V: usize>(self, l: L) {
        let Shape { causal, cap, .. } = self.shape;
        let Panel { slabs, columns, m, drift, tile, rows, .. } = self.a;
        let Some(b) = self.b else {
            weights::<L, R>(l, &self.shape, (columns, m), (columns, m), (tile, rows), None);
            update::<L, R, V, false>(l, cap, tile, slabs, drift);
            return;
        };
        let theirs = if causal { None } else { Some(&mut b.mass[..]) };
        weights::<L, R>(l, &self.shape, (columns, m), (&b.columns, &b.m), (tile, rows), theirs);
        update::<L, R, V, false>(l, cap, tile, &b.slabs, drift);
        if !causal {
            update::<L, R, V, true>(l, cap, tile, slabs, &mut b.drift);
        }
    }
}

/// Weights of the tokens of `x` (rows of the tile) with those of `y`, and their sums by rows and (when asked) by columns.
#[inline(always)]
fn weights<L: Lanes, const R: usize>(
    l: L,
    s: &Shape,
    (x, mi): (&[L::F], &[L::F]),
    (y, mj): (&[L::F], &[L::F]),
    (tile, rows): (&mut [L::F], &mut [L::F]),
    theirs: Option<&mut [L::F]>,
) {
    let width = s.cap / L::WIDTH;
    let own_causal = s.causal && theirs.is_none() && std::ptr::eq(mi, mj);
    let slope = s.beta * std::f64::consts::LOG2_E;
    let (slope, shift) = (l.constant(slope), l.constant(-slope.abs()));
    let (y, mj, tile, rows) = (L::view(y), L::view(mj), L::view_mut(tile), L::view_mut(rows));
    let mut none = [];
    let theirs = theirs.map_or(&mut none[..], |t| L::view_mut(t));
    for j in (0..width).step_by(2) {
        let (left, right) = (&y[j * s.d..][..s.d], &y[(j + 1) * s.d..][..s.d]);
        let mut down = [l.zero(); 2];
        for i in (0..s.cap).step_by(R) {
            let mut acc = [[l.zero(); 2]; R];
            // R divides the width: the R rows lie side by side in one slab.
            let slab = &x[i / L::WIDTH * s.d * L::WIDTH..][..s.d * L::WIDTH];
            for (a, (b0, b1)) in slab.chunks_exact(L::WIDTH).zip(left.iter().zip(right)) {
                let a = &a[i % L::WIDTH..][..R];
                for r in 0..R {
                    let one = l.splat(a[r]);
                    acc[r][0] = l.fma(one, *b0, acc[r][0]);
                    acc[r][1] = l.fma(one, *b1, acc[r][1]);
                }
            }
            for r in 0..R {
                let m = l.splat(mi[i + r]);
                let mut sum = rows[i + r];
                for v in 0..2 {
                    let mut w = l.exp2(l.min(l.fma(acc[r][v], slope, shift), l.zero()));
                    if own_causal {
                        w = super::coordinates::at_most(l, j + v, i + r, w);
                    }
                    sum = l.fma(w, mj[j + v], sum);
                    down[v] = l.fma(w, m, down[v]);
                    tile[(i + r) * width + j + v] = w;
                }
                rows[i + r] = sum;
            }
        }
        if let Some(t) = theirs.get_mut(j..j + 2) {
            t[0] = l.add(t[0], down[0]);
            t[1] = l.add(t[1], down[1]);
        }
    }
}

/// `out_i += sum_j w_ij b_j` for the tile or (`TURNED`) its transpose, in slabs.
#[inline(always)]
fn update<L: Lanes, const R: usize, const V: usize, const TURNED: bool>(l: L, cap: usize, tile: &[L::F], b: &[L::F], out: &mut [L::F]) {
    let (b, out) = (L::view(b), L::view_mut(out));
    let slabs = b.len() / cap;
    let mut first = 0;
    while first < slabs {
        // Groups of V slabs; a last single one is avoided by two of two.
        let left = slabs - first;
        let take = if left == V + 1 && V > 2 { 2 } else { left.min(V) };
        let (terms, sums) = (&b[first * cap..(first + take) * cap], &mut out[first * cap..(first + take) * cap]);
        match take {
            3 => group::<L, R, 3, TURNED>(l, cap, tile, terms, sums),
            2 => group::<L, R, 2, TURNED>(l, cap, tile, terms, sums),
            _ => group::<L, R, 1, TURNED>(l, cap, tile, terms, sums),
        }
        first += take;
    }
}

/// V slabs: R rows at a time, their sums in registers.
#[inline(always)]
fn group<L: Lanes, const R: usize, const V: usize, const TURNED: bool>(l: L, cap: usize, tile: &[L::F], b: &[L::V], out: &mut [L::V]) {
    let mut terms = [&b[..0]; V];
    for v in 0..V {
        terms[v] = &b[v * cap..][..cap];
    }
    for i in (0..cap).step_by(R) {
        let mut acc = [[l.zero(); V]; R];
        if TURNED {
            for (j, row) in tile.chunks_exact(cap).enumerate().take(cap) {
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
                rows[r] = &tile[(i + r) * cap..][..cap];
            }
            for j in 0..cap {
                for r in 0..R {
                    let w = l.splat(rows[r][j]);
                    for v in 0..V {
                        acc[r][v] = l.fma(w, terms[v][j], acc[r][v]);
                    }
                }
            }
        }
        for v in 0..V {
            let sums = &mut out[v * cap + i..][..R];
            for r in 0..R {
                sums[r] = l.add(sums[r], acc[r][v]);
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

    fn refuses(&self, _: &Job) -> Option<String> {
        None
    }

    fn cost(&self, job: &Job) -> f64 {
        let (n, d) = (job.tokens.n() as f64, job.tokens.d() as f64);
        0.5 * n * n * (0.5 + 0.07 * d)
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
