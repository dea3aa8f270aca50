//! A block as a field: `x' = sum over its sublayers of outer(F(inner(x)))`, the limit of many thin layers.

use super::block::TransformerBlock;
use crate::attention::kernel::{Form, Workspace};
use crate::attention::{At, Facts, Sublayer};
use std::sync::Arc;

/// The sum of the outputs of all sublayers of a block, each at the same tokens; a memory of cross-attention is fixed. Norms after the sum are not part
/// of it: they are what the space does.
///
/// With [`crate::attention::normalisation::Bare`] the flow of the residual stream of a pre-norm block: layers of step eta are Euler's method, or a Lie
/// splitting where there are two sublayers, so that they come within `C eta` of it.
pub struct Field {
    block: Arc<TransformerBlock>,
    memory: Option<Vec<f64>>,
}

impl Field {
    /// The field of a block.
    pub fn new(block: Arc<TransformerBlock>, memory: Option<Vec<f64>>) -> Self {
        Self { block, memory }
    }
}

impl Sublayer for Field {
    fn evaluate(&self, at: &At, form: Form, _: &mut Workspace, out: &mut [f64]) {
        out.fill(0.0);
        for part in &self.block.parts {
            match part.output(at.tokens.coordinates(), self.memory.as_deref(), false) {
                Ok((f, _)) => out.iter_mut().zip(f).for_each(|(o, f)| *o += f),
                // The loop over time ends a run at a number that is none, and says where.
                Err(_) => out.fill(f64::NAN),
            }
        }
        form.of_sums(at.tokens, out);
    }

    fn facts(&self) -> Facts {
        Facts { autonomous: true, ..Facts::default() }
    }

    fn length_scale(&self) -> f64 {
        1.0
    }
}
