//! The settings of a model: values of keys, and the check against the table of known keys.

use super::settings::{KeyUse, ModelKey, is_same};
use crate::attention::dense::Activation;
use crate::error::{Error, Result};
use serde_json::Value;

/// The settings of a model and the file they are from.
pub struct Keys<'a> {
    /// Path of the file, as given.
    pub path: &'a str,
    /// The object.
    pub json: &'a Value,
    /// The table of the keys that change what is computed; no others are read.
    pub table: &'static [ModelKey],
    /// The key of the object in the file; empty for the whole file.
    pub parent: &'a str,
}

/// The value of an absent key.
static ABSENT: Value = Value::Null;

impl Keys<'_> {
    /// An error that names a key.
    pub fn error(&self, key: &str, found: &Value, expected: &str) -> Error {
        let problem = if found.is_null() {
            format!("found nothing, expected {expected}")
        } else {
            format!("found {found}, expected {expected}")
        };
        let dot = if self.parent.is_empty() { "" } else { "." };
        Error::File {
            path: self.path.into(),
            place: format!("key {}{dot}{key}", self.parent),
            problem,
        }
    }

    /// The value of a key; null where it is absent.
    pub fn value(&self, key: &str) -> &Value {
        debug_assert!(
            self.table.iter().any(|k| k.name == key),
            "{key} is read but not in the table"
        );
        self.json.get(key).unwrap_or(&ABSENT)
    }

    /// Checks all keys that are not read.
    ///
    /// **Errors** a key whose value asks for another computation than the one here.
    pub fn check(&self) -> Result<()> {
        for key in self.table {
            let value = self.json.get(key.name).unwrap_or(&ABSENT);
            match key.key_use {
                _ if value.is_null() => {}
                KeyUse::Read | KeyUse::Ignored => {}
                KeyUse::OneOf(allowed) => self.check_value(key, value, allowed)?,
                KeyUse::SameAs(other) => {
                    let wanted = self.json.get(other).unwrap_or(&ABSENT);
                    if !is_same(value, wanted) {
                        return Err(self.error(
                            key.name,
                            value,
                            &format!("{wanted}, the value of its other name {other}"),
                        ));
                    }
                }
                KeyUse::Object(table) => {
                    let Some(object) = value.as_object() else {
                        return Err(self.error(key.name, value, "an object"));
                    };
                    let inside = Keys { path: self.path, json: value, table, parent: key.name };
                    if let Some((name, value)) = object
                        .iter()
                        .find(|(name, _)| !table.iter().any(|k| k.name == name.as_str()))
                    {
                        let known: Vec<&str> = table.iter().map(|k| k.name).collect();
                        return Err(inside.error(
                            name,
                            value,
                            &format!("one of the keys {}", known.join(", ")),
                        ));
                    }
                    inside.check()?;
                }
            }
        }
        Ok(())
    }

    /// Rejects a value that asks for another computation than the one here.
    fn check_value(&self, key: &ModelKey, value: &Value, allowed: &[&str]) -> Result<()> {
        let known: Vec<Value> =
            allowed.iter().filter_map(|a| serde_json::from_str(a).ok()).collect();
        if known.iter().any(|k| is_same(k, value)) {
            return Ok(());
        }
        let expected = if allowed.is_empty() { "none".into() } else { allowed.join(" or ") };
        Err(self.error(
            key.name,
            value,
            &format!("{expected}: this is not computed here ({})", key.meaning),
        ))
    }

    /// A positive number; the default if the key is absent.
    pub fn positive(&self, key: &str, default: Option<f64>) -> Result<f64> {
        match (self.value(key), default) {
            (Value::Null, Some(default)) => Ok(default),
            (value, _) => {
                let number = value.as_f64().filter(|v| *v > 0.0 && v.is_finite());
                number.ok_or_else(|| self.error(key, value, "a number above 0"))
            }
        }
    }

    /// True or false; the default if the key is absent.
    pub fn boolean(&self, key: &str, default: bool) -> Result<bool> {
        match self.value(key) {
            Value::Null => Ok(default),
            value => value.as_bool().ok_or_else(|| self.error(key, value, "true or false")),
        }
    }

    /// A positive integer; the default if the key is absent.
    pub fn size(&self, key: &str, default: Option<usize>) -> Result<usize> {
        match (self.value(key), default) {
            (Value::Null, Some(default)) => Ok(default),
            (value, _) => {
                let size = value.as_u64().filter(|v| (1..=1 << 32).contains(v));
                size.map(|v| v as usize)
                    .ok_or_else(|| self.error(key, value, "a whole number above 0"))
            }
        }
    }

    /// A nonnegative number; the default if the key is absent.
    pub fn number(&self, key: &str, default: f64) -> Result<f64> {
        match self.value(key) {
            Value::Null => Ok(default),
            value => {
                // A decimal is taken as it is written, also where single precision is meant.
                let number = value.as_f64().filter(|v| *v >= 0.0 && v.is_finite());
                number.ok_or_else(|| self.error(key, value, "a number >= 0"))
            }
        }
    }

    /// One of the known words; the first if the key is absent.
    pub fn word<T: Copy>(&self, key: &str, known: &[(&str, T)]) -> Result<T> {
        match self.value(key) {
            Value::Null => Ok(known[0].1),
            value => {
                let found = known.iter().find(|k| value.as_str() == Some(k.0));
                let names: Vec<&str> = known.iter().map(|k| k.0).collect();
                found
                    .map(|k| k.1)
                    .ok_or_else(|| self.error(key, value, &format!("one of {}", names.join(", "))))
            }
        }
    }

    /// The activation of the feed-forward layers; the default if the key is absent.
    pub fn activation(&self, key: &str, default: Activation) -> Result<Activation> {
        if self.value(key).is_null() {
            return Ok(default);
        }
        let known = [
            ("gelu", Activation::Gelu),
            ("gelu_new", Activation::GeluTanh),
            ("gelu_pytorch_tanh", Activation::GeluTanh),
            ("relu", Activation::Relu),
            ("silu", Activation::Silu),
            ("swish", Activation::Silu),
        ];
        self.word(key, &known)
    }

    /// Rows of the queries of a head: `d / heads`.
    pub fn rank(&self, d: usize, heads: usize) -> Result<usize> {
        if d.is_multiple_of(heads) {
            return Ok(d / heads);
        }
        Err(Error::File {
            path: self.path.into(),
            place: String::new(),
            problem: format!("found {heads} heads for d = {d}, expected a number that divides it"),
        })
    }
}
