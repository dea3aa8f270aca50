//! Takes finished cells from sibling runs: runs of the same experiment with other values on its
//! axes, whose folders lie beside the folder of this run.

use super::cell::CellTables;
use super::experiment::Experiment;
use super::plan::Cell;
use super::provenance::Provenance;
use super::store::{CellRecord, Store};
use crate::error::Result;

/// The stores of the sibling runs.
pub struct SiblingRuns(Vec<Store>);

impl SiblingRuns {
    /// Finds the sibling runs of a store. Folders that cannot be read are skipped.
    pub fn new(experiment: &Experiment, store: &Store) -> Self {
        let (root, own) = (store.folder().parent(), store.folder().file_name());
        let entries = root.and_then(|root| std::fs::read_dir(root).ok());
        let mut names: Vec<_> = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.file_name())
            .filter(|n| Some(n.as_os_str()) != own)
            .collect();
        names.sort();
        let start = format!("{}-", experiment.name);
        let beside = names.iter().filter(|n| {
            n.to_string_lossy().strip_prefix(&start).is_some_and(|hash| !hash.contains('-'))
        });
        Self(beside.filter_map(|n| Store::open_read_only(&root?.join(n)).ok()).collect())
    }

    /// A finished cell with this id. Only cells written by this very build count: its numbers are
    /// those that a new computation would give.
    fn read(&self, id: &str) -> Option<(CellRecord, CellTables)> {
        self.0
            .iter()
            .filter_map(|s| s.read(id).ok())
            .find(|(record, _)| is_of_this_build(&record.provenance))
    }

    /// True if a sibling run has this cell.
    pub fn has(&self, id: &str) -> bool {
        self.read(id).is_some()
    }
}

/// Copies the missing cells that sibling runs have into the store. Returns their number.
///
/// **Errors** a cell that cannot be written.
pub(super) fn reuse(experiment: &Experiment, store: &Store, cells: &[Cell]) -> Result<usize> {
    let missing: Vec<(&Cell, String)> =
        cells.iter().map(|c| (c, c.id(experiment))).filter(|(_, id)| !store.has(id)).collect();
    if missing.is_empty() {
        return Ok(0);
    }
    let (beside, mut taken) = (SiblingRuns::new(experiment, store), 0);
    for (cell, id) in missing {
        if let Some((record, tables)) = beside.read(&id) {
            store.write(experiment, cell, &tables, record.seconds)?;
            taken += 1;
        }
    }
    Ok(taken)
}

fn is_of_this_build(p: &Provenance) -> bool {
    let own = Provenance::new("", "", "");
    (&p.tool, p.numerical_version, &p.commit, &p.compiler, &p.target)
        == (&own.tool, own.numerical_version, &own.commit, &own.compiler, &own.target)
}
