//! Compares two runs: their settings, and the numbers in their tables.

use super::arrays::{self, Array, malformed};
use super::npy;
use crate::error::{Error, Result, wrong_json};
use crate::num::ulps::ulp_distance;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The differences between two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// Settings that differ: name, and the two values.
    pub settings: Vec<(String, Value, Value)>,
    /// Tables that both have.
    pub tables: Vec<TableDifference>,
    /// Tables that only one of them has.
    pub alone: Vec<String>,
}

/// The difference between two tables.
#[derive(Clone, Debug, Serialize)]
pub struct TableDifference {
    /// Its file.
    pub name: String,
    /// The two shapes.
    pub shapes: [Vec<usize>; 2],
    /// Number of entries that differ; `None` if the shapes differ; then the entries are not
    /// compared.
    pub different: Option<usize>,
    /// Largest distance in units in the last place; `None` also if one entry is NaN and the other
    /// is not.
    pub ulps: Option<u64>,
    /// Largest `|a - b| / max(|a|, |b|)`.
    pub relative: f64,
    /// Row and column, from 0, of that entry or of the first NaN that differs.
    pub at: [usize; 2],
    /// The name of that column, if columns have names.
    pub column: Option<String>,
    /// The column names of both, if they differ; nothing else is compared then.
    pub columns: Option<[Vec<String>; 2]>,
}

impl Difference {
    /// True if nothing differs.
    pub fn is_none(&self) -> bool {
        self.settings.is_empty()
            && self.alone.is_empty()
            && self.tables.iter().all(|t| t.different == Some(0))
    }
}

/// Compares two folders of `solve --out` or of experiments, or two arrays.
///
/// **Errors** what cannot be read, a folder without a record of a run.
pub fn compare(a: &Path, b: &Path) -> Result<Difference> {
    if a.is_file() && b.is_file() {
        let name = a.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
        let (x, y) = (arrays::load(a)?, arrays::load(b)?);
        let table = named(table(name, &array(a, &x)?, &array(b, &y)?), &x, &y);
        return Ok(Difference { settings: Vec::new(), tables: vec![table], alone: Vec::new() });
    }
    let (first, second) = (files(a)?, files(b)?);
    let mut tables = Vec::new();
    for name in first.intersection(&second) {
        // Empty tables (a run without merges) cannot be read as arrays.
        let [x, y] = [a, b].map(|folder| {
            std::fs::read(folder.join(name))
                .map_err(|e| Error::io(folder.join(name).display(), "read", &e))
        });
        let (x, y) = (x?, y?);
        let equal = x == y;
        let shown = name.display().to_string();
        let one = match (array(name, &x), array(name, &y)) {
            (Ok(a), Ok(b)) => named(table(shown, &a, &b), &x, &y),
            (x, y) => {
                let shape =
                    |r: &Result<Array>| r.as_ref().map_or_else(|_| vec![0, 0], |a| a.shape.clone());
                let different = equal.then_some(0);
                TableDifference {
                    name: shown,
                    shapes: [shape(&x), shape(&y)],
                    different,
                    ulps: different.map(|_| 0),
                    relative: 0.0,
                    at: [0, 0],
                    column: None,
                    columns: None,
                }
            }
        };
        tables.push(one);
    }
    let alone = first.symmetric_difference(&second).map(|p| p.display().to_string()).collect();
    Ok(Difference { settings: settings(&description(a)?, &description(b)?), tables, alone })
}

/// Reads an array. Entries of NPY files may be NaN: runs write NaN for an event that did not
/// happen.
fn array(path: &Path, bytes: &[u8]) -> Result<Array> {
    if bytes.starts_with(b"\x93NUMPY") {
        return npy::read_any(bytes).map_err(|problem| malformed(path, "", problem));
    }
    arrays::parse(path, bytes, None)
}

