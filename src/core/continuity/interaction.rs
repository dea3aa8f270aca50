//! An interaction `phi(<x, y>)` as the kernel of a measure: its Funk-Hecke coefficients.

use crate::attention::interaction::Interaction;
use crate::error::Result;
use crate::theory::interaction::funk_hecke;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Largest degree of the coefficients of an interaction with kinks; those above are set to 0.
const MAX_DEGREE: usize = 4096;

/// The coefficients of one interaction on one sphere.
#[derive(Debug)]
pub(super) struct Coefficients {
    /// `lambda_k(phi)`.
    pub weights: Vec<f64>,
    /// `lambda_k(W)` with `W' = phi`; the entry of degree 0 is not used.
    pub potential: Vec<f64>,
    /// Largest error of a coefficient of phi.
    pub error: f64,
}

/// An interaction that moves a measure. Coefficients are computed once for each dimension.
pub struct MeasureInteraction {
    phi: Interaction,
    known: Mutex<BTreeMap<usize, Arc<Coefficients>>>,
}

impl fmt::Debug for MeasureInteraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MeasureInteraction").field(&self.phi.name()).finish()
    }
}

impl MeasureInteraction {
    /// From an interaction.
    pub fn new(phi: Interaction) -> Self {
        Self { phi, known: Mutex::default() }
    }

    /// The interaction.
    pub fn interaction(&self) -> &Interaction {
        &self.phi
    }

    /// The largest error of a Funk-Hecke coefficient of phi up to this degree: the difference of
    /// two quadratures, plus rounding.
    ///
    /// **Errors** as [`funk_hecke`].
    pub fn coefficients_error(&self, d: usize, modes: usize) -> Result<f64> {
        Ok(self.coefficients(d, modes)?.error)
    }

    /// Coefficients up to this degree or higher. Between kinks phi is a polynomial to rounding: the
    /// coefficients above its degree are 0 without a kink. `lambda_k(W) = lambda_{k-1}(W') / d`
    /// with the second in dimension d + 2, by Rodrigues' formula.
    pub(super) fn coefficients(&self, d: usize, modes: usize) -> Result<Arc<Coefficients>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&d).filter(|c| c.weights.len() > modes) {
            return Ok(found.clone());
        }
        let most = if self.phi.series().len() > 1 { MAX_DEGREE } else { self.phi.terms() };
        let degree = modes.min(most);
        let (own, raised) =
            (funk_hecke(&self.phi, d, degree)?, funk_hecke(&self.phi, d + 2, degree)?);
        let mut weights: Vec<f64> = own.iter().map(|c| c.value).collect();
        let mut potential = vec![0.0];
        potential.extend(raised.iter().map(|c| c.value / d as f64));
        weights.resize(modes + 1, 0.0);
        potential.resize(modes + 1, 0.0);
        let error = own.iter().map(|c| c.error).fold(0.0, f64::max);
        let found = Arc::new(Coefficients { weights, potential, error });
        known.insert(d, found.clone());
        Ok(found)
    }
}
