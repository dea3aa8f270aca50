//! Checkpoints of `solve --out`: the same command resumes a killed run and gives the same bytes.

use super::cancel::cancelled;
use super::mpi::is_root;
use super::output::note;
use crate::error::{Error, Result, in_range, wrong_json};
use crate::flow::{CheckpointSink, RunCheckpoint};
use crate::lab::arrays::write_atomically;
use crate::lab::provenance::{NUMERICAL_VERSION, hash};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The name of the file in the folder of results.
const FILE: &str = "checkpoint.json";

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    /// Hash of all settings that determine the results.
    run: String,
    checkpoint: RunCheckpoint,
}

/// The checkpoint file in the folder of a run.
pub struct CheckpointFile {
    path: PathBuf,
    run: String,
    every: Duration,
    last: Mutex<Instant>,
    /// The checkpoint found, from which the run resumes.
    pub checkpoint: Option<RunCheckpoint>,
}

impl CheckpointFile {
    /// Opens a new or empty folder, or that of the same run, which then resumes.
    ///
    /// **Errors** a folder with other files or of another run.
    pub fn open(folder: &Path, settings: &Value, minutes: f64) -> Result<Self> {
        let every = Duration::from_secs_f64(60.0 * in_range("--keep-every", minutes, 0.0, 1e5)?);
        let (path, run) = (folder.join(FILE), hash(format!("{NUMERICAL_VERSION}/{settings}")));
        let checkpoint = match std::fs::read(&path) {
            Ok(bytes) => match Self::read(&path, &bytes, &run) {
                Err(_) if super::session::current().is_forced() => None,
                read => Some(read?),
            },
            Err(_) => {
                if is_root() {
                    super::recording::create(folder)?;
                }
                None
            }
        };
        if let Some(checkpoint) = &checkpoint {
            note(&format!(
                "resuming from the checkpoint at t = {:e} in {}",
                checkpoint.time(),
                folder.display()
            ));
        }
        Ok(Self { path, run, every, last: Mutex::new(Instant::now()), checkpoint })
    }

    fn read(path: &Path, bytes: &[u8], run: &str) -> Result<RunCheckpoint> {
        let bad = |problem: String| Error::File {
            path: path.display().to_string(),
            place: String::new(),
            problem,
        };
        let found: Checkpoint = serde_json::from_slice(bytes).map_err(|e| {
            bad(format!("not a checkpoint: {}", wrong_json(&e, "a checkpoint of `solve --out`")))
        })?;
        if found.run == run {
            return Ok(found.checkpoint);
        }
        Err(bad("found the checkpoint of another run or version, expected these settings, or another --out".into()))
    }

    /// Removes the checkpoint of a finished run, and incomplete files of a killed one.
    pub fn remove(self) {
        if !is_root() {
            return;
        }
        let files = self.path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
        for entry in files
            .into_iter()
            .flatten()
            .flatten()
            .filter(|e| e.file_name().to_string_lossy().starts_with(FILE))
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

impl CheckpointSink for CheckpointFile {
    fn due(&self) -> bool {
        is_root()
            && (cancelled() || self.last.lock().is_ok_and(|last| last.elapsed() >= self.every))
    }

    fn save(&self, checkpoint: &RunCheckpoint) {
        let content = Checkpoint { run: self.run.clone(), checkpoint: checkpoint.clone() };
        let text = serde_json::to_string(&content).unwrap_or_default();
        if let Err(e) = write_atomically(&self.path, text.as_bytes()) {
            // A failed checkpoint does not end the run.
            note(&format!("warning: {e}"));
        }
        if let Ok(mut last) = self.last.lock() {
            *last = Instant::now();
        }
    }
}
