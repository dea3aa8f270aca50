//! Settings of a run, named as the flags of `metastable solve`.

use crate::pair_weights::PairWeights;
use metastable::attention::model::Model;
use metastable::attention::noise::Isotropic;
use metastable::flow::velocity_accuracy;
use metastable::num::simd::Isa;
use metastable::prelude::*;
use metastable::{Error, Result};
use serde::Deserialize;

/// Largest number of coordinates: with more, the page would not respond.
const MAX_COORDINATES: usize = 1 << 16;

/// One run.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub n: usize,
    pub d: usize,
    pub beta: f64,
    /// Name of a registered dynamics.
    pub dynamics: String,
    /// Time normalisation of USA; `u1` elsewhere.
    pub time_scale: String,
    /// Interaction, by name or formula; empty for `e^{beta s}`.
    pub interaction: String,
    /// Normalisation; empty for plain attention on the sphere.
    pub norm: String,
    /// Noise of variance `2 h / kappa` per step h; 0 for none.
    pub kappa: f64,
    /// Step length h with noise.
    pub step: f64,
    /// Law of the initial tokens.
    pub init: String,
    /// Coordinates of the initial tokens, row by row; replaces `init`.
    pub tokens: Vec<f64>,
    /// Angles of the initial tokens on the circle; replaces `init` and `tokens`.
    pub angles: Vec<f64>,
    /// Masses, not normalised; equal if empty.
    pub masses: Vec<f64>,
    pub seed: u64,
    pub t_end: f64,
    pub rtol: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            n: 32,
            d: 2,
            beta: 9.0,
            dynamics: "sa".into(),
            time_scale: "u1".into(),
            interaction: String::new(),
            norm: String::new(),
            kappa: 0.0,
            step: 0.01,
            init: "uniform".into(),
            tokens: Vec::new(),
            angles: Vec::new(),
            masses: Vec::new(),
            seed: 1,
            t_end: 1e6,
            rtol: 1e-10,
        }
    }
}

impl Settings {
    fn model(&self) -> Model {
        Model {
            normalisation: Some(self.norm.clone()).filter(|n| !n.is_empty()),
            interaction: Some(self.interaction.clone()).filter(|i| !i.is_empty()),
            ..Model::default()
        }
    }

    /// The initial tokens: the same as those of `metastable solve` with the same flags.
    pub fn start(&self) -> Result<Tokens> {
        if self.n.saturating_mul(self.d) > MAX_COORDINATES || self.n == 0 {
            return Err(Error::Parameter {
                name: "n".into(),
                found: format!("{} tokens in dimension {}", self.n, self.d),
                expected: format!(
                    "1 token or more, and at most {MAX_COORDINATES} coordinates in a browser"
                ),
            });
        }
        let x = if !self.angles.is_empty() {
            Tokens::from_angles(&self.angles)?
        } else if !self.tokens.is_empty() {
            Tokens::normalised(self.d, self.tokens.clone())?
        } else {
            Law::parse(&self.init)?.sample(
                self.n,
                self.d,
                &mut Stream::new(self.seed, &["cli", "init"]),
            )?
        };
        let x = self.model().tokens_from_unit_vectors(&x, None)?;
        if self.masses.is_empty() { Ok(x) } else { x.with_masses(&self.masses) }
    }

    /// The dynamics, with the portable kernels.
    pub fn dynamics(&self, accuracy: f64) -> Result<Dynamics> {
        let time_scale = TimeScale::parse(&self.time_scale)?;
        let spec =
            Spec { time_scale, accuracy, isa: Isa::Portable, ..Spec::new(self.beta, self.n) };
        self.model().build(&self.dynamics, false, &spec, self.d)
    }

    /// What tokens weigh each other by, for the numbers beside the run.
    pub fn pair_weights(&self) -> Result<PairWeights> {
        PairWeights::new(&self.interaction, self.beta)
    }

    /// The accuracy of velocities in a run.
    pub fn accuracy(&self) -> f64 {
        velocity_accuracy(self.rtol, self.beta)
    }

    /// The noise, if `kappa` is positive.
    pub fn noise(&self) -> Result<Option<Isotropic>> {
        if self.kappa > 0.0 { Isotropic::new(self.kappa).map(Some) } else { Ok(None) }
    }
}
