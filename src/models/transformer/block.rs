//! Blocks: sublayers with norms around them.

use super::{Mlp, Norm, Projected, Real};
use crate::error::{Error, Result};
use crate::num::threads::{awake, inside_pool};

/// Numbers of all tokens from which on threads share a block.
const LARGE: usize = 1 << 12;

/// What a sublayer does.
#[derive(Clone)]
pub enum BlockPart<T = f64> {
    /// Tokens attend to each other.
    Attention(Projected<T>),
    /// Tokens attend to a memory.
    Cross(Projected<T>),
    /// Every token by itself.
    Mlp(Mlp<T>),
}

/// A sublayer and its norms: `x <- after(x + eta outer(F(inner(x))))`.
///
/// Post-norm (Vaswani et al. 2017, BERT, ALBERT) has `after` alone, pre-norm (GPT-2, Llama) `inner` alone, peri `inner` and `outer`, nGPT `outer` and `after`.
/// Peri-LN (arXiv:2502.02732) and Sandwich-LN (arXiv:2105.13290, section 2.4) are one and the same map of a layer; the former also normalises embeddings.
#[derive(Clone)]
pub struct Placed<T = f64> {
    /// F.
    pub part: BlockPart<T>,
    /// Before F.
    pub inner: Option<Norm<T>>,
    /// On what F gives.
    pub outer: Option<Norm<T>>,
    /// On the sum.
    pub after: Option<Norm<T>>,
}

/// A block: its sublayers in turn.
#[derive(Clone)]
pub struct TransformerBlock<T = f64> {
    /// Sublayers.
    pub parts: Vec<Placed<T>>,
}

/// Where norms are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormPlace {
    /// On the sum.
    Post,
    /// Before the sublayer.
    Pre,
    /// Before and after the sublayer: also called sandwich.
    Peri,
    /// After the sublayer and on the sum (nGPT, arXiv:2410.01131): with norms without eps their `N(x + a (N(F(x)) - x))` is a layer of step `a / (1 - a)`.
    Ngpt,
}

impl<T: Real> Placed<T> {
    /// A sublayer with norms of one place; `outer` is used by peri and nGPT alone.
    pub fn new(part: BlockPart<T>, place: NormPlace, norm: Norm<T>, outer: Option<Norm<T>>) -> Self {
        match place {
            NormPlace::Post => Self { part, inner: None, outer: None, after: Some(norm) },
            NormPlace::Pre => Self { part, inner: Some(norm), outer: None, after: None },
            NormPlace::Peri => Self { part, inner: Some(norm), outer, after: None },
            NormPlace::Ngpt => Self { part, inner: None, outer, after: Some(norm) },
        }
    }

    /// The same numbers in another precision.
    pub fn rounded<U: Real>(&self) -> Placed<U> {
        let part = match &self.part {
            BlockPart::Attention(a) => BlockPart::Attention(a.rounded()),
            BlockPart::Cross(a) => BlockPart::Cross(a.rounded()),
            BlockPart::Mlp(m) => BlockPart::Mlp(m.rounded()),
        };
        let norm = |n: &Option<Norm<T>>| n.as_ref().map(Norm::rounded);
        Placed { part, inner: norm(&self.inner), outer: norm(&self.outer), after: norm(&self.after) }
    }

    /// `outer(F(inner(x)))` and the weights, where they are wanted.
    ///
    /// **Errors** a pattern made for something else, cross-attention without a memory.
    pub fn output(&self, x: &[T], memory: Option<&[T]>, keep: bool) -> Result<(Vec<T>, Vec<T>)> {
        self.branch(x, |x| {
            let seen = match &self.part {
                BlockPart::Attention(a) => a.attend(x, x, keep)?,
                BlockPart::Cross(a) => a.attend(x, self.memory(memory)?, keep)?,
                BlockPart::Mlp(m) => return Ok((m.apply(x), Vec::new())),
            };
            Ok((seen.out, seen.weights))
        })
    }

    /// `outer(f(inner(x)))` and what f gives besides.
    pub(super) fn branch<R>(&self, x: &[T], f: impl FnOnce(&[T]) -> Result<(Vec<T>, R)>) -> Result<(Vec<T>, R)> {
        let normed = self.inner.as_ref().map(|n| n.apply(x));
        let (out, rest) = f(normed.as_deref().unwrap_or(x))?;
        Ok((normalised(self.outer.as_ref(), out), rest))
    }

