//! Experiments with other values for some keys: `run NAME --set KEY=VALUE`.

use super::Experiment;
use super::provenance::quoted;
use super::toml_reader::OverriddenKey;
use crate::error::Result;

impl Experiment {
    /// A built-in experiment or a file, with other values for some keys: numbers separated by
    /// commas, a range, a word, or a TOML value. A key of the model is written `model.q`.
    ///
    /// ```
    /// use metastable::lab::Experiment;
    /// let changed = [("beta", "2,5"), ("t_end", "1e3"), ("model.norm", "peri")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    /// let e = Experiment::with_overrides("metastability", &changed[..2]).unwrap();
    /// assert!(e.beta == [2.0, 5.0] && e.source == "metastability --set beta=2,5 --set t_end=1e3");
    /// let e = Experiment::with_overrides("normalisation", &changed[2..]).unwrap();
    /// assert_eq!(e.model.to_text(), "norm=peri");
    /// ```
    ///
    /// **Errors** all problems of the file, each with its line or its `--set`; an unknown key.
    pub fn with_overrides(name: &str, changes: &[(String, String)]) -> Result<Self> {
        let (path, text) = Self::text(name)?;
        let flag = |k: &String, v: &String| format!("--set {}", quoted(&format!("{k}={v}")));
        let keys = OverriddenKey::all(
            &text,
            changes.iter().map(|(k, v)| (flag(k, v), k.clone(), toml(v))),
        );
        let mut experiment = Self::parse_with_overrides(&path, &text, &keys)?;
        experiment.source = format!(
            "{name}{}",
            changes.iter().map(|(k, v)| format!(" {}", flag(k, v))).collect::<String>()
        );
        Ok(experiment)
    }
}

/// The value in TOML syntax.
fn toml(value: &str) -> String {
    let numbers: Option<Vec<String>> = value.split(',').map(number).collect();
    match numbers {
        Some(one) if one.len() == 1 => one.concat(),
        Some(all) => format!("[{}]", all.join(", ")),
        None if value.starts_with(['[', '"', '\'', '{']) || value.parse::<bool>().is_ok() => {
            value.to_owned()
        }
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
