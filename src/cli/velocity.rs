//! `velocity`: the velocity of every token.

use super::input::{DynamicsArguments, TokenArguments};
use super::output::{Output, matrix, note, rows};
use crate::attention::kernel::{EXACT, Form, Workspace};
use crate::error::{Error, Result};
use serde_json::json;

/// Flags of `velocity`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  metastable velocity --tokens tokens.csv --dynamics sa --beta 4 --format json")]
pub struct Arguments {
    #[command(flatten)]
    tokens: TokenArguments,
    #[command(flatten)]
    dynamics: DynamicsArguments,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let x = self.tokens.tokens()?;
        let dynamics = self.dynamics.build(x.n(), x.d(), EXACT)?;
        let kernel = dynamics.kernel(&x)?;
        let (mut v, mut work) = (vec![0.0; x.numbers().len()], Workspace::default());
        let again = match dynamics.attention() {
            Some(attention) => attention.apply(&x, Form::Tangent, &mut work, &mut v)?,
            None => {
                dynamics.rates(0.0, &x, &mut work, &mut v);
                0
            }
        };
        if v.iter().any(|v| !v.is_finite()) {
            return Err(Error::Beyond {
                quantity: format!("a velocity of {} at beta = {}", self.dynamics.dynamics, self.dynamics.beta),
                hint: "use --time-scale u2 (e^{beta (G-1)}) or sa".into(),
            });
        }
        let json = json!({
            "velocity": matrix(&v, x.d()),
            "n": x.n(),
            "d": x.d(),
            "beta": self.dynamics.beta,
            "dynamics": self.dynamics.entry()?.name,
            "kernel": kernel,
            "accuracy": dynamics.accuracy(),
            "rows_evaluated_again": again,
            "normalisation": self.dynamics.normalisation()?,
        });
        if 8 * again > x.n() {
            note(&format!(
                "the kernel `{kernel}` did not keep the accuracy {:e} in {again} of {} rows: they are the exact sums",
                dynamics.accuracy(),
                x.n()
            ));
        }
        out.result(&json, &rows(&v, x.d()));
        Ok(0)
    }
}
