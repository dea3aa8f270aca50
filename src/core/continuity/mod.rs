//! The measure view: densities on the circle, on S^2 and zonal ones on `S^{d-1}`, moved by the continuity equation
//! `d_t rho + div(rho v[rho]) = (1/kappa) Lap rho`.
//!
//! All densities are relative to the uniform probability measure sigma, so the uniform density is 1. With `W(x) = integral e^{beta <x, y>} d mu(y)` the
//! velocity of USA (U1) is `(1/beta) grad W`, of SA `(1/beta) grad log W`, of Sinkhorn attention `-(1/beta) grad log f` with `f(x) integral e^{beta <x, y>} f d mu = 1`.

pub mod circle;
pub mod density;
mod evolution;
pub mod flow_map;
mod kernel_panels;
pub mod lagrangian;
pub mod probability_flow;
pub mod rings;
mod series;
pub mod sphere2;
pub mod stationary;
pub mod transport;
pub mod volume;
pub mod zonal;

use crate::attention::RowWeights;
use crate::error::{Error, Result, in_range};
use std::f64::consts::TAU;

/// The dynamics of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium {
    /// How its attention is normalised; USA in U1.
    pub weights: RowWeights,
    /// Inverse temperature, of either sign.
    pub beta: f64,
    /// Diffusion constant `1/kappa`; 0 without noise.
    pub diffusion: f64,
}

impl Medium {
    /// Parses a name. **Errors** unknown names, beta outside [-300, 300] (the kernel would leave f64).
    pub fn new(name: &str, beta: f64, diffusion: f64) -> Result<Self> {
        let weights = RowWeights::parse(name, &RowWeights::ALL)?;
        in_range("beta", beta, -300.0, 300.0)?;
        in_range("1/kappa", diffusion, 0.0, 1e6)?;
        Ok(Self { weights, beta, diffusion })
    }
}

/// How far a series may grow and how finely it is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Most modes.
    pub modes: usize,
    /// What the tolerances of steps and of the highest modes are multiplied by: a run with 10 tells the error of the one with 1.
    pub relax: f64,
}

impl From<usize> for Limits {
    fn from(modes: usize) -> Self {
        Self { modes, relax: 1.0 }
    }
}

/// How an evolution ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// The end time was reached with the resolution asked for.
    Reached,
    /// The density became finer than the largest number of modes allows; the state is that of the last resolved time.
    UnderResolved,
    /// The watcher asked to stop; the state is that of the time returned.
    Interrupted,
}

impl End {
    /// A stable word for files and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::UnderResolved => "under-resolved",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What an evolution ended with. The state can be had only together with its end: [`Evolved::reached`] where a result is meant, [`Evolved::partial`] where the
/// time it stands for is shown beside it.
#[must_use = "the density may not have reached the end time"]
#[derive(Clone, Debug, PartialEq)]
pub struct Evolved<S> {
    state: S,
    t: f64,
    end: End,
}

impl<S> Evolved<S> {
    pub(super) fn new(state: S, t: f64, end: End) -> Self {
        Self { state, t, end }
    }

    /// The state at the end time. **Errors** an end before it: [`Error::Numerical`] for a density that became too fine, [`Error::Interrupted`] where the watcher stopped.
    ///
    /// ```
    /// use metastable::continuity::{Medium, circle::Circle, density::Density};
    /// let start = Density::parse("cos:1=0.3").and_then(|d| Circle::from_density(&d, 16)).unwrap();
    /// let medium = Medium::new("sa", 4.0, 0.0).unwrap();
    /// assert!(start.clone().evolve(&medium, 1.0, 256, |_, _| true).unwrap().reached().is_ok());
    /// // A collapse is beyond 64 modes.
    /// assert!(start.evolve(&medium, 50.0, 64, |_, _| true).unwrap().reached().is_err());
    /// ```
    pub fn reached(self) -> Result<S> {
        match self.end {
            End::Reached => Ok(self.state),
            End::UnderResolved => {
                Err(Error::Numerical { what: format!("the density became finer than the resolution allows at t = {}", self.t) })
            }
            End::Interrupted => Err(Error::Interrupted { resume: format!("the density was stopped at t = {}", self.t) }),
        }
    }

