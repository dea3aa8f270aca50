//! The command line of `metastable`.

use metastable::lab::provenance::{built_from, head_commit};

/// The commit in the last entry of git's log; only its digits are put into the program.
static COMMIT: [u8; 40] = head_commit(include_bytes!(env!("METASTABLE_GIT_LOG")));

fn main() {
    built_from(&COMMIT, env!("METASTABLE_RUSTC"));
    std::process::exit(metastable::cli::main());
}
