//! Build script of the library: registers the figures of the papers and their studies, with the
//! module documentation of their files for the pages of papers, and records the commit.

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    metastable_registry::write_registry("figures", "paper_figs");
    write_studies();
    let about = |source: &str| {
        source.lines().map_while(|l| l.strip_prefix("//!")).collect::<Vec<_>>().join(" ")
    };
    metastable_registry::write_texts("figure_docs", "paper_figs", about);
    metastable_registry::git_log::set_variables(
        ".",
        &std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"),
    );
    enlarge_stack();
}

/// Writes the slice of the studies, by name. A figure whose data need a computation of their own
/// has a `STUDY`.
fn write_studies() {
    let name = |source: &str| {
        let (_, study) = source.split_once("Study = Study {")?;
        Some(study.split('"').nth(1).expect("a study begins with its name").to_owned())
    };
    let source = |file: &str| std::fs::read_to_string(format!("paper_figs/{file}.rs"));
    let mut studies: Vec<(String, String)> = metastable_registry::file_names("paper_figs", "rs")
        .into_iter()
        .filter_map(|file| Some((name(&source(&file).expect("readable"))?, file)))
        .collect();
    studies.sort();
    let entries = studies.iter().map(|(_, file)| format!("&crate::paper_figs::{file}::STUDY"));
    let entries: Vec<String> = entries.collect();
    metastable_registry::write_source("studies", &format!("&[{}]", entries.join(", ")));
}

/// Windows gives the first thread of a program 1 MB of stack, other systems 8 MB. The parser of the
/// command line runs on it.
fn enlarge_stack() {
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let flag = match (target("OS").as_str(), target("ENV").as_str()) {
        ("windows", "msvc") => "/STACK:8388608",
        ("windows", _) => "-Wl,--stack,8388608",
        _ => return,
    };
    println!("cargo::rustc-link-arg-bin=metastable={flag}");
}
