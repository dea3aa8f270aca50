//! The architectures that are read, one file each.

use super::architecture::Architecture;
use super::config::Config;
use super::keys::Keys;
use super::{albert, bert, gpt2, llama};
use crate::error::{Error, Result};
use serde_json::Value;

/// All architectures.
pub static ARCHITECTURES: [&dyn Architecture; 4] =
    [&albert::Albert, &bert::Bert, &gpt2::Gpt2, &llama::Llama];

/// The architecture that a `config.json` names, and the settings.
///
/// **Errors** an unknown architecture, keys that ask for another computation than the one here,
/// missing sizes.
pub fn detect(path: &str, json: &Value) -> Result<(&'static dyn Architecture, Config)> {
    let plain = Keys { path, json, table: &[], parent: "" };
    let architecture = json.get("model_type").unwrap_or(&Value::Null);
    let found = architecture
        .as_str()
        .ok_or_else(|| plain.error("model_type", architecture, "the kind of model"))?;
    let known = || ARCHITECTURES.iter().map(|a| a.name());
    let architecture =
        ARCHITECTURES.iter().copied().find(|a| a.name() == found).ok_or_else(|| {
            let place = "key model_type".to_owned();
            Error::File {
                path: path.into(),
                place,
                problem: Error::unknown("kind of model", found, known()).to_string(),
            }
        })?;
    let keys = Keys { table: architecture.settings(), ..plain };
    keys.check()?;
    Ok((architecture, architecture.config(&keys)?))
}

/// Number of parameters of one block of a model with these settings (a `config.json`).
///
/// **Errors** as [`Architecture::config`].
pub fn block_parameters(path: &str, json: &Value) -> Result<usize> {
    let (architecture, config) = detect(path, json)?;
    let parts =
        architecture.shapes(&config).into_iter().filter(|s| architecture.in_first_block(&s.0));
    Ok(parts.map(|s| s.1.iter().product::<usize>()).sum())
}
