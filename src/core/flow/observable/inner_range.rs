//! Extreme inner products of tokens.

use super::Observable;
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use crate::num::threads::parallel_allowed;
use crate::sphere::Tokens;
use rayon::prelude::*;

/// Smallest and largest inner product of two different tokens; both are 1 for one token.
pub static ENTRY: Observable = Observable {
    name: "inner-range",
    summary: "Smallest and largest inner product of two different tokens (1 for one token).",
    needs_unit_vectors: true,
    columns: |_| vec!["inner_min".into(), "inner_max".into()],
    measure: |_, frame, row| {
        let (low, high) = inner_range(frame.tokens);
        let together = frame.tokens.n() == 1 || frame.tokens.n() < frame.labels.len();
        row.extend([low, if together { 1.0 } else { high }]);
    },
    batch: None,
};

/// Smallest and largest [`Tokens::inner`] of two tokens; 1 and -1 for one token. All rows are
/// computed in vector lanes; rows that may hold an extreme value are recomputed by
/// [`Tokens::inner`].
fn inner_range(x: &Tokens) -> (f64, f64) {
    let n = x.n();
    let extremes = GramRows::new(x).row_extremes();
    let wider = |a: Extremes, b: Extremes| (a.0.min(b.0), a.1.max(b.1));
    let (low, high) = extremes.iter().copied().fold(EMPTY, wider);
    // Largest difference between the two ways of summing the d products.
    let slack = 2.0 * x.d() as f64 * f64::EPSILON;
    let exact = |i: usize| {
        let (least, most) = extremes[i];
        let row = || (0..i).map(|j| x.inner(i, j));
        let low = if least <= low + slack { row().fold(1.0, f64::min) } else { 1.0 };
        let high = if most >= high - slack { row().fold(-1.0, f64::max) } else { -1.0 };
        (low, high)
    };
    if parallel_allowed() && n > 4 * ROWS {
        (0..n).into_par_iter().with_min_len(ROWS).map(exact).reduce(|| EMPTY, wider)
    } else {
        (0..n).map(exact).fold(EMPTY, wider)
    }
}

/// Smallest and largest of several inner products.
type Extremes = (f64, f64);

/// The extremes of no inner products.
const EMPTY: Extremes = (1.0, -1.0);

/// Rows of one task, and rows computed together.
const ROWS: usize = 64;
const ROWS_AT_ONCE: usize = 4;

/// The tokens, arranged for the computation of rows of the Gram matrix.
struct GramRows<'a> {
    x: &'a Tokens,
    /// First coordinates of all tokens, then the second, ...
    columns: Vec<f64>,
    stride: usize,
}

impl<'a> GramRows<'a> {
    fn new(x: &'a Tokens) -> Self {
        let stride = x.n().next_multiple_of(16);
        let mut columns = vec![0.0; stride * x.d()];
        for (i, row) in x.rows().enumerate() {
            row.iter().enumerate().for_each(|(c, v)| columns[c * stride + i] = *v);
        }
        Self { x, columns, stride }
    }

    /// The extremes of each row left of the diagonal, to rounding.
    fn row_extremes(&self) -> Vec<Extremes> {
        let mut extremes = vec![EMPTY; self.x.n()];
        let isa = Isa::best();
        let block = |(k, extremes): (usize, &mut [Extremes])| {
            isa.run(RowBlock { products: self, first: k * ROWS, extremes })
        };
        if parallel_allowed() && extremes.len() > 4 * ROWS {
            extremes.par_chunks_mut(ROWS).enumerate().for_each(block);
        } else {
            extremes.chunks_mut(ROWS).enumerate().for_each(block);
        }
        extremes
    }
}

/// Some rows of the Gram matrix.
struct RowBlock<'a> {
    products: &'a GramRows<'a>,
    first: usize,
    extremes: &'a mut [Extremes],
}

impl SimdKernel for RowBlock<'_> {
    type F = f64;
    type Output = ();
    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let GramRows { x, columns, stride } = self.products;
        for (k, extremes) in self.extremes.chunks_mut(ROWS_AT_ONCE).enumerate() {
            let i = self.first + k * ROWS_AT_ONCE;
            // The last block may have fewer rows: its last row is repeated.
            let rows: [&[f64]; ROWS_AT_ONCE] =
                std::array::from_fn(|r| x.row(i + r.min(extremes.len() - 1)));
            let mut least = [l.splat(f64::INFINITY); ROWS_AT_ONCE];
            let mut most = [l.splat(f64::NEG_INFINITY); ROWS_AT_ONCE];
            let whole = i - i % L::WIDTH;
            for at in (0..whole).step_by(L::WIDTH) {
                let mut g = [l.zero(); ROWS_AT_ONCE];
                for (c, column) in columns.chunks_exact(*stride).enumerate() {
                    let part = L::view(&column[at..at + L::WIDTH])[0];
                    for r in 0..ROWS_AT_ONCE {
                        g[r] = l.fma(l.splat(rows[r][c]), part, g[r]);
                    }
                }
                for r in 0..ROWS_AT_ONCE {
                    least[r] = l.min(least[r], g[r]);
                    most[r] = l.max(most[r], g[r]);
                }
            }
            for (r, extremes) in extremes.iter_mut().enumerate() {
                let rest = || (whole..i + r).map(|j| x.inner(i + r, j));
                let by_lanes = (-l.largest(l.sub(l.zero(), least[r])), l.largest(most[r]));
                *extremes = (rest().fold(by_lanes.0, f64::min), rest().fold(by_lanes.1, f64::max));
            }
        }
    }
}
