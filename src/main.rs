//! The command line of `metastable`.

use metastable::lab::provenance::{built_from, head_commit};

/// The commit that git's log names last; only its digits come into the program.
static COMMIT: [u8; 40] = head_commit(include_bytes!(env!("METASTABLE_GIT_LOG")));

fn main() {
    built_from(&COMMIT, env!("METASTABLE_RUSTC"));
    std::process::exit(metastable::cli::main());
}
