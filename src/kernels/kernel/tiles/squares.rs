//! Inner products of rows in squares: every row read serves four, and sixteen chains of fused operations overlap.

use crate::num::simd::{Lanes, Task};

/// Side of a square.
pub const SIDE: usize = 4;

/// The inner products of the rows from `i` on with all rows up to them, a row of `out` each; beyond the last row, with that one. A
/// function of its own: its loop needs all registers.
pub struct Strip<'a> {
    pub rows: &'a [f64],
    pub d: usize,
    pub i: usize,
    /// `SIDE` rows.
    pub out: &'a mut [f64],
}

impl Task for Strip<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Self { rows, d, i, out } = self;
        let (last, stride) = ((rows.len() / d).saturating_sub(1), out.len() / SIDE);
        let x = four(rows, d, i, last);
        for j in (0..=i).step_by(SIDE) {
            let y = four(rows, d, j, last);
            let mut inner = [[0.0; SIDE]; SIDE];
            whole(l, &x, &y, &mut inner);
            for r in 0..SIDE {
                for c in 0..SIDE {
                    for k in d - d % L::WIDTH..d {
                        inner[r][c] += x[r][k] * y[c][k];
                    }
                }
                out[r * stride + j..][..SIDE].copy_from_slice(&inner[r]);
            }
        }
    }
}

/// The rows from i on.
#[inline(always)]
fn four(rows: &[f64], d: usize, i: usize, last: usize) -> [&[f64]; SIDE] {
    let mut x = [&rows[..0]; SIDE];
    for r in 0..SIDE {
        x[r] = &rows[(i + r).min(last) * d..][..d];
    }
    x
}

/// Over whole vectors of coordinates.
#[inline(always)]
fn whole<L: Lanes<F = f64>>(l: L, x: &[&[f64]; SIDE], y: &[&[f64]; SIDE], inner: &mut [[f64; SIDE]; SIDE]) {
    let count = x[0].len() / L::WIDTH;
    let (mut a, mut b) = ([L::view(&x[0][..0]); SIDE], [L::view(&y[0][..0]); SIDE]);
    for r in 0..SIDE {
        a[r] = &L::view(&x[r][..count * L::WIDTH])[..count];
        b[r] = &L::view(&y[r][..count * L::WIDTH])[..count];
    }
    let mut sums = [[l.zero(); SIDE]; SIDE];
    for k in 0..count {
        for r in 0..SIDE {
            for c in 0..SIDE {
                sums[r][c] = l.fma(a[r][k], b[c][k], sums[r][c]);
            }
        }
    }
    let totals = inner.as_flattened_mut().chunks_exact_mut(L::WIDTH);
    for (totals, sums) in totals.zip(sums.as_flattened().chunks_exact(L::WIDTH)) {
        l.store(l.sums(sums), totals);
    }
}
