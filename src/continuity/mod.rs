//! The measure view: densities on the circle, on S^2 and zonal ones on `S^{d-1}`, moved by the continuity equation
//! `d_t rho + div(rho v[rho]) = (1/kappa) Lap rho`.
//!
//! All densities are relative to the uniform probability measure sigma, so the uniform density is 1. With `W(x) = integral e^{beta <x, y>} d mu(y)` the
//! velocity of USA (U1) is `(1/beta) grad W`, of SA `(1/beta) grad log W`, of Sinkhorn attention `-(1/beta) grad log f` with `f(x) integral e^{beta <x, y>} f d mu = 1`.

pub mod circle;
pub mod density;
pub mod lagrangian;
pub mod probability_flow;
pub mod rings;
pub mod sphere2;
pub mod stationary;
pub mod transport;
pub mod volume;
pub mod zonal;

use crate::error::{Error, Result, in_range};

/// Which attention moves the measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Softmax attention.
    Sa,
    /// Unnormalised attention, in U1.
    Usa,
    /// Doubly stochastic attention.
    Sinkhorn,
}

/// The dynamics of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium {
    /// The attention.
    pub law: Law,
    /// Inverse temperature, of either sign.
    pub beta: f64,
    /// Diffusion constant `1/kappa`; 0 without noise.
    pub diffusion: f64,
}

impl Medium {
    /// Parses a name. **Errors** unknown names, beta outside [-300, 300] (the kernel would leave f64).
    pub fn new(law: &str, beta: f64, diffusion: f64) -> Result<Self> {
        let law = match law {
            "sa" => Law::Sa,
            "usa" => Law::Usa,
            "sinkhorn" => Law::Sinkhorn,
            _ => return Err(Error::unknown("dynamics of a measure", law, ["sa", "usa", "sinkhorn"])),
        };
        in_range("beta", beta, -300.0, 300.0)?;
        in_range("1/kappa", diffusion, 0.0, 1e6)?;
        Ok(Self { law, beta, diffusion })
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
