//! Checkpoints of long runs of `solve --out`: written whole or not at all every few minutes; the same command goes on from the last one to the same bytes.

use crate::error::{Error, Result};
use crate::flow::{Outcome, Run, RunState};
use crate::lab::arrays::write_atomically;
use crate::lab::provenance::NUMERICAL_VERSION;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Its name in the folder of the run.
const NAME: &str = "checkpoint.json";

/// Steps between two looks at the clock, at most.
const TURN: u64 = 16;

/// What is written.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    numerical_version: u32,
    settings: Value,
    state: RunState,
    /// Rows of the time line, number by number as bits: some are infinite.
    rows: Vec<Vec<u64>>,
    /// The nearest saddle and its time, as bits.
    saddle: (u64, u64),
}

/// What observers have seen so far.
#[derive(Clone, Default)]
pub struct Seen {
    /// Rows of the time line.
    pub rows: Vec<Vec<f64>>,
    /// The nearest saddle and its time.
    pub saddle: (f64, f64),
}

/// Where the checkpoints of a run go, and how often.
pub struct Checkpoints {
    path: PathBuf,
    settings: Value,
    every: Duration,
    /// Others write them: one process of several does.
    silent: bool,
    last: Instant,
}

impl Checkpoints {
    /// In this folder, for a run with these settings.
    pub fn new(folder: &Path, settings: &Value, every: Duration, silent: bool) -> Self {
        Self { path: folder.join(NAME), settings: settings.clone(), every, silent, last: Instant::now() }
    }

    /// True when a run was left in this folder.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(NAME).is_file()
    }

    /// Puts a run that was just begun into the state of the checkpoint, if there is one; what its observers had seen.
    ///
    /// **Errors** a file that cannot be read, or that is of another run: with the first setting that differs.
    pub fn resume(&self, run: &mut Run) -> Result<Option<Seen>> {
        if !self.path.is_file() {
            return Ok(None);
        }
        let bytes = std::fs::read(&self.path).map_err(|e| Error::io(self.path.display(), "read", &e))?;
        let found: Checkpoint = serde_json::from_slice(&bytes).map_err(|e| self.problem(&format!("no checkpoint: {e}")))?;
        if found.numerical_version != NUMERICAL_VERSION {
            return Err(self.problem(&format!("of numerical version {}, this is {NUMERICAL_VERSION}: begin in a new folder", found.numerical_version)));
        }
        let is_other = |name: &&String| found.settings.get(name.as_str()) != self.settings.get(name.as_str());
        if let Some(name) = self.settings.as_object().and_then(|s| s.keys().find(is_other)) {
            let [there, here] = [&found.settings, &self.settings].map(|s| s.get(name).map_or("nothing".into(), Value::to_string));
            return Err(self.problem(&format!("of another run: `{name}` is {there} there and {here} here; take a new folder")));
        }
        run.resume(&found.state)?;
        let number = |bits: &u64| f64::from_bits(*bits);
        let rows = found.rows.iter().map(|r| r.iter().map(number).collect()).collect();
        Ok(Some(Seen { rows, saddle: (number(&found.saddle.0), number(&found.saddle.1)) }))
    }

    fn problem(&self, what: &str) -> Error {
        Error::File { path: self.path.display().to_string(), place: String::new(), problem: what.to_owned() }
    }

    /// Runs to the end, with a checkpoint whenever it is time for one, and when the run is interrupted.
    ///
    /// **Errors** what the run says, a folder that cannot be written.
    pub fn drive(&mut self, run: &mut Run, seen: &dyn Fn() -> Seen) -> Result<()> {
        while run.go(TURN)?.is_none() {
            if self.last.elapsed() >= self.every {
                self.write(run, seen)?;
            }
        }
        if matches!(run.go(0)?, Some(Outcome::Interrupted { .. })) {
            self.write(run, seen)?;
        }
        Ok(())
    }

    fn write(&mut self, run: &Run, seen: &dyn Fn() -> Seen) -> Result<()> {
        self.last = Instant::now();
        let Some(state) = run.state().filter(|_| !self.silent) else { return Ok(()) };
        let Seen { rows, saddle } = seen();
        let rows = rows.iter().map(|r| r.iter().map(|v| v.to_bits()).collect()).collect();
        let saddle = (saddle.0.to_bits(), saddle.1.to_bits());
        let checkpoint = Checkpoint { numerical_version: NUMERICAL_VERSION, settings: self.settings.clone(), state, rows, saddle };
        let text = serde_json::to_vec(&checkpoint).map_err(|e| self.problem(&e.to_string()))?;
        write_atomically(&self.path, &text)
    }

    /// The run is over and its results are written.
    pub fn over(&self) {
        if !self.silent {
            // One that is left behind would only be refused or found finished.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