/// Adds the name of the column with the largest difference. Columns with different names are
/// different columns, whatever their numbers.
fn named(table: TableDifference, x: &[u8], y: &[u8]) -> TableDifference {
    let names = [x, y].map(|bytes| npy::fields(bytes).unwrap_or_default());
    if names[0] != names[1] && names.iter().all(|n| !n.is_empty()) {
        return TableDifference { different: None, ulps: None, columns: Some(names), ..table };
    }
    TableDifference { column: names[0].get(table.at[1]).cloned(), ..table }
}

/// All arrays of a folder, as paths relative to it.
fn files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    fn walk(top: &Path, inside: &Path, out: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
        for entry in std::fs::read_dir(top.join(inside))?.flatten() {
            let path = inside.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                walk(top, &path, out)?;
            } else if path.extension().is_some_and(|e| e == "npy") {
                out.insert(path);
            }
        }
        Ok(())
    }
    let mut out = BTreeSet::new();
    walk(folder, Path::new(""), &mut out)
        .map_err(|e| Error::io(folder.display(), "read the folder", &e))?;
    Ok(out)
}

/// The settings of a run, from its record or its experiment.
fn description(folder: &Path) -> Result<Value> {
    for (name, key) in [("record.json", Some("settings")), ("experiment.json", None)] {
        let path = folder.join(name);
        if !path.exists() {
            continue;
        }
        let text =
            std::fs::read_to_string(&path).map_err(|e| Error::io(path.display(), "read", &e))?;
        let bad = |problem: String| Error::File {
            path: path.display().to_string(),
            place: String::new(),
            problem,
        };
        let value: Value = serde_json::from_str(&text)
            .map_err(|e| bad(wrong_json(&e, "what `run` or `solve --out` writes")))?;
        let mut found = key.map_or(value.clone(), |k| value[k].clone());
        found["numerical_version"] = value["provenance"]["numerical_version"].clone();
        return Ok(found);
    }
    let problem =
        "found no record.json and no experiment.json, expected a folder of `solve --out` \
        or of `run`"
            .to_owned();
    Err(Error::File { path: folder.display().to_string(), place: String::new(), problem })
}

/// The leaves that differ, with their paths.
fn settings(a: &Value, b: &Value) -> Vec<(String, Value, Value)> {
    fn walk(path: &str, a: &Value, b: &Value, out: &mut Vec<(String, Value, Value)>) {
        match (a, b) {
            (Value::Object(x), Value::Object(y)) => {
                let keys: BTreeSet<&String> = x.keys().chain(y.keys()).collect();
                for key in keys {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    walk(
                        &path,
                        a.get(key).unwrap_or(&Value::Null),
                        b.get(key).unwrap_or(&Value::Null),
                        out,
                    );
                }
            }
            _ if a == b => {}
            _ => out.push((path.to_owned(), a.clone(), b.clone())),
        }
    }
    let mut out = Vec::new();
    walk("", a, b, &mut out);
    out
}

fn table(name: String, a: &Array, b: &Array) -> TableDifference {
    let shapes = [a.shape.clone(), b.shape.clone()];
    let mut out = TableDifference {
        name,
        shapes,
        different: None,
        ulps: None,
        relative: 0.0,
        at: [0, 0],
        column: None,
        columns: None,
    };
    if a.shape != b.shape {
        return out;
    }
    let width = a.shape.last().copied().unwrap_or(1).max(1);
    let (mut different, mut ulps, mut missing) = (0, Some(0), false);
    for (k, (x, y)) in a.data.iter().zip(&b.data).enumerate() {
        let distance = ulp_distance(*x, *y);
        ulps = ulps.zip(distance).map(|(a, b): (u64, u64)| a.max(b));
        if distance == Some(0) {
            continue;
        }
        different += 1;
        let place = [k / width, k % width];
        if distance.is_none() {
            // A NaN takes precedence over differences of numbers.
            out.at = if missing { out.at } else { place };
            missing = true;
            continue;
        }
        // An infinity and a number have the relative difference 1.
        let relative = (x - y).abs() / x.abs().max(y.abs());
        let relative = if relative.is_nan() { 1.0 } else { relative };
        if relative > out.relative {
            out.relative = relative;
            out.at = if missing { out.at } else { place };
        }
    }
    TableDifference { different: Some(different), ulps, ..out }
}
