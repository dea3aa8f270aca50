//! Attention whose heads depend on time or depth.

use super::kernel::{Attention, OutputForm, Workspace};
use super::sublayer::{Input, Properties, Sublayer};
use super::{Head, kernel_width};
use crate::error::Result;
use crate::sphere::Tokens;
use std::borrow::Cow;

/// Heads as a function of time.
pub trait Schedule: Send + Sync {
    /// The heads at time `t`: continuous between jumps, right-continuous at a jump.
    fn heads(&self, t: f64) -> Vec<Head>;

    /// Times of the jumps, ascending.
    fn jumps(&self) -> &[f64] {
        &[]
    }

    /// Whether V is the identity at all times. Then cones are invariant, and a run ends when all
    /// tokens have merged.
    fn has_identity_values(&self) -> bool {
        false
    }
}

/// Attention with the heads of a schedule. The heads of `attention` are ignored.
pub struct Scheduled<S> {
    /// Inverse temperature, mask, row weights.
    pub attention: Attention,
    /// The heads.
    pub schedule: S,
}

impl<S: Schedule> Scheduled<S> {
    fn frozen_attention(&self, t: f64) -> Attention {
        Attention { heads: self.schedule.heads(t), ..self.attention.clone() }
    }
}

impl<S: Schedule> Sublayer for Scheduled<S> {
    fn evaluate(&self, input: &Input, form: OutputForm, work: &mut Workspace, out: &mut [f64]) {
        self.frozen_attention(input.t).evaluate(input, form, work, out);
    }

    fn properties(&self) -> Properties {
        let causal = self.attention.causal;
        let cone_invariant = self.attention.sign > 0.0 && self.schedule.has_identity_values();
        Properties {
            common_field: !causal,
            permutation_equivariant: !causal,
            cone_invariant,
            causal,
            odd: true,
            ..Properties::default()
        }
    }

    fn length_scale(&self) -> f64 {
        kernel_width(self.attention.beta)
    }

    fn accuracy(&self) -> f64 {
        self.attention.accuracy
    }

    fn jumps(&self) -> &[f64] {
        self.schedule.jumps()
    }

    fn algorithm(&self, tokens: &Tokens, form: OutputForm) -> Result<&'static str> {
        self.frozen_attention(0.0).kernel_name(tokens, form)
    }

    fn definition(&self, input: &Input, form: OutputForm) -> Option<Vec<f64>> {
        self.frozen_attention(input.t).definition(input, form)
    }

    fn attention_at(&self, t: f64) -> Option<Cow<'_, Attention>> {
        Some(Cow::Owned(self.frozen_attention(t)))
    }
}

/// Piecewise constant heads, as in a trained model: one set between depths 0, 1, 2, ...
pub struct Layers {
    heads: Vec<Vec<Head>>,
    jumps: Vec<f64>,
}

impl Layers {
    /// The heads of every layer; those of the last layer act from then on.
    ///
    /// **Errors** no layer.
    pub fn new(heads: Vec<Vec<Head>>) -> Result<Self> {
        if heads.is_empty() {
            return Err(crate::error::Error::parameter("layers", 0, "heads of at least one layer"));
        }
        let jumps = (1..heads.len()).map(|k| k as f64).collect();
        Ok(Self { heads, jumps })
    }
}

impl Schedule for Layers {
    fn heads(&self, t: f64) -> Vec<Head> {
        self.heads[(t.max(0.0) as usize).min(self.heads.len() - 1)].clone()
    }

    fn jumps(&self) -> &[f64] {
        &self.jumps
    }

    fn has_identity_values(&self) -> bool {
        self.heads.iter().flatten().all(Head::has_identity_value)
    }
}
