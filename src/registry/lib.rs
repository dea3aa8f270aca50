//! Registries of plug-ins. The `mod.rs` of a plug-in folder declares its files with
//! `pub mod name;`, each file exports one `ENTRY`, and a build script writes the slice of all
//! entries. A file that is not declared is a build error.

pub mod git_log;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Names of the files in a folder with this extension, in alphabetical order, without `mod`.
///
/// # Panics
///
/// If the folder cannot be read; a build script reports errors by panicking.
pub fn file_names(folder: &str, extension: &str) -> Vec<String> {
    println!("cargo::rerun-if-changed={folder}");
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{folder}: {e}"));
    let mut files: Vec<String> = entries
        .filter_map(|f| f.ok()?.file_name().into_string().ok())
        .filter_map(|f| f.strip_suffix(&format!(".{extension}")).map(str::to_owned))
        .filter(|f| f != "mod")
        .collect();
    files.sort();
    files
}

/// Writes the slice of all entries of a folder to `OUT_DIR/NAME.rs`.
///
/// # Panics
///
/// If a file is not declared in `mod.rs`.
pub fn write_registry(name: &str, folder: &str) {
    let files = file_names(folder, "rs");
    let text = fs::read_to_string(format!("{folder}/mod.rs")).unwrap_or_default();
    for file in &files {
        let line = format!("pub mod {file};");
        assert!(
            text.lines().any(|l| l == line),
            "{folder}/{file}.rs is not registered: add `{line}` to {folder}/mod.rs"
        );
    }
    let entries: Vec<String> = files.iter().map(|f| format!("&{f}::ENTRY")).collect();
    write_source(name, &format!("&[{}]", entries.join(", ")));
}

/// Writes one text per file of a folder, in the order of the registry, to `OUT_DIR/NAME.rs`.
pub fn write_texts(name: &str, folder: &str, text: impl Fn(&str) -> String) {
    let read =
        |file: &String| fs::read_to_string(format!("{folder}/{file}.rs")).unwrap_or_default();
    let texts: Vec<String> = file_names(folder, "rs").iter().map(|f| text(&read(f))).collect();
    write_source(name, &format!("&{texts:?}"));
}

/// Writes a source file to `OUT_DIR/NAME.rs`.
///
/// # Panics
///
/// If the file cannot be written.
pub fn write_source(name: &str, source: &str) {
    let out: PathBuf = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR").into();
    fs::write(Path::new(&out).join(format!("{name}.rs")), source).expect("OUT_DIR is writable");
}
