//! `y = x W^T + b` for all tokens.

use super::Real;
use crate::error::{Error, Result};
use crate::num::{stats::first_not_finite, threads::parallel_allowed};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Tokens that are multiplied at a time. The last rows are filled up, so that every token goes through products of one shape: its bits depend neither
/// on how many tokens there are nor on the number of threads.
pub(super) const ROWS: usize = 64;

/// Multiplications from which on threads share them.
const SHARED: usize = 1 << 19;

/// A linear map with an offset: W (outputs x inputs, by rows) and b.
#[derive(Clone, Debug)]
pub struct Linear<T = f64> {
    inputs: usize,
    weight: Vec<T>,
    bias: Vec<T>,
}

impl<T: Real> Linear<T> {
    /// From W by rows and b; an empty b is none.
    ///
    /// **Errors** shapes that do not fit, a number that is not finite: both name `place`.
    ///
    /// ```
    /// use metastable::transformer::Linear;
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
            let wide: Vec<f64> = numbers.iter().map(|v| v.to_f64()).collect();
            if let Some(k) = first_not_finite(&wide) {
                return Err(Error::parameter(format!("{place}, {name}"), wide[k], format!("finite numbers (number {})", k + 1)));
            }
        }
        Ok(Self { inputs, weight, bias })
    }

    /// The map of the same numbers in another precision.
    pub fn rounded<U: Real>(&self) -> Linear<U> {
        let cast = |numbers: &[T]| numbers.iter().map(|v| U::of(v.to_f64())).collect();
        Linear { inputs: self.inputs, weight: cast(&self.weight), bias: cast(&self.bias) }
    }

    /// Columns of W.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Rows of W.
    pub fn outputs(&self) -> usize {
        self.weight.len() / self.inputs
    }

    /// W by rows.
    pub fn weight(&self) -> &[T] {
        &self.weight
    }

    /// b; empty when there is none.
    pub fn bias(&self) -> &[T] {
        &self.bias
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.weight.len() + self.bias.len()
    }

    /// Never: a map has an output.
    pub fn is_empty(&self) -> bool {
        self.weight.is_empty()
    }

    /// `x W^T + b` for all rows of x. **Accuracy** `inputs u |x| |W|`. **Cost** `2 n` operations a weight.
    pub fn apply(&self, x: &[T]) -> Vec<T> {
        let (r, c) = (self.inputs, self.outputs());
        let w = MatRef::from_row_major_slice(&self.weight, c, r).transpose();
        let mut out = by_rows(x, r, c, |x, out| {
            matmul(
                MatMut::from_row_major_slice_mut(out, ROWS, c),
                Accum::Replace,
                MatRef::from_row_major_slice(x, ROWS, r),
                w,
                T::of(1.0),
                Par::Seq,
            );
        });
        if !self.bias.is_empty() {
            out.chunks_exact_mut(c).for_each(|row| row.iter_mut().zip(&self.bias).for_each(|(o, b)| *o += *b));
        }
        out
    }

    /// `h W^T`: without the offset.
    pub fn push(&self, h: &[T]) -> Vec<T> {
        let (r, c) = (self.inputs, self.outputs());
        let w = MatRef::from_row_major_slice(&self.weight, c, r).transpose();
        by_rows(h, r, c, |x, out| {
            matmul(
                MatMut::from_row_major_slice_mut(out, ROWS, c),
                Accum::Replace,
                MatRef::from_row_major_slice(x, ROWS, r),
                w,
                T::of(1.0),
                Par::Seq,
            );
        })
    }

    /// `g W`: the transposed product.
    pub fn pull(&self, g: &[T]) -> Vec<T> {
        let (r, c) = (self.outputs(), self.inputs);
        let w = MatRef::from_row_major_slice(&self.weight, r, c);
        by_rows(g, r, c, |x, out| {
            matmul(
                MatMut::from_row_major_slice_mut(out, ROWS, c),
                Accum::Replace,
                MatRef::from_row_major_slice(x, ROWS, r),
                w,
                T::of(1.0),
                Par::Seq,
            );
        })
    }
}

/// Rows of `r` numbers to rows of `c` numbers, [`ROWS`] at a time.
pub(super) fn by_rows<T: Real>(x: &[T], r: usize, c: usize, product: impl Fn(&[T], &mut [T]) + Sync) -> Vec<T> {
    let n = x.len() / r;
    let mut out = vec![T::of(0.0); n * c];
    let one = |(x, out): (&[T], &mut [T])| {
        if x.len() == ROWS * r {
            return product(x, out);
        }
        let (mut full, mut results) = (vec![T::of(0.0); ROWS * r], vec![T::of(0.0); ROWS * c]);
        full[..x.len()].copy_from_slice(x);
        product(&full, &mut results);
        out.copy_from_slice(&results[..out.len()]);
    };
    if n * r * c >= SHARED && parallel_allowed() {
        x.par_chunks(ROWS * r).zip(out.par_chunks_mut(ROWS * c)).for_each(one);
    } else {
        x.chunks(ROWS * r).zip(out.chunks_mut(ROWS * c)).for_each(one);
    }
    out
}
