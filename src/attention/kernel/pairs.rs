//! Counting pairs by their inner product.

use crate::num::simd::{Lanes, Level, Task};
use crate::sphere::Tokens;

/// Number of pairs `j < i` with `<x_i, x_j> >= level`. **Cost** `n^2 d / 2` fused operations.
///
/// ```
/// use metastable::{attention::kernel::pairs_above, sphere::Tokens};
/// let x = Tokens::from_angles(&[0.0, 0.1, 3.0]).unwrap();
/// assert_eq!(pairs_above(&x, 0.9), 1);
/// ```
pub fn pairs_above(x: &Tokens, level: f64) -> usize {
    Level::best().run(Count { d: x.d(), x: x.coordinates(), level })
}

struct Count<'a> {
    d: usize,
    x: &'a [f64],
    level: f64,
}

impl Task for Count<'_> {
    type F = f64;
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) -> usize {
        let n = self.x.len() / self.d;
        let (mut count, all) = (0, 0..n.div_ceil(SQUARE));
        for (i, j) in all.flat_map(|i| (0..=i).map(move |j| (i * SQUARE, j * SQUARE))) {
            let inner = self.square(l, i, j, n - 1);
            for (r, row) in inner.iter().enumerate().take(n - i) {
                count += row.iter().zip(j..i + r).filter(|(inner, _)| **inner >= self.level).count();
            }
        }
        count
    }
}

/// Rows whose inner products with as many others are summed together: as many chains as hide the latency of a fused operation.
const SQUARE: usize = 4;

impl Count<'_> {
    /// Inner products of the rows from i and from j on; beyond the last row, with that one.
    #[inline(always)]
    fn square<L: Lanes<F = f64>>(&self, l: L, i: usize, j: usize, last: usize) -> [[f64; SQUARE]; SQUARE] {
        let (d, whole) = (self.d, self.d - self.d % L::WIDTH);
        let (mut x, mut y) = ([&self.x[..0]; SQUARE], [&self.x[..0]; SQUARE]);
        for r in 0..SQUARE {
            x[r] = &self.x[(i + r).min(last) * d..][..d];
            y[r] = &self.x[(j + r).min(last) * d..][..d];
        }
        let mut sums = [[l.zero(); SQUARE]; SQUARE];
        for k in (0..whole).step_by(L::WIDTH) {
            let mut b = [l.zero(); SQUARE];
            for c in 0..SQUARE {
                b[c] = l.load(&y[c][k..]);
            }
            for r in 0..SQUARE {
                let a = l.load(&x[r][k..]);
                for c in 0..SQUARE {
                    sums[r][c] = l.fma(a, b[c], sums[r][c]);
                }
            }
        }
        let mut inner = [[0.0; SQUARE]; SQUARE];
        for r in 0..SQUARE {
            for c in 0..SQUARE {
                inner[r][c] = if whole > 0 { l.sum(sums[r][c]) } else { 0.0 };
                for (a, b) in x[r][whole..].iter().zip(&y[c][whole..]) {
                    inner[r][c] += a * b;
                }
            }
        }
        inner
    }
}
