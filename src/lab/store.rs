//! The results store: one folder per experiment; in it one folder per finished cell, written beside and renamed, or, for many small cells, one line of
//! a common file each. A cell is valid iff its checksums are.

use super::arrays::{csv_text, npy_bytes, write_atomically};
use super::cell::CellTables;
use super::experiment::Experiment;
use super::journal::Journal;
use super::plan::Cell;
use super::provenance::{Provenance, hash};
use crate::error::{Error, Result};
use crate::flow::Table;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What `record.json` holds for a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellRecord {
    /// The block.
    pub provenance: Provenance,
    /// The cell.
    pub cell: Cell,
    /// Its identity.
    pub id: String,
    /// Column names of the tables.
    pub columns: BTreeMap<String, Vec<String>>,
    /// Outcomes by their number in the summary.
    pub outcomes: Vec<String>,
    /// SHA-256 of every other file of the folder.
    pub checksums: BTreeMap<String, String>,
    /// Wall seconds of the cell.
    pub seconds: f64,
    /// Threads of the process; results do not depend on them.
    pub threads: usize,
}

/// The file of small cells.
const JOURNAL: &str = "cells.jsonl";

/// Experiments of more cells keep those with small tables in one file.
const FEW: usize = 32;

/// Bytes of the tables of a small cell.
const SMALL: usize = 1 << 16;

/// A small cell: its record and its tables (NPY in base64), one line of the journal.
#[derive(Serialize, Deserialize)]
struct Line {
    record: CellRecord,
    table: String,
    summary: String,
}

/// An open store, locked against a second writer until dropped (the lock dies with the process).
pub struct Store {
    folder: PathBuf,
    journal: Journal,
    many: bool,
    _lock: Option<std::fs::File>,
}

impl Store {
    /// Opens the folder of an experiment under `root` for writing: creates it, locks it, writes `experiment.json`.
    ///
    /// **Errors** a folder that cannot be written; another process working in it.
    pub fn open(root: &Path, experiment: &Experiment) -> Result<Self> {
        let folder = root.join(experiment.folder());
        let cells = folder.join("cells");
        std::fs::create_dir_all(&cells).map_err(|e| Error::io(cells.display(), "create the folder", &e))?;
        let path = folder.join(".lock");
        let lock = std::fs::File::create(&path).map_err(|e| Error::io(path.display(), "create", &e))?;
        if let Err(std::fs::TryLockError::WouldBlock) = lock.try_lock() {
            return Err(Error::Parameter {
                name: folder.display().to_string(),
                found: "another run working in it".into(),
                expected: "one run at a time; wait, or choose another folder".into(),
            });
        }
        let resolved = folder.join("experiment.json");
        if !resolved.exists() {
            write_atomically(&resolved, experiment.resolved().as_bytes())?;
        }
        let journal = Journal::open(folder.join(JOURNAL))?;
        Ok(Self { folder, journal, many: super::plan::plan(experiment).len() > FEW, _lock: Some(lock) })
    }

