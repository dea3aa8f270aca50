//! Texts of the form `key=value,key=value`.

use crate::error::{Error, Result, in_range, nearest};
use std::str::FromStr;

/// The parts of a text such as `kappa=2,step=0.1`.
///
/// ```
/// use metastable::num::key_values::KeyValues;
/// let keys = ["kappa", "step"];
/// let noise = KeyValues::parse("noise", "kappa=2, step=0.1").with_keys("noise parameter", &keys).unwrap();
/// assert_eq!((noise.number("step").unwrap(), noise.get("seed")), (Some(0.1), None));
/// let wrong = KeyValues::parse("noise", "kapa=2").with_keys("noise parameter", &keys).err().unwrap();
/// let said = "unknown noise parameter `kapa`; did you mean `kappa`? (known: kappa, step)";
/// assert_eq!(wrong.to_string(), said);
/// ```
pub struct KeyValues<'a> {
    object: &'a str,
    /// Keys with their values; a part without `=` has no value.
    parts: Vec<(&'a str, Option<&'a str>)>,
}

impl<'a> KeyValues<'a> {
    /// Splits the text at commas; empty parts are ignored. Errors name the `object`.
    pub fn parse(object: &'a str, text: &'a str) -> Self {
        let part = |p: &'a str| {
            p.split_once('=').map_or((p, None), |(key, value)| (key.trim(), Some(value.trim())))
        };
        Self {
            object,
            parts: text.split(',').map(str::trim).filter(|p| !p.is_empty()).map(part).collect(),
        }
    }

    /// Makes every part without `=` the value of this key.
    #[must_use]
    pub fn with_default_key(mut self, default: &'a str) -> Self {
        for (key, value) in self.parts.iter_mut().filter(|p| p.1.is_none()) {
            *value = Some(std::mem::replace(key, default));
        }
        self
    }

    /// Checks the keys: all are known, none occurs twice, all have values. `kind` names them in
    /// errors: "law parameter".
    ///
    /// **Errors** an unknown key (with the nearest known one), a key twice, a part without `=`.
    pub fn with_keys(self, kind: &'static str, keys: &[&str]) -> Result<Self> {
        for (k, (key, value)) in self.parts.iter().enumerate() {
            if !keys.contains(key) && (value.is_some() || keys.is_empty()) {
                return Err(Error::unknown(kind, key, keys.iter().copied()));
            }
            if value.is_none_or(str::is_empty) {
                let near = nearest(key, keys.iter().copied());
                let expected = near.map_or_else(
                    || format!("key=value with one of {}", keys.join(", ")),
                    |near| format!("{near}=VALUE"),
                );
                return Err(Error::parameter(self.object, key, expected));
            }
            if self.parts[..k].iter().any(|p| p.0 == *key) {
                return Err(Error::parameter(
                    self.object,
                    format!("{key} twice"),
                    "every key once",
                ));
            }
        }
        Ok(self)
    }

    /// All keys with their values, in order. **Errors** a part without `=`.
    pub fn pairs(&self) -> Result<Vec<(&'a str, &'a str)>> {
        let pair = |(key, value): &(&'a str, Option<&'a str>)| {
            value
                .map(|value| (*key, value))
                .ok_or_else(|| Error::parameter(self.object, key, "key=value"))
        };
        self.parts.iter().map(pair).collect()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.parts.iter().find(|p| p.0 == key)?.1
    }

    /// The value of a key as a number. **Errors** a value that is not a number.
    pub fn number(&self, key: &str) -> Result<Option<f64>> {
        self.parsed(key, "a number")
    }

    /// The value of a key as a number in `[low, high]`. **Errors** any other value.
    pub fn number_in(&self, key: &str, low: f64, high: f64) -> Result<Option<f64>> {
        let value = self.number(key)?;
        value.map(|value| in_range(&self.name(key), value, low, high)).transpose()
    }

    /// The value of a key as a whole number. **Errors** a value that is not one.
    pub fn integer(&self, key: &str) -> Result<Option<u64>> {
        self.parsed(key, "a whole number >= 0")
    }

    fn parsed<T: FromStr>(&self, key: &str, expected: &str) -> Result<Option<T>> {
        let read = |text: &str| {
            text.parse::<T>().map_err(|_| Error::parameter(self.name(key), text, expected))
        };
        self.get(key).map(read).transpose()
    }

    /// The name of a key in errors: `noise kappa`.
    fn name(&self, key: &str) -> String {
        format!("{} {key}", self.object)
    }
}
