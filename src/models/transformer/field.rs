//! The vector field of a block, `x' = sum over its sublayers of outer(F(inner(x)))`: the limit of
//! many layers with small steps.

use super::block::TransformerBlock;
use crate::attention::kernel::{OutputForm, Workspace};
use crate::attention::{Input, Properties, Sublayer};
use std::sync::Arc;

/// The sum of the outputs of all sublayers of a block, each at the same tokens, with a fixed memory
/// of cross-attention. Norms after the sum are not included: the space replaces them.
///
/// With [`crate::attention::normalisation::Unnormalised`] this is the flow of the residual stream
/// of a pre-norm block. Layers of step eta are Euler's method, or a Lie splitting if there are two
/// sublayers; their distance from the flow is at most `C eta`.
pub struct BlockField {
    block: Arc<TransformerBlock>,
    memory: Option<Vec<f64>>,
}

impl BlockField {
    /// The field of a block.
    pub fn new(block: Arc<TransformerBlock>, memory: Option<Vec<f64>>) -> Self {
        Self { block, memory }
    }
}

impl Sublayer for BlockField {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        out.fill(0.0);
        for part in &self.block.parts {
            match part.output(input.tokens.coordinates(), self.memory.as_deref(), false) {
                Ok((f, _)) => out.iter_mut().zip(f).for_each(|(o, f)| *o += f),
                // The integrator ends a run at a NaN and reports where.
                Err(_) => out.fill(f64::NAN),
            }
        }
        form.of_sums(input.tokens, out);
    }

    fn properties(&self) -> Properties {
        Properties { autonomous: true, ..Properties::default() }
    }

    fn length_scale(&self) -> f64 {
        1.0
    }
}
