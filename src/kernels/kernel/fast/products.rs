//! Kernel by matrix products on tiles: scores `X_I X_J^T`, weights in registers, then `W X_J` for
//! one panel and `W^T X_I` for the other.
//!
//! `w = e^{|beta| (sigma G - 1)}` from the inner product G. The error is about `|beta| sqrt(d) u`
//! of the mass, whatever the drift. Each pair of panels is evaluated once, which halves the
//! exponentials and the `n^2 d` multiplications of the scores: `3/2 n^2 d` fused operations in all.

use super::pair_weight::{Exponential, PairWeight};
use crate::kernel::algorithm::Kernel;
use crate::kernel::limits::MIN_SPINNING_WORK;
use crate::kernel::problem::KernelProblem;
use crate::kernel::sums::Sums;
use crate::kernel::tiles::blocks::layout;
use crate::kernel::tiles::chord::causal_mask_row;
use crate::kernel::tiles::panels::{PanelSource, Panels, TokenPanel, groups};
use crate::kernel::weight::Weight;
use crate::kernel::workspace::Workspace;
use crate::num::simd::{SimdKernel, SimdOps};
use crate::num::tile::{self, with_vectors};

/// Writes the drifts and masses of all tokens.
fn sums<W: PairWeight>(
    problem: &KernelProblem,
    weight: W,
    panels: &mut Panels,
    sums: (&mut [f64], &mut [f64]),
) {
    let (n, d) = (problem.tokens.n(), problem.tokens.d());
    // Three arrays of a panel and one strip of weights fit the L2 cache. Four panels are enough for
    // two threads.
    let largest = (32768 / d).clamp(64, 512);
    let source = PanelSource {
        isa: problem.isa,
        rows: problem.tokens.coordinates(),
        tokens: problem.tokens,
        weighted: true,
    };
    let (count, cap) = layout(n, largest, if n * n * d < MIN_SPINNING_WORK { 1 } else { 4 });
    let shape = Shape { weight, causal: problem.causal, d, cap };
    let tile = |a: &mut TokenPanel, b: Option<&mut TokenPanel>| {
        a.tile.resize(STRIP * cap);
        problem.isa.run(Tile { shape, a, b });
    };
    panels.load(&source, (count, cap), problem.parallel());
    panels.for_each_pair(problem.parallel(), |a| tile(a, None), |a, b| tile(a, Some(b)));
    panels.store(problem.isa, problem.tokens, sums, problem.parallel());
}

/// Rows of a strip: their weights are computed together.
const STRIP: usize = 64;

/// Sources per pass: three vectors of each stay in the L1 cache.
const SOURCES: usize = 128;

/// Parameters of all tiles.
#[derive(Clone, Copy)]
struct Shape<W> {
    weight: W,
    causal: bool,
    d: usize,
    cap: usize,
}

/// The tile of the later panel `a` with itself, or with an earlier panel `b`.
struct Tile<'a, W> {
    shape: Shape<W>,
    a: &'a mut TokenPanel,
    b: Option<&'a mut TokenPanel>,
}

impl<W: PairWeight> SimdKernel for Tile<'_, W> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        if L::WIDE { self.strips::<L, 8, 3>(l) } else { self.strips::<L, 4, 2>(l) }
    }
}

