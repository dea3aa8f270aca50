//! Transformer blocks: sublayers with norms and residual connections.

use super::{AttentionLayer, Float, Mlp, Norm};
use crate::error::{Error, Result};
use crate::num::threads::{enter_pool, with_spinning_workers};

/// Number of coordinates of all tokens from which on a block runs on several threads.
const PARALLEL_SIZE: usize = 1 << 12;

/// The map F of a sublayer.
#[derive(Clone)]
#[non_exhaustive]
pub enum BlockPart<T = f64> {
    /// Self-attention.
    Attention(AttentionLayer<T>),
    /// Cross-attention to a memory.
    Cross(AttentionLayer<T>),
    /// Feed-forward layer, token by token.
    Mlp(Mlp<T>),
}

/// A sublayer with its norms and residual connection: `x <- after(x + eta outer(F(inner(x))))`.
///
/// Post-norm (Vaswani et al. 2017, BERT, ALBERT) has only `after`, pre-norm (GPT-2, Llama) only
/// `inner`, peri-norm `inner` and `outer`, nGPT `outer` and `after`. Peri-LN (arXiv:2502.02732) and
/// Sandwich-LN (arXiv:2105.13290, section 2.4) have the same layers; the former also normalises
/// embeddings.
#[derive(Clone)]
pub struct ResidualSublayer<T = f64> {
    /// F.
    pub part: BlockPart<T>,
    /// Norm before F.
    pub inner: Option<Norm<T>>,
    /// Norm of the output of F.
    pub outer: Option<Norm<T>>,
    /// Norm of the sum.
    pub after: Option<Norm<T>>,
}

/// A block: a sequence of sublayers.
#[derive(Clone)]
pub struct TransformerBlock<T = f64> {
    /// Sublayers.
    pub parts: Vec<ResidualSublayer<T>>,
}

/// The placement of norms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NormPlacement {
    /// After the sum.
    Post,
    /// Before the sublayer.
    Pre,
    /// Before and after the sublayer (peri-norm or sandwich norm).
    Peri,
    /// After the sublayer and on the sum (nGPT, arXiv:2410.01131): with norms without eps their
    /// `N(x + a (N(F(x)) - x))` is a layer of step `a / (1 - a)`.
    Ngpt,
}

impl<T: Float> ResidualSublayer<T> {
    /// A sublayer with norms of one placement. Only peri-norm and nGPT use `outer`.
    pub fn new(
        part: BlockPart<T>,
        place: NormPlacement,
        norm: Norm<T>,
        outer: Option<Norm<T>>,
    ) -> Self {
        match place {
            NormPlacement::Post => Self { part, inner: None, outer: None, after: Some(norm) },
            NormPlacement::Pre => Self { part, inner: Some(norm), outer: None, after: None },
            NormPlacement::Peri => Self { part, inner: Some(norm), outer, after: None },
            NormPlacement::Ngpt => Self { part, inner: None, outer, after: Some(norm) },
        }
    }

    /// The parameters in another precision.
    pub fn rounded<U: Float>(&self) -> ResidualSublayer<U> {
        let part = match &self.part {
            BlockPart::Attention(a) => BlockPart::Attention(a.rounded()),
            BlockPart::Cross(a) => BlockPart::Cross(a.rounded()),
            BlockPart::Mlp(m) => BlockPart::Mlp(m.rounded()),
        };
        let norm = |n: &Option<Norm<T>>| n.as_ref().map(Norm::rounded);
        ResidualSublayer {
            part,
            inner: norm(&self.inner),
            outer: norm(&self.outer),
            after: norm(&self.after),
        }
    }

    /// `outer(F(inner(x)))`, and the attention weights if `keep`.
    ///
    /// **Errors** a pattern for other sizes, cross-attention without a memory.
    pub fn output(&self, x: &[T], memory: Option<&[T]>, keep: bool) -> Result<(Vec<T>, Vec<T>)> {
        self.branch(x, |x| {
            let attended = match &self.part {
                BlockPart::Attention(a) => a.attend(x, x, keep)?,
                BlockPart::Cross(a) => a.attend(x, self.memory(memory)?, keep)?,
                BlockPart::Mlp(m) => return Ok((m.apply(x), Vec::new())),
            };
            Ok((attended.out, attended.weights))
        })
    }

    /// `outer(f(inner(x)))`, and the second result of f.
    pub(super) fn branch<R>(
        &self,
        x: &[T],
        f: impl FnOnce(&[T]) -> Result<(Vec<T>, R)>,
    ) -> Result<(Vec<T>, R)> {
        let normed = self.inner.as_ref().map(|n| n.apply(x));
        let (out, rest) = f(normed.as_deref().unwrap_or(x))?;
        Ok((normalised(self.outer.as_ref(), out), rest))
    }

