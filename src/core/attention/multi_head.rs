//! Multi-head attention with patterns (masks, biases, rotary positions) and cross-attention.

use super::heads::{self, HeadsWorkspace};
use super::kernel::{OutputForm, Weights, Workspace};
use super::pattern::{AttentionShape, FullAttention, Pattern};
use super::sublayer::{Input, Properties, Sublayer};
use super::{Head, kernel_width};
use crate::error::{Error, Result};
use crate::num::simd::Isa;
use crate::sphere::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// The tokens that supply keys and values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Sources {
    /// All tokens: self-attention.
    AllTokens,
    /// A block of the tokens; tokens outside it are queries only.
    Block(Range<usize>),
    /// Other tokens, which are fixed: cross-attention.
    Memory(Arc<Tokens>),
}

/// `sum_h O_h sum_j A^h_ij V_h y_j` over the sources `y` that the pattern makes visible.
///
/// ```
/// use metastable::attention::{Dynamics, Head, multi_head::{MultiHead, Sources}, pattern::Causal};
/// use metastable::sphere::Tokens;
/// use std::sync::Arc;
/// let x = Tokens::from_angles(&[0.0, 1.0]).unwrap();
/// // Causal: the first token sees only itself.
/// let causal = MultiHead::new(3.0, vec![Head::default()]).unwrap().with_pattern(Causal);
/// assert!(Dynamics::single(causal).velocity(&x)[..2].iter().all(|v| v.abs() < 1e-15));
/// // Cross-attention to one fixed token pulls towards it: theta' = sin(2 - theta).
/// let memory = Tokens::from_angles(&[2.0]).unwrap();
/// let cross = MultiHead::new(3.0, vec![Head::default()]).unwrap().with_sources(Sources::Memory(Arc::new(memory)));
/// assert!((Dynamics::single(cross).velocity(&x)[1] - 2f64.sin()).abs() < 1e-15);
/// ```
#[derive(Clone)]
pub struct MultiHead {
    beta: f64,
    heads: Vec<Head>,
    pattern: Arc<dyn Pattern>,
    weights: Weights,
    sources: Sources,
    isa: Isa,
}

impl MultiHead {
    /// Softmax attention of all tokens to all tokens.
    ///
    /// **Errors** no head, `|beta|` above the largest inverse temperature.
    pub fn new(beta: f64, heads: Vec<Head>) -> Result<Self> {
        if heads.is_empty() {
            return Err(Error::parameter("heads", "none", "at least one"));
        }
        crate::error::in_range(
            "beta",
            beta,
            -super::dynamics::MAX_BETA,
            super::dynamics::MAX_BETA,
        )?;
        let (pattern, sources) = (Arc::new(FullAttention), Sources::AllTokens);
        Ok(Self { beta, heads, pattern, weights: Weights::Softmax, sources, isa: Isa::best() })
    }

    /// Sets the pattern.
    #[must_use]
    pub fn with_pattern(self, pattern: impl Pattern + 'static) -> Self {
        Self { pattern: Arc::new(pattern), ..self }
    }

    /// Sets the sources.
    #[must_use]
    pub fn with_sources(self, sources: Sources) -> Self {
        Self { sources, ..self }
    }

    /// Sets the row weights.
    #[must_use]
    pub fn with_weights(self, weights: Weights) -> Self {
        Self { weights, ..self }
    }

