//! Cells that a run of the same experiment with other values on its axes has finished already.

use super::cell::CellTables;
use super::experiment::Experiment;
use super::plan::Cell;
use super::provenance::Provenance;
use super::store::{CellRecord, Store};
use crate::error::Result;

/// The folders of such runs, beside that of a store.
pub struct Beside(Vec<Store>);

impl Beside {
    /// What lies beside this store. What cannot be read there is left.
    pub fn new(experiment: &Experiment, store: &Store) -> Self {
        let (root, own) = (store.folder().parent(), store.folder().file_name());
        let entries = root.and_then(|root| std::fs::read_dir(root).ok());
        let mut names: Vec<_> =
            entries.into_iter().flatten().flatten().map(|e| e.file_name()).filter(|n| Some(n.as_os_str()) != own).collect();
        names.sort();
        let start = format!("{}-", experiment.name);
        let beside = names.iter().filter(|n| n.to_string_lossy().strip_prefix(&start).is_some_and(|hash| !hash.contains('-')));
        Self(beside.filter_map(|n| Store::at(&root?.join(n)).ok()).collect())
    }

    /// A finished cell of this identity that this very build has written: its numbers are those that it would compute again.
    fn read(&self, id: &str) -> Option<(CellRecord, CellTables)> {
        self.0.iter().filter_map(|s| s.read(id).ok()).find(|(record, _)| is_of_this_build(&record.provenance))
    }

    /// True where a cell would be taken over.
    pub fn has(&self, id: &str) -> bool {
        self.read(id).is_some()
    }
}

/// Takes such cells over. Returns how many.
///
/// **Errors** a cell that cannot be written.
pub(super) fn adopt(experiment: &Experiment, store: &Store, cells: &[Cell]) -> Result<usize> {
    let missing: Vec<(&Cell, String)> = cells.iter().map(|c| (c, c.id(experiment))).filter(|(_, id)| !store.has(id)).collect();
    if missing.is_empty() {
        return Ok(0);
    }
    let (beside, mut taken) = (Beside::new(experiment, store), 0);
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
