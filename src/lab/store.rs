//! The results store: one folder per experiment, one folder per finished cell, written beside and renamed, valid iff its checksums are.

use super::arrays::{csv_text, npy_bytes, write_atomically};
use super::cell::CellTables;
use super::experiment::Experiment;
use super::plan::Cell;
use super::provenance::{Provenance, hash};
use crate::error::{Error, Result};
use crate::flow::Table;
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

/// An open store, locked against a second writer until dropped (the lock dies with the process).
pub struct Store {
    folder: PathBuf,
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
        Ok(Self { folder, _lock: Some(lock) })
    }

    /// The folder of an experiment for reading.
    pub fn reader(root: &Path, experiment: &Experiment) -> Self {
        Self { folder: root.join(experiment.folder()), _lock: None }
    }

    /// A folder of results for reading.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), _lock: None }
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

    /// A finished cell: checksums verified.
    ///
    /// **Errors** a missing, torn or changed record.
    pub fn read(&self, id: &str) -> Result<(CellRecord, CellTables)> {
        let folder = self.cell_folder(id);
        let load = |name: &str| std::fs::read(folder.join(name)).map_err(|e| Error::io(folder.join(name).display(), "read", &e));
        let bad = |problem: String| Error::File { path: folder.display().to_string(), place: String::new(), problem };
        let record: CellRecord = serde_json::from_slice(&load("record.json")?).map_err(|e| bad(format!("record.json: {e}")))?;
        for (name, checksum) in &record.checksums {
            if *checksum != hash(load(name)?) {
                return Err(bad(format!("{name} does not match its checksum")));
            }
        }
        let mut tables = Vec::new();
        for name in ["table", "summary"] {
            if !record.checksums.contains_key(&format!("{name}.npy")) {
                return Err(bad(format!("no checksum of {name}.npy")));
            }
            let bytes = load(&format!("{name}.npy"))?;
            let columns = record.columns.get(name).cloned().unwrap_or_default();
            tables.push(table_of(&bytes, columns).ok_or_else(|| bad(format!("{name}.npy is malformed")))?);
        }
        let summary = tables.pop().unwrap_or_default();
        let table = tables.pop().unwrap_or_default();
        Ok((record, CellTables { table, summary }))
    }

    /// Writes a finished cell into a temporary folder and renames it: a kill at any moment leaves the cell absent or whole.
    pub fn write(&self, experiment: &Experiment, cell: &Cell, tables: &CellTables, seconds: f64) -> Result<()> {
        let id = cell.id(experiment);
        let provenance = Provenance::new(
            format!("{}: {}", experiment.name, cell.label()),
            &experiment.resolved(),
            format!("metastable run {}", experiment.source),
        );
        let partial = self.folder.join("cells").join(format!(".partial-{id}-{}", std::process::id()));
        let at = |e: std::io::Error, doing| Error::io(partial.display(), doing, &e);
        std::fs::create_dir_all(&partial).map_err(|e| at(e, "create"))?;
        let mut checksums = BTreeMap::new();
        let mut columns = BTreeMap::new();
        for (name, table) in [("table", &tables.table), ("summary", &tables.summary)] {
            for (file, bytes) in
                [(format!("{name}.csv"), csv_text(table, &provenance.csv_header()).into_bytes()), (format!("{name}.npy"), npy_bytes(table))]
            {
                checksums.insert(file.clone(), hash(&bytes));
                write_atomically(&partial.join(file), &bytes)?;
            }
            columns.insert(name.to_owned(), table.columns.clone());
        }
        let record = CellRecord {
            provenance,
            cell: cell.clone(),
            id: id.clone(),
            columns,
            outcomes: super::cell::OUTCOMES.iter().map(ToString::to_string).collect(),
            checksums,
            seconds,
            threads: rayon::current_num_threads(),
        };
        let json = serde_json::to_vec(&record).map_err(|e| Error::Numerical { what: format!("a record cannot be written: {e}") })?;
        write_atomically(&partial.join("record.json"), &json)?;
        let target = self.cell_folder(&id);
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
