//! Snapshots of finished runs: the tokens at the end of a run, or at a row of its table that holds
//! positions.

use super::arrays::malformed;
use super::draws::masses_by_law;
use super::model::recorded_text;
use super::npy;
use super::plan::Cell;
use super::store::Store;
use crate::error::{Error, Result, wrong_json};
use crate::flow::Table;
use crate::num::key_values::KeyValues;
pub use crate::operation::Snapshot;
use serde_json::Value;
use std::path::Path;

/// The choice of a frame: the last one, a row of the table, or the last row up to a time. In an
/// experiment it also names the cell and the realisation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameChoice {
    row: Option<usize>,
    t: Option<f64>,
    cell: Option<String>,
    realisation: Option<usize>,
}

/// The dynamics, its time scale unless it is the default, and the model, as text.
pub fn dynamics_text(dynamics: &str, normalisation: Option<&str>, model: &str) -> String {
    let scale =
        normalisation.filter(|s| !s.starts_with("U1")).map_or(String::new(), |s| format!(", {s}"));
    let model = if model.is_empty() { String::new() } else { format!(", {model}") };
    format!("dynamics {dynamics}{scale}{model}")
}

/// The dynamics, time scale and model of a run of `solve`, as text.
pub fn recorded_dynamics(folder: &Path) -> Option<String> {
    let record: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("record.json")).ok()?).ok()?;
    let settings = &record["settings"];
    let dynamics = settings["model"]["words"].as_object().and(settings["dynamics"].as_str())?;
    Some(dynamics_text(
        dynamics,
        settings["normalisation"].as_str(),
        &recorded_text(&settings["model"]),
    ))
}

/// The seed of the random parts of the model in a run of `solve`; `None` if there are none.
pub fn model_seed(folder: &Path) -> Option<u64> {
    let record: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("record.json")).ok()?).ok()?;
    record["settings"]["model"]["seed"].as_u64()
}

/// The folder of a text `FOLDER` or `FOLDER:CELL`, and the cell.
///
/// ```
/// use metastable::lab::snapshot::folder_and_cell;
/// assert_eq!(folder_and_cell("runs/a:1b2c"), (std::path::Path::new("runs/a"), Some("1b2c")));
/// ```
pub fn folder_and_cell(text: &str) -> (&Path, Option<&str>) {
    let whole = Path::new(text);
    match text.rsplit_once(':') {
        // A path of Windows has a colon after the drive.
        Some((folder, cell)) if !whole.exists() && !cell.contains(['/', '\\']) => {
            (Path::new(folder), Some(cell))
        }
        _ => (whole, None),
    }
}

impl FrameChoice {
    /// The frame of a text, by default the last one, in the cell that is named with the folder.
    ///
    /// **Errors** as [`FrameChoice::parse`]; two names of cells.
    pub fn of(frame: Option<&str>, cell: Option<&str>) -> Result<Self> {
        let mut choice = frame.map_or(Ok(Self::default()), Self::parse)?;
        if let Some(cell) = cell {
            if let Some(other) = &choice.cell {
                let found = format!("cell={other} beside the cell {cell} of --from-run");
                return Err(Error::parameter("frame", found, "one of them"));
            }
            choice.cell = Some(cell.to_owned());
        }
        Ok(choice)
    }

