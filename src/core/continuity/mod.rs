//! Attention of measures: densities on the circle, on S^2 and zonal ones on `S^{d-1}`, moved by the
//! continuity equation `d_t rho + div(rho v[rho]) = (1/kappa) Lap rho`.
//!
//! All densities are relative to the uniform probability measure sigma: the uniform density is 1.
//! With `W(x) = integral e^{beta <x, y>} d mu(y)` the velocity of USA (U1) is `(1/beta) grad W`, of
//! SA `(1/beta) grad log W`, of Sinkhorn attention `-(1/beta) grad log f` with
//! `f(x) integral e^{beta <x, y>} f d mu = 1`. With an interaction phi the velocity of USA is
//! `grad integral W(<x, y>) d mu(y)`, `W' = phi`, and that of SA is this gradient divided by
//! `integral phi(<x, y>) d mu(y)`.

pub mod circle;
pub mod density;
mod evolution;
pub mod finite_volume;
pub mod flow_map;
pub mod interaction;
mod interaction_rings;
mod kernel_panels;
pub mod lagrangian;
pub mod probability_flow;
mod series;
pub mod sphere2;
pub mod stationary;
pub mod transport;
pub mod zonal;
pub mod zonal_lagrangian;

use crate::attention::RowWeights;
use crate::attention::interaction::Interaction;
use crate::error::{Error, Result, in_range};
use interaction::MeasureInteraction;
use std::f64::consts::TAU;
use std::sync::Arc;

/// The dynamics of a measure.
#[derive(Clone, Debug)]
pub struct MeasureDynamics {
    /// Normalisation of the attention weights; USA in U1.
    pub weights: RowWeights,
    /// Inverse temperature, positive or negative.
    pub beta: f64,
    /// Diffusion constant `1/kappa`; 0 without noise.
    pub diffusion: f64,
    /// An interaction in the place of `e^{beta s}`: series and finite volumes then use it instead
    /// of beta.
    pub interaction: Option<Arc<MeasureInteraction>>,
}

impl MeasureDynamics {
    /// Self-attention (SA) without noise.
    ///
    /// **Errors** beta outside [-300, 300].
    pub fn sa(beta: f64) -> Result<Self> {
        Self::new("sa", beta, 0.0)
    }

    /// Unnormalised self-attention (USA) without noise.
    ///
    /// **Errors** beta outside [-300, 300].
    pub fn usa(beta: f64) -> Result<Self> {
        Self::new("usa", beta, 0.0)
    }

    /// Parses a name. **Errors** unknown names, beta outside [-300, 300] (the kernel would overflow
    /// f64).
    pub fn new(name: &str, beta: f64, diffusion: f64) -> Result<Self> {
        let weights = RowWeights::parse(name, &RowWeights::ALL)?;
        in_range("beta", beta, -300.0, 300.0)?;
        in_range("1/kappa", diffusion, 0.0, 1e6)?;
        Ok(Self { weights, beta, diffusion, interaction: None })
    }

    /// Sets an interaction.
    ///
    /// **Errors** Sinkhorn attention; SA with row weights that are negative somewhere.
    ///
    /// ```
    /// use metastable::attention::interaction::Interaction;
    /// use metastable::continuity::{MeasureDynamics, circle::Circle, density::Density};
    /// let start = Density::parse("cos:1=0.3").and_then(|d| Circle::from_density(&d, 16))?;
    /// let known = MeasureDynamics::new("usa", 2.0, 0.0)?;
    /// let same = known.clone().with_interaction(Interaction::parse("exp:beta=2", &[])?)?;
    /// let (a, b) = (start.velocity(&known, 64)?, start.velocity(&same, 64)?);
    /// assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14));
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn with_interaction(self, phi: Interaction) -> Result<Self> {
        match self.weights {
            RowWeights::Exponential => {}
            RowWeights::Softmax => phi.check_row_weights()?,
            RowWeights::Sinkhorn => {
                return Err(Error::parameter(
                    "dynamics",
                    "sinkhorn",
                    "sa or usa with an interaction of its own",
                ));
            }
        }
        Ok(Self { interaction: Some(Arc::new(MeasureInteraction::new(phi))), ..self })
    }

