//! Tells the wheel its commit and compiler.

#[path = "../git_log.rs"]
mod git_log;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    git_log::announce("../..", &std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
}
