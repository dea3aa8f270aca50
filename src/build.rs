//! Registers the figures of the papers, with the first lines of their files, and tells the program its commit.

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    metastable_registry::register("figures", "paper_figs");
    let about = |source: &str| source.lines().map_while(|l| l.strip_prefix("//!")).collect::<Vec<_>>().join(" ");
    metastable_registry::texts("figure_docs", "paper_figs", about);
    metastable_registry::git_log::announce(".", &std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
}
