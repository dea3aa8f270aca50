//! A command as a function: its words in, its JSON answer out. What calls the program from another language calls this.

use super::output::{Output, kept_notes};
use super::{Arguments, cancel::CANCEL, command, command_line, input, run};
use clap::Parser;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a command answered.
pub struct Answer {
    /// One JSON object.
    pub result: String,
    /// What it said beside its result, line by line.
    pub notes: Vec<String>,
    /// Its exit code.
    pub code: i32,
}

/// Why a command did not answer.
pub struct Refusal {
    /// Its sentence.
    pub message: String,
    /// Its exit code.
    pub code: i32,
}

/// One command at a time: they share what ends them.
static ONE: Mutex<()> = Mutex::new(());

/// Runs the command of these words (without the name of the program); `stopped` is set when nobody waits for the answer any more.
///
/// **Errors** what the program would print before it ends, with its exit code.
pub fn answer(words: &[String], stopped: &AtomicBool) -> Result<Answer, Refusal> {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if stopped.load(Ordering::Relaxed) {
        return Err(Refusal { message: "interrupted".into(), code: 130 });
    }
    CANCEL.store(false, Ordering::Relaxed);
    let arguments = Arguments::try_parse_from(std::iter::once("metastable").chain(words.iter().map(String::as_str)));
    let arguments = arguments.map_err(|e| {
        let unknown = || input::unknown_command(&e, words.iter().map(String::as_str), &command());
        let ours = input::wrong_number(&e).or_else(unknown).map(|e| e.to_string());
        Refusal { message: ours.unwrap_or_else(|| first(&e.to_string())), code: 1 }
    })?;
    command_line::define(command);
    command_line::begin(words);
    let out = Output::kept();
    let (ended, notes) = kept_notes(|| run(arguments, &out));
    match ended {
        Ok(code) => Ok(Answer { result: out.answered(), notes, code }),
        Err(e) => Err(Refusal { message: input::as_flag(e.clone()).to_string(), code: e.exit_code() }),
    }
}

/// What the parser of flags says is wrong, and what is near; the rest of its message is about the command line.
fn first(message: &str) -> String {
    let mut parts = message.split("\n\n");
    let wrong = parts.next().unwrap_or_default().trim_start_matches("error: ").trim();
    let near = parts.next().map(str::trim).and_then(|p| p.strip_prefix("tip: "));
    near.map_or(wrong.to_owned(), |near| format!("{wrong}; {near}"))
}

/// Asks the command at work to end at its next step.
pub fn give_up() {
    CANCEL.store(true, Ordering::Relaxed);
}
