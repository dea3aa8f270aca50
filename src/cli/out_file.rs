//! Files that the flags of a command name: which existing ones it replaces.

use super::session;
use crate::error::{Error, Result};
use crate::lab::Provenance;
use crate::lab::replace::{self, Problem, Replace};
use crate::lab::write::check_writable;
use std::ffi::OsStr;
use std::path::Path;

/// What a command replaces: files of the same problem, in a folder whose name it chose itself all
/// files of this program, and with `--force` all files.
pub fn replaced(own_folder: bool) -> Replace {
    match () {
        () if session::current().is_forced() => Replace::All,
        () if own_folder => Replace::Own,
        () => Replace::SameProblem,
    }
}

/// Checks a file before the work, if its problem is known then.
///
/// **Errors** a file of another problem, or one that cannot be written.
pub fn check(path: &Path, same: &dyn Fn(&Problem) -> bool) -> Result<()> {
    replace::check(path, replaced(false), same)?;
    check_writable(path)
}

/// As [`check`], for a file with a provenance block.
pub fn check_result(path: &Path, provenance: &Provenance, own_folder: bool) -> Result<()> {
    let problem = Problem::from(provenance);
    replace::check(path, replaced(own_folder), &|found| problem.is_same(found))?;
    check_writable(path)
}

/// Creates the folder of a file.
pub fn create_parent(file: &Path) -> Result<()> {
    let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty()) else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::io(folder.display(), "create the folder", &e))
}

/// Prepares a folder for files with these names: it is new or empty, or holds such files of the
/// same problem.
///
/// **Errors** other files in the folder; a folder that cannot be written.
pub fn check_folder(folder: &Path, names: &[&str], provenance: &Provenance) -> Result<()> {
    let listed = |name: &OsStr| names.iter().any(|own| name == *own);
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    if entries.any(|entry| !listed(&entry.file_name())) {
        return super::recording::create(folder);
    }
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    names.iter().try_for_each(|name| check_result(&folder.join(name), provenance, false))
}

/// Checks a file before the work whose problem is known after it.
///
/// **Errors** a file of another program, or one that cannot be written.
pub fn check_own(path: &Path) -> Result<()> {
    replace::check(path, replaced(true), &|_| true)?;
    check_writable(path)
}
