//! Normalisations: how the output of a sublayer moves tokens (arXiv:2510.22026). [`Scheme`] has the
//! schemes of the papers; implement [`Normalisation`] for a new one.

use crate::attention::kernel::OutputForm;
use crate::error::{Error, Result};
use crate::num::{key_values::KeyValues, simd::Isa, vector::axpy};
use crate::sphere::{geometry::retract, space::Space};

mod layer_update;
mod scheme;

pub use Scheme::{Cod, LnScaling, Mix, NGpt, Peri, Post, Pre, Rescaled, Unnormalised};
pub use scheme::{Normalisation, RateDependence, TokenState};

/// The schemes of the papers. N divides by the length, `x = r theta` with `|theta| = 1`, `P`
/// projects onto the tangent space at theta, A is the output of the sublayer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scheme {
    /// Post-LN: `x <- N(x + eta A(x))`, and mean shift `x <- N(A(x))` for an infinite step; so
    /// `x' = P A`.
    Post,
    /// Pre-LN: `x <- x + eta A(N x)`, so `theta' = P A / r`, `r' = <theta, A>`.
    Pre,
    /// Peri-LN: `x <- x + eta N(A(N x))`, so `theta' = P A / (r |A|)`, `r' = <theta, A> / |A|`. A
    /// token with `A = 0` has no velocity.
    Peri,
    /// Mix-LN: [`Post`] until `tau`, with constant radii; then [`Pre`].
    Mix {
        /// Time of the change.
        tau: f64,
    },
    /// nGPT: `x <- N(x + eta alpha N(A(x)))`, so `x' = alpha P A / |A|`. A token with `A = 0` has
    /// no velocity.
    NGpt {
        /// The gain.
        alpha: f64,
    },
    /// CoD of arXiv:2510.22026: Post-LN damped with depth, `x <- N(x + eta A(x) / sqrt(t + 1))`, so
    /// `x' = P A / sqrt(t + 1)`.
    Cod,
    /// Pre-LN with the output at depth t divided by `sqrt(t + 1)`:
    /// `x <- x + eta A(N x) / sqrt(t + 1)`, so `theta' = P A / (r sqrt(t + 1))` and
    /// `r' = <theta, A> / sqrt(t + 1)`. (The row of that name in arXiv:2510.22026 freezes the
    /// radius: [`Cod`].)
    LnScaling,
    /// No normalisation: `x' = A` in `R^d` (arXiv:2305.05465).
    Unnormalised,
    /// `z' = sum_j A_ij V (z_j - z_i)` in `R^d`: the equation of `z = e^{-tV} x` for
    /// [`Unnormalised`] tokens x. The weights are those of the scores of `e^{tV} z`.
    Rescaled,
}

/// All schemes, with default parameters.
pub const ALL: [Scheme; 9] = [
    Post,
    Pre,
    Peri,
    Mix { tau: 1.0 },
    NGpt { alpha: 1.0 },
    Cod,
    LnScaling,
    Unnormalised,
    Rescaled,
];

/// Finds a scheme by name, with an optional parameter: `mix:tau=2`, `ngpt:alpha=0.5`.
///
/// **Errors** an unknown name, with the nearest known one; a parameter that the scheme does not
/// have; a parameter that is not positive.
pub fn find(name: &str) -> Result<Scheme> {
    let (scheme, parameters) = name.split_once(':').unwrap_or((name, ""));
    let all = || ALL.iter().map(|s| s.name());
    let default = ALL
        .into_iter()
        .find(|s| s.name() == scheme)
        .ok_or_else(|| Error::unknown("normalisation", scheme, all()))?;
    let keys: &[&str] = match default {
        Mix { .. } => &["tau"],
        NGpt { .. } => &["alpha"],
        _ => &[],
    };
    let found = KeyValues::parse(scheme, parameters).with_keys("norm parameter", keys)?;
    let positive = |key: &str| match found.number(key)? {
        Some(v) if !(v > 0.0 && v.is_finite()) => {
            Err(Error::parameter(format!("{scheme} {key}"), v, "a positive finite number"))
        }
        v => Ok(v),
    };
    Ok(match default {
        Mix { tau } => Mix { tau: positive("tau")?.unwrap_or(tau) },
        NGpt { alpha } => NGpt { alpha: positive("alpha")?.unwrap_or(alpha) },
        other => other,
    })
}

