//! The feed-forward layer: every token by itself.
//!
//! Sublayers of a dynamics are added up at the same tokens, and what a layer does with them (peri
//! and nGPT: a norm) it does with their sum. In a transformer's layer the feed-forward sublayer
//! comes after attention: that is the module `transformer`.

use super::dense::product::{MatrixRows, ROWS, by_rows};
use super::dense::{Activation, Linear, Real, activate::activate};
use super::kernel::{Form, Workspace};
use super::sublayer::{At, Facts, Sublayer};
use crate::error::{Error, Result};
use crate::num::sum::dot;

/// `W_2 act(W_1 x + b_1) + b_2`, or `W_2 (act(W_g x) * W_1 x)` with a gate.
#[derive(Clone, Debug)]
pub struct Mlp<T = f64> {
    /// `W_1`, `b_1`.
    pub first: Linear<T>,
    /// `W_g`.
    pub gate: Option<Linear<T>>,
    /// `W_2`, `b_2`.
    pub second: Linear<T>,
    /// The function between them.
    pub activation: Activation,
}

impl<T: Real> Mlp<T> {
    /// A feed-forward layer of these maps.
    ///
    /// ```
    /// use metastable::attention::{Dynamics, dense::{Activation, Linear}, feed_forward::Mlp};
    /// use metastable::sphere::Tokens;
    /// // One unit that reads the first coordinate and writes the second
    /// let (first, second) = (Linear::new("W_1", 2, vec![1.0, 0.0], vec![])?, Linear::new("W_2", 1, vec![0.0, 3.0], vec![])?);
    /// let unit = Mlp::new("unit", first, None, second, Activation::Relu)?;
    /// assert_eq!(Dynamics::of(unit).velocity(&Tokens::from_angles(&[0.0])?), [0.0, 3.0]);
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    ///
    /// **Errors** shapes that do not fit: names `place`.
    pub fn new(place: &str, first: Linear<T>, gate: Option<Linear<T>>, second: Linear<T>, activation: Activation) -> Result<Self> {
        let shape = |l: &Linear<T>| format!("{} x {}", l.outputs(), l.inputs());
        let gate_fits = gate.as_ref().is_none_or(|g| (g.inputs(), g.outputs()) == (first.inputs(), first.outputs()));
        if first.outputs() != second.inputs() || !gate_fits {
            return Err(Error::parameter(
                place,
                format!("W_1 {} and W_2 {}", shape(&first), shape(&second)),
                "h x d (also of a gate) and d x h",
            ));
        }
        Ok(Self { first, gate, second, activation })
    }

    /// The same numbers in another precision.
    pub fn rounded<U: Real>(&self) -> Mlp<U> {
        Mlp {
            first: self.first.rounded(),
            gate: self.gate.as_ref().map(Linear::rounded),
            second: self.second.rounded(),
            activation: self.activation,
        }
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.first.parameters() + self.gate.as_ref().map_or(0, Linear::parameters) + self.second.parameters()
    }

    /// Output for all rows of x. The hidden units of some rows at a time are in memory.
    pub fn apply(&self, x: &[T]) -> Vec<T> {
        let (d, hidden, out) = (self.first.inputs(), self.first.outputs(), self.second.outputs());
        let size = ROWS.min(x.len() / d) * hidden;
        let buffers = || [vec![T::default(); size], vec![T::default(); if self.gate.is_some() { size } else { 0 }]];
        by_rows(x, (d, out), hidden * (d + out), ROWS, buffers, |[units, open], _, x, out| {
            let rows = MatrixRows::of(x, d);
            let units = &mut units[..rows.count * hidden];
            self.first.panels().multiply(&rows, self.first.bias(), units, hidden);
            match &self.gate {
                None => activate(self.activation, units),
                Some(gate) => {
                    let open = &mut open[..units.len()];
                    gate.panels().multiply(&rows, gate.bias(), open, hidden);
                    activate(self.activation, open);
                    units.iter_mut().zip(&*open).for_each(|(h, o)| *h *= *o);
                }
            }
            self.second.panels().multiply(&MatrixRows::of(units, hidden), self.second.bias(), out, self.second.outputs());
        })
    }
}

impl Sublayer for Mlp {
    fn evaluate(&self, at: &At, form: Form, _: &mut Workspace, out: &mut [f64]) {
        out.copy_from_slice(&self.apply(at.tokens.coordinates()));
        // Every token is its own source: differences to it leave what it adds.
        if form == Form::Tangent {
            form.of_sums(at.tokens, out);
        }
    }

    fn facts(&self) -> Facts {
        Facts { common_field: true, permutation_equivariant: true, causal: true, autonomous: true, ..Facts::default() }
    }

    fn length_scale(&self) -> f64 {
        let norm = |a: &Linear| dot(&a.weight(), &a.weight()).sqrt();
        (1.0 / (self.activation.steepest() * norm(&self.first) * norm(&self.second))).min(1.0)
    }
}
