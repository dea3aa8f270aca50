//! Tells the wheel its commit and compiler.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    metastable_registry::git_log::set_variables(
        "../..",
        &std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"),
    );
}
