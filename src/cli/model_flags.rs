//! The flags that describe a model (space, normalisation, masks, heads, noise), or a file with the
//! same keys.

use crate::attention::model::Model;
use crate::error::{Error, Result};
use crate::lab::model::{KEYS, Words};
use crate::lab::{ModelSpec, arrays};
use crate::operation::{Given, Parameter, Parameters, any};
use crate::sphere::Tokens;
use std::path::{Path, PathBuf};

/// The parts of a model besides its dynamics: keys of `list model`, one by one or in a file.
pub struct ModelArguments {
    words: Words,
    file: Option<PathBuf>,
    radii: Option<PathBuf>,
}

/// Keys that are flags in help, too: other commands have the same flag.
const SHOWN: [&str; 4] = ["interaction", "coupling", "noise", "space"];

impl Parameters for ModelArguments {
    fn table() -> Vec<Parameter> {
        const HELP: &str = "A key of the model, norm=peri or q=low-rank:rank=2 (`list model`), or \
                            a TOML file with these keys; repeat it for other keys";
        let model =
            any().form("KEY=VALUE|FILE").group("Model").parameter::<Vec<String>>("model", HELP);
        const RADII: &str = "Initial radii, one per token, for spaces with radii; the tokens are \
                             then directions";
        let radii = any().group("Model").parameter::<Option<PathBuf>>("radii", RADII);
        let key = |key: &Parameter| {
            let shown = SHOWN.contains(&key.name);
            Parameter { limits: if shown { key.limits } else { key.limits.hidden() }, ..*key }
        };
        [model, radii].into_iter().chain(KEYS.iter().map(key)).collect()
    }

    fn read(
        given: &Given,
        table: &mut std::slice::Iter<'_, Parameter>,
        faults: &mut Vec<Error>,
    ) -> Option<Self> {
        let model: Option<Vec<String>> = given.value(table.next()?, faults);
        let radii: Option<Option<PathBuf>> = given.value(table.next()?, faults);
        let mut words = Words::new();
        for key in &KEYS {
            table.next()?;
            if given.has(key.name) {
                words.insert(key.name, given.texts(key.name).to_vec());
            }
        }
        let (mut file, before) = (None, faults.len());
        for text in model? {
            match text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                Some((name, value)) => match KEYS.iter().find(|key| key.name == name) {
                    Some(key) => words.entry(key.name).or_default().push(value.to_owned()),
                    None => {
                        faults.push(Error::unknown(
                            "key of a model",
                            name,
                            KEYS.iter().map(|k| k.name),
                        ));
                    }
                },
                None if file.is_none() => file = Some(PathBuf::from(text)),
                None => faults.push(Error::parameter("model", text, "one file")),
            }
        }
        for key in KEYS.iter().filter(|key| !key.many) {
            if words.get(key.name).is_some_and(|all| all.len() > 1) {
                let found = words[key.name].join(" and ");
                faults.push(Error::parameter(key.name, found, "one value"));
            }
        }
        if let (Some(_), Some(key)) = (&file, words.keys().next()) {
            let found = format!("{key} beside a file");
            faults.push(Error::parameter(
                "model",
                found,
                "one of them: the file has this key, too",
            ));
        }
        (faults.len() == before).then_some(Self { words, file, radii: radii? })
    }
}

impl ModelArguments {
    /// The model.
    pub fn model_spec(&self) -> Result<ModelSpec> {
        if let Some(path) = &self.file {
            return ModelSpec::load(path);
        }
        ModelSpec::new(self.words.clone(), Path::new("")).map_err(|problems| {
            let mut errors: Vec<Error> = problems.into_iter().map(|p| p.1).collect();
            if errors.len() == 1 { errors.remove(0) } else { Error::Many(errors) }
        })
    }

    /// Whether a key is given by itself.
    pub fn has(&self, key: &str) -> bool {
        self.words.contains_key(key)
    }

    /// The initial radii.
    pub fn radii(&self) -> Result<Option<Vec<f64>>> {
        self.radii.as_deref().map(|path| arrays::list(path, None)).transpose()
    }
}

/// Prints how many tokens see no key under the mask; `causal` if the dynamics hides later tokens.
pub fn note_tokens_without_keys(model: &Model, x: &Tokens, causal: bool) -> Result<usize> {
    let count = model.tokens_without_keys(x.n(), x.d(), causal)?;
    if count > 0 {
        super::output::note(&format!(
            "{count} of {} tokens see no key under the mask: attention adds 0 to them",
            x.n()
        ));
    }
    Ok(count)
}
