//! Part of build scripts: which compiler builds, and where git logs the commits of the checkout.
//!
//! A program includes that log when it is compiled (`METASTABLE_GIT_LOG`) and takes the commit from its last line, so a
//! new commit rebuilds the program alone: an environment variable with the commit would rebuild the library too.

use std::{env, fs, path::Path, process::Command};

/// Sets `METASTABLE_GIT_LOG` (without git: an empty file of `out`) and `METASTABLE_RUSTC` for the package whose build
/// script calls it.
pub fn announce(checkout: &str, out: &str) {
    let git = Path::new(checkout).join(".git");
    // What is there as long as git is: without it the log is not where it was.
    let stays = if git.is_dir() { git.join("description") } else { git.clone() };
    if stays.exists() {
        println!("cargo::rerun-if-changed={}", stays.display());
    }
    // In a second checkout (`git worktree`) a file says where the folder is.
    let folder = fs::read_to_string(&git).ok().and_then(|text| Some(text.trim().strip_prefix("gitdir: ")?.into())).unwrap_or(git);
    let log = fs::canonicalize(folder.join("logs/HEAD")).unwrap_or_else(|_| {
        let empty = Path::new(out).join("no_git_log");
        fs::write(&empty, "").expect("OUT_DIR is writable");
        empty
    });
    println!("cargo::rustc-env=METASTABLE_GIT_LOG={}", log.display());
    let rustc = Command::new(env::var("RUSTC").expect("cargo sets RUSTC")).arg("--version").output().expect("the compiler runs");
    println!("cargo::rustc-env=METASTABLE_RUSTC={}", String::from_utf8_lossy(&rustc.stdout).trim());
}
