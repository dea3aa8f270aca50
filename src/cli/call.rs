//! A command called as a function, for Python: words in, JSON out.

use super::output::Output;
use super::session::{Session, within};
use super::{Refused, parse, run};
use crate::error::with_names;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The result of a command.
pub struct Answer {
    /// One JSON object.
    pub result: String,
    /// The lines that it would have written to stderr.
    pub notes: Vec<String>,
    /// Its exit code.
    pub code: i32,
}

/// The error of a command; parameters have the names of the library, `t_end`.
pub struct Refusal {
    /// The error as a sentence.
    pub message: String,
    /// The exit code.
    pub code: i32,
}

/// Runs the command of these words (without the name of the program). The caller sets `cancel` to
/// end it at its next step.
///
/// **Errors** the error that the program would print, with its exit code.
pub fn answer(words: &[String], cancel: &Arc<AtomicBool>) -> Result<Answer, Refusal> {
    if cancel.load(Ordering::Relaxed) {
        return Err(Refusal { message: "interrupted".into(), code: 130 });
    }
    let line: Vec<OsString> = std::iter::once("metastable")
        .chain(words.iter().map(String::as_str))
        .map(OsString::from)
        .collect();
    let (arguments, flags) = parse(&line).map_err(|refused| {
        let message = match refused {
            Refused::Input(e) => e.to_string(),
            Refused::Usage(e) => with_names(&first(&e.to_string()), &|flag| flag.replace('-', "_")),
        };
        Refusal { message, code: 1 }
    })?;
    let (out, session) =
        (Output::stored(flags), Session::for_command(words, arguments.force, cancel));
    match within(&session, || run(arguments, &out)) {
        Ok(code) => Ok(Answer { result: out.into_result(), notes: session.notes(), code }),
        Err(e) => Err(Refusal { message: e.to_string(), code: e.exit_code() }),
    }
}

/// The problem and the suggestion in a message of clap, without its remarks on the command line.
fn first(message: &str) -> String {
    let mut parts = message.split("\n\n");
    let wrong = parts.next().unwrap_or_default().trim_start_matches("error: ").trim();
    let near = parts.next().map(str::trim).and_then(|p| p.strip_prefix("tip: "));
    near.map_or(wrong.to_owned(), |near| format!("{wrong}; {near}"))
}
