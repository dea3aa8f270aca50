//! What a layer does with the output of its sublayer (arXiv:2510.22026): the schemes of the papers, and the trait of a scheme of one's own.

use crate::attention::kernel::Form;
use crate::error::{Error, Result};
use crate::num::{simd::Level, vector::axpy};
use crate::sphere::{geometry::retract, space::Space};

mod moves;
mod scheme;

pub use Scheme::{Bare, Damped, LnScaling, Mix, NGpt, Peri, Post, Pre, Rescaled};
pub use scheme::{Normalisation, Reads, Token};

/// The schemes of the papers; N is the division by the length, `x = r theta`, `P` the projection on the tangent space at theta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// Post-LN: `x <- N(x + eta A(x))`, and mean shift `x <- N(A(x))` for an infinite step; so `x' = P A`.
    Post,
    /// Pre-LN: `x <- x + eta A(N x)`, so `theta' = P A / r`, `r' = <theta, A>`.
    Pre,
    /// Peri-LN: `x <- x + eta N(A(N x))`, so `theta' = P A / (r |A|)`, `r' = <theta, A> / |A|`. A token with `A = 0` has no velocity.
    Peri,
    /// Mix-LN: [`Post`] until `tau` (radii wait), then [`Pre`].
    Mix {
        /// When it changes.
        tau: f64,
    },
    /// nGPT: `x <- N(x + eta alpha N(A(x)))`, so `x' = alpha P A / |A|`. A token with `A = 0` has no velocity.
    NGpt {
        /// The gain.
        alpha: f64,
    },
    /// CoD of arXiv:2510.22026: Post-LN damped with depth, `x <- N(x + eta A(x) / sqrt(t + 1))`, so `x' = P A / sqrt(t + 1)`.
    Damped,
    /// Pre-LN whose layer at depth t counts `1/sqrt(t + 1)`: `x <- x + eta A(N x) / sqrt(t + 1)`, so `theta' = P A / (r sqrt(t + 1))` and
    /// `r' = <theta, A> / sqrt(t + 1)`. (The row of that name in arXiv:2510.22026 freezes the radius: [`Damped`].)
    LnScaling,
    /// No normalisation: `x' = a` in `R^d` (arXiv:2305.05465).
    Bare,
    /// `z' = sum_j A_ij V (z_j - z_i)` in `R^d`: what [`Bare`] tokens do when `e^{tV}` is taken off, with weights of the scores of `e^{tV} z`.
    Rescaled,
}

/// All schemes, with their usual parameters.
pub const ALL: [Scheme; 9] = [Post, Pre, Peri, Mix { tau: 1.0 }, NGpt { alpha: 1.0 }, Damped, LnScaling, Bare, Rescaled];

/// A scheme by name, with a parameter where it has one: `mix:tau=2`, `ngpt:alpha=0.5`.
///
/// **Errors** an unknown name, with the nearest known one; a parameter that it has not, or that is not positive.
pub fn find(name: &str) -> Result<Scheme> {
    let (own, parameter) = name.split_once(':').map_or((name, None), |(own, p)| (own, Some(p)));
    let all = || ALL.iter().map(|s| s.name());
    let usual = ALL.into_iter().find(|s| s.name() == own).ok_or_else(|| Error::unknown("normalisation", own, all()))?;
    let Some(parameter) = parameter else { return Ok(usual) };
    let value = |key: &str| {
        let number = parameter.strip_prefix(key)?.strip_prefix('=')?.parse::<f64>().ok();
        number.filter(|v| *v > 0.0 && v.is_finite())
    };
    match usual {
        Mix { .. } => value("tau").map(|tau| Mix { tau }),
        NGpt { .. } => value("alpha").map(|alpha| NGpt { alpha }),
        _ => None,
    }
    .ok_or_else(|| Error::parameter("norm", name, "mix:tau=T or ngpt:alpha=A with a positive number; the others have no parameter"))
}

