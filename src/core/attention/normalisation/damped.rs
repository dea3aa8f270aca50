use super::post::Post;
use super::scheme::{Normalisation, Reads, Token};
use crate::attention::kernel::Form;
use crate::sphere::space::{Space, Sphere};

/// CoD of arXiv:2510.22026: Post-LN damped with depth, `x <- N(x + eta A(x) / sqrt(t + 1))`, so `x' = P A / sqrt(t + 1)`.
pub struct Damped;

impl Normalisation for Damped {
    fn name(&self) -> &'static str {
        "cod"
    }

    fn summary(&self) -> &'static str {
        "CoD: x' = P a / sqrt(t + 1) on the sphere"
    }

    fn space(&self) -> &'static dyn Space {
        &Sphere
    }

    fn form(&self) -> Form {
        Form::Tangent
    }

    fn reads(&self) -> Reads {
        Reads::Time
    }

    fn rates(&self, token: &Token) -> (f64, f64) {
        (1.0 / (token.t + 1.0).sqrt(), 0.0)
    }

    fn layer(&self, t: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]) {
        Post.layer(t, eta / (t + 1.0).sqrt(), d, numbers, a);
    }
}
