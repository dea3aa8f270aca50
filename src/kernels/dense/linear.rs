//! `y = x W^T + b` for all tokens.

use super::gemm::{MatrixRows, PackedMatrix};
use crate::error::{Error, Result};
use crate::num::{simd::Float, stats::first_nonfinite};

/// An affine map: W (outputs x inputs) and bias b.
#[derive(Clone, Debug)]
pub struct Linear<T = f64> {
    weight: PackedMatrix<T>,
    bias: Vec<T>,
}

impl<T: Float> Linear<T> {
    /// From W, row-major, and b; an empty b means no bias.
    ///
    /// **Errors** wrong shapes, a non-finite number; both errors name `label`.
    ///
    /// ```
    /// use metastable::attention::dense::Linear;
    /// let sum = Linear::new("sum", 2, vec![1.0, 1.0], vec![0.5])?;
    /// assert_eq!(sum.apply(&[1.0, 2.0, 3.0, 4.0]), [3.5, 7.5]);
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn new(label: &str, inputs: usize, weight: Vec<T>, bias: Vec<T>) -> Result<Self> {
        let outputs = weight.len().checked_div(inputs).unwrap_or(0);
        if outputs == 0 || weight.len() != outputs * inputs {
            return Err(Error::parameter(
                label,
                format!("{} numbers", weight.len()),
                format!("rows of {inputs} numbers"),
            ));
        }
        if !bias.is_empty() && bias.len() != outputs {
            return Err(Error::parameter(
                format!("{label}, bias"),
                format!("{} numbers", bias.len()),
                format!("{outputs}, one for each output"),
            ));
        }
        for (name, numbers) in [("weight", &weight), ("bias", &bias)] {
            if let Some(k) = first_nonfinite(numbers) {
                let expected = format!("finite numbers (number {})", k + 1);
                return Err(Error::parameter(
                    format!("{label}, {name}"),
                    numbers[k].to_f64(),
                    expected,
                ));
            }
        }
        Ok(Self {
            weight: PackedMatrix::from_columns(&MatrixRows::new(&weight, inputs), inputs),
            bias,
        })
    }

    /// The same map in another precision.
    pub fn rounded<U: Float>(&self) -> Linear<U> {
        let cast =
            |numbers: &[T]| numbers.iter().map(|v| U::from_f64(v.to_f64())).collect::<Vec<U>>();
        let weight = cast(&self.weight());
        Linear {
            weight: PackedMatrix::from_columns(
                &MatrixRows::new(&weight, self.inputs()),
                self.inputs(),
            ),
            bias: cast(&self.bias),
        }
    }

    /// Number of columns of W.
    pub fn inputs(&self) -> usize {
        self.weight.inputs()
    }

    /// Number of rows of W.
    pub fn outputs(&self) -> usize {
        self.weight.outputs()
    }

    /// W, row-major.
    pub fn weight(&self) -> Vec<T> {
        self.weight.transposed()
    }

    /// W, packed for products.
    pub fn packed(&self) -> &PackedMatrix<T> {
        &self.weight
    }

    /// b; empty if there is no bias.
    pub fn bias(&self) -> &[T] {
        &self.bias
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.inputs() * self.outputs() + self.bias.len()
    }

    /// `x W^T + b` for all rows of x.
    /// **Accuracy** `sqrt(inputs) u |x| |W|`.
    /// **Cost** `2 n` operations per weight.
    pub fn apply(&self, x: &[T]) -> Vec<T> {
        self.weight.product(x, &self.bias)
    }

    /// `h W^T`: the derivative in the direction h.
    pub fn jvp(&self, h: &[T]) -> Vec<T> {
        self.weight.product(h, &[])
    }

    /// `g W`: the transposed derivative.
    /// **Cost** that of a product, and of repacking W.
    pub fn vjp(&self, g: &[T]) -> Vec<T> {
        PackedMatrix::from_rows(&MatrixRows::new(&self.weight(), self.inputs()), self.inputs())
            .product(g, &[])
    }
}
