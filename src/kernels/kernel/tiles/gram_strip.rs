//! Inner products of rows in 4 x 4 squares: every row that is read serves four products, with
//! sixteen independent chains of fused operations.

use crate::num::simd::{SimdKernel, SimdOps};

/// Rows of a strip, and side of its squares.
pub const STRIP_ROWS: usize = 4;

/// Inner products of the rows `i..i + STRIP_ROWS` with all rows up to them, one row of `out` each.
/// Rows beyond the last one repeat it. A separate function, because its loop needs all registers.
pub struct GramStrip<'a> {
    pub rows: &'a [f64],
    pub d: usize,
    pub i: usize,
    /// `STRIP_ROWS` rows.
    pub out: &'a mut [f64],
}

impl SimdKernel for GramStrip<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let Self { rows, d, i, out } = self;
        let (last, stride) = ((rows.len() / d).saturating_sub(1), out.len() / STRIP_ROWS);
        let x = row_quad(rows, d, i, last);
        for j in (0..=i).step_by(STRIP_ROWS) {
            let y = row_quad(rows, d, j, last);
            let mut inner = [[0.0; STRIP_ROWS]; STRIP_ROWS];
            whole_vectors(l, &x, &y, &mut inner);
            for r in 0..STRIP_ROWS {
                for c in 0..STRIP_ROWS {
                    for k in d - d % L::WIDTH..d {
                        inner[r][c] += x[r][k] * y[c][k];
                    }
                }
                out[r * stride + j..][..STRIP_ROWS].copy_from_slice(&inner[r]);
            }
        }
    }
}

/// `STRIP_ROWS` rows from i on.
#[inline(always)]
fn row_quad(rows: &[f64], d: usize, i: usize, last: usize) -> [&[f64]; STRIP_ROWS] {
    let mut x = [&rows[..0]; STRIP_ROWS];
    for r in 0..STRIP_ROWS {
        x[r] = &rows[(i + r).min(last) * d..][..d];
    }
    x
}

/// Sums over the whole vectors of coordinates.
#[inline(always)]
fn whole_vectors<L: SimdOps<F = f64>>(
    l: L,
    x: &[&[f64]; STRIP_ROWS],
    y: &[&[f64]; STRIP_ROWS],
    inner: &mut [[f64; STRIP_ROWS]; STRIP_ROWS],
) {
    let count = x[0].len() / L::WIDTH;
    let (mut a, mut b) = ([L::view(&x[0][..0]); STRIP_ROWS], [L::view(&y[0][..0]); STRIP_ROWS]);
    for r in 0..STRIP_ROWS {
        a[r] = &L::view(&x[r][..count * L::WIDTH])[..count];
        b[r] = &L::view(&y[r][..count * L::WIDTH])[..count];
    }
    let mut sums = [[l.zero(); STRIP_ROWS]; STRIP_ROWS];
    for k in 0..count {
        for r in 0..STRIP_ROWS {
            for c in 0..STRIP_ROWS {
                sums[r][c] = l.fma(a[r][k], b[c][k], sums[r][c]);
            }
        }
    }
    let totals = inner.as_flattened_mut().chunks_exact_mut(L::WIDTH);
    for (totals, sums) in totals.zip(sums.as_flattened().chunks_exact(L::WIDTH)) {
        l.store(l.sums(sums), totals);
    }
}
