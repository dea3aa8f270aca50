//! The tables of a result folder. The rows of all cells are stacked, with the axes of the grid as
//! columns of numbers or words.

use crate::cli::run_folder::FolderContents;
use crate::error::{Error, Result, format_number, nearest};
use crate::flow::Table;
use crate::lab::{Cell, arrays::labelled_table, cell::CellTables};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A column of a table.
pub enum Column {
    /// Numbers; NaN where a table lacks the column.
    Numbers(Vec<f64>),
    /// Names, such as those of dynamics.
    Words(Vec<Arc<str>>),
}

/// The rows of one table from all cells.
pub struct LongTable {
    /// Its name.
    pub name: String,
    /// Its columns by name.
    pub columns: Vec<(String, Column)>,
    /// Number of leading columns that are axes of a grid.
    pub axes: usize,
}

/// Largest number of column names in an error.
const MAX_LISTED: usize = 40;

impl LongTable {
    /// The column of this name.
    pub fn find(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.0 == name).map(|c| &c.1)
    }

    /// A column of numbers. **Errors** (for the flag `flag`) an unknown column, a column of words.
    pub fn numbers(&self, flag: &str, name: &str) -> Result<&[f64]> {
        match self.find(name) {
            Some(Column::Numbers(values)) => Ok(values),
            Some(Column::Words(_)) => {
                let known = self
                    .columns
                    .iter()
                    .filter(|c| matches!(c.1, Column::Numbers(_)))
                    .map(|c| c.0.as_str());
                Err(Error::parameter(
                    flag,
                    format!("`{name}`, a column of words"),
                    format!("a column of numbers: {}", listed(known)),
                ))
            }
            None => Err(unknown(flag, name, self.columns.iter().map(|c| c.0.as_str()))),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(v) => v.len(),
            Self::Words(v) => v.len(),
        }
    }

    /// The rows with this value. A word may have commas where results.csv has semicolons.
    pub fn rows_of(&self, value: &str) -> Vec<usize> {
        let same: Box<dyn Fn(usize) -> bool> = match (self, value.parse::<f64>()) {
            (Self::Numbers(v), Ok(wanted)) => Box::new(move |k| {
                v[k].total_cmp(&wanted).is_eq()
                    || (v[k] - wanted).abs() <= f64::EPSILON * wanted.abs()
            }),
            (Self::Numbers(_), Err(_)) => Box::new(|_| false),
            (Self::Words(v), _) => Box::new(|k| *v[k] == *value || v[k].replace(',', ";") == value),
        };
        (0..self.len()).filter(|k| same(*k)).collect()
    }

    /// Groups these rows by value: numbers in ascending order, words in order of appearance.
    pub fn groups(&self, rows: &[usize]) -> Vec<(String, Vec<usize>)> {
        match self {
            Self::Numbers(v) => group_by_value(rows, v)
                .into_iter()
                .map(|(value, rows)| (format_number(value), rows))
                .collect(),
            Self::Words(v) => {
                let mut places: BTreeMap<&str, usize> = BTreeMap::new();
                let mut out: Vec<(String, Vec<usize>)> = Vec::new();
                for &row in rows {
                    let place = *places.entry(&v[row]).or_insert_with(|| {
                        out.push((v[row].to_string(), Vec::new()));
                        out.len() - 1
                    });
                    out[place].1.push(row);
                }
                out
            }
        }
    }
}

/// Groups these rows by their number, in ascending order.
pub fn group_by_value(rows: &[usize], values: &[f64]) -> Vec<(f64, Vec<usize>)> {
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let chunks = sorted.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq());
    chunks.map(|rows| (values[rows[0]], rows.to_vec())).collect()
}

/// Columns in which -1 stands for no prediction.
const PREDICTIONS: [&str; 3] = ["predicted_t", "median_predicted_t", "worst_deviation"];

/// The tables of a folder: the time lines of a run or an experiment, the results of an experiment
/// and of its cells, the tables of a study.
///
/// **Errors** a file `cells.csv` that is no table.
pub fn tables(found: &FolderContents, folder: &Path) -> Result<Vec<LongTable>> {
    let all = match found {
        FolderContents::Cells(cells) => {
            let mut all = vec![
                stacked("timeline", cells, |t| &t.table),
                stacked("results", cells, |t| &t.summary),
            ];
            let path = folder.join("cells.csv");
            if path.is_file() {
                let mut cells = study_table("cells", &labelled_table(&path)?);
                cells.columns.retain(|c| c.0 != "cell");
                let axes = cells.columns.iter().position(|c| c.0 == "realisations");
                cells.axes = axes.unwrap_or(0);
                all.push(cells);
            }
            all
        }
        FolderContents::Study(tables) => {
            tables.iter().map(|(name, table)| study_table(name, table)).collect()
        }
    };
    let mut all: Vec<LongTable> = all.into_iter().filter(|t| t.rows() > 0).collect();
    for (name, column) in all.iter_mut().flat_map(|t| &mut t.columns) {
        if let (Column::Numbers(values), true) = (column, PREDICTIONS.contains(&name.as_str())) {
            values.iter_mut().filter(|v| **v < 0.0).for_each(|v| *v = f64::NAN);
        }
    }
    Ok(all)
}

fn study_table(name: &str, table: &crate::lab::LabelledTable) -> LongTable {
    let column = |k: usize| match table.labels(&table.columns[k]) {
        words if words.is_empty() => Column::Numbers(table.rows.iter().map(|r| r[k]).collect()),
        words => Column::Words(words.into_iter().map(Arc::from).collect()),
    };
    let columns = table.columns.iter().enumerate().map(|(k, c)| (c.clone(), column(k))).collect();
    LongTable { name: name.to_owned(), columns, axes: 0 }
}

