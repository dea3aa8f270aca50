//! An experiment with other values of some of its keys: `run NAME --set KEY=VALUE`.

use super::Experiment;
use super::provenance::quoted;
use super::toml_reader::ChangedKey;
use crate::error::Result;

impl Experiment {
    /// A file or built-in experiment with other values of some keys: numbers separated by commas,
    /// a range, a word, or anything as TOML writes it. A key of its model is `model.q`.
    ///
    /// ```
    /// use metastable::lab::Experiment;
    /// let changed = [("beta", "2,5"), ("t_end", "1e3"), ("model.norm", "peri")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    /// let e = Experiment::changed("metastability", &changed[..2]).unwrap();
    /// assert!(e.beta == [2.0, 5.0] && e.source == "metastability --set beta=2,5 --set t_end=1e3");
    /// let e = Experiment::changed("normalisation", &changed[2..]).unwrap();
    /// assert_eq!(e.model.said(), "norm=peri");
    /// ```
    ///
    /// **Errors** those of the file, each with its line or the change that it is in; a key that
    /// experiments do not have.
    pub fn changed(name: &str, changes: &[(String, String)]) -> Result<Self> {
        let (path, text) = Self::text(name)?;
        let said = |k: &String, v: &String| format!("--set {}", quoted(&format!("{k}={v}")));
        let keys = ChangedKey::all(&text, changes.iter().map(|(k, v)| (said(k, v), k.clone(), toml(v))));
        let mut experiment = Self::parse_changed(&path, &text, &keys)?;
        experiment.source = format!("{name}{}", changes.iter().map(|(k, v)| format!(" {}", said(k, v))).collect::<String>());
        Ok(experiment)
    }
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
