//! Outputs compared with files. `METASTABLE_RENEW=1 cargo test` writes these files anew.

use crate::program::{command, text};
use std::path::Path;

/// Runs the commands of `tests/program/snapshots/NAME.txt` in a folder and compares their error
/// messages with those in the file. All commands have wrong input: they end with exit code 1 and
/// print only to the error stream. Values that differ between runs are replaced by names.
pub fn refusals(name: &str, folder: &Path, names: &[(&str, &str)]) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/program/snapshots/{name}.txt"));
    let expected = std::fs::read_to_string(&path).expect("a file of commands");
    let mut found = String::new();
    for words in expected.lines().filter_map(|l| l.strip_prefix("$ metastable ")) {
        let call =
            names.iter().fold(words.to_owned(), |line, (name, value)| line.replace(name, value));
        let out = command(folder, &call).output().expect("starts");
        let message = text(&out.stderr);
        assert!(out.status.code() == Some(1) && out.stdout.is_empty(), "{call}: {message}");
        assert!(
            message.starts_with("error: ") && !message.contains("panicked"),
            "{call}: {message}"
        );
        let message = names.iter().fold(message, |text, (name, value)| text.replace(value, name));
        // The number of known names changes whenever one is added.
        let parts = message
            .split("nearest of ")
            .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        let message = parts.collect::<Vec<_>>().join("nearest of N");
        found.push_str(&format!("$ metastable {words}\n{}\n\n", message.trim_end()));
    }
    assert!(!found.is_empty(), "{}: no commands", path.display());
    if std::env::var_os("METASTABLE_RENEW").is_some() {
        return std::fs::write(&path, found).expect("writable");
    }
    let differs = expected.lines().zip(found.lines()).position(|(e, f)| e != f);
    let line =
        |text: &str| text.lines().nth(differs.unwrap_or_default()).unwrap_or_default().to_owned();
    assert!(
        found == expected,
        "tests/program/snapshots/{name}.txt has\n  {}\nthe program prints\n  {}\nMETASTABLE_RENEW=1 cargo test updates the file",
        line(&expected),
        line(&found)
    );
}
