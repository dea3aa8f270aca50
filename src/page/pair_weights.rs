//! What tokens weigh each other by: `e^{beta s}`, or an interaction.

use metastable::Result;
use metastable::attention::interaction::{Interaction, InteractionEnergy};
use metastable::prelude::*;

/// Number of inner products at which the least and the largest W are searched.
const SAMPLES: u32 = 2000;

/// The weights of a run.
pub enum PairWeights {
    /// `e^{beta s}`.
    Exponential { beta: f64 },
    /// An interaction with its energy, and the least and the largest W.
    Own { energy: Box<InteractionEnergy>, least: f64, most: f64 },
}

impl PairWeights {
    /// The weights of an interaction, or of `e^{beta s}` if its text is empty.
    pub fn new(interaction: &str, beta: f64) -> Result<Self> {
        if interaction.is_empty() {
            return Ok(Self::Exponential { beta });
        }
        let phi = Interaction::parse(interaction, &[("beta", beta)])?;
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for k in 0..=SAMPLES {
            let w = phi.potential(2.0 * f64::from(k) / f64::from(SAMPLES) - 1.0);
            (least, most) = (least.min(w), most.max(w));
        }
        Ok(Self::Own { energy: Box::new(InteractionEnergy::new(phi)), least, most })
    }

    /// The energy: of `e^{beta s}` divided by that of one cluster; of an interaction the mean of W,
    /// 0 at the least W and 1 at the largest.
    pub fn energy(&self, x: &Tokens) -> Result<f64> {
        Ok(match self {
            Self::Exponential { beta } => Energy::new(*beta, EnergyScale::Unit).log_value(x)?.exp(),
            Self::Own { energy, least, most } => {
                let width = (most - least).max(f64::MIN_POSITIVE);
                (2.0 * energy.value(x) - least) / width
            }
        })
    }

    /// The weight of a pair with inner product s, up to a factor.
    pub fn weight(&self, s: f64) -> f64 {
        match self {
            Self::Exponential { beta } => (beta * (s - 1.0)).exp(),
            Self::Own { energy, .. } => energy.interaction().value(s).unwrap_or(f64::NAN),
        }
    }

    /// Linking distance of clusters: half a kernel width, as in the observable `clusters`.
    pub fn cluster_radius(&self) -> f64 {
        match self {
            Self::Exponential { beta } => 0.5 * beta.abs().max(1.0).powf(-0.5),
            Self::Own { energy, .. } => 0.5 * energy.interaction().length_scale(),
        }
    }
}
