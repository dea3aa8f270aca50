//! `velocity`: the velocity of every token.

use super::input::{DynamicsArguments, TokenArguments};
use super::model_flags::note_tokens_without_keys;
use super::output::{matrix, note, rows, set_all_digits};
use crate::attention::kernel::{EXACT_ACCURACY, OutputForm, Workspace};
use crate::error::{Error, Result};
use crate::operation::{Answer, Operation, Parameters, Rows, Table, column};
use crate::parameters;
use serde_json::json;

parameters! {
    /// Parameters of `velocity`.
    struct Velocity {
        ..tokens: TokenArguments;
        ..dynamics: DynamicsArguments;
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "velocity",
    group: "Simulate",
    summary: "Velocity of every token",
    notes: "Examples:
  metastable velocity --tokens tokens.csv --dynamics sa --beta 4 --format json
  metastable velocity --tokens tokens.csv --beta 4 --model mask=window:w=3 --model bias=alibi
  metastable velocity --tokens tokens.csv --dynamics usa --beta 1 --interaction power:p=3 \\
      --coupling d.csv
  metastable velocity --tokens points.csv --beta 4 --model norm=pre --model mlp=block.npz",
    parameters: Velocity::table,
    results: &[
        column("n", "number of tokens"),
        column("d", "ambient dimension"),
        column("beta", "inverse temperature"),
        column("dynamics", "name of the dynamics"),
        column("kernel", "algorithm of the kernel sums"),
        column("accuracy", "bound on the relative error of a velocity"),
        column("accuracy_of_kernel", "accuracy that a named kernel reaches, if it is worse"),
        column("rows_recomputed", "rows that were recomputed by exact sums"),
        column("normalisation", "time normalisation of USA; null for other dynamics"),
        column("tokens_without_keys", "tokens that see no key under the mask"),
        column("model", "keys of the model and hashes of its files"),
    ],
    tables: &[Table {
        name: "velocities",
        what: "one row for each token",
        rows: Rows::Lists,
        columns: &[
            column("velocity", "the velocity"),
            column("radial_velocity", "velocity of the radius, for spaces with radii"),
        ],
    }],
    run: |given, _| Velocity::of(given)?.run(),
    ..Operation::EMPTY
};

impl Velocity {
    fn run(self) -> Result<Answer> {
        set_all_digits(self.tokens.all_digits);
        let model_spec = self.dynamics.parts.model_spec()?.with_seed(self.tokens.seed());
        if model_spec.noise_settings.is_some() {
            return Err(Error::parameter("--noise", "--noise", "none: only `solve` uses noise"));
        }
        self.dynamics.note_past(&self.tokens, &model_spec)?;
        let model = &model_spec.model;
        let x = self.tokens.placed(&model_spec, self.dynamics.parts.radii()?.as_deref())?;
        let (dynamics, taken) = self.dynamics.build(model, &x, EXACT_ACCURACY)?;
        let kernel = dynamics.kernel(&x)?;
        let (mut v, mut work) = (vec![0.0; x.numbers().len()], Workspace::default());
        let again = match dynamics.attention() {
            Some(attention) => attention.apply(&x, OutputForm::Tangent, &mut work, &mut v)?,
            None => {
                dynamics.rates(0.0, &x, &mut work, &mut v);
                0
            }
        };
        let name = self.dynamics.entry(model)?.name;
        if v.iter().any(|v| !v.is_finite()) {
            // Another time scale helps only with exponential weights.
            let scaled = self.dynamics.normalisation(model)?.is_some();
            let hint = if scaled {
                "use --time-scale u2 (e^{beta (G-1)}) or sa"
            } else {
                "use smaller matrices and radii"
            };
            return Err(Error::Beyond {
                quantity: format!("a velocity of {name} at beta = {}", self.dynamics.beta()),
                hint: hint.into(),
            });
        }
        let blind = note_tokens_without_keys(model, &x, self.dynamics.is_causal(model)?)?;
        let (accuracy, by_formula) = dynamics.keep_small_weights(&x, &mut v)?;
        let kernel = if by_formula { "formula" } else { kernel };
        let (velocities, radial) = v.split_at(x.coordinates().len());
        let mut json = json!({
            "velocity": matrix(velocities, x.d()),
            "n": x.n(),
            "d": x.d(),
            "beta": self.dynamics.beta,
            "dynamics": name,
            "kernel": kernel,
            "accuracy": accuracy,
            "accuracy_of_kernel": taken,
            "rows_recomputed": again,
            "normalisation": self.dynamics.normalisation(model)?,
            "tokens_without_keys": blind,
            "model": model_spec,
        });
        if !radial.is_empty() {
            json["radial_velocity"] = json!(radial);
        }
        if accuracy > 1e3 * dynamics.accuracy() {
            note(&format!(
                "the weights of this interaction are accurate relative to the largest one: the smallest \
                 velocity has a relative error of up to {accuracy:.0e}"
            ));
        }
        if 8 * again > x.n() {
            note(&format!(
                "the kernel `{kernel}` did not reach the accuracy {:e} in {again} of {} rows; these were recomputed exactly",
                dynamics.accuracy(),
                x.n()
            ));
        }
        let mut text = rows(velocities, x.d());
        if !radial.is_empty() {
            text.push_str(&format!("\nradial:\n{}", rows(radial, 1)));
        }
        Ok(Answer::new(json, text))
    }
}
