//! General attention heads: `out_i = sum_h O_h sum_j A^h_ij V_h y_j` for queries x_i and sources y_j.
//!
//! Images of all heads are products of slabs; scores, weights and weighted sums go through tiles that stay in the first cache, with a
//! running maximum, and every product is the one micro-kernel of `tiles`. Threads share pieces whose shapes depend on shapes alone:
//! the same bytes for any number of them. Rows in which rounding of logits would show are found by an estimate of it and
//! evaluated again from images and logits in twice the precision.

#![allow(clippy::needless_range_loop, reason = "arrays of registers: loops over constants that must unroll")]

mod again;
mod attend;
mod exact;
mod output;
mod project;
mod reference;
mod seen;
mod share;
mod stack;
mod tiles;
mod work;

pub use reference::reference;
pub use work::Work;

use super::Head;
use super::kernel::Weights;
use super::pattern::{Extent, Pattern};
use crate::error::{Error, Result};
use crate::num::simd::{Float, Level};
use crate::num::threads::{inside_pool, parallel_allowed};

/// What is to be evaluated.
///
/// Self-attention has the queries as sources (the same slice: its tokens are then laid out once); cross-attention has a memory or a
/// block of other tokens.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Tokens x_i that ask, n x d by rows.
    pub queries: &'a [f64],
    /// Tokens y_j that are seen, m x d by rows.
    pub sources: &'a [f64],
    /// Masses of the sources, not negative.
    pub masses: &'a [f64],
    /// Dimension of the tokens.
    pub d: usize,
    /// Inverse temperature.
    pub beta: f64,
    /// Heads, at least one, for tokens of this dimension.
    pub heads: &'a [Head],
    /// What a query sees and how positions enter.
    pub pattern: &'a dyn Pattern,
    /// `A_ij = m_j e^{l_ij} / sum_k m_k e^{l_ik}`, or `m_j e^{l_ij + log_factor}`, of the logits `l_ij = beta <Q x_i, K y_j> + b_ij`.
    pub weights: Weights,
    /// Instruction set.
    pub level: Level,
}

impl Job<'_> {
    /// The common mass where weights were taken without it.
    fn unit(&self, equal: bool) -> f64 {
        if equal { self.masses[0] } else { 1.0 }
    }

    /// **Errors** as [`apply`].
    fn check(&self, out: usize) -> Result<()> {
        let d = self.d;
        let tokens = |name: &str, rows: &[f64]| match rows.iter().position(|x| !x.is_finite()) {
            _ if d == 0 || rows.is_empty() || !rows.len().is_multiple_of(d) => {
                Err(Error::parameter(name, format!("{} numbers", rows.len()), format!("one or more rows of d = {d}")))
            }
            Some(k) => Err(Error::parameter(name, rows[k], format!("finite numbers (row {}, column {})", k / d + 1, k % d + 1))),
            None => Ok(rows.len() / d),
        };
        let queries = tokens("queries", self.queries)?;
        let sources = if self.is_self_attention() { queries } else { tokens("sources", self.sources)? };
        if self.masses.len() != sources {
            return Err(Error::parameter(
                "masses",
                format!("{} numbers", self.masses.len()),
                format!("one for each of the {sources} sources"),
            ));
        }
        if let Some(j) = self.masses.iter().position(|m| !(*m >= 0.0 && m.is_finite())) {
            return Err(Error::parameter(format!("mass {}", j + 1), self.masses[j], "a finite number >= 0"));
        }
        if !self.beta.is_finite() {
            return Err(Error::parameter("beta", self.beta, "a finite number"));
        }
        if out != self.queries.len() {
            return Err(Error::parameter("output", format!("{out} numbers"), format!("{queries} x {d} = {}", self.queries.len())));
        }
        if let Weights::Exponential { log_factor } = self.weights
            && !log_factor.is_finite()
        {
            return Err(Error::parameter("log factor", log_factor, "a finite number"));
        }
        let ranks = self.check_heads()?;
        self.pattern.check(&Extent { heads: self.heads.len(), queries, sources, ranks })
    }

    /// Smallest and largest rank.
    fn check_heads(&self) -> Result<(usize, usize)> {
        if self.heads.is_empty() {
            return Err(Error::parameter("heads", "none", "at least one"));
        }
        let (mut least, mut most) = (usize::MAX, 0);
        for (h, head) in self.heads.iter().enumerate() {
            // A head of the identity is one for every dimension.
            let fits = head.is_identity() || head.dimension() == self.d;
            if !fits {
                let place = format!("dimension of head {}", h + 1);
                return Err(Error::parameter(place, head.dimension(), format!("d = {}", self.d)));
            }
            let rank = head.images(self.d).0;
            (least, most) = (least.min(rank), most.max(rank));
        }
        Ok((least, most))
    }

    fn is_self_attention(&self) -> bool {
        std::ptr::eq(self.queries, self.sources)
    }
}

