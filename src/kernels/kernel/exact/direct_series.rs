//! Direct kernel for the weights of a series `phi(<x_i, x_j>)`, by chords and differences of every
//! pair.
//!
//! As in [`super::direct`], the weight is evaluated at half the squared chord, the drift adds `w
//! (x_j - s x_i)` with `s = 1` for near and `s = -1` for far tokens, and a pair is evaluated once
//! for both tokens. A weight takes long, so several pairs are evaluated together.

use super::direct_large_d::{Columns, PanelWeights};
use crate::kernel::pair_series::PairSeries;
use crate::kernel::problem::KernelProblem;
use crate::kernel::tiles::blocks::{Block, BlockTiles, Blocks, Source};
use crate::kernel::tiles::chord::{causal_mask_column, causal_mask_row};
use crate::num::simd::{Isa, SimdKernel, SimdOps};

/// Squared chords are at most 4: with this threshold no token is far.
const NEVER: f64 = 16.0;

/// Parameters that all tiles share.
#[derive(Clone, Copy)]
pub(super) struct SeriesTiles<'a> {
    series: &'a PairSeries,
    d: usize,
    /// Squared chord beyond which a token is far.
    far: f64,
    causal: bool,
    /// All masses are 1 and nothing is padded.
    unit_mass: bool,
    isa: Isa,
}

impl<'a> SeriesTiles<'a> {
    /// For panels of a problem.
    pub fn new(problem: &KernelProblem, series: &'a PairSeries) -> Self {
        let &KernelProblem { tokens, causal, isa, .. } = problem;
        let far = if problem.two_sided { 2.0 } else { NEVER };
        Self { series, d: tokens.d(), far, causal, unit_mass: false, isa }
    }

    /// For the blocks of a problem.
    pub fn for_blocks(self, blocks: &Blocks) -> Self {
        Self { unit_mass: blocks.unit_mass, ..self }
    }

    /// Adds the contribution of the sources to the tokens x, as [`super::direct::Tiles::gather`].
    fn gather(self, x: &[f64], sums: &mut [f64], source: Source, masked: bool) {
        self.isa.run(Gather { tiles: self, x, sums, source, masked });
    }
}

impl BlockTiles for SeriesTiles<'_> {
    fn within(self, block: &mut Block) {
        let Block { x, m, sums, len, .. } = block;
        self.gather(x, sums, Source { x, m, len: *len }, self.causal);
    }

    fn pair(self, a: &mut Block, b: &mut Block) {
        if self.causal {
            self.gather(&b.x, &mut b.sums, Source { x: &a.x, m: &a.m, len: a.len }, false);
        } else {
            self.isa.run(Pair { tiles: self, a, b });
        }
    }
}

/// Pairs whose weights are evaluated together.
const TOGETHER: usize = 4;

/// The coordinates of `x_j` and `x_i`.
type Coordinates<L, const D: usize> = ([<L as SimdOps>::V; D], [<L as SimdOps>::V; D]);

/// Half the squared chords.
#[inline(always)]
fn chords<L: SimdOps<F = f64>, const D: usize, const U: usize>(
    l: L,
    pairs: &[Coordinates<L, D>; U],
) -> [L::V; U] {
    let (mut z, half) = ([l.zero(); U], l.splat(0.5));
    for u in 0..U {
        let (xj, xi) = &pairs[u];
        for k in 0..D {
            let q = l.sub(xj[k], xi[k]);
            z[u] = l.fma(q, q, z[u]);
        }
        z[u] = l.mul(half, z[u]);
    }
    z
}

/// Targets in lanes, sources one by one.
struct Gather<'a> {
    tiles: SeriesTiles<'a>,
    x: &'a [f64],
    sums: &'a mut [f64],
    source: Source<'a>,
    /// The sources are the tokens x, and no token sees later ones.
    masked: bool,
}

impl SimdKernel for Gather<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        match self.tiles.d {
            2 => self.with_dimension::<L, 2>(l),
            3 => self.with_dimension::<L, 3>(l),
            _ => self.with_dimension::<L, 4>(l),
        }
    }
}

