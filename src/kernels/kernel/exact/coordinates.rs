//! Direct tiles in any dimension: the sums of [`super::direct`] through memory. The chords of a tile first, then its differences, row by row.

use crate::kernel::job::Job;
use crate::kernel::tiles::blocks::layout;
use crate::kernel::tiles::chord::{Chord, Constants, at_most};
use crate::kernel::tiles::panels::{Panels, Source, TokenPanel, groups};
use crate::num::simd::{Lanes, Task};
use crate::num::tile::with_vectors;

/// Writes all drifts and masses.
pub fn sums(job: &Job, panels: &mut Panels, sums: (&mut [f64], &mut [f64])) {
    let least = if job.tokens.n() < 128 { 1 } else { 4 };
    let shape = layout(job.tokens.n(), 128, least);
    let source = Source { level: job.level, rows: job.tokens.coordinates(), tokens: job.tokens, weighted: false };
    panels.load(&source, shape, job.parallel());
    let chord = Chord { beta: job.beta, causal: job.causal, far: job.far };
    let (level, d, cap) = (job.level, panels.d, panels.cap);
    panels.list.iter_mut().for_each(|p| [&mut p.tile, &mut p.signs].into_iter().for_each(|b| b.resize(cap * cap)));
    let own = |a: &mut TokenPanel| level.run(Tile { chord, d, cap, a, b: None });
    let pair = |a: &mut TokenPanel, b: &mut TokenPanel| level.run(Tile { chord, d, cap, a, b: Some(b) });
    panels.meet(job.parallel(), own, pair);
    panels.store(job.level, job.tokens, sums, job.parallel());
}

/// The later panel `a` with itself or with an earlier one.
struct Tile<'a> {
    chord: Chord,
    d: usize,
    cap: usize,
    a: &'a mut TokenPanel,
    b: Option<&'a mut TokenPanel>,
}

impl Task for Tile<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        if L::WIDE { self.with_rows::<L, 4>(l) } else { self.with_rows::<L, 2>(l) }
    }
}

impl Tile<'_> {
    #[inline(always)]
    fn with_rows<L: Lanes<F = f64>, const R: usize>(self, l: L) {
        let (chord, d, cap) = (&self.chord, self.d, self.cap);
        let TokenPanel { terms, columns, m, drift, tile, signs, led, .. } = self.a;
        match self.b {
            None => {
                weights(l, chord, d, cap, (columns, m), (columns, m), [tile, signs, led], None);
                differences::<L, R, false>(l, (d, cap), tile, signs, (terms, m), terms, drift);
            }
            Some(b) => {
                let theirs = if chord.causal { None } else { Some(&mut b.mass[..]) };
                weights(l, chord, d, cap, (columns, m), (&b.columns, &b.m), [tile, signs, led], theirs);
                differences::<L, R, false>(l, (d, cap), tile, signs, (&b.terms, &b.m), terms, drift);
                if !chord.causal {
                    differences::<L, R, true>(l, (d, cap), tile, signs, (terms, m), &b.terms, &mut b.drift);
                }
            }
        }
    }
}

/// Rows of the tile whose chords are summed together.
const ROWS: usize = 4;

/// Weights and signs of the tokens `x` (rows of the tile) with those of `y`, and the sums of the weights by rows and by columns.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "the two panels and the tile between them")]
fn weights<L: Lanes<F = f64>>(
    l: L,
    chord: &Chord,
    d: usize,
    cap: usize,
    (x, mi): (&[f64], &[f64]),
    (y, mj): (&[f64], &[f64]),
    [tile, signs, rows]: [&mut [f64]; 3],
    theirs: Option<&mut [f64]>,
) {
    let c = Constants::new(l, chord);
    let width = cap / L::WIDTH;
    let own_causal = chord.causal && std::ptr::eq(mi, mj);
    let (plus, minus) = (l.splat(c.sigma), l.splat(-c.sigma));
    let far = if chord.far { c.far } else { l.constant(16.0) };
    let (y, mj, rows) = (L::view(y), L::view(mj), L::view_mut(rows));
    let (tile, signs) = (L::view_mut(tile), L::view_mut(signs));
    let mut none = [];
    let theirs = theirs.map_or(&mut none[..], |t| L::view_mut(t));
    for j in (0..width).step_by(2) {
        let (left, right) = (&y[j * d..][..d], &y[(j + 1) * d..][..d]);
        let mut down = [l.zero(); 2];
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
                        w = at_most(l, j + v, i + r, w);
                    }
                    rows[i + r] = l.fma(w, mj[j + v], rows[i + r]);
                    down[v] = l.fma(w, m, down[v]);
                    let place = (i + r) * width + j + v;
                    tile[place] = w;
                    signs[place] = l.select(l.greater(acc[r][v], far), plus, minus);
                }
            }
        }
        if let Some(t) = theirs.get_mut(j..j + 2) {
            t[0] = l.add(t[0], down[0]);
            t[1] = l.add(t[1], down[1]);
        }
    }
}

/// `out_i += sum_j m_j w_ij (x_j - s_ij x_i)` for the tile or (`TURNED`) its transpose, in slabs; the signs are stored as `-s`.
#[inline(always)]
pub fn differences<L: Lanes<F = f64>, const R: usize, const TURNED: bool>(
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
            group::<L, R, V, TURNED>(l, cap, tile, signs, (b.as_chunks().0, m), own.as_chunks().0, out.as_chunks_mut().0);
        });
    }
}

/// V vectors of coordinates: R rows at a time, their sums and their coordinates in registers.
#[inline(always)]
fn group<L: Lanes<F = f64>, const R: usize, const V: usize, const TURNED: bool>(
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
                let place = if TURNED { j * cap + i + r } else { (i + r) * cap + j };
                let w = l.mul(mass, l.splat(tile[place]));
                let minus_s = l.splat(signs[place]);
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