impl Normalisation for Scheme {
    fn name(&self) -> &'static str {
        match self {
            Post => "post",
            Pre => "pre",
            Peri => "peri",
            Mix { .. } => "mix",
            NGpt { .. } => "ngpt",
            Cod => "cod",
            LnScaling => "ln-scaling",
            Unnormalised => "none",
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
            Cod => "CoD: x' = P a / sqrt(t + 1) on the sphere",
            LnScaling => {
                "LN scaling: theta' = P a / (r sqrt(t + 1)), r' = <theta, a> / sqrt(t + 1); directions and radii"
            }
            Unnormalised => "x' = a in R^d",
            Rescaled => "z' = sum_j A_ij V (z_j - z_i) in R^d, the equation of z = e^{-tV} x",
        }
    }

    fn space(&self) -> Space {
        match self {
            Post | NGpt { .. } | Cod => Space::Sphere,
            Pre | Peri | Mix { .. } | LnScaling => Space::Polar,
            Unnormalised | Rescaled => Space::Flat,
        }
    }

    fn form(&self) -> OutputForm {
        match self {
            Unnormalised => OutputForm::Sum,
            Rescaled => OutputForm::Difference,
            _ => OutputForm::Tangent,
        }
    }

    fn is_projection(&self) -> bool {
        *self == Post
    }

    fn rate_dependence(&self) -> RateDependence {
        match self {
            Post | Unnormalised | Rescaled => RateDependence::Constant,
            Cod => RateDependence::Time,
            _ => RateDependence::Output,
        }
    }

    fn jump(&self) -> Option<f64> {
        if let Mix { tau } = self { Some(*tau) } else { None }
    }

    fn rates(&self, token: &TokenState) -> (f64, f64) {
        match *self {
            Post | Unnormalised | Rescaled => (1.0, 0.0),
            Mix { tau } if token.t < tau => (1.0, 0.0),
            Pre | Mix { .. } => (1.0 / token.radius, token.radial_output),
            Peri | NGpt { .. } if token.output_norm == 0.0 => (0.0, 0.0),
            Peri => {
                (1.0 / (token.radius * token.output_norm), token.radial_output / token.output_norm)
            }
            NGpt { alpha } => (alpha / token.output_norm, 0.0),
            Cod => (1.0 / (token.t + 1.0).sqrt(), 0.0),
            LnScaling => {
                let root = (token.t + 1.0).sqrt();
                (1.0 / (token.radius * root), token.radial_output / root)
            }
        }
    }

    fn layer_form(&self) -> OutputForm {
        if *self == Rescaled { OutputForm::Difference } else { OutputForm::Sum }
    }

    fn layer(&self, t: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]) {
        if let Peri | NGpt { .. } = self {
            a.chunks_exact_mut(d).for_each(|a| {
                retract(a);
            });
        }
        let on_sphere = |eta: f64, numbers: &mut [f64], a: &mut [f64]| {
            Isa::best().run(layer_update::SphereUpdate { eta, d, x: numbers, field: a })
        };
        match *self {
            Post => on_sphere(eta, numbers, a),
            NGpt { alpha } => on_sphere(eta * alpha, numbers, a),
            Cod => on_sphere(eta / (t + 1.0).sqrt(), numbers, a),
            // Radii are constant.
            Mix { tau } if t < tau => on_sphere(eta, &mut numbers[..a.len()], a),
            Pre | Peri | Mix { .. } => layer_update::update_polar(d, numbers, a, eta),
            LnScaling => layer_update::update_polar(d, numbers, a, eta / (t + 1.0).sqrt()),
            Unnormalised | Rescaled => axpy(eta, a, numbers),
        }
    }
}
