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
        let whole = self.d - self.d % L::WIDTH;
        let mut count = 0;
        for (i, xi) in self.x.chunks_exact(self.d).enumerate() {
            for xj in self.x.chunks_exact(self.d).take(i) {
                let mut lanes = l.zero();
                for (a, b) in L::view(&xi[..whole]).iter().zip(L::view(&xj[..whole])) {
                    lanes = l.fma(*a, *b, lanes);
                }
                let mut inner = if whole > 0 { l.sum(lanes) } else { 0.0 };
                for (a, b) in xi[whole..].iter().zip(&xj[whole..]) {
                    inner += a * b;
                }
                count += usize::from(inner >= self.level);
            }
        }
        count
    }
}
