//! Cells that a run of the same experiment with other values on its axes has finished already.

use super::experiment::Experiment;
use super::plan::Cell;
use super::provenance::Provenance;
use super::store::Store;
use crate::error::Result;

/// Takes over, from the folders beside that of the store, finished cells of the same identity that this very build has written: their numbers are those
/// that it would compute again. Returns how many. What cannot be read there is left.
///
/// **Errors** a cell that cannot be written.
pub(super) fn adopt(experiment: &Experiment, store: &Store, cells: &[Cell]) -> Result<usize> {
    let missing: Vec<&Cell> = cells.iter().filter(|c| !store.has(&c.id(experiment))).collect();
    let (root, own) = (store.folder().parent(), store.folder().file_name());
    let entries = root.filter(|_| !missing.is_empty()).and_then(|root| std::fs::read_dir(root).ok());
    let mut names: Vec<_> = entries.into_iter().flatten().flatten().map(|e| e.file_name()).filter(|n| Some(n.as_os_str()) != own).collect();
    names.sort();
    let start = format!("{}-", experiment.name);
    let beside = names.iter().filter(|n| n.to_string_lossy().strip_prefix(&start).is_some_and(|hash| !hash.contains('-')));
    let stores: Vec<Store> = beside.filter_map(|n| Store::at(&root?.join(n)).ok()).collect();
    let mut taken = 0;
    for cell in missing {
        let id = cell.id(experiment);
        let found = stores.iter().filter_map(|s| s.read(&id).ok()).find(|(record, _)| is_of_this_build(&record.provenance));
        if let Some((record, tables)) = found {
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
