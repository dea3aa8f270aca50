//! Smallest and largest inner product of two different tokens (1 for one token).

use super::Observable;
use crate::num::simd::{Lanes, Level, Task};
use crate::num::threads::parallel_allowed;
use crate::sphere::Tokens;
use rayon::prelude::*;

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

/// Smallest and largest [`Tokens::inner`] of two tokens, 1 and -1 for one token: of all rows by lanes, then, of those that may hold an end, as everywhere else.
fn range(x: &Tokens) -> (f64, f64) {
    let n = x.n();
    let ends = Products::new(x).ends();
    let wider = |a: Ends, b: Ends| (a.0.min(b.0), a.1.max(b.1));
    let (low, high) = ends.iter().copied().fold(NOTHING, wider);
    // Two ways of summing d products of parts of unit vectors.
    let slack = 2.0 * x.d() as f64 * f64::EPSILON;
    let exact = |i: usize| {
        let (least, most) = ends[i];
        let row = || (0..i).map(|j| x.inner(i, j));
        let low = if least <= low + slack { row().fold(1.0, f64::min) } else { 1.0 };
        let high = if most >= high - slack { row().fold(-1.0, f64::max) } else { -1.0 };
        (low, high)
    };
    if parallel_allowed() && n > 4 * ROWS {
        (0..n).into_par_iter().with_min_len(ROWS).map(exact).reduce(|| NOTHING, wider)
    } else {
        (0..n).map(exact).fold(NOTHING, wider)
    }
}

/// Smallest and largest of some products.
type Ends = (f64, f64);

const NOTHING: Ends = (1.0, -1.0);

/// Rows of products that one task looks at, and those that it takes at once.
const ROWS: usize = 64;
const AT_ONCE: usize = 4;

/// Tokens whose products are looked at.
struct Products<'a> {
    x: &'a Tokens,
    /// Coordinates one after the other, each of all tokens.
    columns: Vec<f64>,
    stride: usize,
}

impl<'a> Products<'a> {
    fn new(x: &'a Tokens) -> Self {
        let stride = x.n().next_multiple_of(16);
        let mut columns = vec![0.0; stride * x.d()];
        for (i, row) in x.rows().enumerate() {
            row.iter().enumerate().for_each(|(c, v)| columns[c * stride + i] = *v);
        }
        Self { x, columns, stride }
    }

    /// The ends of each row left of the diagonal, to rounding.
    fn ends(&self) -> Vec<Ends> {
        let mut ends = vec![NOTHING; self.x.n()];
        let level = Level::best();
        let block = |(k, ends): (usize, &mut [Ends])| level.run(Block { products: self, first: k * ROWS, ends });
        if parallel_allowed() && ends.len() > 4 * ROWS {
            ends.par_chunks_mut(ROWS).enumerate().for_each(block);
        } else {
            ends.chunks_mut(ROWS).enumerate().for_each(block);
        }
        ends
    }
}

/// Some rows.
struct Block<'a> {
    products: &'a Products<'a>,
    first: usize,
    ends: &'a mut [Ends],
}

impl Task for Block<'_> {
    type F = f64;
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Products { x, columns, stride } = self.products;
        for (k, ends) in self.ends.chunks_mut(AT_ONCE).enumerate() {
            let i = self.first + k * AT_ONCE;
            // The last rows may be fewer: the last of them stands for the others.
            let rows: [&[f64]; AT_ONCE] = std::array::from_fn(|r| x.row(i + r.min(ends.len() - 1)));
            let mut least = [l.splat(f64::INFINITY); AT_ONCE];
            let mut most = [l.splat(f64::NEG_INFINITY); AT_ONCE];
            let whole = i - i % L::WIDTH;
            for at in (0..whole).step_by(L::WIDTH) {
                let mut g = [l.zero(); AT_ONCE];
                for (c, column) in columns.chunks_exact(*stride).enumerate() {
                    let part = L::view(&column[at..at + L::WIDTH])[0];
                    for r in 0..AT_ONCE {
                        g[r] = l.fma(l.splat(rows[r][c]), part, g[r]);
                    }
                }
                for r in 0..AT_ONCE {
                    least[r] = l.min(least[r], g[r]);
                    most[r] = l.max(most[r], g[r]);
                }
            }
            for (r, ends) in ends.iter_mut().enumerate() {
                let rest = || (whole..i + r).map(|j| x.inner(i + r, j));
                let by_lanes = (-l.largest(l.sub(l.zero(), least[r])), l.largest(most[r]));
                *ends = (rest().fold(by_lanes.0, f64::min), rest().fold(by_lanes.1, f64::max));
            }
        }
    }
}