    /// The folder of an experiment for reading.
    ///
    /// **Errors** a folder that cannot be read.
    pub fn reader(root: &Path, experiment: &Experiment) -> Result<Self> {
        let folder = root.join(experiment.folder());
        let journal = Journal::open(folder.join(JOURNAL))?;
        Ok(Self { folder, journal, many: false, _lock: None })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn cell_folder(&self, id: &str) -> PathBuf {
        self.folder.join("cells").join(id)
    }

    /// True when the cell is finished and its checksums hold.
    pub fn has(&self, id: &str) -> bool {
        self.read(id).is_ok()
    }

    /// True when the cell is a line of the common file.
    pub fn is_line(&self, id: &str) -> bool {
        self.journal.has(id)
    }

    /// A finished cell: checksums verified.
    ///
    /// **Errors** a missing, torn or changed record.
    pub fn read(&self, id: &str) -> Result<(CellRecord, CellTables)> {
        let bad = |problem: String| Error::File { path: self.cell_folder(id).display().to_string(), place: String::new(), problem };
        match self.journal.get(id)? {
            Some(line) => {
                let line: Line = serde_json::from_str(&line).map_err(|e| bad(format!("{JOURNAL}: {e}")))?;
                let load = |name: &str| {
                    let text = if name == "table.npy" { &line.table } else { &line.summary };
                    STANDARD.decode(text).map_err(|e| bad(format!("{name}: {e}")))
                };
                tables(&line.record, load, bad).map(|t| (line.record.clone(), t))
            }
            None => {
                let folder = self.cell_folder(id);
                let load = |name: &str| std::fs::read(folder.join(name)).map_err(|e| Error::io(folder.join(name).display(), "read", &e));
                let record: CellRecord = serde_json::from_slice(&load("record.json")?).map_err(|e| bad(format!("record.json: {e}")))?;
                tables(&record, load, bad).map(|t| (record.clone(), t))
            }
        }
    }

    /// Keeps a finished cell: a kill at any moment leaves it absent or whole.
    pub fn write(&self, experiment: &Experiment, cell: &Cell, tables: &CellTables, seconds: f64) -> Result<()> {
        let id = cell.id(experiment);
        let provenance = Provenance::new(
            format!("{}: {}", experiment.name, cell.label()),
            &experiment.resolved(),
            format!("metastable run {}", experiment.source),
        );
        let parts = [("table", &tables.table), ("summary", &tables.summary)];
        let arrays = parts.map(|(name, table)| (name, npy_bytes(table)));
        let small = self.many && arrays.iter().map(|a| a.1.len()).sum::<usize>() <= SMALL;
        let mut files: Vec<(String, Vec<u8>)> = arrays.into_iter().map(|(name, bytes)| (format!("{name}.npy"), bytes)).collect();
        if !small {
            let header = provenance.csv_header();
            files.extend(parts.map(|(name, table)| (format!("{name}.csv"), csv_text(table, &header).into_bytes())));
        }
        let record = CellRecord {
            provenance,
            cell: cell.clone(),
            id: id.clone(),
            columns: parts.iter().map(|(name, table)| ((*name).to_owned(), table.columns.clone())).collect(),
            outcomes: super::cell::OUTCOMES.iter().map(ToString::to_string).collect(),
            checksums: files.iter().map(|(name, bytes)| (name.clone(), hash(bytes))).collect(),
            seconds,
            threads: rayon::current_num_threads(),
        };
        let unwritable = |e: serde_json::Error| Error::Numerical { what: format!("a record cannot be written: {e}") };
        if small {
            let [table, summary] = [&files[0].1, &files[1].1].map(|bytes| STANDARD.encode(bytes));
            return self.journal.append(&id, &serde_json::to_string(&Line { record, table, summary }).map_err(unwritable)?);
        }
        files.push(("record.json".into(), serde_json::to_vec(&record).map_err(unwritable)?));
        self.write_folder(&id, &files)
    }

    /// Writes the files of a cell into a temporary folder and renames it.
    fn write_folder(&self, id: &str, files: &[(String, Vec<u8>)]) -> Result<()> {
        let partial = self.folder.join("cells").join(format!(".partial-{id}-{}", std::process::id()));
        let at = |e: std::io::Error, doing| Error::io(partial.display(), doing, &e);
        std::fs::create_dir_all(&partial).map_err(|e| at(e, "create"))?;
        for (name, bytes) in files {
            write_atomically(&partial.join(name), bytes)?;
        }
        let target = self.cell_folder(id);
        if target.exists() {
            // A record that failed its checksums: kept aside, never lost silently.
            let aside = target.with_extension(format!("damaged-{}", std::process::id()));
            std::fs::rename(&target, &aside).map_err(|e| at(e, "set a damaged record aside"))?;
        }
        std::fs::rename(&partial, &target).map_err(|e| at(e, "rename"))
    }

    /// Removes what a killed run left half-written.
    pub fn sweep(&self) {
        let Ok(entries) = std::fs::read_dir(self.folder.join("cells")) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(".partial-") {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// The tables of a record, whose files are loaded by name.
fn tables(record: &CellRecord, load: impl Fn(&str) -> Result<Vec<u8>>, bad: impl Fn(String) -> Error) -> Result<CellTables> {
    for (name, checksum) in &record.checksums {
        if *checksum != hash(load(name)?) {
            return Err(bad(format!("{name} does not match its checksum")));
        }
    }
    let one = |name: &str| {
        let file = format!("{name}.npy");
        if !record.checksums.contains_key(&file) {
            return Err(bad(format!("no checksum of {file}")));
        }
        let columns = record.columns.get(name).cloned().unwrap_or_default();
        table_of(&load(&file)?, columns).ok_or_else(|| bad(format!("{file} is malformed")))
    };
    Ok(CellTables { table: one("table")?, summary: one("summary")? })
}

fn table_of(bytes: &[u8], columns: Vec<String>) -> Option<Table> {
    let file = npyz::NpyFile::new(bytes).ok()?;
    let shape = file.shape().to_vec();
    let data: Vec<f64> = file.into_vec().ok()?;
    if shape.len() != 2 || shape[1] as usize != columns.len() {
        return None;
    }
    let rows = if columns.is_empty() { Vec::new() } else { data.chunks(columns.len()).map(<[f64]>::to_vec).collect() };
    Some(Table { columns, rows })
}
