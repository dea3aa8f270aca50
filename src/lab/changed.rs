//! An experiment with other values of some of its keys: `run NAME --set KEY=VALUE`.

use super::Experiment;
use crate::error::Result;

impl Experiment {
    /// A file or built-in experiment with other values of some keys: numbers separated by commas, a range, a word, or anything as TOML writes it. Keys of
    /// its model stand in another table and stay.
    ///
    /// ```
    /// let changed = [("beta", "2,5"), ("t_end", "1e3")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    /// let e = metastable::lab::Experiment::changed("metastability", &changed).unwrap();
    /// assert!(e.beta == [2.0, 5.0] && e.source == "metastability --set beta=2,5 --set t_end=1e3");
    /// ```
    ///
    /// **Errors** those of the file; a key that experiments do not have.
    pub fn changed(name: &str, changes: &[(String, String)]) -> Result<Self> {
        let (path, text) = Self::text(name)?;
        let mut experiment = Self::parse(&format!("{path} with --set"), &replaced(&text, changes))?;
        let set = |(k, v): &(String, String)| format!(" --set {}", quoted(&format!("{k}={v}")));
        experiment.source = format!("{name}{}", changes.iter().map(set).collect::<String>());
        Ok(experiment)
    }
}

/// The text with other values of keys of its first table; those that it does not have come first.
pub fn replaced(text: &str, changes: &[(String, String)]) -> String {
    let line = |(k, v): &(String, String)| format!("{k} = {}\n", toml(v));
    let (mut body, mut seen) = (String::new(), Vec::new());
    let (mut depth, mut first_table, mut dropped) = (0, true, false);
    for old in text.lines() {
        // A value ends where its brackets do.
        if depth == 0 {
            first_table &= !old.trim_start().starts_with('[');
            let key = old.split('=').next().unwrap_or_default().trim();
            let change = changes.iter().find(|(k, _)| first_table && k == key);
            dropped = change.is_some();
            if let Some(change) = change {
                body.push_str(&line(change));
                seen.push(&change.0);
            }
        }
        let bare = old.split('#').next().unwrap_or_default();
        depth += bare.matches('[').count() as i64 - bare.matches(']').count() as i64;
        if !dropped {
            body.push_str(old);
            body.push('\n');
        }
    }
    changes.iter().filter(|(k, _)| !seen.contains(&k)).map(line).collect::<String>() + &body
}

/// A value as TOML writes it.
fn toml(value: &str) -> String {
    let numbers: Option<Vec<String>> = value.split(',').map(number).collect();
    match numbers {
        Some(one) if one.len() == 1 => one.concat(),
        Some(all) => format!("[{}]", all.join(", ")),
        None if value.starts_with(['[', '"', '\'', '{']) || value.parse::<bool>().is_ok() => value.to_owned(),
        None => format!("{value:?}"),
    }
}

fn number(word: &str) -> Option<String> {
    let word = word.trim();
    if word.parse::<i64>().is_ok() {
        Some(word.trim_start_matches('+').to_owned())
    } else {
        word.parse::<f64>().ok().map(|v| format!("{v:?}"))
    }
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:=/+".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
