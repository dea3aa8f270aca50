//! Commands from descriptions of operations: flags, help, refusals, and answers as text, JSON and
//! CSV.

use super::output::Format;
use super::{output, progress, sections, session};
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::lab::snapshot::{FrameChoice, folder_and_cell};
use crate::operation::path;
use crate::operation::{
    Answer, Array, Exit, Given, Kind, Operation, Parameter, Rows, Session, Snapshot, Table,
};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The session of the program and of its functions.
pub struct Here;

impl Session for Here {
    fn note(&self, line: &str) {
        output::note(line);
    }

    fn progress(&self, share: f64, words: &dyn Fn() -> String) {
        progress::report(Some(share), words);
    }

    fn cancelled(&self) -> bool {
        session::current().cancelled()
    }

    fn array(&self, file: &Path, name: Option<&str>) -> Result<Array> {
        arrays::read(file, name)
    }

    fn frame(&self, folder: &Path, frame: Option<&str>) -> Result<Snapshot> {
        let text = folder.to_string_lossy();
        let (folder, cell) = folder_and_cell(&text);
        FrameChoice::of(frame, cell)?.read(folder)
    }
}

/// The name of a parameter as a flag.
pub fn flag(name: &str) -> String {
    name.replace('_', "-")
}

/// The same for `clap`, which keeps names for ever: each is made once.
fn long(name: &'static str) -> &'static str {
    static ALL: Mutex<BTreeMap<&str, &str>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if name.contains('_') { all.entry(name).or_insert_with(|| flag(name).leak()) } else { name }
}

/// The command of an operation.
pub fn command(operation: &'static Operation) -> Command {
    let ends: Vec<String> =
        operation.exits.iter().map(|(exit, what)| format!("{} {what}", exit.code())).collect();
    let ends = match operation.exits {
        [(Exit::Shown, _)] | [] => String::new(),
        _ => format!("Exit codes: {}.", ends.join("; ")),
    };
    let ends = sections::wrapped(&ends, sections::WIDTH).join("\n");
    let after = [operation.notes, &ends].join("\n\n");
    Command::new(operation.name)
        .about(operation.summary)
        .after_help(after.trim().to_owned())
        .args((operation.parameters)().iter().map(argument))
}

/// The flag or the word of a parameter. Texts are read later, in one place for all front ends.
pub fn argument(p: &Parameter) -> Arg {
    let arg = Arg::new(p.name).help(p.help()).hide(p.is_hidden());
    let arg = if p.group().is_empty() { arg } else { arg.help_heading(p.group()) };
    let arg = if p.is_positional() { arg } else { arg.long(long(p.name)) };
    let arg = arg.aliases(p.also().iter().map(|name| long(name)));
    let arg = if p.kind == Kind::Switch { arg } else { arg.value_parser(value_parser!(OsString)) };
    match p.kind {
        Kind::Switch => arg.action(ArgAction::SetTrue),
        _ if p.is_positional() => arg.value_name(p.form()).num_args(0..).action(ArgAction::Append),
        _ => {
            let arg = arg.value_name(p.form()).action(ArgAction::Append);
            match p.alone() {
                Some(value) => arg.num_args(0..=1).default_missing_value(value),
                None => arg.allow_hyphen_values(true),
            }
        }
    }
}

/// The texts that are given for the parameters of a table.
pub fn given(table: &[Parameter], matches: &ArgMatches) -> Given {
    let mut given = Given::default();
    for p in table {
        if p.kind == Kind::Switch {
            if matches.get_flag(p.name) {
                given.add(p.name, "true");
            }
            continue;
        }
        for text in matches.get_raw(p.name).into_iter().flatten() {
            given.add(p.name, &path::encoded(text));
        }
    }
    given
}

/// The error of a command line that has another form than its command.
pub fn malformed(e: &clap::Error, known: &[Parameter]) -> Option<Error> {
    use clap::error::{ContextKind, ErrorKind};
    let word = |kind| e.get(kind).map(ToString::to_string);
    let found = word(ContextKind::InvalidArg)?;
    match e.kind() {
        ErrorKind::UnknownArgument if found.starts_with("--") => {
            let flags: Vec<String> = known
                .iter()
                .filter(|p| !p.is_positional() && !p.is_hidden())
                .map(|p| format!("--{}", flag(p.name)))
                .collect();
            let found = found.split('=').next().unwrap_or_default();
            Some(Error::unknown("flag", found, flags.iter().map(String::as_str)))
        }
        ErrorKind::UnknownArgument => {
            Some(Error::parameter("command line", format!("`{found}`"), "flags such as --n 5"))
        }
        ErrorKind::ArgumentConflict => {
            let name = found.trim_start_matches('-').split([' ', '=']).next().unwrap_or_default();
            Some(Error::parameter(format!("--{name}"), "it twice", "it once"))
        }
        ErrorKind::InvalidValue | ErrorKind::WrongNumberOfValues => {
            let name = found.trim_start_matches('-').split([' ', '=']).next().unwrap_or_default();
            let p = known.iter().find(|p| flag(p.name) == name);
            let (expected, found) = match p {
                Some(p) if p.kind == Kind::Switch => ("no value".to_owned(), "a value"),
                Some(p) => (p.expected(), "nothing"),
                None => ("a value".to_owned(), "nothing"),
            };
            Some(Error::parameter(format!("--{name}"), found, expected))
        }
        _ => None,
    }
}

/// An answer in a format; of CSV this table.
///
/// **Errors** an unknown table.
pub fn formatted(
    operation: &Operation,
    answer: &Answer,
    format: Format,
    table: Option<&str>,
) -> Result<String> {
    match format {
        Format::Text => Ok(answer.text.trim_end().to_owned()),
        Format::Csv => csv(operation, &answer.values, table),
        Format::Markdown => markdown(&answer.values),
        Format::Json => Ok(Value::Object(answer.values.clone()).to_string()),
    }
}

/// The Markdown of an answer that has one.
///
/// **Errors** an answer without Markdown.
fn markdown(values: &Map<String, Value>) -> Result<String> {
    let page = values.get("markdown").and_then(Value::as_str).map(str::to_owned);
    page.ok_or_else(|| {
        let expected = "text, json or csv: only tables of `list` and pages of papers by `explain` \
                        exist as Markdown";
        Error::parameter("format", "markdown", expected)
    })
}

/// A table of an answer as CSV, after comments with the single values.
///
/// **Errors** an unknown name of a table.
fn csv(operation: &Operation, values: &Map<String, Value>, name: Option<&str>) -> Result<String> {
    let present = |t: &&Table| match t.rows {
        Rows::Objects(key) => values.contains_key(key),
        Rows::Lists => t.columns.iter().any(|c| values.contains_key(c.key)),
    };
    let table = match name {
        Some(_) => operation.table(name)?,
        None => operation.tables.iter().find(present),
    };
    let is_column = |key: &str| match table {
        Some(Table { rows: Rows::Objects(rows), .. }) => key == *rows,
        Some(Table { rows: Rows::Lists, columns, .. }) => columns.iter().any(|c| c.key == key),
        None => false,
    };
    let (mut comments, mut others) = (String::new(), Vec::new());
    for (key, value) in values.iter().filter(|(key, _)| !is_column(key)) {
        match value {
            Value::Array(list) if list.is_empty() => {}
            Value::Array(_) | Value::Object(_) => others.push(key.as_str()),
            one => comments.push_str(&format!("# {key}: {}\n", text(one).replace('\n', "\n# "))),
        }
    }
    if !others.is_empty() {
        comments.push_str(&format!("# only with --format json: {}\n", others.join(", ")));
    }
    let rest = operation.tables.iter().filter(present);
    let rest: Vec<&str> =
        rest.map(|t| t.name).filter(|own| table.is_none_or(|t| t.name != *own)).collect();
    if !rest.is_empty() && name.is_none() {
        comments.push_str(&format!("# further tables with --table: {}\n", rest.join(", ")));
    }
    let Some(table) = table else { return Ok(comments.trim_end().to_owned()) };
    let columns: Vec<(String, Vec<String>)> = match table.rows {
        Rows::Lists => {
            let lists = table.columns.iter().filter_map(|c| Some((c.key, values.get(c.key)?)));
            lists.filter_map(|(key, list)| Some(spread(key, list.as_array()?))).flatten().collect()
        }
        Rows::Objects(key) => {
            let rows = values.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let cells = |key: &'static str| -> Vec<String> {
                rows.iter().map(|row| row.get(key).map_or(String::new(), cell)).collect()
            };
            table.columns.iter().map(|c| (c.key.to_owned(), cells(c.key))).collect()
        }
    };
    let length = columns.iter().map(|c| c.1.len()).max().unwrap_or(0);
    let names: Vec<&str> = columns.iter().map(|c| c.0.as_str()).collect();
    let mut out = format!("{comments}{}", names.join(","));
    for k in 0..length {
        let cells = columns.iter().map(|c| c.1.get(k).map_or("", String::as_str));
        out.push_str(&format!("\n{}", cells.collect::<Vec<_>>().join(",")));
    }
    Ok(out)
}

/// The columns of a list: one for numbers or words, one per coordinate for vectors.
fn spread(key: &str, list: &[Value]) -> Vec<(String, Vec<String>)> {
    let width = list.iter().filter_map(|row| row.as_array().map(Vec::len)).max();
    let Some(width) = width else { return vec![(key.to_owned(), list.iter().map(cell).collect())] };
    let coordinate = |c: usize| list.iter().map(move |row| row.get(c).map_or("".into(), cell));
    (0..width).map(|c| (format!("{key}_{c}"), coordinate(c).collect())).collect()
}

/// A value as text; the entries of a list are separated by blanks.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// A value as a CSV field, quoted if it contains commas or quotes.
fn cell(value: &Value) -> String {
    let text = text(value);
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}
