//! The feed-forward sublayer, which acts on every token separately.
//!
//! The outputs of all sublayers of a dynamics are evaluated at the same tokens and added; a
//! normalisation such as peri or nGPT applies to the sum. The layer of a Transformer, in which the
//! feed-forward sublayer acts on the output of attention, is in the module `transformer`.

use super::dense::gemm::{MatrixRows, ROWS, par_rows};
use super::dense::{Activation, Float, Linear, activate::activate};
use super::kernel::{OutputForm, Workspace};
use super::sublayer::{Input, Properties, Sublayer};
use crate::error::{Error, Result};
use crate::num::sum::dot;

/// `W_2 act(W_1 x + b_1) + b_2`, with a gate
/// `W_2 (act(W_g x + b_g) * (W_1 x + b_1)) + b_2`.
#[derive(Clone, Debug)]
pub struct Mlp<T = f64> {
    /// `W_1`, `b_1`.
    pub first: Linear<T>,
    /// The gate: `W_g`, `b_g`.
    pub gate: Option<Linear<T>>,
    /// `W_2`, `b_2`.
    pub second: Linear<T>,
    /// The activation function.
    pub activation: Activation,
}

impl<T: Float> Mlp<T> {
    /// A feed-forward sublayer with these maps.
    ///
    /// ```
    /// use metastable::attention::{Dynamics, dense::{Activation, Linear}, feed_forward::Mlp};
    /// use metastable::sphere::Tokens;
    /// // One hidden unit that reads the first coordinate and writes the second
    /// let (first, second) = (Linear::new("W_1", 2, vec![1.0, 0.0], vec![])?, Linear::new("W_2", 1, vec![0.0, 3.0], vec![])?);
    /// let unit = Mlp::new("unit", first, None, second, Activation::Relu)?;
    /// assert_eq!(Dynamics::single(unit).velocity(&Tokens::from_angles(&[0.0])?), [0.0, 3.0]);
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    ///
    /// **Errors** shapes that do not agree; the error names `label`.
    pub fn new(
        label: &str,
        first: Linear<T>,
        gate: Option<Linear<T>>,
        second: Linear<T>,
        activation: Activation,
    ) -> Result<Self> {
        let shape = |l: &Linear<T>| format!("{} x {}", l.outputs(), l.inputs());
        let gate_fits = gate
            .as_ref()
            .is_none_or(|g| (g.inputs(), g.outputs()) == (first.inputs(), first.outputs()));
        if first.outputs() != second.inputs() || !gate_fits {
            return Err(Error::parameter(
                label,
                format!("W_1 {} and W_2 {}", shape(&first), shape(&second)),
                "h x d (also of a gate) and d x h",
            ));
        }
        Ok(Self { first, gate, second, activation })
    }

    /// Converts the parameters to another precision.
    pub fn rounded<U: Float>(&self) -> Mlp<U> {
        Mlp {
            first: self.first.rounded(),
            gate: self.gate.as_ref().map(Linear::rounded),
            second: self.second.rounded(),
            activation: self.activation,
        }
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.first.parameters()
            + self.gate.as_ref().map_or(0, Linear::parameters)
            + self.second.parameters()
    }

    /// The output for all rows of x. Rows are processed in blocks, so only the hidden units of one
    /// block are in memory.
    pub fn apply(&self, x: &[T]) -> Vec<T> {
        let (d, hidden, out) = (self.first.inputs(), self.first.outputs(), self.second.outputs());
        let size = ROWS.min(x.len() / d) * hidden;
        let buffers = || {
            [
                vec![T::default(); size],
                vec![T::default(); if self.gate.is_some() { size } else { 0 }],
            ]
        };
        par_rows(x, (d, out), hidden * (d + out), ROWS, buffers, |[units, open], _, x, out| {
            let rows = MatrixRows::new(x, d);
            let units = &mut units[..rows.count * hidden];
            self.first.packed().multiply(&rows, self.first.bias(), units, hidden);
            match &self.gate {
                None => activate(self.activation, units),
                Some(gate) => {
                    let open = &mut open[..units.len()];
                    gate.packed().multiply(&rows, gate.bias(), open, hidden);
                    activate(self.activation, open);
                    units.iter_mut().zip(&*open).for_each(|(h, o)| *h *= *o);
                }
            }
            self.second.packed().multiply(
                &MatrixRows::new(units, hidden),
                self.second.bias(),
                out,
                self.second.outputs(),
            );
        })
    }
}

impl Sublayer for Mlp {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        out.copy_from_slice(&self.apply(input.tokens.coordinates()));
        // A token is its own only source, so its difference form is the output itself.
        if form == OutputForm::Tangent {
            form.of_sums(input.tokens, out);
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            common_field: true,
            permutation_equivariant: true,
            causal: true,
            autonomous: true,
            ..Properties::default()
        }
    }

    fn length_scale(&self) -> f64 {
        let norm = |a: &Linear| dot(&a.weight(), &a.weight()).sqrt();
        (1.0 / (self.activation.max_slope() * norm(&self.first) * norm(&self.second))).min(1.0)
    }
}
