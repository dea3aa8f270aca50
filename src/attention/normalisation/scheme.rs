use crate::attention::kernel::Form;
use crate::sphere::space::Space;

/// What a scheme needs to know of one token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Time.
    pub t: f64,
    /// The radius `r`, 1 on spaces without one.
    pub radius: f64,
    /// `<theta, a>`, 0 unless the scheme [needs it](Normalisation::needs_radial).
    pub radial: f64,
    /// `|a|`, 0 unless the scheme needs it.
    pub size: f64,
}

/// A scheme of normalisation: `theta' = P a / s`, `r' = rho`, and one token through one layer.
pub trait Normalisation: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Its equation in one line.
    fn summary(&self) -> &'static str {
        ""
    }

    /// Where its tokens live.
    fn space(&self) -> &'static dyn Space;

    /// The form of the output that moves tokens.
    fn form(&self) -> Form;

    /// True when tokens of the sphere move by their tangent output as it is: what lanes and implicit steps are made for.
    fn is_projection(&self) -> bool {
        false
    }

    /// True when rates depend on `<theta, a>` or `|a|`.
    fn needs_radial(&self) -> bool {
        false
    }

    /// `1/s` and `r'`.
    fn rates(&self, _: &Token) -> (f64, f64) {
        (1.0, 0.0)
    }

    /// The form of the output that a layer is given.
    fn layer_form(&self) -> Form {
        Form::Sum
    }

    /// Moves n tokens by the outputs `a` in the [form of layers](Normalisation::layer_form) (n d numbers, overwritten) of one sublayer with step `eta`, which may be infinite where the scheme normalises.
    fn layer(&self, t: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]);
}