    /// Parses `last`, a row counted from 0, or `t=3.5`, `row=7`, `cell=1a2b`, `realisation=2`,
    /// separated by commas.
    ///
    /// **Errors** any other text.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || {
            Error::parameter(
                "frame",
                text,
                "last, a row from 0, or t=T, row=K, cell=ID, realisation=R separated by commas",
            )
        };
        let found = KeyValues::parse("frame", text).with_default_key("row");
        let found = found.with_keys("frame parameter", &["row", "t", "cell", "realisation"])?;
        let whole =
            |key: &str| found.get(key).map(|v| v.parse::<usize>().map_err(|_| bad())).transpose();
        let last = found.get("row") == Some("last");
        let which = Self {
            row: if last { None } else { whole("row")? },
            t: found
                .get("t")
                .map(|v| v.parse().ok().filter(|t: &f64| *t >= 0.0).ok_or_else(bad))
                .transpose()?,
            cell: found.get("cell").map(str::to_owned),
            realisation: whole("realisation")?,
        };
        if text.trim().is_empty() || which.row.is_some() && which.t.is_some() {
            Err(bad())
        } else {
            Ok(which)
        }
    }

    /// The index of a layer in an array of three axes.
    ///
    /// **Errors** a choice that is not a layer; a layer beyond the last.
    pub fn layer(&self, layers: usize) -> Result<usize> {
        let expected = || format!("last, or a layer from 0 to {}", layers - 1);
        if self.t.is_some() || self.cell.is_some() || self.realisation.is_some() {
            return Err(Error::parameter("frame", "a frame of a run", expected()));
        }
        let row = self.row.unwrap_or(layers - 1);
        if row < layers { Ok(row) } else { Err(Error::parameter("frame", row, expected())) }
    }

    /// Reads the frame from a folder that `solve` or an experiment wrote.
    ///
    /// **Errors** a folder of another kind, a missing frame, a table without positions, several
    /// cells or realisations with none chosen.
    pub fn read(&self, folder: &Path) -> Result<Snapshot> {
        if !folder.exists() {
            return Err(missing_folder(folder));
        }
        if folder.join("experiment.json").exists() {
            return self.read_cell(folder);
        }
        let path = folder.join("record.json");
        let text = std::fs::read_to_string(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => malformed(
                folder,
                "",
                "found no record.json and no experiment.json, expected a folder of a run",
            ),
            _ => Error::io(path.display(), "read", &e),
        })?;
        let record: Value = serde_json::from_str(&text)
            .map_err(|e| malformed(&path, "", wrong_json(&e, "the record of `solve --out`")))?;
        let word = self
            .cell
            .as_ref()
            .map(|c| format!("cell={c}"))
            .or(self.realisation.map(|r| format!("realisation={r}")));
        if let Some(word) = word {
            return Err(Error::parameter(
                "frame",
                word,
                "last, t=T or a row: this folder holds one run",
            ));
        }
        let masses = record["settings"]["masses"]["values"]
            .as_array()
            .map(|m| m.iter().filter_map(Value::as_f64).collect());
        let space = record["settings"]["tokens"]["space"].as_str().unwrap_or("sphere");
        if self.row.is_none() && self.t.is_none() {
            let last = table(folder, "final_tokens", &names(&record["final_columns"]))?;
            let d = last.columns.iter().filter(|c| c.starts_with("x_")).count();
            let radii = last.columns.iter().any(|c| c == "radius").then(|| last.column("radius"));
            return Ok(Snapshot {
                d,
                rows: last.rows.iter().flat_map(|r| r[..d].to_vec()).collect(),
                masses,
                radii,
            });
        }
        if space == "polar" {
            return Err(Error::parameter(
                "frame",
                "a row of a run with radii",
                "last: time lines hold directions only",
            ));
        }
        let timeline = table(folder, "timeline", &names(&record["timeline_columns"]))?;
        let (d, rows) = self.positions(&timeline, folder)?;
        Ok(Snapshot { d, rows, masses, radii: None })
    }

    /// The whole time line of a run, or of the chosen cell and realisation.
    ///
    /// **Errors** as [`FrameChoice::read`].
    pub fn timeline(&self, folder: &Path) -> Result<Table> {
        if folder.join("experiment.json").exists() {
            return self.cell_table(folder).map(|(_, table)| table);
        }
        let path = folder.join("record.json");
        let text =
            std::fs::read_to_string(&path).map_err(|e| Error::io(path.display(), "read", &e))?;
        let record: Value = serde_json::from_str(&text)
            .map_err(|e| malformed(&path, "", wrong_json(&e, "the record of `solve --out`")))?;
        table(folder, "timeline", &names(&record["timeline_columns"]))
    }

    /// A frame of a cell.
    fn read_cell(&self, folder: &Path) -> Result<Snapshot> {
        let (cell, table) = self.cell_table(folder)?;
        let (d, rows) = self.positions(&table, folder)?;
        Ok(Snapshot {
            d,
            rows,
            masses: masses(folder, &cell, self.realisation.unwrap_or(0))?,
            radii: None,
        })
    }

    /// The chosen cell, and the table of the chosen realisation.
    fn cell_table(&self, folder: &Path) -> Result<(Cell, Table)> {
        let store = Store::open_read_only(folder)?;
        let ids = store.finished()?;
        let fits: Vec<&String> = ids
            .iter()
            .filter(|id| self.cell.as_ref().is_none_or(|c| id.starts_with(c.as_str())))
            .collect();
        let [id] = fits[..] else {
            let found = self.cell.as_ref().map_or("no cell named".to_owned(), |c| {
                format!("{} cells beginning with {c}", fits.len())
            });
            let known = ids.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            return Err(Error::parameter(
                "frame",
                found,
                format!(
                    "cell=ID, one of {} finished cells ({known}{})",
                    ids.len(),
                    if ids.len() > 8 { ", ..." } else { "" }
                ),
            ));
        };
        let (record, tables) = store.read(id)?;
        let mut table = tables.table;
        let realisations = tables.summary.rows.len();
        if realisations > 1 && table.column("realisation").is_empty() {
            return Err(malformed(
                folder,
                "",
                "its tables are means over realisations, not positions of tokens; run it without \
                `mean`",
            ));
        }
        match self.realisation {
            Some(r) if r >= realisations => {
                return Err(Error::parameter(
                    "frame",
                    format!("realisation {r}"),
                    format!("a realisation from 0 to {}", realisations - 1),
                ));
            }
            None if realisations > 1 => {
                return Err(Error::parameter(
                    "frame",
                    format!("{realisations} realisations"),
                    "realisation=R, one of them, from 0",
                ));
            }
            r => {
                let own = table.column("realisation");
                let r = r.unwrap_or(0) as f64;
                let keep = |k: usize| own.get(k).is_none_or(|v| (v - r).abs() < 0.5);
                table.rows = table
                    .rows
                    .into_iter()
                    .enumerate()
                    .filter(|(k, _)| keep(*k))
                    .map(|p| p.1)
                    .collect();
            }
        }
        Ok((record.cell, table))
    }

    /// The positions in the chosen row.
    fn positions(&self, table: &Table, folder: &Path) -> Result<(usize, Vec<f64>)> {
        let (d, columns) =
            position_columns(table).ok_or_else(|| malformed(folder, "", NO_POSITIONS))?;
        let row = match (self.row, self.t) {
            (Some(k), _) if k >= table.rows.len() => {
                return Err(Error::parameter(
                    "frame",
                    k,
                    format!("a row from 0 to {}", table.rows.len().saturating_sub(1)),
                ));
            }
            (Some(k), _) => k,
            (None, Some(t)) => {
                let times = table.column("t");
                let (first, last) = (
                    times.first().copied().unwrap_or(f64::NAN),
                    times.last().copied().unwrap_or(f64::NAN),
                );
                let inside = |row: &usize| *row + 1 < times.len() || t <= last * (1.0 + 1e-9);
                let row = times.iter().rposition(|s| *s <= t).filter(inside);
                row.ok_or_else(|| {
                    Error::parameter(
                        "frame",
                        format!("t = {t}"),
                        format!("a time from {first} to {last}"),
                    )
                })?
            }
            (None, None) => table.rows.len().saturating_sub(1),
        };
        let row =
            table.rows.get(row).ok_or_else(|| malformed(folder, "", "its table has no rows"))?;
        Ok((d, columns.iter().map(|k| row[*k]).collect()))
    }
}

