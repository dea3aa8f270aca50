use super::post::Post;
use super::scheme::{Normalisation, Reads, Token};
use crate::attention::kernel::Form;
use crate::sphere::geometry::retract;
use crate::sphere::space::{Space, Sphere};

/// nGPT: `x <- N(x + eta alpha N(A(x)))`, so `x' = alpha P A / |A|`. A token with `A = 0` has no velocity.
pub struct NGpt {
    /// The gain.
    pub alpha: f64,
}

impl Normalisation for NGpt {
    fn name(&self) -> &'static str {
        "ngpt"
    }

    fn summary(&self) -> &'static str {
        "nGPT: x' = alpha P a / |a| on the sphere; ngpt:alpha=A"
    }

    fn space(&self) -> &'static dyn Space {
        &Sphere
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
        (self.alpha / token.size, 0.0)
    }

    fn layer(&self, t: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]) {
        a.chunks_exact_mut(d).for_each(|a| {
            retract(a);
        });
        Post.layer(t, eta * self.alpha, d, numbers, a);
    }
}
