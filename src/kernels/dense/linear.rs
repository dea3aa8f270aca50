//! `y = x W^T + b` for all tokens.

use super::Real;
use super::product::{MatrixRows, Panelled};
use crate::error::{Error, Result};
use crate::num::stats::first_not_finite;

/// A linear map with an offset: W (outputs x inputs) and b.
#[derive(Clone, Debug)]
pub struct Linear<T = f64> {
    weight: Panelled<T>,
    bias: Vec<T>,
}

impl<T: Real> Linear<T> {
    /// From W by rows and b; an empty b is none.
    ///
    /// **Errors** shapes that do not fit, a number that is not finite: both name `place`.
    ///
    /// ```
    /// use metastable::attention::dense::Linear;
    /// let sum = Linear::new("sum", 2, vec![1.0, 1.0], vec![0.5])?;
    /// assert_eq!(sum.apply(&[1.0, 2.0, 3.0, 4.0]), [3.5, 7.5]);
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn new(place: &str, inputs: usize, weight: Vec<T>, bias: Vec<T>) -> Result<Self> {
        let outputs = weight.len().checked_div(inputs).unwrap_or(0);
        if outputs == 0 || weight.len() != outputs * inputs {
            return Err(Error::parameter(place, format!("{} numbers", weight.len()), format!("rows of {inputs} numbers")));
        }
        if !bias.is_empty() && bias.len() != outputs {
            return Err(Error::parameter(
                format!("{place}, bias"),
                format!("{} numbers", bias.len()),
                format!("{outputs}, one for each output"),
            ));
        }
        for (name, numbers) in [("weight", &weight), ("bias", &bias)] {
            if let Some(k) = first_not_finite(numbers) {
                let expected = format!("finite numbers (number {})", k + 1);
                return Err(Error::parameter(format!("{place}, {name}"), numbers[k].to_f64(), expected));
            }
        }
        Ok(Self { weight: Panelled::of_columns(&MatrixRows::of(&weight, inputs), inputs), bias })
    }

    /// The map of the same numbers in another precision.
    pub fn rounded<U: Real>(&self) -> Linear<U> {
        let cast = |numbers: &[T]| numbers.iter().map(|v| U::of(v.to_f64())).collect::<Vec<U>>();
        let weight = cast(&self.weight());
        Linear { weight: Panelled::of_columns(&MatrixRows::of(&weight, self.inputs()), self.inputs()), bias: cast(&self.bias) }
    }

    /// Columns of W.
    pub fn inputs(&self) -> usize {
        self.weight.inputs()
    }

    /// Rows of W.
    pub fn outputs(&self) -> usize {
        self.weight.outputs()
    }

    /// W by rows.
    pub fn weight(&self) -> Vec<T> {
        self.weight.transposed()
    }

    /// W as products read it.
    pub fn panels(&self) -> &Panelled<T> {
        &self.weight
    }

    /// b; empty when there is none.
    pub fn bias(&self) -> &[T] {
        &self.bias
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.inputs() * self.outputs() + self.bias.len()
    }

    /// `x W^T + b` for all rows of x. **Accuracy** `sqrt(inputs) u |x| |W|`. **Cost** `2 n` operations a weight.
    pub fn apply(&self, x: &[T]) -> Vec<T> {
        self.weight.product(x, &self.bias)
    }

    /// `h W^T`: without the offset.
    pub fn jvp(&self, h: &[T]) -> Vec<T> {
        self.weight.product(h, &[])
    }

    /// `g W`: the transposed product. **Cost** also of bringing W into another order.
    pub fn vjp(&self, g: &[T]) -> Vec<T> {
        Panelled::of_rows(&MatrixRows::of(&self.weight(), self.inputs()), self.inputs()).product(g, &[])
    }
}
