//! `--version`: what was built, and what runs on this machine. `-V` prints the first line.

use crate::lab::provenance::{NUMERICAL_VERSION, build};
use crate::num::simd::Isa;

/// Version, numerical version, commit, compiler, target and features of the build, and the
/// instruction sets of this processor.
pub fn text() -> String {
    let (commit, compiler) = build();
    let mpi = if cfg!(feature = "mpi") { ", mpi" } else { "" };
    let available: Vec<&str> = Isa::available().into_iter().map(Isa::name).collect();
    format!(
        "{}\nnumerical version: {NUMERICAL_VERSION}\ncommit: {commit}\ncompiler: {compiler}\n\
         target: {}-{}\nfeatures: cli, figures, files, models{mpi}\n\
         instruction set: {} (this processor has {})",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        Isa::best().name(),
        available.join(", "),
    )
}
