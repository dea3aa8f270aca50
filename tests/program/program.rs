//! Helpers that start the program as a command and read its output.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The variable without which a slow machine prints progress into compared outputs.
pub const NO_PROGRESS: (&str, &str) = ("METASTABLE_PROGRESS", "never");

/// The command of the program with these arguments in a folder.
pub fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metastable"));
    command.args(arguments.split_whitespace()).current_dir(folder);
    command.env(NO_PROGRESS.0, NO_PROGRESS.1);
    command
}

/// Runs the program in a folder.
pub fn run(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().expect("starts")
}

/// The standard output of a successful run.
pub fn printed(folder: &Path, arguments: &str) -> String {
    text(&successful(run(folder, arguments), arguments).stdout)
}

/// The result of a successful run as JSON.
pub fn json(folder: &Path, arguments: &str) -> Value {
    object(&successful(run(folder, &format!("{arguments} --format json")), arguments), arguments)
}

/// The output, after checking that the exit code is 0.
pub fn successful(out: Output, arguments: &str) -> Output {
    assert!(out.status.success(), "{arguments}: {}", text(&out.stderr));
    out
}

/// The JSON object on the standard output.
pub fn object(out: &Output, arguments: &str) -> Value {
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{arguments}: {e}: {}{}", text(&out.stdout), text(&out.stderr)))
}

/// The error message of a run that ends with this exit code and prints no result.
pub fn failure(folder: &Path, arguments: &str, code: i32) -> String {
    let out = run(folder, arguments);
    let message = text(&out.stderr);
    assert!(
        out.status.code() == Some(code) && message.starts_with("error:") && out.stdout.is_empty(),
        "{arguments}: {message}"
    );
    message
}

/// The error message of a run that ends with exit code 1. Checks that it contains these words.
pub fn refused(folder: &Path, arguments: &str, expected: &str) -> String {
    let message = failure(folder, arguments, 1);
    assert!(message.contains(expected), "{arguments}: {message}");
    message
}

/// Bytes of an output as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A fresh folder in which the program runs.
pub struct Place(tempfile::TempDir);

impl std::ops::Deref for Place {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl Place {
    /// A folder with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().expect("a folder"));
        files.iter().for_each(|(name, text)| place.write(name, text));
        place
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.join(name), content).expect("writable");
    }

    /// The text of a file.
    pub fn read(&self, name: impl AsRef<Path>) -> String {
        let path = self.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    pub fn run(&self, line: &str) -> Output {
        run(self, line)
    }

    pub fn printed(&self, line: &str) -> String {
        printed(self, line)
    }

    pub fn json(&self, line: &str) -> Value {
        json(self, line)
    }

    /// The result as JSON of a run that ends with this exit code.
    pub fn answer(&self, line: &str, code: i32) -> Value {
        let out = self.run(&format!("{line} --format json"));
        assert_eq!(out.status.code(), Some(code), "{line}: {}", text(&out.stderr));
        object(&out, line)
    }

    /// The folder of an experiment that was run.
    pub fn results(&self, ran: &Value) -> PathBuf {
        self.join(words(&ran["folder"]))
    }

    /// The standard output of a run, whatever its exit code.
    pub fn shown(&self, line: &str) -> String {
        text(&self.run(line).stdout)
    }

    /// The error stream of a run, whatever its exit code.
    pub fn notes(&self, line: &str) -> String {
        text(&self.run(line).stderr)
    }

    pub fn refused(&self, line: &str, expected: &str) -> String {
        refused(self, line, expected)
    }

    /// Calls that are refused, each with words of its message.
    pub fn refuses(&self, calls: &[(&str, &str)]) {
        for (line, expected) in calls {
            self.refused(line, expected);
        }
    }
}

/// The items of a list.
pub fn items(v: &Value) -> &[Value] {
    v.as_array().unwrap_or_else(|| panic!("{v} is not a list"))
}

/// A number.
pub fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is not a number"))
}

/// The numbers of a list, also of a list of lists.
pub fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().map_or_else(|| vec![number(v)], |list| list.iter().flat_map(numbers).collect())
}

/// A text.
pub fn words(v: &Value) -> &str {
    v.as_str().unwrap_or_else(|| panic!("{v} is not a text"))
}

/// The lines of a table without its comments.
pub fn rows(table: &str) -> Vec<&str> {
    table.lines().filter(|l| !l.starts_with('#')).collect()
}

/// The paths in a folder.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect()
}

/// All files below a folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let paths = entries(folder).into_iter();
    paths.flat_map(|p| if p.is_dir() { files_below(&p) } else { vec![p] }).collect()
}

/// The bytes of all files below a folder, by their relative paths.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let path = |p: &Path| p.strip_prefix(folder).expect("inside").to_owned();
    files_below(folder).iter().map(|p| (path(p), std::fs::read(p).expect("whole"))).collect()
}

/// The files that are the same in every run. Records and lines of the common file are not, since
/// they contain times.
pub fn tables(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = contents(folder);
    all.retain(|p, _| p.extension().is_some_and(|e| e == "csv" || e == "npy"));
    assert!(!all.is_empty(), "no tables in {}", folder.display());
    all
}
