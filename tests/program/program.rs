//! The program as a command, for the tests that start it.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

/// The program with these arguments, to be started in a folder.
pub fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metastable"));
    command.args(arguments.split_whitespace()).current_dir(folder);
    command
}

/// Taken by every [`run`], and by [`alone`] for itself.
static PROCESSORS: RwLock<()> = RwLock::new(());

/// Runs it in a folder.
pub fn run(folder: &Path, arguments: &str) -> Output {
    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    command(folder, arguments).output().expect("starts")
}

/// While it lives, no other test runs the program: for what must be done within a time.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    PROCESSORS.write().unwrap_or_else(PoisonError::into_inner)
}

/// What it prints when all goes well.
pub fn printed(folder: &Path, arguments: &str) -> String {
    text(&successful(run(folder, arguments), arguments).stdout)
}

/// What it says as JSON, when all goes well.
pub fn json(folder: &Path, arguments: &str) -> Value {
    object(&successful(run(folder, &format!("{arguments} --format json")), arguments), arguments)
}

/// An output whose exit code is 0.
pub fn successful(out: Output, arguments: &str) -> Output {
    assert!(out.status.success(), "{arguments}: {}", text(&out.stderr));
    out
}

/// The JSON object on the standard output.
pub fn object(out: &Output, arguments: &str) -> Value {
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{arguments}: {e}: {}{}", text(&out.stdout), text(&out.stderr)))
}

/// The reason why it ends with this exit code and prints no result.
pub fn failure(folder: &Path, arguments: &str, code: i32) -> String {
    let out = run(folder, arguments);
    let said = text(&out.stderr);
    assert!(out.status.code() == Some(code) && said.starts_with("error:") && out.stdout.is_empty(), "{arguments}: {said}");
    said
}

/// Exit code 1, a sentence with these words, and nothing else.
pub fn refused(folder: &Path, arguments: &str, expected: &str) -> String {
    let said = failure(folder, arguments, 1);
    assert!(said.contains(expected), "{arguments}: {said}");
    said
}

/// Printed bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// All files below a folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    entries.flat_map(|p| if p.is_dir() { files_below(&p) } else { vec![p] }).collect()
}

/// All files below a folder by their paths from there, with their bytes.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let path = |p: &Path| p.strip_prefix(folder).expect("inside").to_owned();
    files_below(folder).iter().map(|p| (path(p), std::fs::read(p).expect("whole"))).collect()
}

/// The files that are the same in every run: records and lines of the common file have seconds.
pub fn tables(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = contents(folder);
    all.retain(|p, _| p.extension().is_some_and(|e| e == "csv" || e == "npy"));
    assert!(!all.is_empty(), "no tables in {}", folder.display());
    all
}
