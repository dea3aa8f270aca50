//! Experiments: validated TOML files. An invalid experiment cannot be built.

use super::method::Method;
use super::model::ModelSpec;
use crate::sphere::mass_law::MassLaw;
use serde::Serialize;

/// Largest grid.
pub const MAX_CELLS: usize = 1_000_000;

/// Part of the id of cells and folders if matrices or noise have no seed of their own. In an
/// earlier version one matrix of seed 1 served all realisations; those results must not be reused.
pub const DRAWN_ANEW: &str = "/drawn anew in every realisation";

/// The built-in experiments: name and text of `experiments/NAME.toml`.
pub static BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// The stepper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stepping {
    /// Error-controlled integration with merging.
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
    /// The stepper.
    pub stepper: Stepping,
    /// Layer steps.
    pub eta: Vec<f64>,
    /// Number of layers (time is then the depth); 0: as many as t_end requires.
    pub layers: usize,
    /// End time.
    pub t_end: f64,
    /// Tolerance of the adaptive stepper.
    pub rtol: f64,
    /// Distance at which tokens merge.
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
    /// With means also the ends of the interval that holds this share of the realisations, column
    /// by column; 0: none.
    #[serde(skip_serializing_if = "is_none")]
    pub band: f64,
    /// The model: space, normalisation, masks, heads, noise.
    #[serde(skip_serializing_if = "ModelSpec::is_plain")]
    pub model: ModelSpec,
    /// All models if they are an axis of the grid (`model` is the first); otherwise empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelSpec>,
    /// Masses of the tokens; empty for equal masses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub masses: Vec<f64>,
    /// Specification of the law of masses; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub mass_law: String,
    /// Integrator, largest number of steps, kernel, accuracy.
    #[serde(skip_serializing_if = "Method::is_usual")]
    pub method: Method,
    /// Try to prove for every start that it converges to one point.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub certify: bool,
    /// The path or built-in name that the user gave; used in the command that reproduces results.
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

    /// The part of a cell's id that all cells share: everything that numbers depend on except the
    /// axes of the grid.
    pub fn shared_key(&self) -> String {
        let tokens = if self.tokens.is_empty() {
            String::new()
        } else {
            super::provenance::hash(format!("{:?}", self.tokens))
        };
        let mut key = serde_json::json!({
            "seed": self.seed, "tokens": tokens, "time_scale": self.time_scale, "realisations": self.realisations, "stepper": self.stepper,
            "layers": self.layers, "t_end": self.t_end, "rtol": self.rtol, "merge_radius": self.merge_radius,
            "stop_at_one_cluster": self.stop_at_one_cluster, "times": self.times, "samples": self.samples, "log_from": self.log_from,
            "observables": self.observables, "mean": self.mean,
        });
        // If models are an axis, each is part of its cell.
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

    /// The law of masses, if there is one.
    pub fn law_of_masses(&self) -> Option<MassLaw> {
        MassLaw::parse(&self.mass_law)?.ok()
    }

    /// The models of the grid, at least one.
    pub fn all_models(&self) -> &[ModelSpec] {
        if self.models.is_empty() { std::slice::from_ref(&self.model) } else { &self.models }
    }

    /// The model of the cells with this label.
    pub fn model_of(&self, label: &str) -> &ModelSpec {
        self.models.iter().find(|m| m.label(&self.models) == label).unwrap_or(&self.model)
    }

    /// The experiment with all defaults as JSON. This text is hashed and stored.
    pub fn resolved(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Name of the folder of results: the name of the experiment and a hash of its settings and the
    /// numerical version.
    pub fn folder(&self) -> String {
        let drawn =
            if self.all_models().iter().any(ModelSpec::needs_seed) { DRAWN_ANEW } else { "" };
        let key = format!(
            "{}/{}/{}{drawn}",
            super::provenance::NUMERICAL_VERSION,
            super::provenance::FORMAT,
            self.resolved()
        );
        format!("{}-{}", self.name, &super::provenance::hash(key)[..12])
    }
}
