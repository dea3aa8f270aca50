//! `modes`: local maxima of kernel density estimates, with a proof of their number.

use super::output::{Output, note};
use crate::clusters::modes;
use crate::error::{Error, Result};
use crate::lab::arrays;
use serde_json::json;
use std::path::PathBuf;

/// Flags of `modes`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable modes --samples x.csv --beta 100
  metastable modes --samples angles.npy --beta 50 --circle --format json
Without a proof the number is called at_least, and the exit code is 3.")]
pub struct Arguments {
    /// Samples, one number per row (CSV, NPY, NPZ); angles in radians with --circle.
    #[arg(long, value_name = "FILE")]
    samples: PathBuf,
    /// Array of an NPZ file.
    #[arg(long, value_name = "NAME")]
    array: Option<String>,
    /// Inverse temperature: bandwidth beta^(-1/2) on the line, kernel e^(beta cos) on the circle.
    #[arg(long, allow_hyphen_values = true)]
    beta: f64,
    /// Samples are angles on the circle.
    #[arg(long)]
    circle: bool,
    /// Samples are unit vectors of S^2, three coordinates a row; kernel e^(beta <x, y>).
    #[arg(long, conflicts_with = "circle")]
    sphere: bool,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        if self.sphere {
            return self.on_sphere(out);
        }
        let samples = arrays::list(&self.samples, self.array.as_deref())?;
        let found = if self.circle { modes::circle(&samples, self.beta) } else { modes::line(&samples, self.beta) };
        // The row of a bad sample is a row of the file.
        let found = found.map_err(|e| match e {
            Error::Token { row, problem } => Error::File { path: self.samples.display().to_string(), place: format!("row {row}"), problem },
            other => other,
        })?;
        let statement = match (found.certified(), self.beta == 0.0) {
            (_, true) => "beta = 0: the estimate is constant and has no strict local maximum".to_owned(),
            (true, _) => "proved: interval arithmetic decides the sign of the derivative everywhere, for the given numbers".to_owned(),
            (false, _) => format!(
                "not proved: on {} interval(s) the derivative stays within its error bound (degenerate, or nearly so); those located exist, there may be more",
                found.undecided().len()
            ),
        };
        let undecided = found.undecided().iter().map(|(a, b)| json!([a, b])).collect();
        let place = if self.circle { "circle" } else { "line" };
        self.report(out, &found, &statement, (place, samples.len()), undecided)
    }

    fn on_sphere(&self, out: &Output) -> Result<i32> {
        let x = arrays::tokens(&self.samples, self.array.as_deref(), false)?;
        let found = modes::sphere(&x, self.beta)?;
        let statement = if found.certified() {
            "proved: every cell of a cover of the sphere holds no mode or exactly one".to_owned()
        } else {
            format!(
                "not proved: {} cells of the cover were not decided (degenerate, or nearly so); those located exist, there may be more",
                found.undecided().len()
            )
        };
        let undecided = found.undecided().iter().map(|(c, r)| json!({"centre": c, "radius": r})).collect();
        self.report(out, &found, &statement, ("sphere2", x.n()), undecided)
    }

    /// A number is called `modes` only where it is proved; otherwise it is `at_least`, and the exit code is that of an inconclusive answer.
    fn report<P: serde::Serialize + std::fmt::Debug, U>(
        &self,
        out: &Output,
        found: &modes::Modes<P, U>,
        statement: &str,
        (space, samples): (&str, usize),
        undecided: serde_json::Value,
    ) -> Result<i32> {
        let (number, places, count) = match found.proved() {
            Ok(count) => ("modes", "locations", count),
            Err(_) => ("at_least", "located", found.at_least()),
        };
        let json = json!({
            number: count,
            places: found.located(),
            "certified": found.certified(),
            "statement": statement,
            "undecided": undecided,
            "beta": self.beta,
            "space": space,
            "samples": samples,
        });
        let shown = found.located().iter().take(40).map(|x| format!("  {x:?}\n")).collect::<String>();
        let more = found.located().len().saturating_sub(40);
        let more = if more > 0 { format!("  ... and {more} more (use --format json)\n") } else { String::new() };
        let title = if found.certified() { format!("{count} modes") } else { format!("at least {count} modes") };
        out.result(&json, &format!("{title} ({statement})\n{shown}{more}"));
        if found.certified() {
            return Ok(0);
        }
        note(statement);
        Ok(3)
    }
}
