//! What `config.json` says.

use crate::attention::feed_forward::Activation;
use crate::attention::pattern::Pairs;
use crate::error::{Error, Result};
use serde_json::Value;

/// The sizes of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Layers.
    pub layers: usize,
    /// Dimension of the tokens.
    pub d: usize,
    /// Heads.
    pub heads: usize,
    /// Sets of keys and values.
    pub sets: usize,
    /// Rows of a head's queries.
    pub rank: usize,
    /// Hidden units.
    pub hidden: usize,
    /// Dimension of the embeddings, where a map brings them to d.
    pub embedding: usize,
    /// The function of the feed-forward layers.
    pub activation: Activation,
    /// Eps of the norms.
    pub eps: f64,
    /// Most positions.
    pub positions: usize,
    /// Vocabulary.
    pub vocabulary: usize,
    /// Kinds of tokens; 0 where there are none.
    pub kinds: usize,
    /// Base and pairs of rotary positions.
    pub rotary: Option<(f64, Pairs)>,
}

/// The settings of a model and the file they are from.
pub struct Keys<'a> {
    /// The file, as given.
    pub path: &'a str,
    /// The object.
    pub json: &'a Value,
}

impl Keys<'_> {
    /// An error at a key.
    pub fn bad(&self, key: &str, found: &Value, expected: &str) -> Error {
        let problem =
            if found.is_null() { format!("found nothing, expected {expected}") } else { format!("found {found}, expected {expected}") };
        Error::File { path: self.path.into(), place: format!("key {key}"), problem }
    }

    /// A whole number above 0; the default where it is absent.
    pub fn size(&self, key: &str, default: Option<usize>) -> Result<usize> {
        match (&self.json[key], default) {
            (Value::Null, Some(default)) => Ok(default),
            (value, _) => {
                let size = value.as_u64().filter(|v| (1..=1 << 32).contains(v));
                size.map(|v| v as usize).ok_or_else(|| self.bad(key, value, "a whole number above 0"))
            }
        }
    }

    /// A number that is not negative.
    pub fn number(&self, key: &str, default: f64) -> Result<f64> {
        match &self.json[key] {
            Value::Null => Ok(default),
            value => {
                // What is written as a decimal of single precision is meant as it is written.
                let number = value.as_f64().filter(|v| *v >= 0.0 && v.is_finite());
                number.ok_or_else(|| self.bad(key, value, "a number >= 0"))
            }
        }
    }

    /// One of some words; the first where it is absent.
    pub fn word<T: Copy>(&self, key: &str, known: &[(&str, T)]) -> Result<T> {
        match &self.json[key] {
            Value::Null => Ok(known[0].1),
            value => {
                let found = known.iter().find(|k| value.as_str() == Some(k.0));
                let names: Vec<&str> = known.iter().map(|k| k.0).collect();
                found.map(|k| k.1).ok_or_else(|| self.bad(key, value, &format!("one of {}", names.join(", "))))
            }
        }
    }

    /// The function between the two maps of a feed-forward layer.
    pub fn activation(&self, key: &str) -> Result<Activation> {
        let known = [
            ("gelu", Activation::Gelu),
            ("gelu_new", Activation::GeluTanh),
            ("gelu_pytorch_tanh", Activation::GeluTanh),
            ("relu", Activation::Relu),
            ("silu", Activation::Silu),
        ];
        self.word(key, &known)
    }

    /// Refuses what the blocks here do not do.
    pub fn must_be(&self, key: &str, allowed: &[Value]) -> Result<()> {
        let value = &self.json[key];
        if value.is_null() || allowed.contains(value) {
            return Ok(());
        }
        let names: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        let expected = if names.is_empty() { "none: this is not computed here".into() } else { names.join(" or ") };
        Err(self.bad(key, value, &expected))
    }

    /// Heads divide the dimension.
    pub fn rank(&self, d: usize, heads: usize) -> Result<usize> {
        match self.size("head_dim", Some(0))? {
            0 if d.is_multiple_of(heads) => Ok(d / heads),
            0 => Err(Error::File {
                path: self.path.into(),
                place: String::new(),
                problem: format!("found {heads} heads for d = {d}, expected a number that divides it"),
            }),
            given => Ok(given),
        }
    }
}
