//! What the subcommands of `certify` share.

use crate::attention::{Variant, dynamics};
use crate::cli::input::TokenArguments;
use crate::cli::{out_file, output::note, proof::Standing};
use crate::error::{Error, Result};
use crate::lab::replace::{self, Problem};
use crate::operation::Exit;
use std::path::Path;

/// How an operation ends whose statement has this standing.
pub fn end(standing: &Standing) -> Exit {
    match standing {
        holds if holds.holds() => Exit::Shown,
        Standing::Interrupted => Exit::Interrupted,
        _ => Exit::Undecided,
    }
}

/// The attention of a dynamics for which proofs exist.
pub fn variant(name: &str) -> Result<Variant> {
    let entry = dynamics::find(name, false)?;
    let known = || Error::parameter("--dynamics", entry.name, "sa, usa, causal-sa or causal-usa");
    entry.variant.filter(|v| !v.repulsive).ok_or_else(known)
}

/// **Errors** `--all-digits`, which has no effect on proofs.
pub fn refuse_all_digits(tokens: &TokenArguments) -> Result<()> {
    if !tokens.all_digits {
        return Ok(());
    }
    Err(Error::parameter("--all-digits", "--all-digits", "none: certificates have all digits"))
}

/// Writes a certificate, if a file is given.
///
/// **Errors** a file of another problem, or one that cannot be written.
pub fn write(certificate: &str, file: Option<&Path>) -> Result<()> {
    if let Some(path) = file {
        let problem = Problem::of(certificate.as_bytes());
        let files = vec![(path.to_owned(), certificate.as_bytes().to_vec())];
        replace::write(files, problem.as_ref(), out_file::replaced(false))?;
        note(&format!("wrote {}", path.display()));
    }
    Ok(())
}
