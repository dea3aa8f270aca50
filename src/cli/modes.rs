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
  metastable modes --samples angles.npy --beta 50 --circle --format json")]
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
        let statement = match (found.certified, self.beta == 0.0) {
            (_, true) => "beta = 0: the estimate is constant and has no strict local maximum".to_owned(),
            (true, _) => "proved: interval bounds decide the sign of the derivative everywhere".to_owned(),
            (false, _) => format!(
                "not proved: on {} interval(s) the derivative stays within its error bound (degenerate, or nearly so); those counted exist, there may be more",
                found.undecided.len()
            ),
        };
        let json = json!({
            "modes": found.count,
            "locations": found.locations,
            "certified": found.certified,
            "statement": statement,
            "undecided": found.undecided.iter().map(|(a, b)| vec![*a, *b]).collect::<Vec<_>>(),
            "beta": self.beta,
            "space": if self.circle { "circle" } else { "line" },
            "samples": samples.len(),
        });
        if !found.certified {
            note(&statement);
        }
        let shown = found.locations.iter().take(40).map(|x| format!("  {x}\n")).collect::<String>();
        let more = if found.count > 40 { format!("  ... and {} more (use --format json)\n", found.count - 40) } else { String::new() };
        out.result(&json, &format!("{} modes ({statement})\n{shown}{more}", found.count));
        Ok(0)
    }
    fn on_sphere(&self, out: &Output) -> Result<i32> {
        let x = arrays::tokens(&self.samples, self.array.as_deref(), false)?;
        let found = modes::sphere(&x, self.beta)?;
        let statement = if found.certified {
            "proved: every cell of a cover of the sphere holds no mode or exactly one".to_owned()
        } else {
            format!(
                "not proved: {} cells of the cover were not decided (degenerate, or nearly so); those counted exist, there may be more",
                found.undecided.len()
            )
        };
        let json = json!({
            "modes": found.count, "locations": found.locations, "certified": found.certified, "statement": statement, "beta": self.beta,
            "space": "sphere2", "samples": x.n(),
            "undecided": found.undecided.iter().map(|(c, r)| json!({"centre": c, "radius": r})).collect::<Vec<_>>(),
        });
        let shown = found.locations.iter().take(40).map(|x| format!("  {x:?}\n")).collect::<String>();
        out.result(&json, &format!("{} modes ({statement})\n{shown}", found.count));
        Ok(0)
    }
}