impl Gather<'_> {
    #[inline(always)]
    fn with_dimension<L: SimdOps<F = f64>, const D: usize>(self, l: L) {
        let Self { tiles, x, sums, source: Source { x: sources, m: masses, len }, masked } = self;
        let cap = x.len() / D;
        let (targets, sums) = (L::view(x), L::view_mut(sums));
        let (vectors, far) = (cap / L::WIDTH, l.splat(0.5 * tiles.far));
        let (plus, minus) = (l.splat(1.0), l.splat(-1.0));
        for v in 0..vectors {
            let mut xi = [l.zero(); D];
            for k in 0..D {
                xi[k] = targets[k * vectors + v];
            }
            let (mut drift, mut mass) = ([l.zero(); D], l.zero());
            // Blocks are padded with tokens of mass 0.
            for j in (0..len).step_by(TOGETHER) {
                let mut pairs = [([l.zero(); D], xi); TOGETHER];
                for u in 0..TOGETHER {
                    for k in 0..D {
                        pairs[u].0[k] = l.splat(sources[k * cap + j + u]);
                    }
                }
                let z = chords(l, &pairs);
                let w = tiles.series.values::<L, TOGETHER>(l, z);
                for u in 0..TOGETHER {
                    let mut w = l.mul(w[u], l.splat(masses[j + u]));
                    if masked {
                        w = causal_mask_column(l, v, j + u, w);
                    }
                    // The product with a sign is exact.
                    let minus_s = l.select(l.greater(z[u], far), plus, minus);
                    for k in 0..D {
                        let q = l.fma(minus_s, xi[k], pairs[u].0[k]);
                        drift[k] = l.fma(w, q, drift[k]);
                    }
                    mass = l.add(mass, w);
                }
            }
            for k in 0..D {
                sums[k * vectors + v] = l.add(sums[k * vectors + v], drift[k]);
            }
            sums[D * vectors + v] = l.add(sums[D * vectors + v], mass);
        }
    }
}

/// All pairs of two blocks, each evaluated once for both tokens.
struct Pair<'a> {
    tiles: SeriesTiles<'a>,
    a: &'a mut Block,
    b: &'a mut Block,
}

impl SimdKernel for Pair<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        match (self.tiles.d, self.tiles.unit_mass) {
            (2, true) => self.with_dimension::<L, 2, true>(l),
            (2, false) => self.with_dimension::<L, 2, false>(l),
            (3, true) => self.with_dimension::<L, 3, true>(l),
            (3, false) => self.with_dimension::<L, 3, false>(l),
            _ => self.with_dimension::<L, 4, false>(l),
        }
    }
}

impl Pair<'_> {
    /// Two tokens of `a` with two vectors of `b` at a time.
    #[inline(always)]
    fn with_dimension<L: SimdOps<F = f64>, const D: usize, const UNIT_MASS: bool>(self, l: L) {
        let Self { tiles, a, b } = self;
        let cap = b.m.len();
        let (vectors, far) = (cap / L::WIDTH, l.splat(0.5 * tiles.far));
        let (plus, minus) = (l.splat(1.0), l.splat(-1.0));
        b.tile_sums.fill(0.0);
        let (bx, bm) = (L::view(&b.x), L::view(&b.m));
        let tile = L::view_mut(&mut b.tile_sums);
        for first in (0..a.len).step_by(2) {
            // The last row of an odd block is padding of mass 0.
            let (mut xi, mut mi) = ([[l.zero(); D]; 2], [l.zero(); 2]);
            for r in 0..2 {
                for k in 0..D {
                    xi[r][k] = l.splat(a.x[k * cap + first + r]);
                }
                mi[r] = l.splat(a.m[first + r]);
            }
            let (mut drift, mut mass) = ([[l.zero(); D]; 2], [l.zero(); 2]);
            for v in (0..vectors).step_by(2) {
                let mut pairs = [([l.zero(); D], [l.zero(); D]); TOGETHER];
                for c in 0..TOGETHER {
                    for k in 0..D {
                        pairs[c].0[k] = bx[k * vectors + v + c % 2];
                    }
                    pairs[c].1 = xi[c / 2];
                }
                let z = chords(l, &pairs);
                let w = tiles.series.values::<L, TOGETHER>(l, z);
                for u in 0..2 {
                    let mut back = [l.zero(); D];
                    for k in 0..D {
                        back[k] = tile[k * vectors + v + u];
                    }
                    let mut back_mass = tile[D * vectors + v + u];
                    for r in 0..2 {
                        let c = 2 * r + u;
                        let is_far = l.greater(z[c], far);
                        let minus_s = l.select(is_far, plus, minus);
                        let (for_a, for_b) = if UNIT_MASS {
                            (w[c], w[c])
                        } else {
                            (l.mul(w[c], bm[v + u]), l.mul(w[c], mi[r]))
                        };
                        let signed = l.negate_where(is_far, for_b);
                        for k in 0..D {
                            let q = l.fma(minus_s, xi[r][k], pairs[c].0[k]);
                            drift[r][k] = l.fma(for_a, q, drift[r][k]);
                            back[k] = l.fma(signed, q, back[k]);
                        }
                        mass[r] = l.add(mass[r], for_a);
                        back_mass = l.add(back_mass, for_b);
                    }
                    for k in 0..D {
                        tile[k * vectors + v + u] = back[k];
                    }
                    tile[D * vectors + v + u] = back_mass;
                }
            }
            for r in 0..2 {
                for k in 0..D {
                    a.sums[k * cap + first + r] += l.sum(drift[r][k]);
                }
                a.sums[D * cap + first + r] += l.sum(mass[r]);
            }
        }
        // For a near pair, the contribution to b is minus the difference.
        let sums = L::view_mut(&mut b.sums);
        for (k, (s, t)) in sums.iter_mut().zip(L::view(&b.tile_sums)).enumerate() {
            *s = if k < D * vectors { l.sub(*s, *t) } else { l.add(*s, *t) };
        }
    }
}

