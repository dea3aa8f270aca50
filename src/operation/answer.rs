//! The description of an operation and its answer.

use super::error::Result;
use super::given::Given;
use super::parameter::Parameter;
use serde_json::{Map, Value};
use std::path::Path;

/// A value of an answer, or a column of one of its tables.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its key in the answer.
    pub key: &'static str,
    /// Its unit; empty for a pure number, a name or a text.
    pub unit: &'static str,
    /// Its meaning.
    pub what: &'static str,
}

/// A column without a unit.
pub const fn column(key: &'static str, what: &'static str) -> Column {
    Column { key, unit: "", what }
}

impl Column {
    /// With a unit.
    #[must_use]
    pub const fn in_units(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }
}

/// Where the rows of a table stand in the answer.
#[derive(Debug)]
pub enum Rows {
    /// Row k has entry k of the list under the key of each column.
    Lists,
    /// Each entry of the list under this key is a row with the keys of the columns.
    Objects(&'static str),
}

/// A table of an answer.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What its rows are.
    pub what: &'static str,
    /// Where its rows stand.
    pub rows: Rows,
    /// Its columns. A column of vectors becomes one column for each coordinate.
    pub columns: &'static [Column],
}

/// The state of the program around a running operation.
pub trait Session: Sync {
    /// Says something beside the answer.
    fn note(&self, line: &str);
    /// Reports the share that is done, with words that are made only if they are shown.
    fn progress(&self, share: f64, words: &dyn Fn() -> String);
    /// Whether the user has stopped the operation.
    fn cancelled(&self) -> bool;
    /// Reads an array from a file; of an archive, the array with this name.
    fn array(&self, file: &Path, name: Option<&str>) -> Result<Array>;
    /// Reads the tokens of a finished run at a frame; the last one if none is named.
    fn frame(&self, folder: &Path, frame: Option<&str>) -> Result<Snapshot>;
}

/// A session without files, notes and progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Session for Quiet {
    fn note(&self, _line: &str) {}
    fn progress(&self, _share: f64, _words: &dyn Fn() -> String) {}
    fn cancelled(&self) -> bool {
        false
    }
    fn array(&self, file: &Path, _name: Option<&str>) -> Result<Array> {
        Err(no_files(file))
    }
    fn frame(&self, folder: &Path, _frame: Option<&str>) -> Result<Snapshot> {
        Err(no_files(folder))
    }
}

fn no_files(path: &Path) -> super::error::Error {
    let problem = "found no reader of files: this session has none".to_owned();
    super::error::Error::File { path: path.display().to_string(), place: String::new(), problem }
}

/// A dense array in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// Entries, last axis fastest.
    pub data: Vec<f64>,
    /// Unit roundoff of the numbers as they were stored: 2^-53 for float64, 2^-24 for float32,
    /// 2^-11 for float16, 2^-8 for bfloat16.
    pub roundoff: f64,
}

/// The tokens of a frame of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Dimension.
    pub d: usize,
    /// Coordinates, row by row.
    pub rows: Vec<f64>,
    /// Masses; `None` if they are equal.
    pub masses: Option<Vec<f64>>,
    /// Radii; `None` if tokens have none or they were not recorded.
    pub radii: Option<Vec<f64>>,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    /// The answer was computed; a statement was shown.
    #[default]
    Shown,
    /// A counterexample was found.
    Counterexample,
    /// Nothing was decided or proved.
    Undecided,
    /// The computation failed.
    Failure,
    /// The user stopped it.
    Interrupted,
}

impl Exit {
    /// The end with this exit code; a failure for any other number.
    pub const fn of(code: i32) -> Self {
        match code {
            0 => Self::Shown,
            2 => Self::Counterexample,
            3 => Self::Undecided,
            130 => Self::Interrupted,
            _ => Self::Failure,
        }
    }

    /// The exit code of the program.
    pub const fn code(self) -> i32 {
        match self {
            Self::Shown => 0,
            Self::Counterexample => 2,
            Self::Undecided => 3,
            Self::Failure => 4,
            Self::Interrupted => 130,
        }
    }
}

/// What an operation found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// All values and tables, by key.
    pub values: Map<String, Value>,
    /// The answer for people.
    pub text: String,
    /// How it ended.
    pub exit: Exit,
}

