//! The program as a command, for the tests that call it.
#![allow(dead_code, reason = "every test binary uses its own part")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Runs it in a folder.
pub fn run(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_metastable")).args(arguments.split_whitespace()).current_dir(folder).output().expect("starts")
}

/// What it says as JSON, when all goes well.
pub fn json(folder: &Path, arguments: &str) -> Value {
    let out = run(folder, &format!("{arguments} --format json"));
    assert!(out.status.success(), "{arguments}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{arguments}: {e}: {}", String::from_utf8_lossy(&out.stdout)))
}
