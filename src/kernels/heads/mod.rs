//! General attention heads: `out_i = sum_h O_h sum_j A^h_ij V_h y_j` for queries x_i and sources
//! y_j.
//!
//! Q, K and V images of all heads are matrix products. Scores, weights and weighted sums are
//! computed tile by tile with a running maximum (online softmax); a tile stays in the L1 cache. All
//! products use one register tile, see `tiles`. Threads share work items whose shapes depend on the
//! sizes of the problem only, so the result is bitwise the same for every number of threads. Rows
//! for which rounding of the logits could be visible are flagged by an error bound and recomputed
//! in double-double arithmetic.

#![allow(
    clippy::needless_range_loop,
    reason = "arrays of registers: loops over constants that must unroll"
)]

mod attend;
mod output;
mod packed_heads;
mod problem;
mod qkv;
mod reference;
mod tiles;
mod visible_range;
mod work_items;
mod workspace;

pub use problem::HeadsProblem;
pub use reference::reference;
pub use workspace::HeadsWorkspace;

use crate::error::Result;
use crate::num::threads::enter_pool;
use problem::Shape;

/// Evaluates all heads into `out` (n x d). Returns the number of rows without a visible source
/// under any head; these rows are 0.
///
/// **Accuracy** `1e-13` of the largest entry of the result, for logits up to `1e6` and every
/// instruction set.
/// **Cost** `8 n d^2 + 4 n m d` operations for heads with `d / H` rows each; a causal pattern
/// halves the second term. From the second call with the same shapes on, nothing is allocated
/// (except for flagged rows on several threads or with rotary positions). With random heads, rows
/// are flagged once the logits have a standard deviation of about 40; a call then takes up to eight
/// times as long (n = 3000, d = 64, two heads). The result does not depend on the number of
/// threads.
/// **Errors** shapes that disagree, non-finite numbers, a pattern made for other sizes, a result
/// beyond `f64`.
///
/// ```
/// use metastable::attention::heads::{HeadsProblem, HeadsWorkspace, apply};
/// use metastable::attention::{Head, kernel::Weights, pattern::FullAttention};
/// use metastable::num::simd::Isa;
/// let x = [1.0, 0.0, 0.0, 1.0];
/// let heads = [Head::new(2, None, None, None)?];
/// let problem = HeadsProblem { queries: &x, sources: &x, masses: &[0.5, 0.5], d: 2, beta: 1.0, heads: &heads, pattern: &FullAttention,
///     weights: Weights::Softmax, isa: Isa::best() };
/// let mut out = [0.0; 4];
/// assert_eq!(apply(&problem, &mut HeadsWorkspace::default(), &mut out)?, 0);
/// // e / (e + 1)
/// assert!((out[0] - 0.7310585786300049).abs() < 1e-15);
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub fn apply(problem: &HeadsProblem, work: &mut HeadsWorkspace, out: &mut [f64]) -> Result<usize> {
    problem.check(out.len())?;
    let shape = Shape::new::<f64>(problem);
    enter_pool(shape.parallel, || {
        work.double.attend(problem, &shape);
        work.double.recompute_flagged(problem, &shape);
        work.double.apply_output(problem, &shape, out)
    })
}

/// [`apply`] in `f32`: tokens are rounded to `f32`, all operations run in `f32`.
///
/// **Accuracy** about `1e-6 (1 + |l|)` of the largest entry for logits of size l.
/// **Errors** as [`apply`].
pub fn apply_f32(
    problem: &HeadsProblem,
    work: &mut HeadsWorkspace,
    out: &mut [f64],
) -> Result<usize> {
    problem.check(out.len())?;
    let shape = Shape::new::<f32>(problem);
    enter_pool(shape.parallel, || {
        work.single.attend(problem, &shape);
        work.single.apply_output(problem, &shape, out)
    })
}
