//! The store of results: one folder per experiment with one folder per finished cell. A cell is
//! written to a temporary folder, which is then renamed. Many small cells share a file with one
//! line each. A cell is valid if its checksums match.

use super::arrays::{csv_text, labelled_csv, npy_table};
use super::cell::CellTables;
use super::experiment::Experiment;
use super::journal::Journal;
use super::npy;
use super::plan::Cell;
use super::provenance::{Provenance, hash};
use super::write::{unique_suffix, write_atomically};
use crate::error::{Error, Result, wrong_json};
use crate::labelled_table::LabelledTable;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What `record.json` holds for a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellRecord {
    /// Provenance.
    pub provenance: Provenance,
    /// The cell.
    pub cell: Cell,
    /// The id of the cell.
    pub id: String,
    /// Column names of the tables.
    pub columns: BTreeMap<String, Vec<String>>,
    /// Names of the outcomes; the summary holds their indices.
    pub outcomes: Vec<String>,
    /// SHA-256 of every other file of the folder.
    pub checksums: BTreeMap<String, String>,
    /// Wall time of the cell in seconds.
    pub seconds: f64,
    /// Threads of the process; results do not depend on them.
    pub threads: usize,
}

/// Name of the file of small cells.
const JOURNAL: &str = "cells.jsonl";

/// Experiments with more cells keep small cells in one file.
const MAX_CELL_FOLDERS: usize = 32;

/// Largest size of the tables of a small cell in bytes.
const MAX_SMALL_CELL: usize = 1 << 16;

/// A small cell: its record and its tables (NPY in base64), one line of the journal.
#[derive(Serialize, Deserialize)]
struct Line {
    record: CellRecord,
    table: String,
    summary: String,
}

/// An open store. While it lives, no second writer can open it; the lock ends with the process.
pub struct Store {
    folder: PathBuf,
    journal: Journal,
    many: bool,
    _lock: Option<std::fs::File>,
}

impl Store {
    /// Opens the folder of an experiment under `root` for writing: creates and locks it, and writes
    /// `experiment.json`.
    ///
    /// **Errors** a folder that cannot be written; another process working in it.
    pub fn open(root: &Path, experiment: &Experiment) -> Result<Self> {
        Self::locked(root, experiment, true)
    }

    /// Opens the folder for several writers, perhaps on other machines. Every cell, of any size,
    /// has its own folder, so no writer waits.
    ///
    /// **Errors** a folder that cannot be written; a run of the whole experiment that has it open.
    pub fn open_shared(root: &Path, experiment: &Experiment) -> Result<Self> {
        Ok(Self { many: false, ..Self::locked(root, experiment, false)? })
    }

    fn locked(root: &Path, experiment: &Experiment, alone: bool) -> Result<Self> {
        let folder = root.join(experiment.folder());
        let cells = folder.join("cells");
        std::fs::create_dir_all(&cells)
            .map_err(|e| Error::io(cells.display(), "create the folder", &e))?;
        let path = folder.join(".lock");
        let lock =
            std::fs::File::create(&path).map_err(|e| Error::io(path.display(), "create", &e))?;
        // Shards share the lock. On a file system without locks they need none.
        if let Err(std::fs::TryLockError::WouldBlock) =
            if alone { lock.try_lock() } else { lock.try_lock_shared() }
        {
            return Err(Error::Parameter {
                name: folder.display().to_string(),
                found: "a folder that another run has open".into(),
                expected: "one run at a time, or several shards; wait, or choose another --out"
                    .into(),
            });
        }
        let resolved = folder.join("experiment.json");
        if !resolved.exists() {
            write_atomically(&resolved, experiment.resolved().as_bytes())?;
        }
        let journal = Journal::open(folder.join(JOURNAL))?;
        Ok(Self {
            folder,
            journal,
            many: super::plan::plan(experiment).len() > MAX_CELL_FOLDERS,
            _lock: Some(lock),
        })
    }

    /// Opens the folder of an experiment for reading.
    ///
    /// **Errors** a folder that cannot be read.
    pub fn reader(root: &Path, experiment: &Experiment) -> Result<Self> {
        Self::open_read_only(&root.join(experiment.folder()))
    }

