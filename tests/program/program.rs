//! Helpers that start the program as a command and read its output.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The variable without which a slow machine prints progress into compared outputs.
pub const NO_PROGRESS: (&str, &str) = ("METASTABLE_PROGRESS", "never");

/// The command of the program with these arguments in a folder.
pub fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metastable"));
    command.args(arguments.split_whitespace()).current_dir(folder);
    command.env(NO_PROGRESS.0, NO_PROGRESS.1);
    command
}

/// Runs the program in a folder.
pub fn run(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().expect("starts")
}

/// The standard output of a successful run.
pub fn printed(folder: &Path, arguments: &str) -> String {
    text(&successful(run(folder, arguments), arguments).stdout)
}

/// The result of a successful run as JSON.
pub fn json(folder: &Path, arguments: &str) -> Value {
    object(&successful(run(folder, &format!("{arguments} --format json")), arguments), arguments)
}

/// The output, after checking that the exit code is 0.
pub fn successful(out: Output, arguments: &str) -> Output {
    assert!(out.status.success(), "{arguments}: {}", text(&out.stderr));
    out
}

/// The JSON object on the standard output.
pub fn object(out: &Output, arguments: &str) -> Value {
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{arguments}: {e}: {}{}", text(&out.stdout), text(&out.stderr)))
}

/// The error message of a run that ends with this exit code and prints no result.
pub fn failure(folder: &Path, arguments: &str, code: i32) -> String {
    let out = run(folder, arguments);
    let message = text(&out.stderr);
    assert!(
        out.status.code() == Some(code) && message.starts_with("error:") && out.stdout.is_empty(),
        "{arguments}: {message}"
    );
    message
}

/// The error message of a run that ends with exit code 1. Checks that it contains these words.
pub fn refused(folder: &Path, arguments: &str, expected: &str) -> String {
    let message = failure(folder, arguments, 1);
    assert!(message.contains(expected), "{arguments}: {message}");
    message
}

/// Bytes of an output as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// All files below a folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    entries.flat_map(|p| if p.is_dir() { files_below(&p) } else { vec![p] }).collect()
}

/// The bytes of all files below a folder, by their relative paths.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let path = |p: &Path| p.strip_prefix(folder).expect("inside").to_owned();
    files_below(folder).iter().map(|p| (path(p), std::fs::read(p).expect("whole"))).collect()
}

/// The files that are the same in every run. Records and lines of the common file are not, since
/// they contain times.
pub fn tables(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = contents(folder);
    all.retain(|p, _| p.extension().is_some_and(|e| e == "csv" || e == "npy"));
    assert!(!all.is_empty(), "no tables in {}", folder.display());
    all
}
