use super::scheme::Normalisation;
use crate::attention::kernel::Form;
use crate::num::vector::axpy;
use crate::sphere::space::{Flat, Space};

/// No normalisation: `x' = a` in `R^d` (arXiv:2305.05465).
pub struct Bare;

impl Normalisation for Bare {
    fn name(&self) -> &'static str {
        "none"
    }

    fn summary(&self) -> &'static str {
        "x' = a in R^d"
    }

    fn space(&self) -> &'static dyn Space {
        &Flat
    }

    fn form(&self) -> Form {
        Form::Sum
    }

    fn layer(&self, _: f64, eta: f64, _: usize, numbers: &mut [f64], a: &mut [f64]) {
        axpy(eta, a, numbers);
    }
}

/// `z' = sum_j A_ij V (z_j - z_i)` in `R^d`: what [`Bare`] tokens do when `e^{tV}` is taken off, with weights of the scores of `e^{tV} z`.
pub struct Rescaled;

impl Normalisation for Rescaled {
    fn name(&self) -> &'static str {
        "rescaled"
    }

    fn summary(&self) -> &'static str {
        "z' = sum_j A_ij V (z_j - z_i) in R^d, what e^{-tV} x does"
    }

    fn space(&self) -> &'static dyn Space {
        &Flat
    }

    fn form(&self) -> Form {
        Form::Difference
    }

    fn layer_form(&self) -> Form {
        Form::Difference
    }

    fn layer(&self, _: f64, eta: f64, _: usize, numbers: &mut [f64], a: &mut [f64]) {
        axpy(eta, a, numbers);
    }
}
