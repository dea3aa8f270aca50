//! The command line that reproduces a result, for the provenance of written files.

use super::session;
use crate::lab::provenance::command_without_folders;

/// The arguments of the process. A name of a file may have bytes that are no text; they are
/// replaced.
fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The program and the words of the running command, without folders of this machine.
pub fn reproduce() -> String {
    let session = session::current();
    // The arguments of the process are not those of a command that is called as a function.
    let mut words = session.words().map_or_else(arguments, <[String]>::to_vec);
    // Somebody who repeats the command may have other files.
    words.retain(|word| word != "--force");
    format!("metastable {}", command_without_folders(&words)).trim_end().to_owned()
}
