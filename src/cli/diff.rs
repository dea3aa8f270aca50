//! `diff`: the differences of two runs.

use super::output::Output;
use crate::error::Result;
use crate::lab::difference::{TableDifference, compare};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Flags of `diff`.
#[derive(clap::Args)]
#[command(after_help = "Exit codes:
  0  no difference
  1  a difference; also wrong flags or a missing or malformed file (then with an error on stderr and
     nothing on stdout)
  5  a file could not be read
In a script:
  metastable diff run-a run-b > difference.txt || cat difference.txt

Examples:
  metastable diff run-a run-b                       (folders of `solve --out`)
  metastable diff runs/regimes-1234 other/regimes-1234
  metastable diff a.npy b.npy --format json         (the key `equal` is true or false)")]
pub struct Arguments {
    /// A folder of `solve --out` or `run`, or an array.
    a: PathBuf,
    /// The second one.
    b: PathBuf,
}

/// The name of a column, from the CSV file beside an array.
fn column(folder: &Path, array: &str, k: usize) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(array).with_extension("csv")).ok()?;
    let header = text.lines().find(|l| !l.starts_with('#'))?;
    header.split(',').nth(k).filter(|name| name.parse::<f64>().is_err()).map(str::to_owned)
}

/// The difference of two tables as text.
fn difference(t: &TableDifference, folder: &Path) -> String {
    if let Some([a, b]) = &t.columns {
        return format!("{}: columns {} | {}\n", t.name, a.join(","), b.join(","));
    }
    let (Some(different), [a, b]) = (t.different, &t.shapes) else {
        return format!("{}: shapes {:?} and {:?}\n", t.name, t.shapes[0], t.shapes[1]);
    };
    if different == 0 {
        return format!("{}: equal, {a:?}\n", t.name);
    }
    let named = t.column.clone().or_else(|| column(folder, &t.name, t.at[1]));
    let place = format!("row {}, column {}", t.at[0], named.unwrap_or_else(|| t.at[1].to_string()));
    match t.ulps {
        Some(ulps) => {
            format!(
                "{}: {different} numbers of {b:?} differ, by at most {ulps} ulp, {:.2e} relative ({place})\n",
                t.name, t.relative
            )
        }
        None => format!(
            "{}: {different} numbers of {b:?} differ, some are NaN in one table only ({place})\n",
            t.name
        ),
    }
}

impl Arguments {
    /// Runs it. Exit code 0 without a difference, 1 with one, as Unix `diff`.
    pub fn run(self, out: &Output) -> Result<i32> {
        let found = compare(&self.a, &self.b)?;
        let mut text = String::new();
        for (name, a, b) in &found.settings {
            text.push_str(&format!("{name}: {a} | {b}\n"));
        }
        found.tables.iter().for_each(|t| text.push_str(&difference(t, &self.a)));
        found
            .alone
            .iter()
            .for_each(|name| text.push_str(&format!("{name}: in one of the two only\n")));
        text.push_str(if found.is_none() { "no difference" } else { "they differ" });
        let mut value = json!(found);
        value["equal"] = json!(found.is_none());
        out.result(&value, &text);
        Ok(i32::from(!found.is_none()))
    }
}