/// Sizes that all phases share.
struct Shape {
    queries: usize,
    sources: usize,
    /// Numbers per vector.
    width: usize,
    query_vectors: usize,
    source_vectors: usize,
    parallel: bool,
}

impl Shape {
    fn new<F: Float>(job: &Job) -> Self {
        let (queries, sources, width) = (job.queries.len() / job.d, job.sources.len() / job.d, job.level.width::<F>());
        let operations = job.heads.iter().map(|h| {
            let (rank, size) = h.images(job.d);
            (queries + sources) * job.d * (rank + size) + queries * sources * (rank + size)
        });
        Self {
            queries,
            sources,
            width,
            query_vectors: tiles::vectors(queries, width),
            source_vectors: tiles::vectors(sources, width),
            parallel: operations.sum::<usize>() >= PARALLEL_WORK && parallel_allowed(),
        }
    }
}

/// Fused operations from which on threads share them.
const PARALLEL_WORK: usize = 1 << 20;

/// Evaluates all heads into `out` (n x d) and returns the number of rows that see nothing under any head: these are 0.
///
/// **Accuracy** `1e-13` of the largest entry of the result, for logits up to `1e6`, at every instruction set.
/// **Cost** `8 n d^2 + 4 n m d` operations for heads of `d / H` rows each, half of the second term with a causal pattern; nothing is
/// allocated from the second call on with the same shapes (rows taken again under rotary positions excepted). Where a few rows of every head are
/// taken again the whole takes about three times as long: from logits of a deviation of 40 on, measured with random heads. Bytes do not depend on the number of threads.
/// **Errors** shapes that disagree, numbers that are not finite, a pattern made for something else; a result beyond `f64`.
///
/// ```
/// use metastable::attention::heads::{Job, Work, apply};
/// use metastable::attention::{Head, kernel::Weights, pattern::Everything};
/// use metastable::num::simd::Level;
/// let x = [1.0, 0.0, 0.0, 1.0];
/// let heads = [Head::new(2, None, None, None)?];
/// let job = Job { queries: &x, sources: &x, masses: &[0.5, 0.5], d: 2, beta: 1.0, heads: &heads, pattern: &Everything,
///     weights: Weights::Softmax, level: Level::best() };
/// let mut out = [0.0; 4];
/// assert_eq!(apply(&job, &mut Work::default(), &mut out)?, 0);
/// // e / (e + 1)
/// assert!((out[0] - 0.7310585786300049).abs() < 1e-15);
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub fn apply(job: &Job, work: &mut Work, out: &mut [f64]) -> Result<usize> {
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
pub fn apply_f32(job: &Job, work: &mut Work, out: &mut [f64]) -> Result<usize> {
    job.check(out.len())?;
    let shape = Shape::new::<f32>(job);
    inside_pool(shape.parallel, || {
        work.single.attend(job, &shape);
        work.single.finish(job, &shape, out)
    })
}
