//! For build scripts: the compiler version, and the path of the commit log of the git checkout.
//!
//! A program includes this log at compile time (`METASTABLE_GIT_LOG`) and reads the commit from its
//! last line. A new commit then rebuilds only the program; an environment variable with the commit
//! would rebuild the library too. A package has no log, but a file with the commit, which
//! `cargo package` wrote.

use std::{env, fs, path::Path, process::Command};

/// Sets `METASTABLE_GIT_LOG` (without git: a file in `out`) and `METASTABLE_RUSTC` for the package
/// of the calling build script.
pub fn set_variables(checkout: &str, out: &str) {
    let git = Path::new(checkout).join(".git");
    // A file that exists exactly while the checkout has git: if git disappears, the script must run
    // again.
    let stays = if git.is_dir() { git.join("description") } else { git.clone() };
    if stays.exists() {
        println!("cargo::rerun-if-changed={}", stays.display());
    }
    // In a linked worktree (`git worktree`), `.git` is a file with the path of the folder.
    let folder = fs::read_to_string(&git)
        .ok()
        .and_then(|text| Some(text.trim().strip_prefix("gitdir: ")?.into()))
        .unwrap_or(git);
    let log = fs::canonicalize(folder.join("logs/HEAD")).unwrap_or_else(|_| {
        let written = Path::new(out).join("no_git_log");
        fs::write(&written, packaged_line(checkout)).expect("OUT_DIR is writable");
        written
    });
    println!("cargo::rustc-env=METASTABLE_GIT_LOG={}", log.display());
    let rustc = Command::new(env::var("RUSTC").expect("cargo sets RUSTC"))
        .arg("--version")
        .output()
        .expect("the compiler runs");
    println!("cargo::rustc-env=METASTABLE_RUSTC={}", String::from_utf8_lossy(&rustc.stdout).trim());
}

/// A line as in git's log, with the commit that `cargo package` recorded; empty without a record.
fn packaged_line(checkout: &str) -> String {
    let record = Path::new(checkout).join(".cargo_vcs_info.json");
    let record = fs::read_to_string(record).unwrap_or_default();
    let commit = record.split('"').skip_while(|word| *word != "sha1").nth(2);
    commit.map_or_else(String::new, |commit| format!("{} {commit} packaged\n", "0".repeat(40)))
}
