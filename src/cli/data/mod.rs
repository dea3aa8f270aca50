//! Texts as data: tables of TOML files that are part of the program.

use serde::de::DeserializeOwned;

/// The tables with this name in a file of the program; none if the file is malformed, which the
/// tests of the program notice: they count entries, or explain every term.
pub fn entries<T: DeserializeOwned>(text: &str, name: &str) -> Vec<T> {
    let mut all: toml::Table = toml::from_str(text).unwrap_or_default();
    all.remove(name).and_then(|list| list.try_into().ok()).unwrap_or_default()
}
