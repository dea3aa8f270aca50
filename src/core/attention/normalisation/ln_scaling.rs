use super::pre::add_in_polar_form;
use super::scheme::{Normalisation, Reads, Token};
use crate::attention::kernel::Form;
use crate::sphere::space::{Polar, Space};

/// Pre-LN whose layer at depth t counts `1/sqrt(t + 1)`: `x <- x + eta A(N x) / sqrt(t + 1)`, so `theta' = P A / (r sqrt(t + 1))` and
/// `r' = <theta, A> / sqrt(t + 1)`. (The row of that name in arXiv:2510.22026 freezes the radius: [`Damped`](super::Damped).)
pub struct LnScaling;

impl Normalisation for LnScaling {
    fn name(&self) -> &'static str {
        "ln-scaling"
    }

    fn summary(&self) -> &'static str {
        "LN scaling: theta' = P a / (r sqrt(t + 1)), r' = <theta, a> / sqrt(t + 1); directions and radii"
    }

    fn space(&self) -> &'static dyn Space {
        &Polar
    }

    fn form(&self) -> Form {
        Form::Tangent
    }

    fn reads(&self) -> Reads {
        Reads::Output
    }

    fn rates(&self, token: &Token) -> (f64, f64) {
        let root = (token.t + 1.0).sqrt();
        (1.0 / (token.radius * root), token.radial / root)
    }

    fn layer(&self, t: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]) {
        add_in_polar_form(d, numbers, a, eta / (t + 1.0).sqrt());
    }
}
