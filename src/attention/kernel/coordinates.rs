//! Direct tiles in any dimension: the sums of [`super::direct`], coordinate by coordinate through memory.

use super::blocks::Block;
use super::direct::{Chord, Constants, add};
use crate::num::simd::{Float, Lanes};

/// Sources, or rows, evaluated together: one load of a sum serves four pairs.
const ROWS: usize = 4;

/// Lane numbers of the longest vector.
const LANES: [f64; 16] = [0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 13., 14., 15.];

/// One block with itself (`b` absent) or with another one.
#[inline(always)]
pub(super) fn tile<L: Lanes>(l: L, chord: &Chord, d: usize, a: &mut Block<L::F>, b: Option<&mut Block<L::F>>) {
    let mut c = Constants::new(l, chord);
    if !chord.far {
        c.far = l.constant(16.0);
    }
    let Some(b) = b else {
        let Block { x, m, sums, local, len, .. } = a;
        return gather(l, &c, d, (x, sums, local), (x, m, *len), chord.causal);
    };
    if chord.causal {
        let (early, late) = if a.start < b.start { (a, b) } else { (b, a) };
        let Block { x, sums, local, .. } = late;
        return gather(l, &c, d, (x, sums, local), (&early.x, &early.m, early.len), false);
    }
    pair(l, &c, d, a, b);
}

/// Targets in lanes, sources four by four.
#[inline(always)]
fn gather<L: Lanes>(
    l: L,
    c: &Constants<L>,
    d: usize,
    (x, sums, local): (&[L::F], &mut [L::F], &mut [L::F]),
    (source, m, len): (&[L::F], &[L::F], usize),
    causal_own: bool,
) {
    let cap = m.len();
    let vectors = cap / L::WIDTH;
    let (targets, sums) = (L::view(x), L::view_mut(sums));
    let drift = &mut L::view_mut(local)[..d];
    let (plus, minus) = (l.splat(c.sigma), l.splat(L::F::of(-c.sigma.to_f64())));
    for v in 0..vectors {
        drift.fill(l.zero());
        let mut mass = l.zero();
        for first in (0..len).step_by(ROWS) {
            let mut weight = [l.zero(); ROWS];
            let mut direction = [l.zero(); ROWS];
            for r in 0..ROWS {
                let j = first + r;
                let mut chord = l.zero();
                for k in 0..d {
                    let y = l.fma(minus, targets[k * vectors + v], l.splat(source[k * cap + j]));
                    chord = l.fma(y, y, chord);
                }
                let w = l.mul(l.exp2_product(chord, c.k, c.cut), l.splat(m[j]));
                weight[r] = if causal_own { later_masked(l, v, j, w) } else { w };
                direction[r] = l.select(l.greater(chord, c.far), plus, minus);
                mass = l.add(mass, weight[r]);
            }
            for k in 0..d {
                let xi = targets[k * vectors + v];
                let mut sum = drift[k];
                for r in 0..ROWS {
                    let q = l.fma(direction[r], xi, l.splat(source[k * cap + first + r]));
                    sum = l.fma(weight[r], q, sum);
                }
                drift[k] = sum;
            }
        }
        for k in 0..d {
            sums[k * vectors + v] = l.add(sums[k * vectors + v], drift[k]);
        }
        sums[d * vectors + v] = l.add(sums[d * vectors + v], mass);
    }
}

/// The weight of source j, 0 for targets before it.
#[inline(always)]
pub(super) fn later_masked<L: Lanes>(l: L, v: usize, j: usize, w: L::V) -> L::V {
    let lanes: [L::F; 16] = LANES.map(L::F::of);
    l.select(l.greater(L::view(&lanes)[0], l.constant(j as f64 - (v * L::WIDTH) as f64 - 0.5)), w, l.zero())
}

/// The weight of token i with the vector v of sources, 0 for sources after it.
#[inline(always)]
pub(super) fn at_most<L: Lanes>(l: L, v: usize, i: usize, w: L::V) -> L::V {
    let lanes: [L::F; 16] = LANES.map(L::F::of);
    l.select(l.greater(l.constant(i as f64 - (v * L::WIDTH) as f64 + 0.5), L::view(&lanes)[0]), w, l.zero())
}

/// Every pair of two blocks once, for both.
#[inline(always)]
fn pair<L: Lanes>(l: L, c: &Constants<L>, d: usize, a: &mut Block<L::F>, b: &mut Block<L::F>) {
    let cap = b.m.len();
    let vectors = cap / L::WIDTH;
    b.local.fill(L::F::default());
    let (bx, bm, local) = (L::view(&b.x), L::view(&b.m), L::view_mut(&mut b.local));
    let mine = L::view_mut(&mut a.local);
    let (plus, minus) = (l.splat(c.sigma), l.splat(L::F::of(-c.sigma.to_f64())));
    for first in (0..a.len).step_by(ROWS) {
        mine[..d * ROWS].fill(l.zero());
        let mut mass = [l.zero(); ROWS];
        for v in 0..vectors {
            let (mut weight, mut back, mut direction) = ([l.zero(); ROWS], [l.zero(); ROWS], [l.zero(); ROWS]);
            let mut their_mass = local[d * vectors + v];
            for r in 0..ROWS {
                let mut chord = l.zero();
                for k in 0..d {
                    let y = l.fma(minus, l.splat(a.x[k * cap + first + r]), bx[k * vectors + v]);
                    chord = l.fma(y, y, chord);
                }
                let w = l.exp2_product(chord, c.k, c.cut);
                let far = l.greater(chord, c.far);
                direction[r] = l.select(far, plus, minus);
                weight[r] = l.mul(w, bm[v]);
                let yours = l.mul(w, l.splat(a.m[first + r]));
                back[r] = l.negate_where(far, yours);
                mass[r] = l.add(mass[r], weight[r]);
                their_mass = l.add(their_mass, yours);
            }
            local[d * vectors + v] = their_mass;
            for k in 0..d {
                let xj = bx[k * vectors + v];
                let mut theirs = local[k * vectors + v];
                for r in 0..ROWS {
                    let q = l.fma(direction[r], l.splat(a.x[k * cap + first + r]), xj);
                    mine[k * ROWS + r] = l.fma(weight[r], q, mine[k * ROWS + r]);
                    theirs = l.fma(back[r], q, theirs);
                }
                local[k * vectors + v] = theirs;
            }
        }
        for r in 0..ROWS {
            for k in 0..d {
                add(&mut a.sums[k * cap + first + r], l.sum(mine[k * ROWS + r]));
            }
            add(&mut a.sums[d * cap + first + r], l.sum(mass[r]));
        }
    }
    let sums = L::view_mut(&mut b.sums);
    for (k, (s, t)) in sums.iter_mut().zip(local.iter()).enumerate() {
        *s = if k < d * vectors { l.fma(minus, *t, *s) } else { l.add(*s, *t) };
    }
}
