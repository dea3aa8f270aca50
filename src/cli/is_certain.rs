//! `is-certain`: which theorems already decide where given tokens end.

use super::input::TokenArguments;
use super::output::Output;
use crate::attention::dynamics::{self, MAX_BETA};
use crate::attention::{Energy, EnergyScale};
use crate::error::{Error, Result, in_range};
use crate::landscape::critical::unrest;
use crate::theory::certain::decisions;
use serde_json::json;

/// Flags of `is-certain`.
#[derive(clap::Args)]
#[command(after_help = "Example:
  metastable is-certain --tokens tokens.csv --beta 4
Exit code 0: a theorem decides the end of this very start, and the certificate is printed; 3: none does. `certify --converges` may still prove it.")]
pub struct Arguments {
    #[command(flatten)]
    tokens: TokenArguments,
    /// Inverse temperature.
    #[arg(long, allow_hyphen_values = true)]
    beta: f64,
    /// sa or usa; the theorems say the same of both.
    #[arg(long, default_value = "sa")]
    dynamics: String,
}

/// Unrest below which tokens are at rest to rounding.
const REST: f64 = 1e-14;

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        out.in_full(self.tokens.full);
        let beta = in_range("--beta", self.beta, -MAX_BETA, MAX_BETA)?;
        let entry = dynamics::find(&self.dynamics, false)?;
        if entry.variant.is_none_or(|v| v.mutual_weights().is_none()) {
            return Err(Error::parameter("--dynamics", &self.dynamics, "dynamics whose tokens all see each other: sa or usa"));
        }
        let x = self.tokens.tokens()?;
        let (all, open) = decisions(&x, beta);
        let rest = unrest(beta, &x);
        let decided = all.iter().any(|d| d.this_start && d.holds);
        let json = json!({
            "decided": decided, "n": x.n(), "d": x.d(), "beta": beta, "dynamics": entry.name,
            "hemisphere": open.as_ref().map(|(w, margin)| json!({"w": w, "margin": margin})),
            "at_rest": rest < REST, "unrest": rest, "log_energy": Energy::new(beta, EnergyScale::Unit).log_value(&x)?,
            "theorems": all.iter().map(|d| json!({"statement": d.statement, "this_start": d.this_start, "holds": d.holds, "hypothesis": d.hypothesis, "citation": d.citation})).collect::<Vec<_>>(),
        });
        let mut text = if decided {
            "decided: this start converges to one point\n".to_owned()
        } else if rest < REST && x.n() > 1 {
            "not decided by these theorems: the tokens are at rest to rounding, at a critical point of the energy\n".to_owned()
        } else {
            "not decided for this very start; what holds below holds for almost every start\n".to_owned()
        };
        // What does not hold is worth a line only where it is about these tokens.
        for d in all.iter().filter(|d| d.holds || d.this_start) {
            let mark = if d.holds { "holds" } else { "fails" };
            let so = if d.holds { format!(": {}", d.statement) } else { String::new() };
            text.push_str(&format!("  {mark}: {}\n      {}{so}\n", d.hypothesis, d.citation));
        }
        if let Some((w, _)) = &open {
            text.push_str(&format!("certificate: w = {}\n", super::output::vector(w)));
        }
        out.result(&json, &text);
        Ok(if decided { 0 } else { 3 })
    }
}
