//! The tables of a folder, each row with everything it belongs to: numbers, and words where an axis
//! of the grid has words.

use crate::cli::result_folder::FolderContents;
use crate::error::{Error, Result, nearest, show};
use crate::flow::Table;
use crate::lab::{Cell, cell::CellTables};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A column of a table.
pub enum Column {
    /// Numbers; NaN where a table lacks the column.
    Numbers(Vec<f64>),
    /// Words.
    Words(Vec<Arc<str>>),
}

/// A table with its rows from all cells.
pub struct LongTable {
    /// Its name.
    pub name: String,
    /// Its columns by name.
    pub columns: Vec<(String, Column)>,
    /// How many of them, from the first on, are axes of a grid.
    pub axes: usize,
}

/// Column names that an error prints at most.
const NAMED: usize = 40;

impl LongTable {
    /// A column, if there is one of this name.
    pub fn find(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.0 == name).map(|c| &c.1)
    }

    /// A column of numbers. **Errors** one of words, under the name of a flag.
    pub fn numbers(&self, flag: &str, name: &str) -> Result<&[f64]> {
        match self.find(name) {
            Some(Column::Numbers(values)) => Ok(values),
            Some(Column::Words(_)) => {
                let known = self.columns.iter().filter(|c| matches!(c.1, Column::Numbers(_))).map(|c| c.0.as_str());
                Err(Error::parameter(flag, format!("`{name}`, a column of words"), format!("a column of numbers: {}", listed(known))))
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

    /// The rows where the column has this value: of numbers the same double, of words the same or
    /// with commas for the semicolons of results.csv.
    pub fn rows_of(&self, value: &str) -> Vec<usize> {
        let same: Box<dyn Fn(usize) -> bool> = match (self, value.parse::<f64>()) {
            (Self::Numbers(v), Ok(wanted)) => {
                Box::new(move |k| v[k].total_cmp(&wanted).is_eq() || (v[k] - wanted).abs() <= f64::EPSILON * wanted.abs())
            }
            (Self::Numbers(_), Err(_)) => Box::new(|_| false),
            (Self::Words(v), _) => Box::new(|k| *v[k] == *value || v[k].replace(',', ";") == value),
        };
        (0..self.len()).filter(|k| same(*k)).collect()
    }

    /// The rows of each distinct value among these: of numbers in ascending order, of words as they
    /// come.
    pub fn groups(&self, rows: &[usize]) -> Vec<(String, Vec<usize>)> {
        match self {
            Self::Numbers(v) => runs(rows, v).into_iter().map(|(value, rows)| (show(value), rows)).collect(),
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

/// The rows of each distinct number among these, in ascending order.
pub fn runs(rows: &[usize], values: &[f64]) -> Vec<(f64, Vec<usize>)> {
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let chunks = sorted.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq());
    chunks.map(|rows| (values[rows[0]], rows.to_vec())).collect()
}

/// The tables of a folder: of an experiment or a run its time lines and, of an experiment, its
/// results; of a study its own.
pub fn tables(found: &FolderContents) -> Vec<LongTable> {
    let all = match found {
        FolderContents::Cells(cells) => vec![long("timeline", cells, |t| &t.table), long("results", cells, |t| &t.summary)],
        FolderContents::Study(tables) => tables.iter().map(|(name, table)| plain(name, table)).collect(),
    };
    all.into_iter().filter(|t| t.rows() > 0).collect()
}

fn plain(name: &str, table: &Table) -> LongTable {
    let column = |k: usize| Column::Numbers(table.rows.iter().map(|r| r[k]).collect());
    let columns = table.columns.iter().enumerate().map(|(k, c)| (c.clone(), column(k))).collect();
    LongTable { name: name.to_owned(), columns, axes: 0 }
}

/// One table of every cell, stacked, with the axes of the grid before its columns.
fn long(name: &str, cells: &[(Cell, CellTables)], pick: fn(&CellTables) -> &Table) -> LongTable {
    let (mut words, mut axes): ([Vec<Arc<str>>; 3], [Vec<f64>; 4]) = (Default::default(), Default::default());
    let (mut places, mut names, mut numbers): (BTreeMap<&str, usize>, Vec<&str>, Vec<Vec<f64>>) = (BTreeMap::new(), Vec::new(), Vec::new());
    let mut rows = 0;
    for (cell, tables) in cells {
        let table = pick(tables);
        let own = [&cell.dynamics, &cell.init, &cell.model].map(|w| Arc::<str>::from(w.as_str()));
        words.iter_mut().zip(own).for_each(|(all, w)| all.extend(std::iter::repeat_n(w, table.rows.len())));
        let own = [cell.n as f64, cell.d as f64, cell.beta, cell.eta().unwrap_or(f64::NAN)];
        axes.iter_mut().zip(own).for_each(|(all, v)| all.extend(std::iter::repeat_n(v, table.rows.len())));
        for (k, column) in table.columns.iter().enumerate() {
            let place = *places.entry(column).or_insert_with(|| {
                names.push(column);
                numbers.push(Vec::new());
                names.len() - 1
            });
            // Cells of more or fewer tokens have other columns of positions.
            numbers[place].resize(rows, f64::NAN);
            numbers[place].extend(table.rows.iter().map(|r| r[k]));
        }
        rows += table.rows.len();
    }
    numbers.iter_mut().for_each(|v| v.resize(rows, f64::NAN));
    let words = ["dynamics", "init", "model"].into_iter().zip(words.map(Column::Words));
    let axes = ["n", "d", "beta", "eta"].into_iter().zip(axes.map(Column::Numbers));
    let own = |c: &(&str, Column)| !places.contains_key(c.0);
    let mut columns: Vec<(String, Column)> = words.chain(axes).filter(own).map(|(n, c)| (n.to_owned(), c)).collect();
    let count = columns.len();
    columns.extend(names.into_iter().map(str::to_owned).zip(numbers.into_iter().map(Column::Numbers)));
    LongTable { name: name.to_owned(), columns, axes: count }
}

/// The table that is meant: the one that is named, else the one that has all these columns, each
/// asked for by a flag. Of time lines and results that both
/// have them, the time lines.
///
/// **Errors** an unknown table or column, columns of different tables, several tables where none is
/// named.
pub fn chosen(tables: Vec<LongTable>, named: Option<&str>, wanted: &[(&str, &str)]) -> Result<LongTable> {
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
            return Err(unknown(flag, name, left.iter().flat_map(|t| t.columns.iter().map(|c| c.0.as_str()))));
        }
    }
    let whole: Vec<bool> = left.iter().map(|t| wanted.iter().all(|(_, name)| t.find(name).is_some())).collect();
    let fits: Vec<&str> = left.iter().zip(&whole).filter(|(_, w)| **w).map(|(t, _)| t.name.as_str()).collect();
    let grid = left.iter().any(|t| t.axes > 0);
    if fits.len() > 1 && !grid {
        let expected = format!("the name of one table: {} have these columns", fits.join(" and "));
        return Err(Error::parameter("--table", "nothing", expected));
    }
    let found = whole.iter().position(|w| *w).map(|k| left.swap_remove(k));
    found.ok_or_else(|| {
        let places = wanted.iter().map(|(_, name)| {
            let holders: Vec<&str> = left.iter().filter(|t| t.find(name).is_some()).map(|t| t.name.as_str()).collect();
            format!("`{name}` of {}", holders.join(" and "))
        });
        Error::parameter("--y", format!("columns of different tables: {}", places.collect::<Vec<_>>().join(", ")), "columns of one table")
    })
}

/// A column that is not there: the nearest one, and all of them.
fn unknown<'a>(flag: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.into_iter().collect();
    let near = nearest(name, known.iter().copied()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Error::parameter(flag, format!("the column `{name}`"), format!("one of {}{near}", listed(known)))
}

/// Names, each once, the first ones of many.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut seen = std::collections::BTreeSet::new();
    let each: Vec<&str> = names.into_iter().filter(|n| seen.insert(*n)).collect();
    let more = if each.len() > NAMED { format!(" and {} more", each.len() - NAMED) } else { String::new() };
    each[..each.len().min(NAMED)].join(", ") + &more
}
