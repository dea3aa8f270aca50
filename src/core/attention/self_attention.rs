//! Self-attention as a sublayer: evaluation, properties, Jacobian.

use super::kernel::{Attention, OutputForm, Weights, Workspace};
use super::sublayer::{Input, Properties, Sublayer};
use super::triangular::{CausalJacobian, TriangularJacobian};
use super::{Head, kernel_width};
use crate::error::Result;
use crate::sphere::Tokens;

impl Sublayer for Attention {
    fn evaluate(&self, input: &Input, form: OutputForm, work: &mut Workspace, out: &mut [f64]) {
        if self.apply(input.tokens, form, work, out).is_err() {
            out.fill(f64::NAN);
        }
    }

    fn properties(&self) -> Properties {
        let plain = self.heads.len() == 1 && self.heads[0].is_identity();
        let attracts = self.sign > 0.0;
        Properties {
            common_field: !self.causal,
            rotation_equivariant: plain,
            permutation_equivariant: !self.causal,
            causal: self.causal,
            odd: true,
            autonomous: true,
            energy_sign: match (plain && !self.causal, attracts) {
                (true, true) => 1,
                (true, false) => -1,
                _ => 0,
            },
            cone_invariant: attracts && self.heads.iter().all(Head::has_identity_value),
            speed_bound: match (plain, self.weights) {
                (true, Weights::Softmax) => Some(1.0),
                (true, Weights::Exponential { log_factor }) => {
                    Some((self.beta.abs() + log_factor).exp())
                }
                _ => None,
            },
        }
    }

    fn length_scale(&self) -> f64 {
        kernel_width(self.beta)
    }

    fn accuracy(&self) -> f64 {
        self.accuracy
    }

    fn algorithm(&self, tokens: &Tokens, form: OutputForm) -> Result<&'static str> {
        self.kernel_name(tokens, form)
    }

    fn definition(&self, input: &Input, form: OutputForm) -> Option<Vec<f64>> {
        Some(self.by_definition(input.tokens, form))
    }

    fn triangular_jacobian(&self) -> Option<Box<dyn TriangularJacobian + '_>> {
        CausalJacobian::new(self).map(|t| Box::new(t) as Box<dyn TriangularJacobian>)
    }

    fn attention(&self) -> Option<&Attention> {
        Some(self)
    }
}