    /// The rate at which all mass near one point approaches its mean: `e^beta` or `phi(1)` for
    /// USA, 1 with normalised rows; at least that of other configurations of one sign.
    pub fn largest_rate(&self) -> f64 {
        match &self.interaction {
            None => self.weights.log_consensus_row_sum(self.beta.abs()).exp(),
            Some(own) if self.weights == RowWeights::Exponential => own.interaction().sizes().0,
            Some(_) => 1.0,
        }
    }

    /// The largest energy: `e^{|beta|} / 2 |beta|`, or half of the largest |phi|.
    pub fn largest_energy(&self) -> f64 {
        match &self.interaction {
            None => self.beta.abs().exp() / (2.0 * self.beta.abs()).max(1.0),
            Some(own) => 0.5 * own.interaction().sizes().0,
        }
    }
}

/// Largest resolution and tolerance of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Largest number of modes.
    pub max_modes: usize,
    /// Factor of the tolerances of the steps and of the highest modes: the difference between runs
    /// with 10 and with 1 estimates the error of the latter.
    pub tolerance_factor: f64,
}

impl From<usize> for Limits {
    fn from(modes: usize) -> Self {
        Self { max_modes: modes, tolerance_factor: 1.0 }
    }
}

/// Why an evolution ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EvolutionEnd {
    /// The end time was reached at the required resolution.
    Reached,
    /// The density became finer than the largest number of modes allows; the state is that of the
    /// last resolved time.
    UnderResolved,
    /// The caller stopped it; the state is that of the time returned.
    Interrupted,
}

impl EvolutionEnd {
    /// The name in files and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::UnderResolved => "under-resolved",
            Self::Interrupted => "interrupted",
        }
    }
}

/// The result of an evolution. It gives the state only together with how it ended:
/// [`Evolution::reached`] for the state at the end time, [`Evolution::partial`] for an earlier
/// state with its time.
#[must_use = "the density may not have reached the end time"]
#[derive(Clone, Debug, PartialEq)]
pub struct Evolution<S> {
    state: S,
    t: f64,
    end: EvolutionEnd,
}

impl<S> Evolution<S> {
    pub(super) fn new(state: S, t: f64, end: EvolutionEnd) -> Self {
        Self { state, t, end }
    }

    /// The state at the end time. **Errors** if it was not reached: [`Error::Numerical`] if the
    /// density became too fine, [`Error::Interrupted`] if the caller stopped it.
    ///
    /// ```
    /// use metastable::continuity::{MeasureDynamics, circle::Circle, density::Density};
    /// let start = Density::parse("cos:1=0.3").and_then(|d| Circle::from_density(&d, 16)).unwrap();
    /// let dynamics = MeasureDynamics::new("sa", 4.0, 0.0).unwrap();
    /// assert!(start.clone().evolve(&dynamics, 1.0, 256, |_, _| true).unwrap().reached().is_ok());
    /// // A collapse needs more than 64 modes.
    /// assert!(start.evolve(&dynamics, 50.0, 64, |_, _| true).unwrap().reached().is_err());
    /// ```
    pub fn reached(self) -> Result<S> {
        match self.end {
            EvolutionEnd::Reached => Ok(self.state),
            EvolutionEnd::UnderResolved => Err(Error::Numerical {
                what: format!(
                    "the density became finer than the resolution allows at t = {}",
                    self.t
                ),
            }),
            EvolutionEnd::Interrupted => Err(Error::Interrupted {
                resume: format!("the density was stopped at t = {}", self.t),
            }),
        }
    }

    /// The last resolved state, its time, and how the evolution ended.
    pub fn partial(self) -> (S, f64, EvolutionEnd) {
        (self.state, self.t, self.end)
    }

