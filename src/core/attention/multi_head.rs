//! Several heads with patterns and sources of their own: masks, biases, rotary positions, cross-attention.

use super::heads::{self, Work};
use super::kernel::{Form, Weights, Workspace};
use super::pattern::{Everything, Extent, Pattern};
use super::sublayer::{At, Facts, Sublayer};
use super::{Head, kernel_width};
use crate::error::{Error, Result};
use crate::num::simd::Level;
use crate::sphere::Tokens;
use std::ops::Range;
use std::sync::Arc;

/// Whom tokens attend to.
#[derive(Clone, Debug)]
pub enum Sources {
    /// Each other.
    Own,
    /// A block of them: tokens outside it are its audience.
    Block(Range<usize>),
    /// Other tokens, which do not move.
    Memory(Arc<Tokens>),
}

/// `sum_h O_h sum_j A^h_ij V_h y_j` with a pattern over sources `y`.
///
/// ```
/// use metastable::attention::{Dynamics, Head, multi_head::{MultiHead, Sources}, pattern::Causal};
/// use metastable::sphere::Tokens;
/// use std::sync::Arc;
/// let x = Tokens::from_angles(&[0.0, 1.0]).unwrap();
/// // Causal: the first token sees itself alone.
/// let causal = MultiHead::new(3.0, vec![Head::default()]).unwrap().under(Causal);
/// assert!(Dynamics::of(causal).velocity(&x)[..2].iter().all(|v| v.abs() < 1e-15));
/// // Cross-attention to one fixed token pulls towards it: theta' = sin(2 - theta).
/// let memory = Tokens::from_angles(&[2.0]).unwrap();
/// let cross = MultiHead::new(3.0, vec![Head::default()]).unwrap().of(Sources::Memory(Arc::new(memory)));
/// assert!((Dynamics::of(cross).velocity(&x)[1] - 2f64.sin()).abs() < 1e-15);
/// ```
#[derive(Clone)]
pub struct MultiHead {
    beta: f64,
    heads: Vec<Head>,
    pattern: Arc<dyn Pattern>,
    weights: Weights,
    sources: Sources,
    level: Level,
}

impl MultiHead {
    /// Softmax heads that see everything.
    ///
    /// **Errors** no head, a beta that is not finite.
    pub fn new(beta: f64, heads: Vec<Head>) -> Result<Self> {
        if heads.is_empty() {
            return Err(Error::parameter("heads", "none", "at least one"));
        }
        crate::error::in_range("beta", beta, -super::dynamics::MAX_BETA, super::dynamics::MAX_BETA)?;
        let (pattern, sources) = (Arc::new(Everything), Sources::Own);
        Ok(Self { beta, heads, pattern, weights: Weights::Softmax, sources, level: Level::best() })
    }

    /// The same under a pattern.
    #[must_use]
    pub fn under(self, pattern: impl Pattern + 'static) -> Self {
        Self { pattern: Arc::new(pattern), ..self }
    }

    /// The same with these sources.
    #[must_use]
    pub fn of(self, sources: Sources) -> Self {
        Self { sources, ..self }
    }

    /// The same with other row weights.
    #[must_use]
    pub fn weighted(self, weights: Weights) -> Self {
        Self { weights, ..self }
    }

    /// The same at an instruction set.
    #[must_use]
    pub fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// The same pattern and sources with other heads.
    #[must_use]
    pub fn with(self, heads: Vec<Head>) -> Self {
        Self { heads, ..self }
    }

    /// Writes sums and returns the number of tokens that see nothing, whose sums are 0.
    ///
    /// **Accuracy**, **Cost** those of [`heads::apply`]. **Errors** a block beyond the tokens, a memory of another dimension, heads or a pattern made for
    /// something else.
    pub fn sums(&self, x: &Tokens, work: &mut Workspace, out: &mut [f64]) -> Result<usize> {
        self.with_job(x, |job| {
            out.fill(0.0);
            heads::apply(job, work.of::<Work>(), out)
        })
    }

    fn with_job<R>(&self, x: &Tokens, work: impl FnOnce(&heads::HeadsJob) -> Result<R>) -> Result<R> {
        let d = x.d();
        let (sources, masses) = match &self.sources {
            Sources::Own => (x.coordinates(), x.masses()),
            Sources::Block(b) if b.start < b.end && b.end <= x.n() => (&x.coordinates()[b.start * d..b.end * d], &x.masses()[b.clone()]),
            Sources::Block(b) => {
                let expected = format!("tokens among the {}, at least one", x.n());
                return Err(Error::parameter("sources", format!("the block {b:?}"), expected));
            }
            Sources::Memory(y) if y.d() == d => (y.coordinates(), y.masses()),
            Sources::Memory(y) => {
                return Err(Error::parameter("memory", format!("tokens of dimension {}", y.d()), format!("tokens of dimension {d}")));
            }
        };
        let &Self { beta, ref heads, ref pattern, weights, level, .. } = self;
        work(&heads::HeadsJob { queries: x.coordinates(), sources, masses, d, beta, heads, pattern: pattern.as_ref(), weights, level })
    }

    /// Brings sums into a form.
    fn formed(&self, x: &Tokens, form: Form, out: &mut [f64]) {
        let values = |row: &[f64]| -> Vec<f64> {
            let image = |head: &Head| {
                head.matrices()[2].map_or_else(|| row.to_vec(), |v| v.chunks_exact(x.d()).map(|v| crate::num::sum::dot(v, row)).collect())
            };
            self.heads.iter().map(image).reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect()).unwrap_or_default()
        };
        match form {
            Form::Sum => {}
            Form::Tangent => form.of_sums(x, out),
            Form::Difference => {
                for (row, own) in out.chunks_exact_mut(x.d()).zip(x.rows()) {
                    row.iter_mut().zip(values(own)).for_each(|(o, v)| *o -= v);
                }
            }
        }
    }
}

impl Sublayer for MultiHead {
    fn evaluate(&self, at: &At, form: Form, work: &mut Workspace, out: &mut [f64]) {
        if self.algorithm(at.tokens, form).is_err() || self.sums(at.tokens, work, out).is_err() {
            return out.fill(f64::NAN);
        }
        self.formed(at.tokens, form, out);
    }

    fn facts(&self) -> Facts {
        // A pattern may do anything: nothing is claimed under one but by those that do nothing.
        let plain = self.pattern.is_plain() && matches!(self.sources, Sources::Own);
        let convex = plain && self.heads.iter().all(Head::has_identity_value);
        Facts { common_field: plain, permutation_equivariant: plain, cone_invariant: convex, autonomous: true, ..Facts::default() }
    }

    fn length_scale(&self) -> f64 {
        kernel_width(self.beta)
    }

    fn algorithm(&self, x: &Tokens, form: Form) -> Result<&'static str> {
        if form == Form::Difference && self.weights != Weights::Softmax {
            return Err(Error::parameter("form", "differences", "sums or velocities where weights are not normalised"));
        }
        self.with_job(x, |job| {
            let ranks = job.heads.iter().map(|h| h.images(job.d).0);
            let ranks = (ranks.clone().min().unwrap_or(0), ranks.max().unwrap_or(0));
            let (queries, sources) = (job.queries.len() / job.d, job.masses.len());
            self.pattern.check(&Extent { heads: job.heads.len(), queries, sources, ranks })
        })?;
        Ok("heads")
    }

    fn definition(&self, at: &At, form: Form) -> Option<Vec<f64>> {
        let mut out = self.with_job(at.tokens, heads::reference).ok()?;
        self.formed(at.tokens, form, &mut out);
        Some(out)
    }
}