    /// The last resolved state, the time it belongs to, and how it ended.
    pub fn partial(self) -> (S, f64, End) {
        (self.state, self.t, self.end)
    }

    /// How it ended.
    pub fn end(&self) -> End {
        self.end
    }

    /// The time reached.
    pub fn time(&self) -> f64 {
        self.t
    }
}

/// Largest residual `|f (k * (f mu)) - 1|` at which a Sinkhorn scaling counts as one: velocities then are right to about as much, relative to their bound.
const SINKHORN_RESIDUAL: f64 = 1e-9;

/// The positive f with `f s(f) = 1`, `s(f)` a positive linear map, by the symmetric Sinkhorn
/// iteration `f <- sqrt(f / s)`, until `|f s - 1|` is below `rounding`. NaN where s is not finite:
/// a step of an integrator led too far.
///
/// **Errors** a residual above 1e-9 after ten thousand iterations.
fn sinkhorn_scaling(n: usize, rounding: f64, mut s: impl FnMut(&[f64]) -> Vec<f64>) -> Result<Vec<f64>> {
    let (mut f, mut residual) = (vec![1.0f64; n], f64::INFINITY);
    for iteration in 0..10_000 {
        let s = s(&f);
        residual = f.iter().zip(&s).fold(0.0, |m, (f, s)| if s.is_finite() { (f * s - 1.0).abs().max(m) } else { f64::INFINITY });
        if residual.is_infinite() {
            // At once: the state is not finite, as in a step that is going to be refused.
            if iteration == 0 {
                return Ok(vec![f64::NAN; n]);
            }
            break;
        }
        if residual < rounding {
            return Ok(f);
        }
        f.iter_mut().zip(&s).for_each(|(f, s)| *f = (*f / s.max(f64::MIN_POSITIVE)).sqrt());
    }
    if residual <= SINKHORN_RESIDUAL {
        return Ok(f);
    }
    let what = format!("the Sinkhorn scaling stopped with a residual of {residual:.1e}, more than {SINKHORN_RESIDUAL:.0e}");
    Err(Error::Numerical { what })
}

/// `rho log rho` of values of a density, 0 where it vanishes.
fn negentropy_terms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|r| if *r > 0.0 { r * r.ln() } else { 0.0 }).collect()
}

/// **Errors** noise, which would need the gradient of the density where particles carry it.
fn no_noise(medium: &Medium) -> Result<()> {
    if medium.diffusion == 0.0 {
        return Ok(());
    }
    Err(Error::parameter("noise", 1.0 / medium.diffusion, "no noise with particles that carry the density"))
}

/// The value at `theta` of the straight lines through values on an equispaced grid of the circle
/// that begins at angle `from`.
fn interpolated(values: &[f64], from: f64, theta: f64) -> f64 {
    let n = values.len();
    let place = (theta - from).rem_euclid(TAU) / TAU * n as f64;
    let (whole, part) = (place.floor() as usize, place.fract());
    (1.0 - part) * values[whole % n] + part * values[(whole + 1) % n]
}

/// `sum m_i v_i`: the mean of values that particles carry.
fn mean_over(masses: &[f64], values: &[f64]) -> f64 {
    masses.iter().zip(values).map(|(m, v)| m * v).sum()
}

/// **Errors** the first value below `-slack` or not finite, with its place.
fn non_negative(values: &[f64], slack: f64, place: impl Fn(usize) -> String) -> Result<()> {
    let Some(j) = values.iter().position(|v| !v.is_finite() || *v < -slack) else { return Ok(()) };
    Err(Error::parameter("density", format!("{} at {}", values[j], place(j)), "finite values >= 0 everywhere"))
}

/// **Errors** a mass that is not positive.
fn mass(mass: f64) -> Result<f64> {
    if mass > 0.0 { Ok(mass) } else { Err(Error::parameter("density", "no mass", "a positive integral")) }
}
