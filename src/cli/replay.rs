//! `replay`: evaluate a counterexample again, with both integrators.

use super::output::Output;
use crate::error::Result;
use crate::lab::Counterexample;
use crate::theorem::{Finding, confirm};
use serde_json::json;
use std::path::PathBuf;

/// Flags of `replay`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  metastable replay runs/hunt/cone-speed-printed.json")]
pub struct Arguments {
    /// A file written by `hunt`.
    file: PathBuf,
}

impl Arguments {
    /// Runs it: 0 when the claim fails again and that is confirmed, 3 when not.
    pub fn run(self, out: &Output) -> Result<i32> {
        let file = Counterexample::read(&self.file)?;
        let (claim, again) = file.evaluate()?;
        let confirmation = confirm(claim, &again, file.seed)?;
        let (margin, error) = match &again.finding {
            Finding::Margin(m) => (Some(m.value), Some(m.error())),
            _ => (None, None),
        };
        let found = match &again.finding {
            Finding::Margin(m) => format!("margin {:.6e}, error {:.1e}", m.value, m.error()),
            Finding::Answer(yes) => format!("the answer is {}", if *yes { "yes" } else { "no" }),
            Finding::Missed => "the draw misses the hypotheses".into(),
            Finding::Unfinished(why) => format!("the trial did not finish: {why}"),
        };
        let confirmed = again.failed() && confirmation.holds();
        let text = format!(
            "{}\n{}\n  {}\n  {found} (written: {})\n  {}",
            claim.name,
            claim.statement,
            again.case,
            file.margin.map_or("no".into(), |m| format!("{m:.6e}")),
            if again.failed() { format!("violated, {confirmation}") } else { "not violated".to_owned() },
        );
        out.result(
            &json!({"claim": claim.name, "margin": margin, "error": error, "written_margin": file.margin, "confirmed": confirmed, "confirmed_by": confirmation.by, "against": confirmation.against}),
            &text,
        );
        Ok(if confirmed { 0 } else { 3 })
    }
}