    /// Opens an existing folder for reading.
    ///
    /// **Errors** a folder that cannot be read.
    pub fn open_read_only(folder: &Path) -> Result<Self> {
        Ok(Self {
            folder: folder.to_owned(),
            journal: Journal::open(folder.join(JOURNAL))?,
            many: false,
            _lock: None,
        })
    }

    /// The ids of all finished cells in alphabetical order.
    ///
    /// **Errors** a folder that cannot be read.
    pub fn finished(&self) -> Result<Vec<String>> {
        let cells = self.folder.join("cells");
        let entries = std::fs::read_dir(&cells)
            .map_err(|e| Error::io(cells.display(), "read the folder", &e))?;
        let folders = entries
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .filter(|n| !n.contains('.'));
        let ids: std::collections::BTreeSet<String> = folders.chain(self.journal.ids()).collect();
        Ok(ids.into_iter().collect())
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn cell_folder(&self, id: &str) -> PathBuf {
        self.folder.join("cells").join(id)
    }

    /// True if the cell is finished and its checksums match.
    pub fn has(&self, id: &str) -> bool {
        self.read(id).is_ok()
    }

    /// True if the cell is a line of the journal, the common file of small cells.
    pub fn is_line(&self, id: &str) -> bool {
        self.journal.has(id)
    }

    /// Reads a finished cell and verifies its checksums.
    ///
    /// **Errors** a missing, torn or changed record.
    pub fn read(&self, id: &str) -> Result<(CellRecord, CellTables)> {
        let bad = |problem: String| Error::File {
            path: self.cell_folder(id).display().to_string(),
            place: String::new(),
            problem,
        };
        match self.journal.get(id)? {
            Some(line) => {
                let line: Line = serde_json::from_str(&line).map_err(|e| {
                    bad(format!("{JOURNAL}: {}", wrong_json(&e, "a cell as `run` writes it")))
                })?;
                let load = |name: &str| {
                    let text = if name == "table.npy" { &line.table } else { &line.summary };
                    STANDARD.decode(text).map_err(|e| bad(format!("{name}: {e}")))
                };
                tables(&line.record, load, bad).map(|t| (line.record.clone(), t))
            }
            None => {
                let folder = self.cell_folder(id);
                let load = |name: &str| {
                    std::fs::read(folder.join(name))
                        .map_err(|e| Error::io(folder.join(name).display(), "read", &e))
                };
                let record: CellRecord =
                    serde_json::from_slice(&load("record.json")?).map_err(|e| {
                        bad(format!(
                            "record.json: {}",
                            wrong_json(&e, "the record of a cell as `run` writes it")
                        ))
                    })?;
                tables(&record, load, bad).map(|t| (record.clone(), t))
            }
        }
    }

    /// Writes a finished cell. A kill at any moment leaves the cell either absent or complete.
    pub fn write(
        &self,
        experiment: &Experiment,
        cell: &Cell,
        tables: &CellTables,
        seconds: f64,
    ) -> Result<()> {
        let id = cell.id(experiment);
        let provenance = Provenance::new(
            format!("{}: {}", experiment.name, cell.label()),
            &experiment.resolved(),
            format!("metastable run {}", experiment.source),
        );
        let parts = [("table", &tables.table), ("summary", &tables.summary)];
        let arrays = parts.map(|(name, table)| (name, npy_table(table)));
        let small = self.many && arrays.iter().map(|a| a.1.len()).sum::<usize>() <= MAX_SMALL_CELL;
        let mut files: Vec<(String, Vec<u8>)> =
            arrays.into_iter().map(|(name, bytes)| (format!("{name}.npy"), bytes)).collect();
        if !small {
            let header = provenance.csv_header();
            let summary = LabelledTable::from(tables.summary.clone())
                .with_labels("outcome", super::cell::OUTCOMES);
            files.push(("table.csv".into(), csv_text(&tables.table, &header).into_bytes()));
            files.push(("summary.csv".into(), labelled_csv(&summary, &header).into_bytes()));
        }
        let record = CellRecord {
            provenance,
            cell: cell.clone(),
            id: id.clone(),
            columns: parts
                .iter()
                .map(|(name, table)| ((*name).to_owned(), table.columns.clone()))
                .collect(),
            outcomes: super::cell::OUTCOMES.iter().map(ToString::to_string).collect(),
            checksums: files.iter().map(|(name, bytes)| (name.clone(), hash(bytes))).collect(),
            seconds,
            threads: rayon::current_num_threads(),
        };
        if small {
            let mut bytes = files.into_iter().map(|f| f.1);
            return self.append(
                record,
                [bytes.next().unwrap_or_default(), bytes.next().unwrap_or_default()],
            );
        }
        files.push(("record.json".into(), serde_json::to_vec(&record).map_err(unwritable)?));
        self.write_folder(&id, &files)
    }

    /// Writes the files of a cell into a temporary folder and renames it.
    fn write_folder(&self, id: &str, files: &[(String, Vec<u8>)]) -> Result<()> {
        let partial = self.folder.join("cells").join(format!(".partial-{id}-{}", unique_suffix()));
        let at = |e: std::io::Error, doing| Error::io(partial.display(), doing, &e);
        std::fs::create_dir_all(&partial).map_err(|e| at(e, "create"))?;
        for (name, bytes) in files {
            write_atomically(&partial.join(name), bytes)?;
        }
        let target = self.cell_folder(id);
        if !target.exists() && std::fs::rename(&partial, &target).is_ok() {
            return Ok(());
        }
        if self.has(id) {
            // Another process has written the same cell.
            return std::fs::remove_dir_all(&partial).map_err(|e| at(e, "remove"));
        }
        if target.exists() {
            // A damaged record is renamed, not deleted.
            let aside = target.with_extension(format!("damaged-{}", unique_suffix()));
            std::fs::rename(&target, &aside).map_err(|e| at(e, "set a damaged record aside"))?;
        }
        std::fs::rename(&partial, &target).map_err(|e| at(e, "rename"))
    }

    /// Moves small cells that shards computed into the common file, where a run of the whole
    /// experiment keeps them.
    ///
    /// **Errors** a cell that cannot be read, a file that cannot be written.
    pub fn collect_small_cells(&self, ids: &[String]) -> Result<()> {
        for id in ids.iter().filter(|id| self.many && !self.is_line(id)) {
            let (record, tables) = self.read(id)?;
            let arrays = [&tables.table, &tables.summary].map(npy_table);
            if arrays.iter().map(Vec::len).sum::<usize>() <= MAX_SMALL_CELL {
                self.append(record, arrays)?;
                let folder = self.cell_folder(id);
                std::fs::remove_dir_all(&folder)
                    .map_err(|e| Error::io(folder.display(), "remove", &e))?;
            }
        }
        Ok(())
    }

    /// Appends a small cell to the common file.
    fn append(&self, mut record: CellRecord, arrays: [Vec<u8>; 2]) -> Result<()> {
        record.checksums.retain(|name, _| name.ends_with(".npy"));
        let [table, summary] = arrays.map(|bytes| STANDARD.encode(bytes));
        let id = record.id.clone();
        self.journal.append(
            &id,
            &serde_json::to_string(&Line { record, table, summary }).map_err(unwritable)?,
        )
    }

    /// Removes the incomplete folders of a killed run.
    pub fn sweep(&self) {
        let Ok(entries) = std::fs::read_dir(self.folder.join("cells")) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(".partial-") {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

fn unwritable(e: serde_json::Error) -> Error {
    Error::Numerical { what: format!("a record cannot be written: {e}") }
}

/// The tables of a record; `load` reads a file by its name.
fn tables(
    record: &CellRecord,
    load: impl Fn(&str) -> Result<Vec<u8>>,
    bad: impl Fn(String) -> Error,
) -> Result<CellTables> {
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
        npy::table(&load(&file)?, columns).ok_or_else(|| bad(format!("{file} is malformed")))
    };
    Ok(CellTables { table: one("table")?, summary: one("summary")? })
}
