//! `diff`: two runs side by side.

use super::output::Output;
use crate::error::Result;
use crate::lab::difference::compare;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Flags of `diff`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable diff run-a run-b                       (folders of `solve --out`)
  metastable diff runs/regimes-1234 other/regimes-1234
  metastable diff a.npy b.npy --format json         (`equal` says whether anything differs)")]
pub struct Arguments {
    /// A folder of `solve --out` or of `run`, or an array.
    a: PathBuf,
    /// Another.
    b: PathBuf,
}

/// The name of a column, from the CSV file beside an array.
fn column(folder: &Path, array: &str, k: usize) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(array).with_extension("csv")).ok()?;
    let header = text.lines().find(|l| !l.starts_with('#'))?;
    header.split(',').nth(k).filter(|name| name.parse::<f64>().is_err()).map(str::to_owned)
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let found = compare(&self.a, &self.b)?;
        let mut text = String::new();
        for (name, a, b) in &found.settings {
            text.push_str(&format!("{name}: {a} | {b}\n"));
        }
        for t in &found.tables {
            let [a, b] = &t.shapes;
            text.push_str(&match (t.different, t.ulps) {
                (Some(0), _) => format!("{}: equal, {a:?}\n", t.name),
                (Some(k), ulps) => {
                    let ulps = ulps.map_or("a number meets one that is none".to_owned(), |u| format!("{u} ulp"));
                    let column = column(&self.a, &t.name, t.at[1]).unwrap_or_else(|| t.at[1].to_string());
                    format!(
                        "{}: {k} numbers of {a:?} differ, by at most {ulps}, {:.2e} relative (row {}, column {column})\n",
                        t.name, t.relative, t.at[0]
                    )
                }
                (None, _) => format!("{}: shapes {a:?} and {b:?}\n", t.name),
            });
        }
        found.alone.iter().for_each(|name| text.push_str(&format!("{name}: in one of them only\n")));
        text.push_str(if found.is_none() { "no difference" } else { "they differ" });
        let mut value = json!(found);
        value["equal"] = json!(found.is_none());
        out.result(&value, &text);
        Ok(0)
    }
}
