//! Build script of the library: registers the figures of the papers, with the module documentation
//! of their files for the pages of papers, and records the commit.

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    metastable_registry::write_registry("figures", "paper_figs");
    let about = |source: &str| {
        source.lines().map_while(|l| l.strip_prefix("//!")).collect::<Vec<_>>().join(" ")
    };
    metastable_registry::write_texts("figure_docs", "paper_figs", about);
    metastable_registry::git_log::set_variables(
        ".",
        &std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"),
    );
}