    /// The memory of cross-attention. **Errors** no memory.
    pub(super) fn memory<'m>(&self, memory: Option<&'m [T]>) -> Result<&'m [T]> {
        memory.ok_or_else(|| Error::parameter("memory", "none", "tokens for the cross-attention"))
    }

    /// `after(x + eta f)`.
    pub fn add_and_norm(&self, x: &[T], f: &[T], eta: f64) -> Vec<T> {
        normalised(self.after.as_ref(), residual_sum(x, f, eta))
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        let part = match &self.part {
            BlockPart::Attention(a) | BlockPart::Cross(a) => a.parameters(),
            BlockPart::Mlp(m) => m.parameters(),
        };
        part + [&self.inner, &self.outer, &self.after]
            .into_iter()
            .flatten()
            .map(Norm::parameters)
            .sum::<usize>()
    }
}

impl<T: Float> TransformerBlock<T> {
    /// Attention and a feed-forward layer, each with one norm of this placement.
    pub fn new(
        place: NormPlacement,
        (attention, first): (AttentionLayer<T>, Norm<T>),
        (mlp, second): (Mlp<T>, Norm<T>),
    ) -> Self {
        let attention = ResidualSublayer::new(BlockPart::Attention(attention), place, first, None);
        let mlp = ResidualSublayer::new(BlockPart::Mlp(mlp), place, second, None);
        Self { parts: vec![attention, mlp] }
    }

    /// The parameters in another precision.
    pub fn rounded<U: Float>(&self) -> TransformerBlock<U> {
        TransformerBlock { parts: self.parts.iter().map(ResidualSublayer::rounded).collect() }
    }

    /// One layer of step `eta` (1 in trained models).
    ///
    /// **Errors** as [`ResidualSublayer::output`].
    pub fn step(&self, x: &[T], memory: Option<&[T]>, eta: f64) -> Result<Vec<T>> {
        self.step_with_weights(x, memory, eta, false).map(|s| s.0)
    }

    /// [`Self::step`] with the weights of its self-attention if `keep`: heads x n x n for each
    /// sublayer, one after the other.
    ///
    /// **Errors** as [`ResidualSublayer::output`].
    pub fn step_with_weights(
        &self,
        x: &[T],
        memory: Option<&[T]>,
        eta: f64,
        keep: bool,
    ) -> Result<(Vec<T>, Vec<T>)> {
        // A block takes milliseconds: it enters the thread pool once, and the threads stay awake
        // between its loops.
        enter_pool(x.len() >= PARALLEL_SIZE, || {
            with_spinning_workers(|| {
                let (mut x, mut weights) = (x.to_vec(), Vec::new());
                for part in &self.parts {
                    let (f, part_weights) = part.output(
                        &x,
                        memory,
                        keep && matches!(part.part, BlockPart::Attention(_)),
                    )?;
                    x = part.add_and_norm(&x, &f, eta);
                    weights.extend(part_weights);
                }
                Ok((x, weights))
            })
        })
    }

    /// A layer that is symmetric in its sublayers (Strang splitting): half steps in order, one full
    /// step of the last sublayer, half steps in reverse order. Each step uses the midpoint rule, so
    /// the layer is of second order in eta if norms are before the sublayers.
    ///
    /// **Errors** as [`ResidualSublayer::output`]; a norm after a sum.
    pub fn symmetric_step(&self, x: &[T], memory: Option<&[T]>, eta: f64) -> Result<Vec<T>> {
        let Some((last, others)) = self.parts.split_last() else { return Ok(x.to_vec()) };
        let mut x = x.to_vec();
        for part in others {
            x = part.midpoint(&x, memory, 0.5 * eta)?;
        }
        x = last.midpoint(&x, memory, eta)?;
        for part in others.iter().rev() {
            x = part.midpoint(&x, memory, 0.5 * eta)?;
        }
        Ok(x)
    }

    /// The attention sublayers.
    pub fn attention(&self) -> impl Iterator<Item = &AttentionLayer<T>> {
        self.parts
            .iter()
            .filter_map(|p| if let BlockPart::Attention(a) = &p.part { Some(a) } else { None })
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.parts.iter().map(ResidualSublayer::parameters).sum()
    }
}

impl<T: Float> ResidualSublayer<T> {
    /// One step of the midpoint rule.
    fn midpoint(&self, x: &[T], memory: Option<&[T]>, eta: f64) -> Result<Vec<T>> {
        if self.after.is_some() {
            return Err(Error::parameter(
                "norm",
                "one after the sum",
                "norms before the sublayers: the flow of a residual stream",
            ));
        }
        let half = self.add_and_norm(x, &self.output(x, memory, false)?.0, 0.5 * eta);
        Ok(self.add_and_norm(x, &self.output(&half, memory, false)?.0, eta))
    }
}

/// Applies the norm, if there is one.
fn normalised<T: Float>(norm: Option<&Norm<T>>, x: Vec<T>) -> Vec<T> {
    match norm {
        Some(norm) => norm.apply(&x),
        None => x,
    }
}

/// `x + eta f`.
pub(super) fn residual_sum<T: Float>(x: &[T], f: &[T], eta: f64) -> Vec<T> {
    let eta = T::from_f64(eta);
    x.iter().zip(f).map(|(x, f)| *x + eta * *f).collect()
}
