//! `completions`: scripts for bash, zsh, fish and others, which also complete registered names.

use super::list;
use crate::error::{Error, Result};
use crate::operation::{Answer, Operation, Parameters, any, column};
use crate::parameters;
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use serde_json::json;

parameters! {
    /// Parameters of `completions`.
    struct Completions {
        /// The shell.
        shell: String, any().positional().form("SHELL").check(known);
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "completions",
    group: "Develop",
    summary: "Write a completion script for a shell",
    notes: "Examples:
  metastable completions bash > ~/.local/share/bash-completion/completions/metastable
  metastable completions fish > ~/.config/fish/completions/metastable.fish",
    parameters: Completions::table,
    results: &[column("script", "the script")],
    run: |given, _| Completions::of(given)?.run(),
    ..Operation::EMPTY
};

/// Arguments that take registered names: command, argument, kinds of `list` (none: all kinds).
const NAMED: [(&str, &str, &[&str]); 8] = [
    ("check", "names", &["theorems"]),
    ("hunt", "claim", &["theorems"]),
    ("figure", "names", &["figures"]),
    ("run", "experiment", &["experiments", "studies"]),
    ("explain", "name", &[]),
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

/// **Errors** a shell without completions.
fn known(name: &str) -> Result<()> {
    shell(name).map(drop)
}

fn shell(name: &str) -> Result<clap_complete::Shell> {
    let all = || clap_complete::Shell::value_variants().iter();
    let named = |shell: &&clap_complete::Shell| shell.to_string() == name;
    all().find(named).copied().ok_or_else(|| {
        let names: Vec<String> = all().map(ToString::to_string).collect();
        Error::unknown("shell", name, names.iter().map(String::as_str))
    })
}

impl Completions {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        let mut script = Vec::new();
        clap_complete::generate(
            shell(&self.shell)?,
            &mut with_names(super::command()),
            "metastable",
            &mut script,
        );
        let script = String::from_utf8_lossy(&script).into_owned();
        Ok(Answer::new(json!({"script": script}), script))
    }
}
