//! Attention whose heads depend on time or depth.

use super::kernel::{Attention, Form, Workspace};
use super::sublayer::{At, Facts, Sublayer};
use super::{Head, kernel_width};
use crate::error::Result;
use crate::sphere::Tokens;
use std::borrow::Cow;

/// Heads that depend on time.
pub trait Schedule: Send + Sync {
    /// The heads at time `t`, continuous between jumps and from the right at them.
    fn heads(&self, t: f64) -> Vec<Head>;

    /// Times at which they jump, ascending.
    fn jumps(&self) -> &[f64] {
        &[]
    }

    /// Whether V is the identity at all times: then cones keep their tokens, and a run ends when all are together.
    fn has_identity_values(&self) -> bool {
        false
    }
}

/// Attention with the heads of a schedule; everything else is that of `attention`, whose own heads are not used.
pub struct Scheduled<S> {
    /// Inverse temperature, mask, row weights.
    pub attention: Attention,
    /// Its heads.
    pub schedule: S,
}

impl<S: Schedule> Scheduled<S> {
    fn now(&self, t: f64) -> Attention {
        Attention { heads: self.schedule.heads(t), ..self.attention.clone() }
    }
}

impl<S: Schedule> Sublayer for Scheduled<S> {
    fn evaluate(&self, at: &At, form: Form, work: &mut Workspace, out: &mut [f64]) {
        self.now(at.t).evaluate(at, form, work, out);
    }

    fn facts(&self) -> Facts {
        let causal = self.attention.causal;
        let cone_invariant = self.attention.sign > 0.0 && self.schedule.has_identity_values();
        Facts { common_field: !causal, permutation_equivariant: !causal, cone_invariant, causal, odd: true, ..Facts::default() }
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

    fn algorithm(&self, tokens: &Tokens, form: Form) -> Result<&'static str> {
        self.now(0.0).kernel_name(tokens, form)
    }

    fn definition(&self, at: &At, form: Form) -> Option<Vec<f64>> {
        self.now(at.t).definition(at, form)
    }

    fn attention_at(&self, t: f64) -> Option<Cow<'_, Attention>> {
        Some(Cow::Owned(self.now(t)))
    }
}

/// Layers of a trained model: heads that are constant between depths 0, 1, 2, ...
pub struct Layers {
    heads: Vec<Vec<Head>>,
    jumps: Vec<f64>,
}

impl Layers {
    /// The heads of every layer; the last ones stay.
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