    /// How the evolution ended.
    pub fn end(&self) -> EvolutionEnd {
        self.end
    }

    /// The time reached.
    pub fn time(&self) -> f64 {
        self.t
    }
}

/// Largest residual `|f (k * (f mu)) - 1|` of an accepted Sinkhorn scaling; the error of the
/// velocities is about as large, relative to their bound.
const SINKHORN_RESIDUAL: f64 = 1e-9;

/// The positive f with `f s(f) = 1`, for a positive linear map `s`, by the symmetric Sinkhorn
/// iteration `f <- sqrt(f / s)` until `|f s - 1|` is below `rounding`. NaN if s is not finite, as
/// after a step that is too long.
///
/// **Errors** a residual above 1e-9 after ten thousand iterations.
fn sinkhorn_scaling(
    n: usize,
    rounding: f64,
    mut s: impl FnMut(&[f64]) -> Vec<f64>,
) -> Result<Vec<f64>> {
    let (mut f, mut residual) = (vec![1.0f64; n], f64::INFINITY);
    for iteration in 0..10_000 {
        let s = s(&f);
        residual = f.iter().zip(&s).fold(0.0, |m, (f, s)| {
            if s.is_finite() { (f * s - 1.0).abs().max(m) } else { f64::INFINITY }
        });
        if residual.is_infinite() {
            // The state itself is not finite, as in a step that will be rejected.
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
    let what = format!(
        "the Sinkhorn scaling stopped with a residual of {residual:.1e}, more than {SINKHORN_RESIDUAL:.0e}"
    );
    Err(Error::Numerical { what })
}

/// `rho log rho` for values of a density; 0 where the density vanishes.
fn negentropy_terms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|r| if *r > 0.0 { r * r.ln() } else { 0.0 }).collect()
}

/// Rejects noise. **Errors** noise: particles that carry their density would need its gradient.
fn reject_noise(dynamics: &MeasureDynamics) -> Result<()> {
    if dynamics.diffusion == 0.0 {
        return Ok(());
    }
    Err(Error::parameter(
        "noise",
        1.0 / dynamics.diffusion,
        "no noise for particles that carry the density",
    ))
}

/// **Errors** an interaction of its own, for methods that know `e^{beta s}` only.
fn reject_interaction(dynamics: &MeasureDynamics) -> Result<()> {
    let Some(own) = &dynamics.interaction else { return Ok(()) };
    Err(Error::parameter(
        "interaction",
        own.interaction().name(),
        "none for this method: series and finite volumes know any interaction",
    ))
}

/// Linear interpolation at `theta` of values on an equispaced grid of the circle that begins at
/// angle `from`.
fn interpolate_linearly(values: &[f64], from: f64, theta: f64) -> f64 {
    let n = values.len();
    let place = (theta - from).rem_euclid(TAU) / TAU * n as f64;
    let (whole, part) = (place.floor() as usize, place.fract());
    (1.0 - part) * values[whole % n] + part * values[(whole + 1) % n]
}

/// `sum m_i v_i`: the mean of values at particles.
fn weighted_mean(masses: &[f64], values: &[f64]) -> f64 {
    masses.iter().zip(values).map(|(m, v)| m * v).sum()
}

/// **Errors** the first value below `-slack` or not finite, with its place.
fn check_non_negative(values: &[f64], slack: f64, place: impl Fn(usize) -> String) -> Result<()> {
    let Some(j) = values.iter().position(|v| !v.is_finite() || *v < -slack) else { return Ok(()) };
    Err(Error::parameter(
        "density",
        format!("{} at {}", values[j], place(j)),
        "finite values >= 0 everywhere",
    ))
}

/// Checks a mass. **Errors** a mass that is not positive.
fn positive_mass(mass: f64) -> Result<f64> {
    if mass > 0.0 {
        Ok(mass)
    } else {
        Err(Error::parameter("density", "no mass", "a positive integral"))
    }
}
