use crate::attention::kernel::Form;
use crate::sphere::space::Space;

/// What a scheme needs to know of one token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Time.
    pub t: f64,
    /// The radius `r`, 1 on spaces without one.
    pub radius: f64,
    /// `<theta, a>`, 0 unless the scheme [reads outputs](Reads::Output).
    pub radial: f64,
    /// `|a|`, 0 unless the scheme reads outputs.
    pub size: f64,
}

/// What rates depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Nothing: they are 1 and 0.
    Nothing,
    /// The time and the radius.
    Time,
    /// Also `<theta, a>` and `|a|`; costs a second evaluation.
    Output,
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
    fn space(&self) -> Space;

    /// The form of the output that moves tokens.
    fn form(&self) -> Form;

    /// True when tokens of the sphere move by their tangent output as it is: what lanes and implicit steps are made for.
    fn is_projection(&self) -> bool {
        false
    }

    /// What its rates depend on.
    fn reads(&self) -> Reads {
        Reads::Nothing
    }

    /// The time at which rates jump, if there is one: no step of an integrator crosses it.
    fn jump(&self) -> Option<f64> {
        None
    }

    /// `1/s` and `r'`. A token may see nothing: then `|a|` is 0, and a scheme that divides by it
    /// says `(0, 0)`.
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
