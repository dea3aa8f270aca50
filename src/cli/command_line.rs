//! The line that calls the program again, for the provenance of what a command writes.

use crate::lab::provenance::command_without_folders;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The words of the command at work where another program called it as a function: the arguments of
/// the process are that program's own.
static WORDS: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// What makes the definitions of commands and flags, which errors name.
static DEFINITIONS: OnceLock<fn() -> clap::Command> = OnceLock::new();

/// Tells those who name flags where these are defined.
pub fn define(program: fn() -> clap::Command) {
    DEFINITIONS.get_or_init(|| program);
}

/// The definitions of commands and flags; none before `define`.
pub fn definitions() -> clap::Command {
    DEFINITIONS.get().map_or_else(|| clap::Command::new("metastable"), |program| program())
}

/// From now on a command with these words is at work.
pub fn begin(words: &[String]) {
    *WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(words.to_vec());
}

/// The words of the command at work.
pub fn words() -> Vec<String> {
    let called = WORDS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    called.unwrap_or_else(|| std::env::args().skip(1).collect())
}

/// The name of the program and the words of the command, without folders of this machine.
pub fn line() -> String {
    format!("metastable {}", command_without_folders(&words())).trim_end().to_owned()
}