impl Answer {
    /// The answer with these values, an object, and this text.
    pub fn new(values: Value, text: impl Into<String>) -> Self {
        let values = match values {
            Value::Object(values) => values,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        Self { values, text: text.into(), exit: Exit::Shown }
    }

    /// The same with another end.
    #[must_use]
    pub fn ended(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }
}

/// A command, a function of Python, a page of the manual.
pub struct Operation {
    /// The word before its name if it is one of several related operations; else empty.
    pub family: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The heading under which it is listed.
    pub group: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Remarks and examples.
    pub notes: &'static str,
    /// The table of its parameters.
    pub parameters: fn() -> Vec<Parameter>,
    /// The single values of its answer; those that were not asked for are absent.
    pub results: &'static [Column],
    /// The tables of its answer.
    pub tables: &'static [Table],
    /// How it can end, and what that means.
    pub exits: &'static [(Exit, &'static str)],
    /// Computes the answer.
    pub run: fn(&Given, &dyn Session) -> Result<Answer>,
}

impl Operation {
    /// No parameters, results, tables: the fields that a description may leave out.
    pub const EMPTY: Self = Self {
        family: "",
        name: "",
        group: "",
        summary: "",
        notes: "",
        parameters: Vec::new,
        results: &[],
        tables: &[],
        exits: &[(Exit::Shown, "computed")],
        run: |_, _| Ok(Answer { values: Map::new(), text: String::new(), exit: Exit::Shown }),
    };

    /// Its family and its name.
    #[doc(hidden)]
    pub fn full_name(&self) -> String {
        format!("{} {}", self.family, self.name).trim_start().to_owned()
    }

    /// Runs it.
    ///
    /// **Errors** as the operation; an end that it does not declare.
    pub fn answer(&self, given: &Given, session: &dyn Session) -> Result<Answer> {
        let answer = (self.run)(given, session)?;
        if self.exits.iter().all(|(exit, _)| *exit != answer.exit) {
            let what = format!("`{}` ended in a way that it does not declare", self.full_name());
            return Err(super::error::Error::Numerical { what });
        }
        Ok(answer)
    }

    /// The table of this name, or the only one.
    ///
    /// **Errors** an unknown name; several tables and no name.
    #[doc(hidden)]
    pub fn table(&self, name: Option<&str>) -> Result<Option<&Table>> {
        let names = || self.tables.iter().map(|t| t.name);
        match (name, self.tables) {
            (Some(name), all) => all
                .iter()
                .find(|t| t.name == name)
                .map(Some)
                .ok_or_else(|| super::error::Error::unknown("table", name, names())),
            (None, []) => Ok(None),
            (None, [first, ..]) => Ok(Some(first)),
        }
    }

    /// The description as data: name, summary, parameters, results, tables, exit codes.
    #[doc(hidden)]
    pub fn describe(&self) -> Value {
        let texts = |all: &[&str]| all.iter().map(|t| Value::from(*t)).collect::<Value>();
        let parameters = (self.parameters)().into_iter().map(|p| {
            serde_json::json!({
                "name": p.name, "kind": format!("{:?}", p.kind).to_lowercase(), "help": p.help(),
                "form": p.form(), "default": p.default(), "required": p.required,
                "many": p.many || p.separator().is_some(), "positional": p.is_positional(),
                "hidden": p.is_hidden(), "also": texts(p.also()), "excludes": texts(p.excludes()),
                "needs": texts(p.needs()), "unless": texts(p.unless()),
            })
        });
        let columns = |all: &[Column]| -> Value {
            all.iter()
                .map(|c| serde_json::json!({ "key": c.key, "unit": c.unit, "what": c.what }))
                .collect()
        };
        let table = |t: &Table| {
            let columns = columns(t.columns);
            serde_json::json!({ "name": t.name, "what": t.what, "columns": columns })
        };
        let exit = |(exit, what): &(Exit, &str)| serde_json::json!([exit.code(), what]);
        serde_json::json!({
            "name": self.full_name(), "group": self.group, "summary": self.summary, "notes": self.notes,
            "parameters": parameters.collect::<Value>(), "results": columns(self.results),
            "tables": self.tables.iter().map(table).collect::<Value>(),
            "exits": self.exits.iter().map(exit).collect::<Value>(),
        })
    }
}
