//! Printing: the only module that writes to stdout and stderr.

use super::colour::Colour;
use crate::error::{Error, Result};
pub use crate::operation::digits::{counted, rounded};
use crate::operation::{Kind, Parameter, Value};
use serde_json::Value as Json;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Readable text.
    Text,
    /// One object.
    Json,
    /// The table of the result, its single values as comments.
    Csv,
    /// A page as Markdown, of results that have one.
    Markdown,
}

impl Value for Format {
    const KIND: Kind = Kind::Name;
    fn read(parameter: &Parameter, text: &str) -> Result<Self> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            "markdown" => Ok(Self::Markdown),
            other => Err(Error::parameter(parameter.name, other, "text, json, csv or markdown")),
        }
    }
}

/// Set in a process of a distributed run that is not the root.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Prints nothing from now on.
#[cfg(feature = "mpi")]
pub fn silence() {
    SILENT.store(true, Ordering::Relaxed);
}

/// Set by `--quiet`.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints no notes from now on, only results and errors.
pub fn quieten() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Set by `--all-digits`.
static ALL_DIGITS: AtomicBool = AtomicBool::new(false);

/// Tokens, and coordinates of a token, that text shows without `--all-digits`.
pub const FEW: usize = 8;

/// True if text shows all items with all digits.
pub fn all_digits() -> bool {
    ALL_DIGITS.load(Ordering::Relaxed)
}

/// Whether text shows all items with all digits from now on.
pub fn set_all_digits(all: bool) {
    ALL_DIGITS.store(all, Ordering::Relaxed);
}

/// Set unless results are printed as text.
static DATA: AtomicBool = AtomicBool::new(false);

/// True if only the result may be printed.
pub fn is_data() -> bool {
    DATA.load(Ordering::Relaxed)
}

/// Set if a page is wanted as Markdown.
static MARKDOWN: AtomicBool = AtomicBool::new(false);

/// True if a page is wanted as Markdown.
pub fn is_markdown() -> bool {
    MARKDOWN.load(Ordering::Relaxed)
}

/// The colours of a result.
pub fn colour() -> Colour {
    let call = super::session::current().words().is_some();
    if call || is_data() { Colour::NONE } else { Colour::of_results() }
}

/// Flags of the running command of the program, without the dashes.
static FLAGS: OnceLock<Vec<String>> = OnceLock::new();

/// An error as a sentence that names parameters by the flags of the running command; a function
/// call names them as the library does.
pub fn sentence(error: &Error) -> String {
    if super::session::current().words().is_some() {
        return error.to_string();
    }
    let flags = FLAGS.get().map_or(&[][..], Vec::as_slice);
    let flag = |name: &str| {
        // A place may follow the parameter: `ids, id 2`.
        let end = name
            .find(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)))
            .unwrap_or(name.len());
        let long = name[..end].replace('_', "-");
        let place = name[end..].starts_with(", ")
            || name[end..].starts_with(' ') && name[end + 1..].starts_with(char::is_alphabetic);
        if flags.contains(&long) && (place || end == name.len()) {
            format!("--{long}{}", &name[end..])
        } else {
            name.to_owned()
        }
    };
    error.render(&flag)
}

/// The table that `--table` names.
static TABLE: Mutex<Option<String>> = Mutex::new(None);

/// The table that `--table` names.
pub fn table_name() -> Option<String> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// How many of n lines text shows.
pub fn shown(n: usize) -> usize {
    if all_digits() { n } else { n.min(FEW) }
}

/// A line with the number of lines left out; empty if there are none.
pub fn more(n: usize) -> String {
    if shown(n) < n {
        format!("  ... and {} more (--all-digits, --format csv)\n", n - shown(n))
    } else {
        String::new()
    }
}

/// A number with six digits, or all of them.
pub fn number(v: f64) -> String {
    if all_digits() { crate::error::format_number(v) } else { rounded(v, 6) }
}

/// A vector as text.
pub fn vector(row: &[f64]) -> String {
    let few: Vec<String> = row[..shown(row.len())].iter().map(|v| number(*v)).collect();
    let dots = if few.len() < row.len() { ", ..." } else { "" };
    format!("[{}{dots}]", few.join(", "))
}

/// Prepares printing in a format, of CSV this table, for a command with these flags.
pub fn begin(format: Format, table: Option<&str>, flags: &[String]) {
    *TABLE.lock().unwrap_or_else(PoisonError::into_inner) = table.map(str::to_owned);
    DATA.store(format != Format::Text, Ordering::Relaxed);
    MARKDOWN.store(format == Format::Markdown, Ordering::Relaxed);
    let _ = FLAGS.set(flags.to_vec());
}

/// Prints a result. A closed pipe is not an error.
pub fn print(line: &str) {
    super::progress::over();
    if SILENT.load(Ordering::Relaxed) {
        return;
    }
    let written = writeln!(std::io::stdout(), "{line}").and_then(|()| std::io::stdout().flush());
    if let Err(e) = written
        .or_else(|e| if e.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(e) })
    {
        complain(&format!("stdout: could not write: {e}"));
        std::process::exit(5);
    }
}

/// Prints a line on stderr, unless `--quiet` is given.
pub fn note(line: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        write_note(line);
    }
}

/// Prints an estimate of the time of a long proof. What takes longer than a day is refused by the
/// proof itself.
pub fn note_seconds(what: &str, seconds: f64) {
    if seconds > 20.0 && seconds < 1e5 {
        note(&format!(
            "{what} takes about {} with two threads",
            super::progress::duration(seconds)
        ));
    }
}

/// Prints a problem on stderr, also with `--quiet`.
pub fn complain(problem: &str) {
    let colour =
        if super::session::current().words().is_some() { Colour::NONE } else { Colour::of_notes() };
    write_note(&format!("{} {problem}", colour.alarm("error:")));
}

fn write_note(line: &str) {
    if !super::session::current().store_note(line) && !SILENT.load(Ordering::Relaxed) {
        super::progress::above(line);
    }
}

/// Rows of numbers as aligned text: the first ones with six digits, or all with `--all-digits`.
pub fn rows(values: &[f64], width: usize) -> String {
    let count = values.len() / width.max(1);
    let row = |r: &[f64]| {
        let few: Vec<String> =
            r[..shown(width)].iter().map(|v| format!("{:>12}", number(*v))).collect();
        few.join(" ") + if shown(width) < width { " ...\n" } else { "\n" }
    };
    values.chunks(width).take(shown(count)).map(row).collect::<String>() + &more(count)
}

/// A finite number, or null.
pub fn finite(v: f64) -> Json {
    serde_json::Number::from_f64(v).map_or(Json::Null, Json::Number)
}

/// Rows of numbers as JSON lists.
pub fn matrix(values: &[f64], width: usize) -> Json {
    values.chunks(width).map(|r| Json::from(r.to_vec())).collect()
}
