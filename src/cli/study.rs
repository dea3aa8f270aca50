//! `run STUDY`: writes the tables of a study as CSV and NPY.

use super::out_file;
use super::parameter::{assignment, assignments};
use crate::error::{Error, Result};
use crate::lab::replace::{self, Problem};
use crate::lab::{Provenance, arrays, provenance::hash};
use crate::operation::Answer;
use crate::study::Study;
use serde_json::json;
use std::path::Path;

/// Runs a study with changed parameters and writes its tables into a folder for these parameters.
pub fn run(entry: &Study, set: &[String], runs: &Path) -> Result<Answer> {
    let changes = assignments(set, assignment)?;
    let tables = entry.run_with(&changes)?;
    let flags: String = set.iter().map(|text| format!(" --set {text}")).collect();
    let suffix = if set.is_empty() { String::new() } else { format!("-{}", &hash(&flags)[..8]) };
    let folder = runs.join(format!("study-{}{suffix}", entry.name));
    std::fs::create_dir_all(&folder)
        .map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    let configuration = format!("{}{flags}", entry.name);
    let provenance = Provenance::new(
        format!("study {}", entry.name),
        &configuration,
        format!("metastable run {}{flags}", entry.name),
    );
    let (mut text, mut contents) = (format!("{}\n", entry.title), Vec::new());
    for (name, table) in &tables {
        let csv = arrays::labelled_csv(table, &provenance.csv_header()).into_bytes();
        contents.push((folder.join(format!("{name}.csv")), csv));
        contents.push((folder.join(format!("{name}.npy")), arrays::npy_table(table)));
        text.push_str(&format!(
            "  {name}: {} rows of {}\n",
            table.rows.len(),
            table.columns.join(", ")
        ));
    }
    let files: Vec<String> = contents.iter().map(|f| f.0.display().to_string()).collect();
    let problem = Problem::from(&provenance);
    replace::write(contents, Some(&problem), out_file::replaced(false))?;
    Ok(Answer::new(
        json!({"study": entry.name, "files": files}),
        format!("{text}tables in {}", folder.display()),
    ))
}
