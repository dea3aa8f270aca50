//! `completions`: for bash, zsh, fish and others; names of claims, figures, dynamics and the like are completed too.

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

/// Arguments that take registered names: command, argument, kinds of `list`; all that can be explained where none is named.
const NAMED: [(&str, &str, &[&str]); 9] = [
    ("check", "names", &["theorems"]),
    ("hunt", "claim", &["theorems"]),
    ("figure", "names", &["figures"]),
    ("run", "experiment", &["experiments", "studies"]),
    ("explain", "name", &[]),
    ("doctor", "name", &["dynamics"]),
    ("solve", "dynamics", &["dynamics"]),
    ("velocity", "dynamics", &["dynamics"]),
    ("movie", "dynamics", &["dynamics"]),
];

/// The command whose arguments know their names. Only completions need it: an unknown name is told by the registries, with the nearest one.
fn with_names(mut command: clap::Command) -> clap::Command {
    for (sub, argument, kinds) in NAMED {
        // The names of a script that is printed once may live as long as the program.
        let all = list::kinds().filter(|kind| *kind != "printed-figures");
        let kinds = if kinds.is_empty() { all.collect() } else { kinds.to_vec() };
        let names: Vec<&str> = kinds.into_iter().flat_map(list::entries).map(|e| &*e.0.leak()).collect();
        command = command
            .mut_subcommand(sub, |c| c.mut_arg(argument, |a| a.value_parser(PossibleValuesParser::new(names)).hide_possible_values(true)));
    }
    command
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut with_names(super::command()), "metastable", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        out.result(&json!({"script": script}), &script);
        Ok(0)
    }
}