impl Normalisation for Scheme {
    fn name(&self) -> &'static str {
        match self {
            Post => "post",
            Pre => "pre",
            Peri => "peri",
            Mix { .. } => "mix",
            NGpt { .. } => "ngpt",
            Damped => "cod",
            LnScaling => "ln-scaling",
            Bare => "none",
            Rescaled => "rescaled",
        }
    }

    fn summary(&self) -> &'static str {
        match self {
            Post => "Post-LN: x' = P a; tokens stay on the sphere",
            Pre => "Pre-LN: theta' = P a / r, r' = <theta, a>; directions and radii",
            Peri => "Peri-LN: theta' = P a / (r |a|), r' = <theta, a> / |a|; directions and radii",
            Mix { .. } => "Mix-LN: post until tau, then pre; mix:tau=T; directions and radii",
            NGpt { .. } => "nGPT: x' = alpha P a / |a| on the sphere; ngpt:alpha=A",
            Damped => "CoD: x' = P a / sqrt(t + 1) on the sphere",
            LnScaling => "LN scaling: theta' = P a / (r sqrt(t + 1)), r' = <theta, a> / sqrt(t + 1); directions and radii",
            Bare => "x' = a in R^d",
            Rescaled => "z' = sum_j A_ij V (z_j - z_i) in R^d, what e^{-tV} x does",
        }
    }

    fn space(&self) -> Space {
        match self {
            Post | NGpt { .. } | Damped => Space::Sphere,
            Pre | Peri | Mix { .. } | LnScaling => Space::Polar,
            Bare | Rescaled => Space::Flat,
        }
    }

    fn form(&self) -> Form {
        match self {
            Bare => Form::Sum,
            Rescaled => Form::Difference,
            _ => Form::Tangent,
        }
    }

    fn is_projection(&self) -> bool {
        *self == Post
    }

    fn reads(&self) -> Reads {
        match self {
            Post | Bare | Rescaled => Reads::Nothing,
            Damped => Reads::Time,
            _ => Reads::Output,
        }
    }

    fn jump(&self) -> Option<f64> {
        if let Mix { tau } = self { Some(*tau) } else { None }
    }

    fn rates(&self, token: &Token) -> (f64, f64) {
        match *self {
            Post | Bare | Rescaled => (1.0, 0.0),
            Mix { tau } if token.t < tau => (1.0, 0.0),
            Pre | Mix { .. } => (1.0 / token.radius, token.radial),
            Peri | NGpt { .. } if token.size == 0.0 => (0.0, 0.0),
            Peri => (1.0 / (token.radius * token.size), token.radial / token.size),
            NGpt { alpha } => (alpha / token.size, 0.0),
            Damped => (1.0 / (token.t + 1.0).sqrt(), 0.0),
            LnScaling => {
                let root = (token.t + 1.0).sqrt();
                (1.0 / (token.radius * root), token.radial / root)
            }
        }
    }

    fn layer_form(&self) -> Form {
        if *self == Rescaled { Form::Difference } else { Form::Sum }
    }

    fn layer(&self, t: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]) {
        if let Peri | NGpt { .. } = self {
            a.chunks_exact_mut(d).for_each(|a| {
                retract(a);
            });
        }
        let on_sphere = |eta: f64, numbers: &mut [f64], a: &mut [f64]| Level::best().run(moves::OnSphere { eta, d, x: numbers, field: a });
        match *self {
            Post => on_sphere(eta, numbers, a),
            NGpt { alpha } => on_sphere(eta * alpha, numbers, a),
            Damped => on_sphere(eta / (t + 1.0).sqrt(), numbers, a),
            // Radii wait.
            Mix { tau } if t < tau => on_sphere(eta, &mut numbers[..a.len()], a),
            Pre | Peri | Mix { .. } => moves::in_polar_form(d, numbers, a, eta),
            LnScaling => moves::in_polar_form(d, numbers, a, eta / (t + 1.0).sqrt()),
            Bare | Rescaled => axpy(eta, a, numbers),
        }
    }
}