/// The problem of a table without positions.
pub const NO_POSITIONS: &str = "its table has no positions; record the observable `positions`";

/// The dimension and the columns of positions of a table, token by token.
pub fn position_columns(table: &Table) -> Option<(usize, Vec<usize>)> {
    let axis = |c: &String| -> Option<usize> {
        let (token, axis) = c.strip_prefix("x_")?.split_once('_')?;
        token.parse::<usize>().ok()?;
        axis.parse().ok()
    };
    let found: Vec<(usize, usize)> =
        table.columns.iter().enumerate().filter_map(|(k, c)| Some((k, axis(c)?))).collect();
    let d = found.iter().map(|c| c.1 + 1).max()?;
    Some((d, found.into_iter().map(|c| c.0).collect()))
}

fn names(list: &Value) -> Vec<String> {
    list.as_array()
        .map_or_else(Vec::new, |l| l.iter().filter_map(|c| c.as_str().map(str::to_owned)).collect())
}

/// A table of a folder with its column names.
fn table(folder: &Path, name: &str, columns: &[String]) -> Result<Table> {
    let path = folder.join(format!("{name}.npy"));
    let bytes = std::fs::read(&path).map_err(|e| Error::io(path.display(), "read", &e))?;
    npy::table(&bytes, columns.to_vec()).ok_or_else(|| {
        malformed(
            &path,
            "",
            format!("expected a table of {} columns as in record.json", columns.len()),
        )
    })
}

/// The masses of a realisation of an experiment; `None` if they are equal.
fn masses(folder: &Path, cell: &Cell, m: usize) -> Result<Option<Vec<f64>>> {
    let Ok(text) = std::fs::read_to_string(folder.join("experiment.json")) else { return Ok(None) };
    let Ok(experiment) = serde_json::from_str::<Value>(&text) else { return Ok(None) };
    if let (Some(law), Some(seed)) = (experiment["mass_law"].as_str(), experiment["seed"].as_u64())
    {
        return masses_by_law(law, seed, cell, m).map(Some);
    }
    Ok(experiment["masses"].as_array().map(|list| list.iter().filter_map(Value::as_f64).collect()))
}

/// The error for a missing folder, or for a file in its place. It names folders beside it whose
/// names begin alike, because `run` adds a hash to the name of a user's experiment.
pub fn missing_folder(folder: &Path) -> Error {
    let beside = folder.parent().filter(|p| !p.as_os_str().is_empty());
    if folder.is_file() {
        let of = beside.unwrap_or(Path::new(".")).display();
        return malformed(folder, "", format!("found a file, expected its folder, `{of}`"));
    }
    let name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let names = std::fs::read_dir(beside.unwrap_or(Path::new(".")))
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.file_name());
    let mut alike: Vec<String> = names
        .map(|n| n.to_string_lossy().into_owned())
        .filter(|n| !name.is_empty() && n.starts_with(&name))
        .collect();
    alike.sort();
    let alike: Vec<String> = alike
        .iter()
        .take(3)
        .map(|n| beside.map_or(n.into(), |b| b.join(n)).display().to_string())
        .collect();
    let nearest =
        if alike.is_empty() { String::new() } else { format!(" (nearest: {})", alike.join(", ")) };
    malformed(folder, "", format!("no such folder{nearest}"))
}
