//! What the subcommands of `certify` share.

use crate::attention::{Variant, dynamics};
use crate::cli::input::TokenArguments;
use crate::cli::output::note;
use crate::error::{Error, Result};
use crate::lab::arrays;
use std::path::Path;

/// Exit code if nothing is proved.
pub const UNPROVED: i32 = 3;

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
pub fn write(certificate: &str, file: Option<&Path>) -> Result<()> {
    if let Some(path) = file {
        arrays::write_atomically(path, certificate.as_bytes())?;
        note(&format!("wrote {}", path.display()));
    }
    Ok(())
}
