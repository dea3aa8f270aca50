//! `completions`: scripts for bash, zsh, fish and others, which also complete registered names.

use super::list;
use super::output::Output;
use crate::error::Result;
use clap::builder::PossibleValuesParser;
use serde_json::json;

/// Flags of `completions`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable completions bash > ~/.local/share/bash-completion/completions/metastable
  metastable completions fish > ~/.config/fish/completions/metastable.fish")]
pub struct Arguments {
    /// The shell.
    shell: clap_complete::Shell,
}

/// Arguments that take registered names: command, argument, kinds of `list` (none: all kinds).
const NAMED: [(&str, &str, &[&str]); 9] = [
    ("check", "names", &["theorems"]),
    ("hunt", "claim", &["theorems"]),
    ("figure", "names", &["figures"]),
    ("run", "experiment", &["experiments", "studies"]),
    ("explain", "name", &[]),
    ("selftest", "name", &["dynamics"]),
    ("solve", "dynamics", &["dynamics"]),
    ("velocity", "dynamics", &["dynamics"]),
    ("movie", "dynamics", &["dynamics"]),
];

/// The definitions with the registered names as values. Only completions need them: elsewhere the
/// registries report an unknown name, with the nearest one.
fn with_names(mut command: clap::Command) -> clap::Command {
    for (sub, argument, kinds) in NAMED {
        // The script is printed once, so its names may be leaked.
        let all = list::kinds().filter(|kind| *kind != "printed-figures");
        let kinds = if kinds.is_empty() { all.collect() } else { kinds.to_vec() };
        let names: Vec<&str> =
            kinds.into_iter().flat_map(list::entries).map(|e| &*e.0.leak()).collect();
        command = command.mut_subcommand(sub, |c| {
            c.mut_arg(argument, |a| {
                a.value_parser(PossibleValuesParser::new(names)).hide_possible_values(true)
            })
        });
    }
    command
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let mut script = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut with_names(super::command()),
            "metastable",
            &mut script,
        );
        let script = String::from_utf8_lossy(&script).into_owned();
        out.result(&json!({"script": script}), &script);
        Ok(0)
    }
}
