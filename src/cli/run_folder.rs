//! Reads folders that `run` and `solve --out` wrote.

use crate::error::{Error, Result};
use crate::flow::Table;
use crate::lab::{Cell, cell::CellTables};
use crate::lab::{model::recorded_text, snapshot::missing_folder, store::Store};
use serde_json::Value;
use std::path::Path;

/// The results in a folder.
pub enum FolderContents {
    /// Cells of an experiment, in grid order.
    Cells(Vec<(Cell, CellTables)>),
    /// Tables of a study.
    Study(crate::study::Tables),
}

/// Reads a folder, or its cell whose name begins with `cell`. **Errors** a folder that neither
/// command wrote; no such cell, or several.
pub fn read(folder: &Path, cell: Option<&str>) -> Result<FolderContents> {
    let strange = |problem: String| Error::File {
        path: folder.display().to_string(),
        place: String::new(),
        problem,
    };
    if !folder.is_dir() {
        return Err(missing_folder(folder));
    }
    if folder.join("cells.csv").is_file() {
        let (store, mut cells) = (Store::open_read_only(folder)?, Vec::new());
        for id in select(first_column(&folder.join("cells.csv"))?, cell)? {
            let (record, tables) = store.read(&id)?;
            cells.push((record.cell, tables));
        }
        // Cells name their model only if the models of the grid differ; a common one is added here.
        let experiment: Value = std::fs::read_to_string(folder.join("experiment.json"))
            .ok()
            .and_then(|t| serde_json::from_str(&t).ok())
            .unwrap_or_default();
        cells
            .iter_mut()
            .filter(|(cell, _)| cell.model.is_empty())
            .for_each(|(cell, _)| cell.model = recorded_text(&experiment["model"]));
        return Ok(FolderContents::Cells(cells));
    }
    if let Some(cell) = cell {
        return Err(Error::parameter(
            "--cell",
            cell,
            "it with the folder of an experiment with several cells",
        ));
    }
    // The folder of `measure --out` also has a time line, but no tokens: its tables are read as a
    // study.
    if folder.join("timeline.csv").is_file() && folder.join("final_tokens.csv").is_file() {
        return Ok(FolderContents::Cells(vec![solved(folder)?]));
    }
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .map_err(|e| Error::io(folder.display(), "read", &e))?
        .filter_map(|f| {
            f.ok()?.file_name().into_string().ok()?.strip_suffix(".csv").map(str::to_owned)
        })
        .collect();
    names.sort();
    if names.is_empty() {
        return Err(strange(
            "found no results, expected a folder written by `run` (with cells.csv or tables) or by `solve --out` or `measure --out`".into(),
        ));
    }
    let tables = names
        .into_iter()
        .map(|n| {
            Ok((n.clone(), crate::lab::arrays::labelled_table(&folder.join(format!("{n}.csv")))?))
        })
        .collect::<Result<_>>()?;
    Ok(FolderContents::Study(tables))
}

/// All cells, or the one whose name begins with `cell`.
fn select(ids: Vec<String>, cell: Option<&str>) -> Result<Vec<String>> {
    let Some(cell) = cell else { return Ok(ids) };
    let matching: Vec<String> =
        ids.iter().filter(|id| !cell.is_empty() && id.starts_with(cell)).cloned().collect();
    if matching.len() == 1 {
        return Ok(matching);
    }
    let found = if matching.is_empty() {
        cell.to_owned()
    } else {
        format!("{cell}, the beginning of {} cells", matching.len())
    };
    let known = ids
        .iter()
        .take(8)
        .map(|id| id.chars().take(8).collect::<String>())
        .collect::<Vec<_>>()
        .join(", ");
    Err(Error::parameter(
        "--cell",
        found,
        format!(
            "the beginning of one of {} cells ({known}{})",
            ids.len(),
            if ids.len() > 8 { ", ..." } else { "" }
        ),
    ))
}

/// A table with the names of its columns.
fn table(path: &Path) -> Result<Table> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path.display(), "read", &e))?;
    let head = text.lines().find(|l| !l.starts_with('#')).unwrap_or_default();
    let columns: Vec<String> = head.split(',').map(str::to_owned).collect();
    // Missing values are NaN, so the table is not read as an array of finite numbers.
    let row = |(k, line): (usize, &str)| -> Result<Vec<f64>> {
        let bad = || Error::File {
            path: path.display().to_string(),
            place: format!("row {}", k + 1),
            problem: "found no table of numbers".into(),
        };
        let row: Vec<f64> =
            line.split(',').map(|v| v.parse().map_err(|_| bad())).collect::<Result<_>>()?;
        if row.len() == columns.len() { Ok(row) } else { Err(bad()) }
    };
    let rows = text
        .lines()
        .filter(|l| !l.starts_with('#'))
        .skip(1)
        .enumerate()
        .map(row)
        .collect::<Result<_>>()?;
    Ok(Table { rows, columns })
}

fn first_column(path: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path.display(), "read", &e))?;
    let lines = text.lines().filter(|l| !l.starts_with('#')).skip(1);
    Ok(lines.filter_map(|l| l.split(',').next().map(str::to_owned)).collect())
}

/// A run of `solve` as an experiment with a single cell.
fn solved(folder: &Path) -> Result<(Cell, CellTables)> {
    let path = folder.join("record.json");
    let text = std::fs::read_to_string(&path).map_err(|e| Error::io(path.display(), "read", &e))?;
    let bad = |problem: &str| Error::File {
        path: path.display().to_string(),
        place: String::new(),
        problem: problem.into(),
    };
    let record: Value = serde_json::from_str(&text)
        .map_err(|_| bad("found no JSON, expected the record of `solve --out`"))?;
    let last = table(&folder.join("final_tokens.csv"))?;
    let word = |key: &str| record["settings"][key].as_str().unwrap_or("sa").to_owned();
    let beta = record["settings"]["beta"].as_f64().or_else(|| record["beta"].as_f64());
    let cell = Cell {
        dynamics: word("dynamics"),
        init: String::new(),
        n: last.rows.len(),
        d: last.columns.iter().filter(|c| c.starts_with("x_")).count(),
        beta: beta
            .ok_or_else(|| bad("found no number `beta`, expected the record of `solve --out`"))?,
        eta: "0".into(),
        model: recorded_text(&record["settings"]["model"]),
    };
    Ok((
        cell,
        CellTables { table: table(&folder.join("timeline.csv"))?, summary: Table::default() },
    ))
}
