use super::post::Post;
use super::pre::Pre;
use super::scheme::{Normalisation, Reads, Token};
use crate::attention::kernel::Form;
use crate::sphere::space::{Polar, Space};

/// Mix-LN: [`Post`] until `tau` (radii wait), then [`Pre`].
pub struct Mix {
    /// When it changes.
    pub tau: f64,
}

impl Normalisation for Mix {
    fn name(&self) -> &'static str {
        "mix"
    }

    fn summary(&self) -> &'static str {
        "Mix-LN: post until tau, then pre; mix:tau=T; directions and radii"
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

    fn jump(&self) -> Option<f64> {
        Some(self.tau)
    }

    fn rates(&self, token: &Token) -> (f64, f64) {
        if token.t < self.tau { (1.0, 0.0) } else { Pre.rates(token) }
    }

    fn layer(&self, t: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]) {
        if t < self.tau {
            Post.layer(t, eta, d, &mut numbers[..a.len()], a);
        } else {
            Pre.layer(t, eta, d, numbers, a);
        }
    }
}
