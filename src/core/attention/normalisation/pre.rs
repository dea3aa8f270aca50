use super::scheme::{Normalisation, Reads, Token};
use crate::attention::kernel::Form;
use crate::num::vector::norm;
use crate::sphere::geometry::retract;
use crate::sphere::space::{Polar, Space};

/// Pre-LN: `x <- x + eta A(N x)`, so `theta' = P A / r`, `r' = <theta, A>`.
pub struct Pre;

impl Normalisation for Pre {
    fn name(&self) -> &'static str {
        "pre"
    }

    fn summary(&self) -> &'static str {
        "Pre-LN: theta' = P a / r, r' = <theta, a>; directions and radii"
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
        (1.0 / token.radius, token.radial)
    }

    fn layer(&self, _: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]) {
        add_in_polar_form(d, numbers, a, eta);
    }
}

/// `x <- x + eta a` for `x = r theta`; `a` is overwritten.
pub(super) fn add_in_polar_form(d: usize, numbers: &mut [f64], a: &mut [f64], eta: f64) {
    let size = a.len();
    let (rows, radii) = numbers.split_at_mut(size);
    for ((x, r), a) in rows.chunks_exact_mut(d).zip(radii).zip(a.chunks_exact_mut(d)) {
        a.iter_mut().zip(&*x).for_each(|(a, x)| *a = *r * x + eta * *a);
        let length = norm(a);
        // What is not a number stays visible.
        if retract(a) || a.iter().any(|v| v.is_nan()) {
            x.copy_from_slice(a);
            *r = length;
        }
    }
}