    /// Sets the instruction set.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        Self { isa, ..self }
    }

    /// Replaces the heads.
    #[must_use]
    pub fn with_heads(self, heads: Vec<Head>) -> Self {
        Self { heads, ..self }
    }

    /// Writes the attention outputs and returns the number of tokens without a visible key, whose
    /// outputs are 0.
    ///
    /// **Accuracy**, **Cost** as [`heads::apply`]. **Errors** a block outside the tokens, a memory
    /// of another dimension, heads or a pattern for another number of tokens, heads or coordinates.
    pub fn sums(&self, x: &Tokens, work: &mut Workspace, out: &mut [f64]) -> Result<usize> {
        self.with_job(x, |job| {
            out.fill(0.0);
            heads::apply(job, work.buffers::<HeadsWorkspace>(), out)
        })
    }

    fn with_job<R>(
        &self,
        x: &Tokens,
        work: impl FnOnce(&heads::HeadsProblem) -> Result<R>,
    ) -> Result<R> {
        let d = x.d();
        let (sources, masses) = match &self.sources {
            Sources::AllTokens => (x.coordinates(), x.masses()),
            Sources::Block(b) if b.start < b.end && b.end <= x.n() => {
                (&x.coordinates()[b.start * d..b.end * d], &x.masses()[b.clone()])
            }
            Sources::Block(b) => {
                let expected = format!("tokens among the {}, at least one", x.n());
                return Err(Error::parameter("sources", format!("the block {b:?}"), expected));
            }
            Sources::Memory(y) if y.d() == d => (y.coordinates(), y.masses()),
            Sources::Memory(y) => {
                return Err(Error::parameter(
                    "memory",
                    format!("tokens of dimension {}", y.d()),
                    format!("tokens of dimension {d}"),
                ));
            }
        };
        let &Self { beta, ref heads, ref pattern, weights, isa, .. } = self;
        work(&heads::HeadsProblem {
            queries: x.coordinates(),
            sources,
            masses,
            d,
            beta,
            heads,
            pattern: pattern.as_ref(),
            weights,
            isa,
        })
    }

    /// Converts sums to the given form, in place.
    fn convert_form(&self, x: &Tokens, form: OutputForm, out: &mut [f64]) {
        let values = |row: &[f64]| -> Vec<f64> {
            let image = |head: &Head| {
                head.matrices()[2].map_or_else(
                    || row.to_vec(),
                    |v| v.chunks_exact(x.d()).map(|v| crate::num::sum::dot(v, row)).collect(),
                )
            };
            self.heads
                .iter()
                .map(image)
                .reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect())
                .unwrap_or_default()
        };
        match form {
            OutputForm::Sum => {}
            OutputForm::Tangent => form.of_sums(x, out),
            OutputForm::Difference => {
                for (row, own) in out.chunks_exact_mut(x.d()).zip(x.rows()) {
                    row.iter_mut().zip(values(own)).for_each(|(o, v)| *o -= v);
                }
            }
        }
    }
}

impl Sublayer for MultiHead {
    fn evaluate(&self, input: &Input, form: OutputForm, work: &mut Workspace, out: &mut [f64]) {
        if self.algorithm(input.tokens, form).is_err()
            || self.sums(input.tokens, work, out).is_err()
        {
            return out.fill(f64::NAN);
        }
        self.convert_form(input.tokens, form, out);
    }

    fn properties(&self) -> Properties {
        // A pattern may break any of these properties, so they are claimed only without one.
        let plain = self.pattern.is_plain() && matches!(self.sources, Sources::AllTokens);
        let convex = plain && self.heads.iter().all(Head::has_identity_value);
        Properties {
            common_field: plain,
            permutation_equivariant: plain,
            cone_invariant: convex,
            autonomous: true,
            ..Properties::default()
        }
    }

    fn length_scale(&self) -> f64 {
        kernel_width(self.beta)
    }

    fn algorithm(&self, x: &Tokens, form: OutputForm) -> Result<&'static str> {
        if form == OutputForm::Difference && self.weights != Weights::Softmax {
            return Err(Error::parameter(
                "form",
                "differences",
                "sums or velocities where weights are not normalised",
            ));
        }
        self.with_job(x, |job| {
            let ranks = job.heads.iter().map(|h| h.images(job.d).0);
            let ranks = (ranks.clone().min().unwrap_or(0), ranks.max().unwrap_or(0));
            let (queries, sources) = (job.queries.len() / job.d, job.masses.len());
            self.pattern.check(&AttentionShape { heads: job.heads.len(), queries, sources, ranks })
        })?;
        Ok("heads")
    }

    fn definition(&self, input: &Input, form: OutputForm) -> Option<Vec<f64>> {
        let mut out = self.with_job(input.tokens, heads::reference).ok()?;
        self.convert_form(input.tokens, form, &mut out);
        Some(out)
    }
}
