//! Printing: the only module that writes to stdout and stderr.

use super::colour::Colour;
use crate::error::Error;
use serde_json::Value;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Readable text.
    Text,
    /// One object.
    Json,
    /// The table of the result, its single values as comments.
    Csv,
}

/// Where results go.
pub struct Output {
    format: Format,
    /// Flags of the running command, without the dashes.
    flags: Vec<String>,
    /// The result of a command that is called as a function.
    stored: Option<Mutex<String>>,
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

/// A number with this many digits, with an exponent if it is very small or large.
pub fn rounded(v: f64, digits: usize) -> String {
    match v.abs() {
        0.0 => "0".into(),
        size if !(1e-4..1e6).contains(&size) => format!("{v:.*e}", digits - 1),
        size => {
            format!("{v:.*}", (digits as i32 - 1 - size.log10().floor() as i32).max(0) as usize)
        }
    }
}

/// A count with its noun: 1 cluster, 2 clusters.
pub fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// A vector as text.
pub fn vector(row: &[f64]) -> String {
    let few: Vec<String> = row[..shown(row.len())].iter().map(|v| number(*v)).collect();
    let dots = if few.len() < row.len() { ", ..." } else { "" };
    format!("[{}{dots}]", few.join(", "))
}

impl Output {
    /// Prints in this format.
    pub fn new(format: Format, flags: Vec<String>) -> Self {
        Self { format, flags, stored: None }
    }

    /// Stores the result instead of printing it.
    pub fn stored(flags: Vec<String>) -> Self {
        Self { format: Format::Json, flags, stored: Some(Mutex::default()) }
    }

    /// The stored result.
    pub fn into_result(self) -> String {
        self.stored.and_then(|k| k.into_inner().ok()).unwrap_or_default()
    }

    /// The colours of a result.
    pub fn colour(&self) -> Colour {
        if self.format == Format::Text && self.stored.is_none() {
            Colour::of_results()
        } else {
            Colour::NONE
        }
    }

    /// True if only the result may be printed.
    pub fn is_json(&self) -> bool {
        self.format != Format::Text
    }

    /// Whether text shows all items with all digits from now on.
    pub fn set_all_digits(&self, all: bool) {
        ALL_DIGITS.store(all, Ordering::Relaxed);
    }

    /// Prints a result without a table in the chosen format. A closed pipe is not an error.
    pub fn result(&self, json: &Value, text: &str) {
        self.table(json, &[], text);
    }

    /// Prints a result in the chosen format, as [`result`](Self::result). Its table has the lists
    /// of these keys as columns, where it has them: row k belongs to entry k of each.
    pub fn table(&self, json: &Value, keys: &[&str], text: &str) {
        if let Some(stored) = &self.stored {
            *stored.lock().unwrap_or_else(PoisonError::into_inner) = json.to_string();
            return;
        }
        super::progress::over();
        if SILENT.load(Ordering::Relaxed) {
            return;
        }
        let line = match self.format {
            Format::Json => json.to_string(),
            Format::Csv => csv(json, keys),
            Format::Text => text.trim_end().to_owned(),
        };
        let written =
            writeln!(std::io::stdout(), "{line}").and_then(|()| std::io::stdout().flush());
        if let Err(e) = written
            .or_else(|e| if e.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(e) })
        {
            complain(&format!("stdout: could not write: {e}"));
            std::process::exit(5);
        }
    }

    /// Prints an error: one sentence per problem.
    pub fn error(&self, error: &Error) {
        self.sentence(error).lines().for_each(complain);
    }

    /// An error as a sentence that names parameters by the flags of the running command; a function
    /// call names them as the library does.
    pub fn sentence(&self, error: &Error) -> String {
        if self.stored.is_some() {
            return error.to_string();
        }
        let flag = |name: &str| {
            // A place may follow the parameter: `ids, id 2`.
            let end = name
                .find(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)))
                .unwrap_or(name.len());
            let long = name[..end].replace('_', "-");
            let place = name[end..].starts_with(", ")
                || name[end..].starts_with(' ') && name[end + 1..].starts_with(char::is_alphabetic);
            if self.flags.contains(&long) && (place || end == name.len()) {
                format!("--{long}{}", &name[end..])
            } else {
                name.to_owned()
            }
        };
        error.render(&flag)
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

/// The lists of these keys as columns, after comments: the single values, and the names of what is
/// not printed.
fn csv(json: &Value, keys: &[&str]) -> String {
    let Value::Object(entries) = json else { return json.to_string() };
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    let (mut comments, mut others) = (String::new(), Vec::new());
    for (key, value) in entries {
        match value {
            Value::Array(list) if keys.contains(&key.as_str()) => columns.extend(spread(key, list)),
            Value::Array(list) if list.is_empty() => {}
            Value::Array(_) | Value::Object(_) => others.push(key.as_str()),
            one => {
                let lines = cell(one).replace('\n', "\n# ");
                comments.push_str(&format!("# {key}: {lines}\n"));
            }
        }
    }
    if !others.is_empty() {
        comments.push_str(&format!("# only with --format json: {}\n", others.join(", ")));
    }
    if columns.is_empty() {
        return comments.trim_end().to_owned();
    }
    let length = columns.iter().map(|c| c.1.len()).max().unwrap_or(0);
    let names: Vec<&str> = columns.iter().map(|c| c.0.as_str()).collect();
    let row = |k: usize| -> String {
        let cells = columns.iter().map(|c| c.1.get(k).map_or("", String::as_str));
        cells.collect::<Vec<_>>().join(",")
    };
    let lines: Vec<String> = (0..length).map(row).collect();
    format!("{comments}{}\n{}", names.join(","), lines.join("\n"))
}

/// The columns of a list: one for numbers or words, one per coordinate for rows, one per single
/// value for objects; none for an empty list.
fn spread(key: &str, list: &[Value]) -> Vec<(String, Vec<String>)> {
    let one = |name: String, pick: &dyn Fn(&Value) -> Option<Value>| -> (String, Vec<String>) {
        (name, list.iter().map(|v| pick(v).map_or(String::new(), |v| cell(&v))).collect())
    };
    match list.first() {
        None => Vec::new(),
        Some(Value::Array(_)) => {
            let width = list.iter().filter_map(|r| r.as_array().map(Vec::len)).max().unwrap_or(0);
            (0..width).map(|c| one(format!("{key}_{c}"), &|v| v.get(c).cloned())).collect()
        }
        Some(Value::Object(_)) => {
            let mut names: Vec<&String> = Vec::new();
            for (name, v) in list.iter().filter_map(Value::as_object).flatten() {
                if !v.is_array() && !v.is_object() && !names.contains(&name) {
                    names.push(name);
                }
            }
            names.iter().map(|name| one((*name).clone(), &|v| v.get(*name).cloned())).collect()
        }
        Some(_) => vec![one(key.to_owned(), &|v| Some(v.clone()))],
    }
}

/// A value as a CSV field, quoted if it contains commas or quotes.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// A finite number, or null.
pub fn finite(v: f64) -> Value {
    serde_json::Number::from_f64(v).map_or(Value::Null, Value::Number)
}

/// Rows of numbers as JSON lists.
pub fn matrix(values: &[f64], width: usize) -> Value {
    values.chunks(width).map(|r| Value::from(r.to_vec())).collect()
}
