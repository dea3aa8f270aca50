//! General attention heads: `out_i = sum_h O_h sum_j A^h_ij V_h y_j` for queries x_i and sources y_j.
//!
//! Images of all heads are products of slabs; scores, weights and weighted sums go through tiles that stay in the first cache, with a
//! running maximum, and every product is the one micro-kernel of `tiles`. Threads share pieces whose shapes depend on shapes alone:
//! the same bytes for any number of them. Rows in which rounding of logits would show are found by an estimate of it and
//! evaluated again by their definition in double-double numbers.

#![allow(clippy::needless_range_loop, reason = "arrays of registers: loops over constants that must unroll")]

mod attend;
mod job;
mod output;
mod project;
mod reference;
mod seen;
mod share;
mod stack;
mod tiles;
mod work;

pub use job::HeadsJob;
pub use reference::reference;
pub use work::Work;

use crate::error::Result;
use crate::num::threads::inside_pool;
use job::Shape;

/// Evaluates all heads into `out` (n x d) and returns the number of rows that see nothing under any head: these are 0.
///
/// **Accuracy** `1e-13` of the largest entry of the result, for logits up to `1e6`, at every instruction set.
/// **Cost** `8 n d^2 + 4 n m d` operations for heads of `d / H` rows each, half of the second term with a causal pattern; nothing is
/// allocated from the second call on with the same shapes (rows taken again by several threads or under rotary positions excepted). Where rows
/// are taken again, from logits of a deviation of 40 on with random heads, the whole takes up to eight times as long (n = 3000, d = 64, two heads). Bytes do not depend on the number of threads.
/// **Errors** shapes that disagree, numbers that are not finite, a pattern made for something else; a result beyond `f64`.
///
/// ```
/// use metastable::attention::heads::{HeadsJob, Work, apply};
/// use metastable::attention::{Head, kernel::Weights, pattern::Everything};
/// use metastable::num::simd::Level;
/// let x = [1.0, 0.0, 0.0, 1.0];
/// let heads = [Head::new(2, None, None, None)?];
/// let job = HeadsJob { queries: &x, sources: &x, masses: &[0.5, 0.5], d: 2, beta: 1.0, heads: &heads, pattern: &Everything,
///     weights: Weights::Softmax, level: Level::best() };
/// let mut out = [0.0; 4];
/// assert_eq!(apply(&job, &mut Work::default(), &mut out)?, 0);
/// // e / (e + 1)
/// assert!((out[0] - 0.7310585786300049).abs() < 1e-15);
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub fn apply(job: &HeadsJob, work: &mut Work, out: &mut [f64]) -> Result<usize> {
    job.check(out.len())?;
    let shape = Shape::new::<f64>(job);
    inside_pool(shape.parallel, || {
        work.double.attend(job, &shape);
        work.double.again(job, &shape);
        work.double.finish(job, &shape, out)
    })
}

/// The same in `f32` throughout, tokens and results rounded.
///
/// **Accuracy** about `1e-6 (1 + |l|)` of the largest entry for logits of size l.
/// **Errors** as [`apply`].
pub fn apply_f32(job: &HeadsJob, work: &mut Work, out: &mut [f64]) -> Result<usize> {
    job.check(out.len())?;
    let shape = Shape::new::<f32>(job);
    inside_pool(shape.parallel, || {
        work.single.attend(job, &shape);
        work.single.finish(job, &shape, out)
    })
}
