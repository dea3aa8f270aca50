//! The cells of an experiment: the points of its grid.

use super::experiment::{DRAWN_ANEW, Experiment, Stepping};
use super::provenance::{FORMAT, NUMERICAL_VERSION, hash};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// One point of the grid with all its settings. Its id is the hash of everything that its numbers
/// depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Registered dynamics.
    pub dynamics: String,
    /// Law of initial tokens; empty for explicit tokens.
    pub init: String,
    /// Tokens.
    pub n: usize,
    /// Ambient dimension.
    pub d: usize,
    /// Inverse temperature.
    pub beta: f64,
    /// Layer step as text (JSON has no infinity).
    pub eta: String,
    /// The settings of its model in the keys in which the models of the grid differ; empty if there
    /// is one model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
}

impl Cell {
    /// The text that identifies the cell inside an experiment: everything that its numbers depend
    /// on.
    pub fn id(&self, experiment: &Experiment) -> String {
        let mut cell = serde_json::to_string(self).unwrap_or_default();
        if !self.model.is_empty() {
            // The whole model with its files: the label depends on the other models of the grid.
            cell = serde_json::to_string(&(
                Self { model: String::new(), ..self.clone() },
                experiment.model_of(&self.model),
            ))
            .unwrap_or_default();
        }
        if experiment.model_of(&self.model).needs_seed() {
            cell.push_str(DRAWN_ANEW);
        }
        hash(format!("{NUMERICAL_VERSION}/{FORMAT}/{}/{cell}", experiment.shared_key()))[..16]
            .to_owned()
    }

    /// The layer step.
    ///
    /// **Errors** a text that is no number in `[0, inf]` (a damaged record).
    pub fn eta(&self) -> Result<f64> {
        let step = self.eta.parse::<f64>().ok().filter(|eta| *eta >= 0.0);
        step.ok_or_else(|| Error::parameter("eta", &self.eta, "a number >= 0, or inf"))
    }

    /// Key of the random streams of the cell. It holds the law and the shape but not beta, so that
    /// a sweep over beta uses common random numbers.
    pub fn stream_key(&self) -> String {
        format!("{}/{}x{}", self.init, self.n, self.d)
    }

    /// A readable name.
    pub fn label(&self) -> String {
        let model = if self.model.is_empty() { String::new() } else { format!(" {}", self.model) };
        format!("{} n={} d={} beta={}{model}", self.dynamics, self.n, self.d, self.beta)
    }
}

/// All cells in grid order.
pub fn plan(experiment: &Experiment) -> Vec<Cell> {
    let mut cells = Vec::new();
    let etas: Vec<String> = match experiment.stepper {
        Stepping::Layer => experiment.eta.iter().map(ToString::to_string).collect(),
        Stepping::MeanShift => vec!["inf".into()],
        Stepping::Adaptive => vec!["0".into()],
    };
    let inits =
        if experiment.tokens.is_empty() { experiment.init.clone() } else { vec![String::new()] };
    let labels = experiment.models.iter().map(|m| m.label(&experiment.models));
    let models: Vec<String> =
        if experiment.models.is_empty() { vec![String::new()] } else { labels.collect() };
    for dynamics in &experiment.dynamics {
        for init in &inits {
            for &n in &experiment.n {
                let size = n as f64;
                let scaled = experiment
                    .beta_per_n
                    .iter()
                    .map(|c| c / size)
                    .chain(experiment.beta_per_n2.iter().map(|c| c * size * size));
                let betas: Vec<f64> = experiment.beta.iter().copied().chain(scaled).collect();
                for &d in &experiment.d {
                    for &beta in &betas {
                        for eta in &etas {
                            for model in &models {
                                let (dynamics, init, eta, model) =
                                    (dynamics.clone(), init.clone(), eta.clone(), model.clone());
                                cells.push(Cell { dynamics, init, n, d, beta, eta, model });
                            }
                        }
                    }
                }
            }
        }
    }
    // The same point may come from two lists (beta and beta_per_n); it is one cell.
    let mut seen = std::collections::BTreeSet::new();
    cells.retain(|c| seen.insert(format!("{c:?}")));
    cells
}
