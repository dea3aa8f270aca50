//! Direct kernel in any dimension. The tile goes through memory: first the chords of the tile, then
//! its differences, row by row. The sums are those of [`super::direct`].

use crate::kernel::problem::KernelProblem;
use crate::kernel::tiles::blocks::layout;
use crate::kernel::tiles::chord::{Chord, ChordConstants, causal_mask_row};
use crate::kernel::tiles::panels::{PanelSource, Panels, TokenPanel, groups};
use crate::num::simd::{SimdKernel, SimdOps};
use crate::num::tile::with_vectors;

/// Coordinates in slabs, and masses.
pub(super) type Columns<'a> = (&'a [f64], &'a [f64]);

/// The weights of a tile.
pub(super) trait PanelWeights: Copy + Sync {
    /// Tokens see earlier tokens and themselves only.
    fn is_causal(self) -> bool;

    /// Weights and signs of the tokens of the first columns (rows of the tile) with those of the
    /// second; also the sums of the weights by rows and, if requested, by columns.
    fn tile<L: SimdOps<F = f64>>(
        self,
        l: L,
        size: (usize, usize),
        columns: [Columns; 2],
        out: [&mut [f64]; 3],
        column_totals: Option<&mut [f64]>,
    );
}

/// Writes the drifts and masses of all tokens.
pub(super) fn sums<W: PanelWeights>(
    problem: &KernelProblem,
    weights: W,
    panels: &mut Panels,
    sums: (&mut [f64], &mut [f64]),
) {
    let least = if problem.tokens.n() < 128 { 1 } else { 4 };
    let shape = layout(problem.tokens.n(), 128, least);
    let source = PanelSource {
        isa: problem.isa,
        rows: problem.tokens.coordinates(),
        tokens: problem.tokens,
        weighted: false,
    };
    panels.load(&source, shape, problem.parallel());
    let (isa, d, cap) = (problem.isa, panels.d, panels.cap);
    panels
        .list
        .iter_mut()
        .for_each(|p| [&mut p.tile, &mut p.signs].into_iter().for_each(|b| b.resize(cap * cap)));
    let own = |a: &mut TokenPanel| isa.run(Tile { weights, d, cap, a, b: None });
    let pair =
        |a: &mut TokenPanel, b: &mut TokenPanel| isa.run(Tile { weights, d, cap, a, b: Some(b) });
    panels.for_each_pair(problem.parallel(), own, pair);
    panels.store(problem.isa, problem.tokens, sums, problem.parallel());
}

/// The tile of the later panel `a` with itself, or with an earlier panel `b`.
struct Tile<'a, W> {
    weights: W,
    d: usize,
    cap: usize,
    a: &'a mut TokenPanel,
    b: Option<&'a mut TokenPanel>,
}

impl<W: PanelWeights> SimdKernel for Tile<'_, W> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        if L::WIDE { self.with_rows::<L, 4>(l) } else { self.with_rows::<L, 2>(l) }
    }
}

impl<W: PanelWeights> Tile<'_, W> {
    #[inline(always)]
    fn with_rows<L: SimdOps<F = f64>, const R: usize>(self, l: L) {
        let (weights, size) = (self.weights, (self.d, self.cap));
        let TokenPanel { terms, columns, m, drift, tile, signs, row_weight_sums, .. } = self.a;
        let Some(b) = self.b else {
            let own: Columns = (columns, m);
            weights.tile(l, size, [own, own], [tile, signs, row_weight_sums], None);
            differences::<L, R, false>(l, size, tile, signs, (terms, m), terms, drift);
            return;
        };
        let columns: [Columns; 2] = [(columns, m), (&b.columns, &b.m)];
        let both = !weights.is_causal();
        let totals = both.then_some(&mut b.mass[..]);
        weights.tile(l, size, columns, [tile, signs, row_weight_sums], totals);
        differences::<L, R, false>(l, size, tile, signs, (&b.terms, &b.m), terms, drift);
        if both {
            differences::<L, R, true>(l, size, tile, signs, (terms, m), &b.terms, &mut b.drift);
        }
    }
}

/// Rows whose chords are summed together.
const ROWS: usize = 4;

