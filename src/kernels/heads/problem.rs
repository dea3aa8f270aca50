//! The evaluation problem and its sizes.

use super::tiles::vectors;
use crate::Head;
use crate::error::{Error, Result};
use crate::num::simd::{Float, Isa};
use crate::num::{stats::first_nonfinite, threads::parallel_allowed};
use crate::pattern::{AttentionShape, Pattern};
use crate::weights::Weights;

/// The problem to evaluate: queries, sources, heads, pattern.
///
/// For self-attention, queries and sources are the same slice, which is then packed only once. For
/// cross-attention, the sources are a memory or a block of other tokens.
#[derive(Clone, Copy)]
pub struct HeadsProblem<'a> {
    /// Tokens x_i whose outputs are computed, n x d, row-major.
    pub queries: &'a [f64],
    /// Tokens y_j that are attended to, m x d, row-major.
    pub sources: &'a [f64],
    /// Masses of the sources, nonnegative.
    pub masses: &'a [f64],
    /// Dimension of the tokens.
    pub d: usize,
    /// Inverse temperature.
    pub beta: f64,
    /// At least one head, for tokens of dimension d.
    pub heads: &'a [Head],
    /// Visible sources, biases and positions.
    pub pattern: &'a dyn Pattern,
    /// `A_ij = m_j e^{l_ij} / sum_k m_k e^{l_ik}`, or `m_j e^{l_ij + log_factor}`, with logits
    /// `l_ij = beta <Q x_i, K y_j> + b_ij`.
    pub weights: Weights,
    /// Instruction set.
    pub isa: Isa,
}

impl HeadsProblem<'_> {
    /// Factor that restores the mass of a source: the common mass if weights were computed without
    /// masses, else 1.
    pub(super) fn common_mass(&self, equal: bool) -> f64 {
        if equal { self.masses[0] } else { 1.0 }
    }

    /// **Errors** as [`super::apply`].
    pub(super) fn check(&self, out: usize) -> Result<()> {
        let d = self.d;
        let tokens = |name: &str, rows: &[f64]| match first_nonfinite(rows) {
            _ if d == 0 || rows.is_empty() || !rows.len().is_multiple_of(d) => {
                Err(Error::parameter(
                    name,
                    format!("{} numbers", rows.len()),
                    format!("one or more rows of d = {d}"),
                ))
            }
            Some(k) => Err(Error::parameter(
                name,
                rows[k],
                format!("finite numbers (row {}, column {})", k / d + 1, k % d + 1),
            )),
            None => Ok(rows.len() / d),
        };
        let queries = tokens("queries", self.queries)?;
        let sources =
            if self.is_self_attention() { queries } else { tokens("sources", self.sources)? };
        if self.masses.len() != sources {
            return Err(Error::parameter(
                "masses",
                format!("{} numbers", self.masses.len()),
                format!("one for each of the {sources} sources"),
            ));
        }
        if let Some(j) = self.masses.iter().position(|m| !(*m >= 0.0 && m.is_finite())) {
            return Err(Error::parameter(
                format!("mass {}", j + 1),
                self.masses[j],
                "a finite number >= 0",
            ));
        }
        if !self.beta.is_finite() {
            return Err(Error::parameter("beta", self.beta, "a finite number"));
        }
        if out != self.queries.len() {
            return Err(Error::parameter(
                "output",
                format!("{out} numbers"),
                format!("{queries} x {d} = {}", self.queries.len()),
            ));
        }
        if let Weights::Exponential { log_factor } = self.weights
            && !log_factor.is_finite()
        {
            return Err(Error::parameter("log factor", log_factor, "a finite number"));
        }
        let ranks = self.check_heads()?;
        self.pattern.check(&AttentionShape { heads: self.heads.len(), queries, sources, ranks })
    }

    /// Smallest and largest rank.
    pub(super) fn check_heads(&self) -> Result<(usize, usize)> {
        if self.heads.is_empty() {
            return Err(Error::parameter("heads", "none", "at least one"));
        }
        let (mut least, mut most) = (usize::MAX, 0);
        for (h, head) in self.heads.iter().enumerate() {
            // The identity head fits every dimension.
            let fits = head.is_identity() || head.dimension() == self.d;
            if !fits {
                let label = format!("dimension of head {}", h + 1);
                return Err(Error::parameter(label, head.dimension(), format!("d = {}", self.d)));
            }
            let rank = head.images(self.d).0;
            (least, most) = (least.min(rank), most.max(rank));
        }
        Ok((least, most))
    }

    pub(super) fn is_self_attention(&self) -> bool {
        std::ptr::eq(self.queries, self.sources)
    }
}

/// Sizes used in all phases.
pub(super) struct Shape {
    pub queries: usize,
    pub sources: usize,
    /// Lanes per vector.
    pub width: usize,
    pub query_vectors: usize,
    pub source_vectors: usize,
    pub parallel: bool,
}

impl Shape {
    pub fn new<F: Float>(problem: &HeadsProblem) -> Self {
        let (queries, sources, width) = (
            problem.queries.len() / problem.d,
            problem.sources.len() / problem.d,
            problem.isa.width::<F>(),
        );
        let operations = problem.heads.iter().map(|h| {
            let (rank, size) = h.images(problem.d);
            (queries + sources) * problem.d * (rank + size) + queries * sources * (rank + size)
        });
        Self {
            queries,
            sources,
            width,
            query_vectors: vectors(queries, width),
            source_vectors: vectors(sources, width),
            parallel: operations.sum::<usize>() >= MIN_PARALLEL_WORK && parallel_allowed(),
        }
    }
}

/// Number of fused operations from which threads are used.
const MIN_PARALLEL_WORK: usize = 1 << 20;
