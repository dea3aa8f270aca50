//! Feed-forward layers, token by token.

use super::activate::activate;
use super::product::{MatrixRows, ROWS, by_rows};
use super::{Linear, Real};
use crate::attention::feed_forward::Activation;
use crate::error::{Error, Result};

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
    pub fn len(&self) -> usize {
        self.first.len() + self.gate.as_ref().map_or(0, Linear::len) + self.second.len()
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Output for all rows of x. The hidden units of some rows at a time are in memory.
    pub fn apply(&self, x: &[T]) -> Vec<T> {
        let (d, hidden, out) = (self.first.inputs(), self.first.outputs(), self.second.outputs());
        let buffers = || [vec![T::default(); ROWS * hidden], vec![T::default(); if self.gate.is_some() { ROWS * hidden } else { 0 }]];
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
