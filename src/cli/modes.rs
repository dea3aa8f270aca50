//! `modes`: local maxima of kernel density estimates, with a proof of their number.

use super::input::RunArguments;
use super::output::{Output, more, note, shown};
use crate::error::{Error, Result};
use crate::lab::{arrays, frame::Snapshot};
use crate::proofs::modes;
use crate::sphere::Tokens;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Flags of `modes`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable modes --samples x.csv --beta 100
  metastable modes --samples angles.npy --beta 50 --circle --format json
  metastable modes --result run/ --frame t=20 --beta 9
Without a proof the number is called at_least, and the exit code is 3.")]
pub struct Arguments {
    /// Samples, one number per row (CSV, NPY, NPZ, or `-`); angles in radians with --circle.
    #[arg(long, value_name = "FILE", required_unless_present = "result", conflicts_with = "result")]
    samples: Option<PathBuf>,
    #[command(flatten)]
    past: RunArguments,
    /// Array of an NPZ file.
    #[arg(long, value_name = "NAME", conflicts_with = "result")]
    array: Option<String>,
    /// Inverse temperature: bandwidth beta^(-1/2) on the line, kernel e^(beta cos) on the circle.
    #[arg(long, allow_hyphen_values = true)]
    beta: f64,
    /// Samples are angles on the circle (a run says by its dimension whether it is there or on S^2).
    #[arg(long, conflicts_with = "result")]
    circle: bool,
    /// Samples are unit vectors of S^2, three coordinates a row; kernel e^(beta <x, y>).
    #[arg(long, conflicts_with_all = ["circle", "result"])]
    sphere: bool,
    /// Print all locations.
    #[arg(long)]
    full: bool,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        if let Some(frame) = self.past.frame("it with --result")? {
            return self.of_run(frame, out);
        }
        let path = self.samples.as_deref().unwrap_or(Path::new(""));
        if self.sphere {
            return self.on_sphere(&arrays::tokens(path, self.array.as_deref(), false)?, out);
        }
        self.on_line(&arrays::list(path, self.array.as_deref())?, self.circle, out)
    }

    /// The tokens of a run.
    fn of_run(&self, frame: Snapshot, out: &Output) -> Result<i32> {
        let x = Tokens::normalised(frame.d, frame.rows)?;
        match x.d() {
            2 => self.on_line(&x.angles(), true, out),
            3 => self.on_sphere(&x, out),
            d => Err(Error::parameter("--result", format!("tokens with d = {d}"), "a run on the circle or the sphere (d = 2 or 3)")),
        }
    }

    fn on_line(&self, samples: &[f64], circle: bool, out: &Output) -> Result<i32> {
        let found = if circle { modes::circle(samples, self.beta) } else { modes::line(samples, self.beta) };
        // The row of a bad sample is a row of the file.
        let found = found.map_err(|e| match e {
            Error::Token { row, problem } => {
                let path = self.samples.as_ref().map_or(String::new(), |p| p.display().to_string());
                Error::File { path, place: format!("row {row}"), problem }
            }
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
        let place = if circle { "circle" } else { "line" };
        self.report(out, &found, &statement, (place, samples.len()), undecided)
    }

    fn on_sphere(&self, x: &Tokens, out: &Output) -> Result<i32> {
        let found = modes::sphere(x, self.beta)?;
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
        let (key, where_, count) = match found.proved() {
            Ok(count) => ("modes", "locations", count),
            Err(_) => ("at_least", "located", found.at_least()),
        };
        let json = json!({
            key: count,
            where_: found.located(),
            "certified": found.certified(),
            "statement": statement,
            "undecided": undecided,
            "beta": self.beta,
            "space": space,
            "samples": samples,
        });
        out.in_full(self.full);
        let places = found.located().len();
        let listed = found.located().iter().take(shown(places)).map(|x| format!("  {x:?}\n")).collect::<String>();
        let title = if found.certified() { format!("{count} modes") } else { format!("at least {count} modes") };
        out.result(&json, &format!("{title} ({statement})\n{listed}{}", more(places)));
        if found.certified() {
            return Ok(0);
        }
        note(statement);
        Ok(3)
    }
}