impl PanelWeights for Chord {
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
        let c = ChordConstants::new(l, &self);
        let width = cap / L::WIDTH;
        let own_causal = self.causal && std::ptr::eq(mi, mj);
        let (plus, minus) = (l.splat(c.sigma), l.splat(-c.sigma));
        let far = if self.two_sided { c.sign_switch } else { l.constant(16.0) };
        let (y, mj, rows) = (L::view(y), L::view(mj), L::view_mut(rows));
        let (tile, signs) = (L::view_mut(tile), L::view_mut(signs));
        let mut none = [];
        let column_totals = column_totals.map_or(&mut none[..], |t| L::view_mut(t));
        for j in (0..width).step_by(2) {
            let (left, right) = (&y[j * d..][..d], &y[(j + 1) * d..][..d]);
            let mut column_sums = [l.zero(); 2];
            for i in (0..cap).step_by(ROWS) {
                let mut acc = [[l.zero(); 2]; ROWS];
                let slab = &x[i / L::WIDTH * d * L::WIDTH..][..d * L::WIDTH];
                for (a, (b0, b1)) in slab.chunks_exact(L::WIDTH).zip(left.iter().zip(right)) {
                    let a = &a[i % L::WIDTH..][..ROWS];
                    for r in 0..ROWS {
                        let one = l.splat(a[r]);
                        let (y0, y1) = (l.fma(minus, one, *b0), l.fma(minus, one, *b1));
                        acc[r] = [l.fma(y0, y0, acc[r][0]), l.fma(y1, y1, acc[r][1])];
                    }
                }
                for r in 0..ROWS {
                    let m = l.splat(mi[i + r]);
                    for v in 0..2 {
                        let mut w = l.exp2_product(acc[r][v], c.k, c.cut);
                        if own_causal {
                            w = causal_mask_row(l, j + v, i + r, w);
                        }
                        rows[i + r] = l.fma(w, mj[j + v], rows[i + r]);
                        column_sums[v] = l.fma(w, m, column_sums[v]);
                        let index = (i + r) * width + j + v;
                        tile[index] = w;
                        signs[index] = l.select(l.greater(acc[r][v], far), plus, minus);
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

/// `out_i += sum_j m_j w_ij (x_j - s_ij x_i)` for the tile or, if `TRANSPOSED`, for its transpose,
/// in slabs. The signs are stored as `-s`.
#[inline(always)]
pub fn differences<L: SimdOps<F = f64>, const R: usize, const TRANSPOSED: bool>(
    l: L,
    (d, cap): (usize, usize),
    tile: &[f64],
    signs: &[f64],
    (b, m): (&[f64], &[f64]),
    own: &[f64],
    out: &mut [f64],
) {
    let (b, own, out) = (L::view(b), L::view(own), L::view_mut(out));
    for (first, take) in groups::<L>(d) {
        let part = first * cap..(first + take) * cap;
        let (b, own, out) = (&b[part.clone()], &own[part.clone()], &mut out[part]);
        with_vectors!(L, take, V => {
            group::<L, R, V, TRANSPOSED>(l, cap, tile, signs, (b.as_chunks().0, m), own.as_chunks().0, out.as_chunks_mut().0);
        });
    }
}

/// V vectors of coordinates, R rows at a time: sums and coordinates of the rows stay in registers.
#[inline(always)]
fn group<L: SimdOps<F = f64>, const R: usize, const V: usize, const TRANSPOSED: bool>(
    l: L,
    cap: usize,
    tile: &[f64],
    signs: &[f64],
    (b, m): (&[[L::V; V]], &[f64]),
    own: &[[L::V; V]],
    out: &mut [[L::V; V]],
) {
    for i in (0..cap).step_by(R) {
        let (mut acc, mut xi) = ([[l.zero(); V]; R], [[l.zero(); V]; R]);
        xi.copy_from_slice(&own[i..i + R]);
        for (j, (mass, terms)) in m[..cap].iter().zip(b).enumerate() {
            let mass = l.splat(*mass);
            for r in 0..R {
                let index = if TRANSPOSED { j * cap + i + r } else { (i + r) * cap + j };
                let w = l.mul(mass, l.splat(tile[index]));
                let minus_s = l.splat(signs[index]);
                for v in 0..V {
                    let q = l.fma(minus_s, xi[r][v], terms[v]);
                    acc[r][v] = l.fma(w, q, acc[r][v]);
                }
            }
        }
        for r in 0..R {
            let sums = &mut out[i + r];
            for v in 0..V {
                sums[v] = l.add(sums[v], acc[r][v]);
            }
        }
    }
}
