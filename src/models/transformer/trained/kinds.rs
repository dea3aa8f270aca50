//! The kinds of models that are read, one file each.

use super::architecture::Architecture;
use super::config::Config;
use super::keys::Keys;
use super::{albert, bert, gpt2, llama};
use crate::error::{Error, Result};
use serde_json::Value;

/// All of them.
pub static ARCHITECTURES: [&dyn Architecture; 4] = [&albert::Albert, &bert::Bert, &gpt2::Gpt2, &llama::Llama];

/// The kind of model that a `config.json` tells of, and its sizes.
///
/// **Errors** a kind that is not known, keys whose values mean another function than what is
/// computed here, sizes that are missing.
pub fn configured(path: &str, json: &Value) -> Result<(&'static dyn Architecture, Config)> {
    let plain = Keys { path, json, table: &[], within: "" };
    let kind = json.get("model_type").unwrap_or(&Value::Null);
    let found = kind.as_str().ok_or_else(|| plain.bad("model_type", kind, "the kind of model"))?;
    let known = || ARCHITECTURES.iter().map(|a| a.name());
    let kind = ARCHITECTURES.iter().copied().find(|a| a.name() == found).ok_or_else(|| {
        let place = "key model_type".to_owned();
        Error::File { path: path.into(), place, problem: Error::unknown("kind of model", found, known()).to_string() }
    })?;
    let keys = Keys { table: kind.settings(), ..plain };
    keys.check()?;
    Ok((kind, kind.config(&keys)?))
}

/// The parameters of one block of a model of these settings (a `config.json`).
///
/// **Errors** as [`Architecture::config`].
pub fn block_parameters(path: &str, json: &Value) -> Result<usize> {
    let (kind, config) = configured(path, json)?;
    let parts = kind.shapes(&config).into_iter().filter(|s| kind.in_first_block(&s.0));
    Ok(parts.map(|s| s.1.iter().product::<usize>()).sum())
}