    /// What cross-attention attends to. **Errors** nothing.
    pub(super) fn memory<'m>(&self, memory: Option<&'m [T]>) -> Result<&'m [T]> {
        memory.ok_or_else(|| Error::parameter("memory", "none", "tokens for the cross-attention"))
    }

    /// `after(x + eta f)`.
    pub fn close(&self, x: &[T], f: &[T], eta: f64) -> Vec<T> {
        normalised(self.after.as_ref(), residual_sum(x, f, eta))
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        let part = match &self.part {
            BlockPart::Attention(a) | BlockPart::Cross(a) => a.parameters(),
            BlockPart::Mlp(m) => m.parameters(),
        };
        part + [&self.inner, &self.outer, &self.after].into_iter().flatten().map(Norm::parameters).sum::<usize>()
    }
}

impl<T: Real> TransformerBlock<T> {
    /// The same numbers in another precision.
    pub fn rounded<U: Real>(&self) -> TransformerBlock<U> {
        TransformerBlock { parts: self.parts.iter().map(Placed::rounded).collect() }
    }

    /// One layer of step `eta` (1 in trained models).
    ///
    /// **Errors** as [`Placed::output`].
    pub fn step(&self, x: &[T], memory: Option<&[T]>, eta: f64) -> Result<Vec<T>> {
        self.step_with(x, memory, eta, false).map(|s| s.0)
    }

    /// The same, and the weights of its attention where they are wanted (heads x n x n of every attention, one after the other).
    ///
    /// **Errors** as [`Placed::output`].
    pub fn step_with(&self, x: &[T], memory: Option<&[T]>, eta: f64, keep: bool) -> Result<(Vec<T>, Vec<T>)> {
        // A block takes milliseconds: its loops enter the pool once, and nobody falls asleep between them.
        inside_pool(x.len() >= LARGE, || {
            awake(|| {
                let (mut x, mut weights) = (x.to_vec(), Vec::new());
                for part in &self.parts {
                    let (f, seen) = part.output(&x, memory, keep && matches!(part.part, BlockPart::Attention(_)))?;
                    x = part.close(&x, &f, eta);
                    weights.extend(seen);
                }
                Ok((x, weights))
            })
        })
    }

    /// A layer that is symmetric in its sublayers: half steps forwards, then half steps backwards; the last sublayer takes one whole step in the middle.
    /// Each step is by the midpoint rule, so that the whole is of second order in eta where norms stand before the sublayers.
    ///
    /// **Errors** as [`Placed::output`]; a norm after a sum.
    pub fn symmetrised(&self, x: &[T], memory: Option<&[T]>, eta: f64) -> Result<Vec<T>> {
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
    pub fn attention(&self) -> impl Iterator<Item = &Projected<T>> {
        self.parts.iter().filter_map(|p| if let BlockPart::Attention(a) = &p.part { Some(a) } else { None })
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.parts.iter().map(Placed::parameters).sum()
    }
}

impl<T: Real> Placed<T> {
    /// One step of the midpoint rule.
    fn midpoint(&self, x: &[T], memory: Option<&[T]>, eta: f64) -> Result<Vec<T>> {
        if self.after.is_some() {
            return Err(Error::parameter("norm", "one after the sum", "norms before the sublayers: the flow of a residual stream"));
        }
        let half = self.close(x, &self.output(x, memory, false)?.0, 0.5 * eta);
        Ok(self.close(x, &self.output(&half, memory, false)?.0, eta))
    }
}

/// Under a norm, where there is one.
fn normalised<T: Real>(norm: Option<&Norm<T>>, x: Vec<T>) -> Vec<T> {
    match norm {
        Some(norm) => norm.apply(&x),
        None => x,
    }
}

/// `x + eta f`.
pub(super) fn residual_sum<T: Real>(x: &[T], f: &[T], eta: f64) -> Vec<T> {
    let eta = T::of(eta);
    x.iter().zip(f).map(|(x, f)| *x + eta * *f).collect()
}
