//! The flags that describe a model (space, normalisation, masks, heads, noise), or a file with the
//! same keys.

use crate::attention::model::Model;
use crate::error::{Error, Result};
use crate::lab::model::{KEYS, Words};
use crate::lab::{ModelSpec, arrays};
use crate::sphere::Tokens;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::path::{Path, PathBuf};

/// The parts of a model besides its dynamics: a flag for each of [`KEYS`], or a file with these
/// keys.
pub struct ModelArguments {
    words: Words,
    file: Option<PathBuf>,
    radii: Option<PathBuf>,
}

impl clap::FromArgMatches for ModelArguments {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let values = |(key, ..): &(&'static str, bool, &str)| {
            if *key == RESCALED {
                return matches.get_flag(key).then(|| (*key, vec!["true".to_owned()]));
            }
            Some((*key, matches.get_many::<String>(key)?.cloned().collect()))
        };
        let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
        Ok(Self {
            words: KEYS.iter().filter_map(values).collect(),
            file: path("model"),
            radii: path("radii"),
        })
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for ModelArguments {
    fn augment_args(command: Command) -> Command {
        let flag = |name: &'static str, help: &'static str| {
            Arg::new(name).long(flag_name(name)).help(help).help_heading("Model")
        };
        let file =
            |name, help| flag(name, help).value_name("FILE").value_parser(value_parser!(PathBuf));
        let key = |(key, many, meaning): (&'static str, bool, &'static str)| match (key, many) {
            (RESCALED, _) => flag(key, meaning).action(ArgAction::SetTrue),
            (_, false) => flag(key, meaning)
                .value_name("VALUE")
                .allow_hyphen_values(matches!(key, "noise" | "interaction" | "row_weights")),
            (_, true) => flag(key, meaning).value_name("VALUE").action(ArgAction::Append),
        };
        command
            .arg(file("model", "TOML file with the keys space, norm, ..., noise instead of their flags"))
            .args(KEYS.map(key))
            .arg(file("radii", "Initial radii, one per token, for spaces with radii; the tokens are then directions"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The name of a key as a flag.
fn flag_name(key: &'static str) -> &'static str {
    if key == "row_weights" { "row-weights" } else { key }
}

/// The only key without a value.
const RESCALED: &str = "rescaled";

impl ModelArguments {
    /// The model.
    pub fn model_spec(&self) -> Result<ModelSpec> {
        if let Some(path) = &self.file {
            if let Some(key) = self.words.keys().next() {
                let flag = format!("--{}", flag_name(key));
                let found = format!("{flag} together with --model");
                return Err(Error::parameter(
                    flag,
                    found,
                    "one of them: the file has this key, too",
                ));
            }
            return ModelSpec::load(path);
        }
        ModelSpec::new(self.words.clone(), Path::new("")).map_err(|problems| {
            let mut errors: Vec<Error> = problems.into_iter().map(|p| p.1).collect();
            if errors.len() == 1 { errors.remove(0) } else { Error::Many(errors) }
        })
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