impl<W: PairWeight> Tile<'_, W> {
    /// Strip by strip: the weights with a range of the other panel's tokens, then both sums.
    #[inline(always)]
    fn strips<L: SimdOps<F = f64>, const R: usize, const V: usize>(self, l: L) {
        let Shape { causal, cap, .. } = self.shape;
        let TokenPanel { terms, columns, m, drift, mass, tile, row_weight_sums, .. } = self.a;
        let mut other = self.b;
        // Pairs within a strip are evaluated twice; narrow strips have fewer of them.
        let width = if other.is_some() { STRIP } else { STRIP / 2 };
        let mut start = 0;
        while start < cap {
            let strip = (start, (start + width).min(cap));
            // A panel with itself: the diagonal square for one side, then the later tokens for both
            // sides (causal: the earlier tokens, for the strip only).
            let later = if causal { (0, start) } else { (strip.1, cap) };
            let parts = if other.is_some() {
                [((0, cap), true), ((0, 0), false)]
            } else {
                [(strip, false), (later, true)]
            };
            for (range, distinct) in parts {
                let both = distinct && !causal;
                let masked = causal && !distinct;
                let rectangle = Rectangle { shape: self.shape, strip, range };
                if let Some(b) = other.as_deref_mut() {
                    let column_sums = if both { Some(&mut b.mass[..]) } else { None };
                    rectangle.weights::<L, R, V>(
                        l,
                        (columns, m),
                        (&b.columns, &b.m),
                        (tile, row_weight_sums),
                        column_sums,
                        masked,
                    );
                    rectangle.update::<L, R, false>(l, tile, &b.terms, drift);
                    if both {
                        rectangle.update::<L, R, true>(l, tile, terms, &mut b.drift);
                    }
                } else {
                    let column_sums = if both { Some(&mut mass[..]) } else { None };
                    rectangle.weights::<L, R, V>(
                        l,
                        (columns, m),
                        (columns, m),
                        (tile, row_weight_sums),
                        column_sums,
                        masked,
                    );
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

/// The tokens `strip` of one panel against the tokens `range` of another.
struct Rectangle<W> {
    shape: Shape<W>,
    strip: (usize, usize),
    range: (usize, usize),
}

impl<W: PairWeight> Rectangle<W> {
    /// Writes the weights to `tile`; sums them by rows and, if requested, by columns.
    #[inline(always)]
    fn weights<L: SimdOps<F = f64>, const R: usize, const V: usize>(
        &self,
        l: L,
        x: (&[f64], &[f64]),
        y: (&[f64], &[f64]),
        out: (&mut [f64], &mut [f64]),
        column_sums: Option<&mut [f64]>,
        masked: bool,
    ) {
        let (from, to) = (self.range.0 / L::WIDTH, self.range.1 / L::WIDTH);
        let mut none = [];
        let column_sums = column_sums.map_or(&mut none[..], |t| L::view_mut(t));
        for (first, take) in tile::groups(to - from, V) {
            with_vectors!(L, take, N => if W::TOGETHER {
                self.scores::<L, R, N>(l, from + first, x.0, y.0, out.0);
                self.weights_of_scores::<L, N, { 2 * N }>(
                    l, from + first, [x.1, y.1], (out.0, out.1), column_sums, masked,
                );
            } else {
                self.columns::<L, R, N>(l, from + first, x, y, (out.0, out.1), column_sums, masked);
            });
        }
    }

    /// V vectors of columns from j on.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the two panels and the tile between them")]
    fn columns<L: SimdOps<F = f64>, const R: usize, const V: usize>(
        &self,
        l: L,
        j: usize,
        (x, mi): (&[f64], &[f64]),
        (y, mj): (&[f64], &[f64]),
        (tile, rows): (&mut [f64], &mut [f64]),
        column_sums: &mut [L::V],
        masked: bool,
    ) {
        let Shape { weight, d, .. } = self.shape;
        let (from, to) = (self.range.0 / L::WIDTH, self.range.1 / L::WIDTH);
        let (slope, shift) = weight.line();
        let (slope, shift) = (l.constant(slope), l.constant(shift));
        let (y, tile, rows) = (L::view(y), L::view_mut(tile), L::view_mut(rows));
        let mj = &L::view(mj)[j..j + V];
        let mut slabs = [&y[..0]; V];
        for v in 0..V {
            slabs[v] = &y[(j + v) * d..][..d];
        }
        let mut sums = [l.zero(); V];
        for i in (self.strip.0..self.strip.1).step_by(R) {
            // R divides the width, so the R rows are adjacent in one slab.
            let slab = &x[i / L::WIDTH * d * L::WIDTH..][..d * L::WIDTH];
            let acc =
                tile::add_product_of_slabs(l, (slab, i % L::WIDTH), slabs, [[l.zero(); V]; R]);
            let masses = &mi[i..i + R];
            let totals = &mut rows[i..i + R];
            for r in 0..R {
                let start = (i - self.strip.0 + r) * (to - from) + j - from;
                let out = &mut tile[start..start + V];
                let m = l.splat(masses[r]);
                let mut t = acc[r];
                for v in 0..V {
                    t[v] = l.fma(acc[r][v], slope, shift);
                }
                let mut w = weight.values::<L, V, false>(l, t);
                let mut total = totals[r];
                for v in 0..V {
                    if masked {
                        w[v] = causal_mask_row(l, j + v, i + r, w[v]);
                    }
                    total = l.fma(w[v], mj[v], total);
                    sums[v] = l.fma(w[v], m, sums[v]);
                    out[v] = w[v];
                }
                totals[r] = total;
            }
        }
        for (t, sum) in column_sums.iter_mut().skip(j).zip(sums) {
            *t = l.add(*t, sum);
        }
    }

    /// Writes the arguments of the weights of V vectors of columns from j on to `tile`.
    #[inline(always)]
    fn scores<L: SimdOps<F = f64>, const R: usize, const V: usize>(
        &self,
        l: L,
        j: usize,
        x: &[f64],
        y: &[f64],
        tile: &mut [f64],
    ) {
        let Shape { weight, d, .. } = self.shape;
        let (from, to) = (self.range.0 / L::WIDTH, self.range.1 / L::WIDTH);
        let (slope, shift) = weight.line();
        let (slope, shift) = (l.constant(slope), l.constant(shift));
        let (y, tile) = (L::view(y), L::view_mut(tile));
        let mut slabs = [&y[..0]; V];
        for v in 0..V {
            slabs[v] = &y[(j + v) * d..][..d];
        }
        for i in (self.strip.0..self.strip.1).step_by(R) {
            let slab = &x[i / L::WIDTH * d * L::WIDTH..][..d * L::WIDTH];
            let acc =
                tile::add_product_of_slabs(l, (slab, i % L::WIDTH), slabs, [[l.zero(); V]; R]);
            for r in 0..R {
                let start = (i - self.strip.0 + r) * (to - from) + j - from;
                let out = &mut tile[start..start + V];
                for v in 0..V {
                    out[v] = l.fma(acc[r][v], slope, shift);
                }
            }
        }
    }

    /// Replaces the arguments by the weights, two rows (U vectors) at a time, and sums these.
    #[inline(always)]
    fn weights_of_scores<L: SimdOps<F = f64>, const V: usize, const U: usize>(
        &self,
        l: L,
        j: usize,
        [mi, mj]: [&[f64]; 2],
        (tile, rows): (&mut [f64], &mut [f64]),
        column_sums: &mut [L::V],
        masked: bool,
    ) {
        let (from, to) = (self.range.0 / L::WIDTH, self.range.1 / L::WIDTH);
        let (tile, rows) = (L::view_mut(tile), L::view_mut(rows));
        let mj = &L::view(mj)[j..j + V];
        let mut sums = [l.zero(); V];
        for i in (self.strip.0..self.strip.1).step_by(2) {
            let start = |r: usize| (i - self.strip.0 + r) * (to - from) + j - from;
            let mut t = [l.zero(); U];
            for r in 0..2 {
                t[r * V..(r + 1) * V].copy_from_slice(&tile[start(r)..][..V]);
            }
            let mut w = self.shape.weight.values::<L, U, false>(l, t);
            for r in 0..2 {
                let m = l.splat(mi[i + r]);
                let mut total = rows[i + r];
                for v in 0..V {
                    let w = &mut w[r * V + v];
                    if masked {
                        *w = causal_mask_row(l, j + v, i + r, *w);
                    }
                    total = l.fma(*w, mj[v], total);
                    sums[v] = l.fma(*w, m, sums[v]);
                }
                rows[i + r] = total;
                tile[start(r)..][..V].copy_from_slice(&w[r * V..(r + 1) * V]);
            }
        }
        for (t, sum) in column_sums.iter_mut().skip(j).zip(sums) {
            *t = l.add(*t, sum);
        }
    }

    /// `out_i += sum_j w_ij b_j` for the strip or, if `TRANSPOSED`, for the range, in slabs.
    #[inline(always)]
    fn update<L: SimdOps<F = f64>, const R: usize, const TRANSPOSED: bool>(
        &self,
        l: L,
        tile: &[f64],
        b: &[f64],
        out: &mut [f64],
    ) {
        let cap = self.shape.cap;
        let (b, out) = (L::view(b), L::view_mut(out));
        let all = if TRANSPOSED { self.strip } else { self.range };
        for (first, take) in groups::<L>(self.shape.d) {
            let (b, out) = (
                &b[first * cap..(first + take) * cap],
                &mut out[first * cap..(first + take) * cap],
            );
            let mut from = all.0;
            while from < all.1 {
                let sources = (from, (from + SOURCES).min(all.1));
                with_vectors!(L, take, V => {
                    self.group::<L, R, V, TRANSPOSED>(l, tile, sources, b.as_chunks().0, out.as_chunks_mut().0);
                });
                from = sources.1;
            }
        }
    }

    /// V vectors of coordinates of some sources, R rows at a time with their sums in registers.
    #[inline(always)]
    fn group<L: SimdOps<F = f64>, const R: usize, const V: usize, const TRANSPOSED: bool>(
        &self,
        l: L,
        tile: &[f64],
        sources: (usize, usize),
        b: &[[L::V; V]],
        out: &mut [[L::V; V]],
    ) {
        let stride = self.range.1 - self.range.0;
        let (targets, origin) =
            if TRANSPOSED { (self.range, self.strip.0) } else { (self.strip, self.range.0) };
        let from = sources.0 - origin;
        let count = sources.1 - sources.0;
        let terms = &b[sources.0..sources.1];
        for i in (0..targets.1 - targets.0).step_by(R) {
            let acc = if TRANSPOSED {
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

/// The kernel by matrix products.
pub struct Products;

impl Kernel for Products {
    fn name(&self) -> &'static str {
        "products"
    }

    fn summary(&self) -> &'static str {
        "matrix products on tiles; error |beta| sqrt(d) u of the mass; 3/2 n^2 d fused operations"
    }

    fn unsupported_reason(&self, problem: &KernelProblem) -> Option<&'static str> {
        unsupported(problem)
    }

    fn cost(&self, problem: &KernelProblem) -> f64 {
        let (n, d) = (problem.tokens.n() as f64, problem.tokens.d() as f64);
        let weight = match problem.weight {
            Weight::Exponential { .. } => 0.9,
            Weight::Series { profile, .. } => profile.cost + 0.8,
        };
        0.5 * n * n * (weight + 0.06 * d) + 1.5 * n * d
    }

    fn error_bound(&self, problem: &KernelProblem) -> f64 {
        error_bound(problem)
    }

    fn sums<'a>(
        &self,
        problem: &KernelProblem,
        work: &'a mut Workspace,
        drifts: &mut [f64],
    ) -> Option<&'a mut Sums> {
        let Buffers { panels, row_sums } = work.buffers();
        row_sums.reset_to_sums(problem, problem.bounds_of_products(error_bound(problem)));
        let rows = (drifts, &mut row_sums.mass[..]);
        match problem.weight {
            Weight::Exponential { beta } => sums(problem, Exponential { beta }, panels, rows),
            Weight::Series { series, .. } => sums(problem, series, panels, rows),
        }
        Some(row_sums)
    }
}

/// Panels, and the sums per token.
#[derive(Default)]
struct Buffers {
    panels: Panels,
    row_sums: Sums,
}

/// Why inner products do not serve this weight. Refuses steep exponentials: they allow only
/// slightly positive arguments, and rounding of the exponents stays below `0.01` here.
pub(super) fn unsupported(problem: &KernelProblem) -> Option<&'static str> {
    match problem.weight {
        Weight::Exponential { .. } => (error_bound(problem) > 0.01).then_some(
            "|beta| small enough that rounding of inner products changes weights by less than 1 %",
        ),
        Weight::Series { .. } => problem.needs_differences(),
    }
}

/// Error bound of a drift row in units of its mass; the sums are nested, over tiles of about 96
/// tokens.
fn error_bound(problem: &KernelProblem) -> f64 {
    rounding_bound(problem, problem.tokens.n() as f64 / 96.0 + 96.0)
}

/// Error bound of a drift row in units of its mass. Inner products round like a random walk of d
/// steps (twice its standard deviation is used), norms differ from 1 by 2u each, and the sums round
/// like a chain of this many additions.
pub fn rounding_bound(problem: &KernelProblem, additions: f64) -> f64 {
    let d = problem.tokens.d() as f64;
    // A weight changes by a factor `1 + steepness e` if the inner product changes by e.
    let (steepness, own) = match problem.weight {
        Weight::Exponential { beta } => (beta.abs(), 0.0),
        Weight::Series { profile, .. } => (profile.steepness, profile.rounding),
    };
    0.5 * f64::EPSILON * (steepness * (4.0 + 2.0 * d.sqrt()) + 8.0 + 2.0 * additions.sqrt()) + own
}
