//! An experiment: a validated TOML file, which cannot be built invalid.

use super::computation::Computation;
use super::model::Described;
use crate::sphere::mass_law::MassLaw;
use serde::Serialize;

/// Largest grid.
pub const MAX_CELLS: usize = 1_000_000;

/// Part of the identity of cells and folders with matrices or noise without a seed of their own.
/// One matrix, of seed 1, served all realisations once: results of that time are not taken for
/// those of now.
pub const DRAWN_ANEW: &str = "/drawn anew in every realisation";

/// The experiments that come with the program: name and text of `experiments/NAME.toml`.
pub static BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// How tokens move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stepping {
    /// Error-controlled integration with coalescence.
    Adaptive,
    /// Residual layers with step eta.
    Layer,
    /// Layers with eta = infinity.
    MeanShift,
}

/// A validated experiment, all defaults filled in. Lists are axes of the grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// Name, also of its folder.
    pub name: String,
    /// One sentence.
    pub title: String,
    /// Root seed.
    pub seed: u64,
    /// Dynamics.
    pub dynamics: Vec<String>,
    /// Laws of initial tokens (canonical specifications).
    pub init: Vec<String>,
    /// Explicit initial tokens instead of a law.
    pub tokens: Vec<Vec<f64>>,
    /// Tokens per system.
    pub n: Vec<usize>,
    /// Ambient dimensions.
    pub d: Vec<usize>,
    /// Inverse temperatures.
    pub beta: Vec<f64>,
    /// Inverse temperatures as multiples of 1/n.
    pub beta_per_n: Vec<f64>,
    /// Inverse temperatures as multiples of n^2.
    pub beta_per_n2: Vec<f64>,
    /// Time normalisation of USA.
    pub time_scale: String,
    /// Realisations per cell.
    pub realisations: usize,
    /// How tokens move.
    pub stepper: Stepping,
    /// Layer steps.
    pub eta: Vec<f64>,
    /// Number of layers (then time is depth); 0: as many as t_end needs.
    pub layers: usize,
    /// End time.
    pub t_end: f64,
    /// Tolerance of the adaptive stepper.
    pub rtol: f64,
    /// Coalescence radius.
    pub merge_radius: f64,
    /// Stop at one cluster.
    pub stop_at_one_cluster: bool,
    /// Explicit sample times.
    pub times: Vec<f64>,
    /// Number of sample times when none are given.
    pub samples: usize,
    /// Sample times equally spaced in log t from here; 0: linear.
    pub log_from: f64,
    /// Observables.
    pub observables: Vec<String>,
    /// Average tables over realisations.
    pub mean: bool,
    /// Beside means the ends of this share of the realisations, column by column; 0: none.
    #[serde(skip_serializing_if = "is_none")]
    pub band: f64,
    /// What the dynamics is part of: a space, a normalisation, masks, heads, noise.
    #[serde(skip_serializing_if = "Described::is_plain")]
    pub model: Described,
    /// All models where they are an axis of the grid, `model` the first of them; else none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<Described>,
    /// Masses of the tokens; equal ones when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub masses: Vec<f64>,
    /// Law of masses (its specification); empty where there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub mass_law: String,
    /// Integrator, budget of steps, kernel, accuracy.
    #[serde(skip_serializing_if = "Computation::is_usual")]
    pub method: Computation,
    /// Every start is tried to be proved to converge to one point.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub certify: bool,
    /// How the user named it: a path or a built-in name; part of the reproduce line only.
    #[serde(skip)]
    pub source: String,
}

fn is_none(share: &f64) -> bool {
    *share <= 0.0
}

impl Experiment {
    /// Number of cells, or `None` when it overflows.
    pub fn size(&self) -> Option<usize> {
        let betas = self.beta.len() + self.beta_per_n.len() + self.beta_per_n2.len();
        let etas = if self.stepper == Stepping::Layer { self.eta.len() } else { 1 };
        let models = self.models.len().max(1);
        [self.dynamics.len(), self.init.len(), self.n.len(), self.d.len(), betas, etas, models]
            .iter()
            .try_fold(1usize, |a, b| a.checked_mul(*b))
    }

    /// What all cells share, for their identity: everything that decides numbers except the axes of the grid.
    pub fn shared_key(&self) -> String {
        let tokens = if self.tokens.is_empty() { String::new() } else { super::provenance::hash(format!("{:?}", self.tokens)) };
        let mut key = serde_json::json!({
            "seed": self.seed, "tokens": tokens, "time_scale": self.time_scale, "realisations": self.realisations, "stepper": self.stepper,
            "layers": self.layers, "t_end": self.t_end, "rtol": self.rtol, "merge_radius": self.merge_radius,
            "stop_at_one_cluster": self.stop_at_one_cluster, "times": self.times, "samples": self.samples, "log_from": self.log_from,
            "observables": self.observables, "mean": self.mean,
        });
        // A model of an axis is part of its cells.
        if !self.model.is_plain() && self.models.is_empty() {
            key["model"] = serde_json::json!(self.model);
        }
        if !is_none(&self.band) {
            key["band"] = serde_json::json!(self.band);
        }
        if !self.masses.is_empty() {
            key["masses"] = serde_json::json!(self.masses);
        }
        if !self.mass_law.is_empty() {
            key["mass_law"] = serde_json::json!(self.mass_law);
        }
        if !self.method.is_usual() {
            key["method"] = serde_json::json!(self.method);
        }
        if self.certify {
            key["certify"] = serde_json::json!(true);
        }
        key.to_string()
    }

    /// The law of masses, where there is one.
    pub fn law_of_masses(&self) -> Option<MassLaw> {
        MassLaw::parse(&self.mass_law)?.ok()
    }

    /// The models of the grid, at least one.
    pub fn all_models(&self) -> &[Described] {
        if self.models.is_empty() { std::slice::from_ref(&self.model) } else { &self.models }
    }

    /// The model of the cells with this label.
    pub fn model_of(&self, label: &str) -> &Described {
        self.models.iter().find(|m| m.label(&self.models) == label).unwrap_or(&self.model)
    }

    /// The resolved configuration as JSON: what is hashed and stored.
    pub fn resolved(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Name of its results folder: the name and the hash of the resolved configuration with the numerical version.
    pub fn folder(&self) -> String {
        let drawn = if self.all_models().iter().any(Described::lacks_seed) { DRAWN_ANEW } else { "" };
        let key = format!("{}/{}/{}{drawn}", super::provenance::NUMERICAL_VERSION, super::provenance::FORMAT, self.resolved());
        format!("{}-{}", self.name, &super::provenance::hash(key)[..12])
    }
}
