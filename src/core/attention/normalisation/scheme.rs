//! A normalisation scheme: the rates of radius and direction of a token from its state.

use crate::attention::kernel::OutputForm;
use crate::sphere::space::Space;

/// The state of one token, from which a scheme computes its rates.
#[derive(Clone, Copy, Debug)]
pub struct TokenState {
    /// Time.
    pub t: f64,
    /// The radius `r`; 1 in spaces without radii.
    pub radius: f64,
    /// `<theta, a>`; 0 unless the rates [depend on the output](RateDependence::Output).
    pub radial_output: f64,
    /// `|a|`; 0 unless the rates depend on the output.
    pub output_norm: f64,
}

/// The quantities on which the rates of a scheme depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RateDependence {
    /// None: the rates are 1 and 0.
    Constant,
    /// The time and the radius.
    Time,
    /// Also `<theta, a>` and `|a|`, which cost a second evaluation.
    Output,
}

/// A normalisation: the rates `theta' = P a / s` and `r' = rho` of the flow, and the update by one
/// layer, for the output a of the sublayers.
pub trait Normalisation: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Its equation in one line.
    fn summary(&self) -> &'static str {
        ""
    }

    /// The space of its tokens.
    fn space(&self) -> Space;

    /// The form of the output in the flow.
    fn form(&self) -> OutputForm;

    /// True if tokens move on the sphere by the tangent part of the output, `x' = P a`. Only then
    /// are SIMD ensembles and implicit steps used.
    fn is_projection(&self) -> bool {
        false
    }

    /// The quantities on which [`Normalisation::rates`] depends.
    fn rate_dependence(&self) -> RateDependence {
        RateDependence::Constant
    }

    /// A time at which the rates are discontinuous; no step of an integrator crosses it.
    fn jump(&self) -> Option<f64> {
        None
    }

    /// `1/s` and `r'`. For a token without visible keys `|a|` is 0; a scheme that divides by `|a|`
    /// then returns `(0, 0)`.
    fn rates(&self, _: &TokenState) -> (f64, f64) {
        (1.0, 0.0)
    }

    /// The form of the output in a layer.
    fn layer_form(&self) -> OutputForm {
        OutputForm::Sum
    }

    /// Moves n tokens by the outputs `a` of one sublayer (n d numbers in the [form of
    /// layers](Normalisation::layer_form), overwritten) with step `eta`, which may be infinite if
    /// the scheme normalises.
    fn layer(&self, t: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]);
}