/// Rows whose chords are summed together.
const ROWS: usize = 4;

impl PanelWeights for SeriesTiles<'_> {
    #[inline(always)]
    fn is_causal(self) -> bool {
        self.causal
    }

    #[inline(always)]
    fn tile<L: SimdOps<F = f64>>(
        self,
        l: L,
        (d, cap): (usize, usize),
        [(x, mi), (y, mj)]: [Columns; 2],
        [tile, signs, rows]: [&mut [f64]; 3],
        column_totals: Option<&mut [f64]>,
    ) {
        let width = cap / L::WIDTH;
        let masked = self.causal && std::ptr::eq(mi, mj);
        let (plus, minus, half) = (l.splat(1.0), l.splat(-1.0), l.splat(0.5));
        let far = l.splat(0.5 * self.far);
        let (y, mj, rows) = (L::view(y), L::view(mj), L::view_mut(rows));
        let (tile, signs) = (L::view_mut(tile), L::view_mut(signs));
        let mut none = [];
        let column_totals = column_totals.map_or(&mut none[..], |t| L::view_mut(t));
        for j in (0..width).step_by(2) {
            let (left, right) = (&y[j * d..][..d], &y[(j + 1) * d..][..d]);
            let mut column_sums = [l.zero(); 2];
            for i in (0..cap).step_by(ROWS) {
                let mut z = [l.zero(); 2 * ROWS];
                let slab = &x[i / L::WIDTH * d * L::WIDTH..][..d * L::WIDTH];
                for (a, (b0, b1)) in slab.chunks_exact(L::WIDTH).zip(left.iter().zip(right)) {
                    let a = &a[i % L::WIDTH..][..ROWS];
                    for r in 0..ROWS {
                        let one = l.splat(a[r]);
                        let (y0, y1) = (l.sub(*b0, one), l.sub(*b1, one));
                        z[2 * r] = l.fma(y0, y0, z[2 * r]);
                        z[2 * r + 1] = l.fma(y1, y1, z[2 * r + 1]);
                    }
                }
                for z in &mut z {
                    *z = l.mul(half, *z);
                }
                let all = if L::WIDE {
                    self.series.values::<L, 8>(l, z)
                } else {
                    let [a, b, c, d, e, f, g, h] = z;
                    let [a, b, c, d] = self.series.values::<L, 4>(l, [a, b, c, d]);
                    let [e, f, g, h] = self.series.values::<L, 4>(l, [e, f, g, h]);
                    [a, b, c, d, e, f, g, h]
                };
                for r in 0..ROWS {
                    let m = l.splat(mi[i + r]);
                    for v in 0..2 {
                        let mut w = all[2 * r + v];
                        if masked {
                            w = causal_mask_row(l, j + v, i + r, w);
                        }
                        rows[i + r] = l.fma(w, mj[j + v], rows[i + r]);
                        column_sums[v] = l.fma(w, m, column_sums[v]);
                        let index = (i + r) * width + j + v;
                        tile[index] = w;
                        signs[index] = l.select(l.greater(z[2 * r + v], far), plus, minus);
                    }
                }
            }
            if let Some(t) = column_totals.get_mut(j..j + 2) {
                t[0] = l.add(t[0], column_sums[0]);
                t[1] = l.add(t[1], column_sums[1]);
            }
        }
    }
}
