//! Smallest and largest inner product of two different tokens (1 for one token).

use super::Observable;
use crate::num::simd::{Lanes, Level, Task};
use crate::num::threads::parallel_allowed;
use crate::sphere::Tokens;
use rayon::prelude::*;
use std::ops::Range;

/// Smallest and largest inner product of two different tokens (1 for one token).
pub static ENTRY: Observable = Observable {
    name: "inner-range",
    summary: "Smallest and largest inner product of two different tokens (1 for one token).",
    needs_unit: true,
    columns: |_| vec!["inner_min".into(), "inner_max".into()],
    measure: |_, frame, row| {
        let (low, high) = range(frame.tokens);
        let together = frame.tokens.n() == 1 || frame.tokens.n() < frame.labels.len();
        row.extend([low, if together { 1.0 } else { high }]);
    },
    batch: None,
};

/// Rows of products that one task looks at.
const ROWS: usize = 64;

/// Smallest and largest `<x_i, x_j>`, i != j, as [`Tokens::inner`] gives them; 1 and -1 for one token.
fn range(x: &Tokens) -> (f64, f64) {
    let stride = x.n().next_multiple_of(16);
    let mut columns = vec![0.0; stride * x.d()];
    for (i, row) in x.rows().enumerate() {
        row.iter().enumerate().for_each(|(c, v)| columns[c * stride + i] = *v);
    }
    let level = Level::best();
    let block = |k: usize| level.run(Block { x, columns: &columns, stride, rows: k * ROWS..x.n().min((k + 1) * ROWS) });
    let wider = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    let count = x.n().div_ceil(ROWS);
    if parallel_allowed() && count > 4 {
        (0..count).into_par_iter().map(block).reduce(|| NOTHING, wider)
    } else {
        (0..count).map(block).fold(NOTHING, wider)
    }
}

const NOTHING: (f64, f64) = (1.0, -1.0);

/// Some rows of the products, below the diagonal.
struct Block<'a> {
    x: &'a Tokens,
    /// Coordinates one after the other, each of all tokens.
    columns: &'a [f64],
    stride: usize,
    rows: Range<usize>,
}

impl Task for Block<'_> {
    type F = f64;
    type Output = (f64, f64);
    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) -> (f64, f64) {
        let (mut low, mut high) = NOTHING;
        for i in self.rows {
            let own = self.x.row(i);
            let (mut least, mut most) = (l.splat(f64::INFINITY), l.splat(f64::NEG_INFINITY));
            let whole = i - i % L::WIDTH;
            for at in (0..whole).step_by(L::WIDTH) {
                let part = |c: usize| L::view(&self.columns[c * self.stride + at..][..L::WIDTH])[0];
                let mut g = l.mul(l.splat(own[0]), part(0));
                for (c, v) in own.iter().enumerate().skip(1) {
                    g = l.fma(l.splat(*v), part(c), g);
                }
                least = l.min(least, g);
                most = l.max(most, g);
            }
            let rest = || (whole..i).map(|j| self.x.inner(i, j));
            let least = rest().fold(-l.largest(l.sub(l.splat(0.0), least)), f64::min);
            let most = rest().fold(l.largest(most), f64::max);
            // Of a row that holds an end the products are taken as everywhere else.
            if least < low {
                low = (0..i).map(|j| self.x.inner(i, j)).fold(low, f64::min);
            }
            if most > high {
                high = (0..i).map(|j| self.x.inner(i, j)).fold(high, f64::max);
            }
        }
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::range;
    use crate::num::stream::Stream;
    use crate::sphere::law::Law;

    #[test]
    fn both_ways_of_summing_find_the_ends() {
        for (n, d) in [(1, 3), (2, 2), (37, 3), (40, 16), (41, 17), (700, 3)] {
            let x = Law::parse("uniform").and_then(|l| l.sample(n, d, &mut Stream::new(n as u64, &["range"]))).expect("tokens");
            let pairs = || (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| x.inner(i, j));
            let (low, high) = range(&x);
            // Of two pairs that agree to rounding either may be the end.
            assert!((low - pairs().fold(1.0, f64::min)).abs() <= 4.0 * f64::EPSILON, "n = {n}, d = {d}");
            assert!((high - pairs().fold(-1.0, f64::max)).abs() <= 4.0 * f64::EPSILON, "n = {n}, d = {d}");
        }
    }
}
