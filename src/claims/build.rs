//! Registers the derivations of the claims, and checks that each claim is listed.

use std::{fs, path::Path};

fn main() {
    let mut derivations: Vec<(String, String)> = Vec::new();
    println!("cargo::rerun-if-changed=theorem/claim");
    for topic in
        fs::read_dir("theorem/claim").expect("a folder").filter_map(|f| Some(f.ok()?.path()))
    {
        if topic.is_dir() {
            claims_of(&topic, &mut derivations);
        }
    }
    derivations.sort();
    metastable_registry::write_source("derivations", &format!("&{derivations:?}"));
}

/// Adds the derivations of the claims of a topic. A file with an entry that the topic does not list
/// is a build error.
fn claims_of(topic: &Path, derivations: &mut Vec<(String, String)>) {
    let folder = topic.to_string_lossy();
    let list = fs::read_to_string(topic.join("mod.rs")).expect("a topic has a mod.rs");
    for file in metastable_registry::file_names(&folder, "rs") {
        let source = fs::read_to_string(topic.join(format!("{file}.rs"))).unwrap_or_default();
        if source.contains("\npub static ENTRY") {
            assert!(
                list.contains(&format!("&{file}::ENTRY")),
                "{folder}/{file}.rs is not listed: add `&{file}::ENTRY` to {folder}/mod.rs"
            );
            derivations.push((file, derivation(&source)));
        }
    }
}

/// The documentation between `# Derivation` and the entry, without comment marks.
fn derivation(source: &str) -> String {
    let (before, _) = source.split_once("\npub static ENTRY").unwrap_or_default();
    let Some((_, text)) = before.split_once("/// # Derivation\n") else { return String::new() };
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|l| l.strip_prefix("///"))
        .map(|l| l.strip_prefix(' ').unwrap_or(l))
        .collect();
    lines.join("\n").trim().to_owned()
}
