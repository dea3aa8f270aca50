//! A command called as a function, for Python: words in, JSON out.

use super::operation::formatted;
use super::output::Format;
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
    let line = parse(&line).map_err(|refused| {
        let message = match refused {
            Refused::Input(e) => e.to_string(),
            Refused::Usage(e) => with_names(&first(&e.to_string()), &|flag| flag.replace('-', "_")),
        };
        Refusal { message, code: 1 }
    })?;
    let session = Session::for_command(words, line.everywhere.force, cancel);
    let (format, table) = (Format::Json, line.everywhere.table);
    let done = within(&session, || {
        let (operation, answer) = run(line.work)?;
        let result = formatted(operation, &answer, format, table.as_deref())?;
        Ok((result, answer.exit.code()))
    });
    match done {
        Ok((result, code)) => Ok(Answer { result, notes: session.notes(), code }),
        Err(e) => {
            let e: crate::Error = e;
            Err(Refusal { message: e.to_string(), code: e.exit_code() })
        }
    }
}

/// The descriptions of all operations as one JSON text, for Python.
pub fn descriptions() -> String {
    super::operations().map(|o| o.describe()).collect::<serde_json::Value>().to_string()
}

/// The problem and the suggestion in a message of clap, without its remarks on the command line.
fn first(message: &str) -> String {
    let mut parts = message.split("\n\n");
    let wrong = parts.next().unwrap_or_default().trim_start_matches("error: ").trim();
    let near = parts.next().map(str::trim).and_then(|p| p.strip_prefix("tip: "));
    near.map_or(wrong.to_owned(), |near| format!("{wrong}; {near}"))
}
