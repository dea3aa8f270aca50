//! The kinds of models that are read, one file each.

use super::architecture::Architecture;
use super::config::Keys;
use super::{albert, bert, gpt2, llama};
use crate::error::{Error, Result};

/// All of them.
pub static ARCHITECTURES: [&dyn Architecture; 4] = [&albert::Albert, &bert::Bert, &gpt2::Gpt2, &llama::Llama];

/// The kind of model that a `config.json` tells of.
///
/// **Errors** one that is not known.
pub fn find(keys: &Keys) -> Result<&'static dyn Architecture> {
    let found = keys.json["model_type"].as_str().ok_or_else(|| keys.bad("model_type", &keys.json["model_type"], "the kind of model"))?;
    let known = || ARCHITECTURES.iter().map(|a| a.name());
    let kind = ARCHITECTURES.iter().copied().find(|a| a.name() == found);
    kind.ok_or_else(|| {
        let place = "key model_type".to_owned();
        Error::File { path: keys.path.into(), place, problem: Error::unknown("kind of model", found, known()).to_string() }
    })
}

/// The parameters of one block of a model of these settings (a `config.json`).
///
/// **Errors** as [`Architecture::config`].
pub fn block_parameters(path: &str, json: &serde_json::Value) -> Result<usize> {
    let keys = Keys { path, json };
    let kind = find(&keys)?;
    let config = kind.config(&keys)?;
    let parts = kind.shapes(&config).into_iter().filter(|s| kind.in_first_block(&s.0));
    Ok(parts.map(|s| s.1.iter().product::<usize>()).sum())
}
