//! A long `solve` keeps itself in its folder, so that the same command goes on where it was killed, to the same bytes.

use super::cancel::cancelled;
use super::company::is_first;
use super::output::note;
use crate::error::{Error, Result, in_range, wrong_json};
use crate::flow::{Keeper, Pause};
use crate::lab::arrays::write_atomically;
use crate::lab::provenance::{NUMERICAL_VERSION, hash};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const FILE: &str = "checkpoint.json";

/// What the file holds.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    /// Hash of everything that decides the numbers.
    run: String,
    pause: Pause,
}

/// The folder of a run that keeps itself.
pub struct Kept {
    path: PathBuf,
    run: String,
    every: Duration,
    last: Mutex<Instant>,
    /// Where the run was when it was kept last.
    pub pause: Option<Pause>,
}

impl Kept {
    /// A new or empty folder, or that of the same run, which then goes on.
    ///
    /// **Errors** a folder of other files or of another run.
    pub fn open(folder: &Path, settings: &Value, minutes: f64) -> Result<Self> {
        let every = Duration::from_secs_f64(60.0 * in_range("--keep-every", minutes, 0.0, 1e5)?);
        let (path, run) = (folder.join(FILE), hash(format!("{NUMERICAL_VERSION}/{settings}")));
        let pause = match std::fs::read(&path) {
            Ok(bytes) => Some(Self::read(&path, &bytes, &run)?),
            Err(_) => {
                if is_first() {
                    super::recording::create(folder)?;
                }
                None
            }
        };
        if let Some(pause) = &pause {
            note(&format!("going on from t = {:e}, where {} was kept", pause.time(), folder.display()));
        }
        Ok(Self { path, run, every, last: Mutex::new(Instant::now()), pause })
    }

    fn read(path: &Path, bytes: &[u8], run: &str) -> Result<Pause> {
        let bad = |problem: String| Error::File { path: path.display().to_string(), place: String::new(), problem };
        let found: Checkpoint =
            serde_json::from_slice(bytes).map_err(|e| bad(format!("no checkpoint: {}", wrong_json(&e, "one that `solve --out` wrote"))))?;
        if found.run == run {
            return Ok(found.pause);
        }
        Err(bad("found the checkpoint of another run or version, expected one with these settings; choose another --out".into()))
    }

    /// The run has ended: nothing is kept, nor what a kill left half-written.
    pub fn over(self) {
        if !is_first() {
            return;
        }
        let files = self.path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
        for entry in files.into_iter().flatten().flatten().filter(|e| e.file_name().to_string_lossy().starts_with(FILE)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

impl Keeper for Kept {
    fn due(&self) -> bool {
        is_first() && (cancelled() || self.last.lock().is_ok_and(|last| last.elapsed() >= self.every))
    }

    fn keep(&self, pause: &Pause) {
        let checkpoint = Checkpoint { run: self.run.clone(), pause: pause.clone() };
        let text = serde_json::to_string(&checkpoint).unwrap_or_default();
        if let Err(e) = write_atomically(&self.path, text.as_bytes()) {
            // The run is worth more than its checkpoint.
            note(&format!("warning: {e}"));
        }
        if let Ok(mut last) = self.last.lock() {
            *last = Instant::now();
        }
    }
}
