//! `--version`, and the version in the files that name it.

use crate::program::printed;
use metastable::lab::provenance::NUMERICAL_VERSION;
use std::path::Path;

#[test]
fn the_version_names_the_build_and_the_instruction_set() {
    let folder = tempfile::tempdir().expect("a folder");
    let number = env!("CARGO_PKG_VERSION");
    assert_eq!(printed(folder.path(), "-V").trim_end(), format!("metastable {number}"));
    let text = printed(folder.path(), "--version");
    assert!(text.starts_with(&format!("metastable {number}\n")), "{text}");
    let value = |key: &str| {
        let line = text.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("no {key}: {text}"))
    };
    assert_eq!(value("numerical version"), NUMERICAL_VERSION.to_string());
    assert!(value("compiler").starts_with("rustc 1."), "{text}");
    assert!(value("features").starts_with("cli, figures, files, models"), "{text}");
    let commit = value("commit");
    let digits = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
    assert!(digits || commit == "unknown", "{text}");
    let best = value("instruction set").split(' ').next().expect("a name");
    assert!(["portable", "avx2", "avx512"].contains(&best), "{text}");
    // Manual pages are equal on all machines, so they name no processor.
    printed(folder.path(), "man pages");
    let page = std::fs::read_to_string(folder.path().join("pages/metastable.1")).expect("a page");
    assert!(page.contains(number) && !page.contains("instruction set:"), "{page}");
}

#[test]
fn citation_and_changelog_have_the_version_of_the_package() {
    let read = |name: &str| {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("a file")
    };
    let number = env!("CARGO_PKG_VERSION");
    let citation = read("CITATION.cff");
    assert!(citation.contains(&format!("\nversion: {number}\n")), "{citation}");
    assert!(read("CHANGELOG.md").contains(&format!("\n## {number} (")), "no section {number}");
    assert!(
        read("README.md").contains(&format!("version {number},")),
        "the citation of the README"
    );
}
