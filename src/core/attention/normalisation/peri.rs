use super::pre::add_in_polar_form;
use super::scheme::{Normalisation, Reads, Token};
use crate::attention::kernel::Form;
use crate::sphere::geometry::retract;
use crate::sphere::space::{Polar, Space};

/// Peri-LN: `x <- x + eta N(A(N x))`, so `theta' = P A / (r |A|)`, `r' = <theta, A> / |A|`. A token with `A = 0` has no velocity.
pub struct Peri;

impl Normalisation for Peri {
    fn name(&self) -> &'static str {
        "peri"
    }

    fn summary(&self) -> &'static str {
        "Peri-LN: theta' = P a / (r |a|), r' = <theta, a> / |a|; directions and radii"
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
        if token.size == 0.0 {
            return (0.0, 0.0);
        }
        (1.0 / (token.radius * token.size), token.radial / token.size)
    }

    fn layer(&self, _: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]) {
        a.chunks_exact_mut(d).for_each(|a| {
            retract(a);
        });
        add_in_polar_form(d, numbers, a, eta);
    }
}
