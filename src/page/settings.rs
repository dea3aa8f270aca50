//! What the page asks for: the flags of `metastable solve`, by the same names.

use metastable::attention::model::Model;
use metastable::attention::noise::Isotropic;
use metastable::flow::velocity_accuracy;
use metastable::num::simd::Level;
use metastable::prelude::*;
use metastable::{Error, Result};
use serde::Deserialize;

/// The most tokens times dimensions: beyond, a page would not answer.
const MOST: usize = 1 << 16;

/// One run.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub n: usize,
    pub d: usize,
    pub beta: f64,
    /// Registered dynamics.
    pub dynamics: String,
    /// Time normalisation of USA; `u1` elsewhere.
    pub time_scale: String,
    /// Normalisation; empty for plain attention on the sphere.
    pub norm: String,
    /// Noise of variance `2 h / kappa`; 0 for none.
    pub kappa: f64,
    /// Length of its steps.
    pub step: f64,
    /// Law of initial tokens.
    pub init: String,
    /// Their coordinates instead, row by row.
    pub tokens: Vec<f64>,
    /// Their angles on the circle instead.
    pub angles: Vec<f64>,
    /// Masses, not normalised; equal where there are none.
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
        Model { normalisation: Some(self.norm.clone()).filter(|n| !n.is_empty()), ..Model::default() }
    }

    /// The initial tokens, those of `metastable solve` with the same flags.
    pub fn start(&self) -> Result<Tokens> {
        if self.n.saturating_mul(self.d) > MOST || self.n == 0 {
            return Err(Error::Parameter {
                name: "n".into(),
                found: format!("{} tokens in dimension {}", self.n, self.d),
                expected: format!("1 token or more, and at most {MOST} coordinates in a browser"),
            });
        }
        let x = if !self.angles.is_empty() {
            Tokens::from_angles(&self.angles)?
        } else if !self.tokens.is_empty() {
            Tokens::normalised(self.d, self.tokens.clone())?
        } else {
            Law::parse(&self.init)?.sample(self.n, self.d, &mut Stream::new(self.seed, &["cli", "init"]))?
        };
        let x = self.model().settle(&x, None)?;
        if self.masses.is_empty() { Ok(x) } else { x.with_masses(&self.masses) }
    }

    /// The dynamics; sums by the portable kernels, as everywhere without vector instructions.
    pub fn dynamics(&self, accuracy: f64) -> Result<Dynamics> {
        let time_scale = TimeScale::parse(&self.time_scale)?;
        let spec = Spec { time_scale, accuracy, level: Level::Portable, ..Spec::new(self.beta, self.n) };
        self.model().build(&self.dynamics, false, &spec, self.d)
    }

    /// The accuracy of velocities in a run.
    pub fn accuracy(&self) -> f64 {
        velocity_accuracy(self.rtol, self.beta)
    }

    /// The noise, where there is some.
    pub fn noise(&self) -> Result<Option<Isotropic>> {
        if self.kappa > 0.0 { Isotropic::new(self.kappa).map(Some) } else { Ok(None) }
    }
}