/// One table of every cell, stacked, with the axes of the grid as first columns.
fn stacked(name: &str, cells: &[(Cell, CellTables)], pick: fn(&CellTables) -> &Table) -> LongTable {
    let (mut words, mut axes): ([Vec<Arc<str>>; 3], [Vec<f64>; 4]) =
        (Default::default(), Default::default());
    let (mut places, mut names, mut numbers): (BTreeMap<&str, usize>, Vec<&str>, Vec<Vec<f64>>) =
        (BTreeMap::new(), Vec::new(), Vec::new());
    let mut rows = 0;
    for (cell, tables) in cells {
        let table = pick(tables);
        let own = [&cell.dynamics, &cell.init, &cell.model].map(|w| Arc::<str>::from(w.as_str()));
        words
            .iter_mut()
            .zip(own)
            .for_each(|(all, w)| all.extend(std::iter::repeat_n(w, table.rows.len())));
        let own = [cell.n as f64, cell.d as f64, cell.beta, cell.eta().unwrap_or(f64::NAN)];
        axes.iter_mut()
            .zip(own)
            .for_each(|(all, v)| all.extend(std::iter::repeat_n(v, table.rows.len())));
        for (k, column) in table.columns.iter().enumerate() {
            let place = *places.entry(column).or_insert_with(|| {
                names.push(column);
                numbers.push(Vec::new());
                names.len() - 1
            });
            // The columns of positions depend on the number of tokens in the cell.
            numbers[place].resize(rows, f64::NAN);
            numbers[place].extend(table.rows.iter().map(|r| r[k]));
        }
        rows += table.rows.len();
    }
    numbers.iter_mut().for_each(|v| v.resize(rows, f64::NAN));
    let words = ["dynamics", "init", "model"].into_iter().zip(words.map(Column::Words));
    let axes = ["n", "d", "beta", "eta"].into_iter().zip(axes.map(Column::Numbers));
    let own = |c: &(&str, Column)| !places.contains_key(c.0);
    let mut columns: Vec<(String, Column)> =
        words.chain(axes).filter(own).map(|(n, c)| (n.to_owned(), c)).collect();
    let count = columns.len();
    let column = |(name, values): (&str, Vec<f64>)| {
        let outcome =
            |v: &f64| Arc::from(*crate::lab::cell::OUTCOMES.get(*v as usize).unwrap_or(&"unknown"));
        let is_outcome = name == "outcome";
        (
            name.to_owned(),
            if is_outcome {
                Column::Words(values.iter().map(outcome).collect())
            } else {
                Column::Numbers(values)
            },
        )
    };
    columns.extend(names.into_iter().zip(numbers).map(column));
    LongTable { name: name.to_owned(), columns, axes: count }
}

/// The table named `named`, or else the table with all columns of `wanted` (pairs of flag and
/// column). If time lines and results both have them, the time lines.
///
/// **Errors** an unknown table or column; columns of different tables; several tables of a study
/// with these columns.
pub fn select_table(
    tables: Vec<LongTable>,
    named: Option<&str>,
    wanted: &[(&str, &str)],
) -> Result<LongTable> {
    let names: Vec<String> = tables.iter().map(|t| t.name.clone()).collect();
    let mut left = tables;
    if let Some(name) = named {
        left.retain(|t| t.name == name);
        if left.is_empty() {
            return Err(Error::unknown("table", name, names.iter().map(String::as_str)));
        }
    }
    for (flag, name) in wanted {
        if !left.iter().any(|t| t.find(name).is_some()) {
            return Err(unknown(
                flag,
                name,
                left.iter().flat_map(|t| t.columns.iter().map(|c| c.0.as_str())),
            ));
        }
    }
    let whole: Vec<bool> =
        left.iter().map(|t| wanted.iter().all(|(_, name)| t.find(name).is_some())).collect();
    let fits: Vec<&str> =
        left.iter().zip(&whole).filter(|(_, w)| **w).map(|(t, _)| t.name.as_str()).collect();
    let grid = left.iter().any(|t| t.axes > 0);
    if fits.len() > 1 && !grid {
        let expected = format!("the name of one table: {} have these columns", fits.join(" and "));
        return Err(Error::parameter("--table", "nothing", expected));
    }
    let found = whole.iter().position(|w| *w).map(|k| left.swap_remove(k));
    found.ok_or_else(|| {
        let sources = wanted.iter().map(|(_, name)| {
            let holders: Vec<&str> =
                left.iter().filter(|t| t.find(name).is_some()).map(|t| t.name.as_str()).collect();
            format!("`{name}` of {}", holders.join(" and "))
        });
        Error::parameter(
            "--y",
            format!("columns of different tables: {}", sources.collect::<Vec<_>>().join(", ")),
            "columns of one table",
        )
    })
}

/// The error for an unknown column, with the nearest and all known ones.
fn unknown<'a>(flag: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.into_iter().collect();
    let near = nearest(name, known.iter().copied())
        .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Error::parameter(
        flag,
        format!("the column `{name}`"),
        format!("one of {}{near}", listed(known)),
    )
}

/// Distinct names separated by commas, at most `MAX_LISTED`.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut known = std::collections::BTreeSet::new();
    let each: Vec<&str> = names.into_iter().filter(|n| known.insert(*n)).collect();
    let more = if each.len() > MAX_LISTED {
        format!(" and {} more", each.len() - MAX_LISTED)
    } else {
        String::new()
    };
    each[..each.len().min(MAX_LISTED)].join(", ") + &more
}
