//! Joins the tables of many small cells (points of an experiment's grid) into `tables.csv` and
//! `tables.npy`.

use super::arrays::{csv_text, npy_table, write_atomically};
use super::experiment::Experiment;
use super::plan::plan;
use super::provenance::Provenance;
use super::store::Store;
use crate::error::Result;
use crate::flow::Table;

/// Stacks the tables of all cells that the journal holds; cells with a folder have their own
/// tables. Each row begins with its cell: the id in CSV, the row of `cells.csv` in NPY. If the
/// tables differ in their columns (positions of more or fewer tokens), there is one pair of files
/// for each set of columns, named by n and d of its first cell.
pub fn write(experiment: &Experiment, store: &Store, provenance: &Provenance) -> Result<()> {
    let mut groups: Vec<Group> = Vec::new();
    for (k, cell) in plan(experiment).iter().enumerate() {
        let id = cell.id(experiment);
        if !store.is_line(&id) {
            continue;
        }
        let (_, tables) = store.read(&id)?;
        let known = groups.iter().position(|g| g.columns == tables.table.columns);
        let group = known.unwrap_or_else(|| {
            groups.push(Group {
                columns: tables.table.columns.clone(),
                name: format!("tables-n{}-d{}", cell.n, cell.d),
                ids: Vec::new(),
                rows: Vec::new(),
            });
            groups.len() - 1
        });
        for row in tables.table.rows {
            groups[group].ids.push(id.clone());
            groups[group].rows.push([&[k as f64][..], &row].concat());
        }
    }
    let single = groups.len() == 1;
    for group in groups {
        let name = if single { "tables".to_owned() } else { group.name };
        let columns: Vec<String> =
            std::iter::once("cell".to_owned()).chain(group.columns).collect();
        let table = Table { columns, rows: group.rows };
        write_atomically(&store.folder().join(format!("{name}.npy")), &npy_table(&table))?;
        // In CSV the rows begin with the id of their cell.
        let head = csv_text(
            &Table { columns: table.columns.clone(), rows: Vec::new() },
            &provenance.csv_header(),
        );
        let lines = group.ids.iter().zip(&table.rows).map(|(id, row)| {
            let numbers: Vec<String> = row[1..].iter().map(ToString::to_string).collect();
            format!("{id},{}\n", numbers.join(","))
        });
        write_atomically(
            &store.folder().join(format!("{name}.csv")),
            lines.fold(head, |text, line| text + &line).as_bytes(),
        )?;
    }
    Ok(())
}

/// Rows of tables with the same columns.
struct Group {
    columns: Vec<String>,
    name: String,
    ids: Vec<String>,
    rows: Vec<Vec<f64>>,
}
