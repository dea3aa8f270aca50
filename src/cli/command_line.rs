//! The command line that reproduces a result, for the provenance of written files.

use super::session;
use crate::lab::provenance::command_without_folders;

/// The program and the words of the running command, without folders of this machine.
pub fn reproduce() -> String {
    let session = session::current();
    // The arguments of the process are not those of a command that is called as a function.
    let words =
        session.words().map_or_else(|| std::env::args().skip(1).collect(), <[String]>::to_vec);
    format!("metastable {}", command_without_folders(&words)).trim_end().to_owned()
}
