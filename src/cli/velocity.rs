//! `velocity`: the velocity of every token.

use super::input::{DynamicsArguments, TokenArguments};
use super::model::note_blind;
use super::output::{Output, matrix, note, rows};
use crate::attention::kernel::{EXACT, Form, Workspace};
use crate::error::{Error, Result};
use serde_json::json;

/// Flags of `velocity`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable velocity --tokens tokens.csv --dynamics sa --beta 4 --format json
  metastable velocity --tokens tokens.csv --beta 4 --mask window:w=3 --bias alibi
  metastable velocity --tokens points.csv --beta 4 --norm pre --mlp block.npz --activation relu")]
pub struct Arguments {
    #[command(flatten)]
    tokens: TokenArguments,
    #[command(flatten)]
    dynamics: DynamicsArguments,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        out.in_full(self.tokens.full);
        let described = self.dynamics.parts.described()?.seeded(self.tokens.seed());
        if described.shaking.is_some() {
            return Err(Error::parameter("--noise", "--noise", "none: noise has no velocity; `solve` moves tokens with it"));
        }
        self.dynamics.note_past(&self.tokens, &described)?;
        let model = &described.model;
        let x = self.tokens.placed(&described, self.dynamics.parts.radii()?.as_deref())?;
        let (dynamics, taken) = self.dynamics.build(model, &x, EXACT)?;
        let kernel = dynamics.kernel(&x)?;
        let (mut v, mut work) = (vec![0.0; x.numbers().len()], Workspace::default());
        let again = match dynamics.attention() {
            Some(attention) => attention.apply(&x, Form::Tangent, &mut work, &mut v)?,
            None => {
                dynamics.rates(0.0, &x, &mut work, &mut v);
                0
            }
        };
        let name = self.dynamics.entry(model)?.name;
        if v.iter().any(|v| !v.is_finite()) {
            // A time scale helps exponential weights alone; other velocities are as large as the
            // matrices and biases make them.
            let scaled = self.dynamics.normalisation(model)?.is_some();
            let hint = if scaled { "use --time-scale u2 (e^{beta (G-1)}) or sa" } else { "use smaller matrices and radii" };
            return Err(Error::Beyond { quantity: format!("a velocity of {name} at beta = {}", self.dynamics.beta), hint: hint.into() });
        }
        let blind = note_blind(model, &x, self.dynamics.is_causal(model)?)?;
        let (velocities, radial) = v.split_at(x.coordinates().len());
        let mut json = json!({
            "velocity": matrix(velocities, x.d()),
            "n": x.n(),
            "d": x.d(),
            "beta": self.dynamics.beta,
            "dynamics": name,
            "kernel": kernel,
            "accuracy": dynamics.accuracy(),
            "accuracy_of_kernel": taken,
            "rows_evaluated_again": again,
            "normalisation": self.dynamics.normalisation(model)?,
            "tokens_that_see_nothing": blind,
            "model": described,
        });
        if !radial.is_empty() {
            json["radial_velocity"] = json!(radial);
        }
        if 8 * again > x.n() {
            note(&format!(
                "the kernel `{kernel}` did not keep the accuracy {:e} in {again} of {} rows: they are the exact sums",
                dynamics.accuracy(),
                x.n()
            ));
        }
        let mut text = rows(velocities, x.d());
        if !radial.is_empty() {
            text.push_str(&format!("\nradial:\n{}", rows(radial, 1)));
        }
        out.result(&json, &text);
        Ok(0)
    }
}
