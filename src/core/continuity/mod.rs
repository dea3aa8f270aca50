//! The measure view: densities on the circle, on S^2 and zonal ones on `S^{d-1}`, moved by the continuity equation
//! `d_t rho + div(rho v[rho]) = (1/kappa) Lap rho`.
//!
//! All densities are relative to the uniform probability measure sigma, so the uniform density is 1. With `W(x) = integral e^{beta <x, y>} d mu(y)` the
//! velocity of USA (U1) is `(1/beta) grad W`, of SA `(1/beta) grad log W`, of Sinkhorn attention `-(1/beta) grad log f` with `f(x) integral e^{beta <x, y>} f d mu = 1`.

pub mod circle;
pub mod density;
pub mod flow_map;
mod kernel_panels;
pub mod lagrangian;
mod legs;
pub mod probability_flow;
pub mod rings;
pub mod sphere2;
pub mod stationary;
pub mod transport;
pub mod volume;
pub mod zonal;

use crate::attention::RowWeights;
use crate::error::{Error, Result, in_range};

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

impl Limits {
    /// How long a leg of a series is, in times of the steepest gradient; another length for another tolerance, or both would take the same steps.
    fn leg(self) -> f64 {
        if self.relax > 1.0 { 0.3 } else { 0.2 }
    }
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

/// Largest `|f s - 1|`; infinite where one is not a number.
fn scaling_residual(f: &[f64], s: &[f64]) -> f64 {
    f.iter().zip(s).map(|(f, s)| (f * s - 1.0).abs()).fold(0.0, |m, r| if r.is_finite() { m.max(r) } else { f64::INFINITY })
}

/// Refuses the result of a step whose Sinkhorn scalings did not converge. **Errors** a residual above 1e-9, or none at all.
fn scaling_converged(residual: f64) -> Result<()> {
    if residual <= SINKHORN_RESIDUAL {
        return Ok(());
    }
    Err(Error::Numerical {
        what: format!("the Sinkhorn scaling stopped with a residual of {residual:.1e}, more than {SINKHORN_RESIDUAL:.0e}"),
    })
}
