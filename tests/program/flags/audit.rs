//! Calls of every flag of a command: each must change what comes out or be refused.

use rayon::prelude::*;
use std::path::Path;
use std::process::{Command, Output};

pub fn run(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_metastable")).args(arguments.split_whitespace()).current_dir(folder).output().expect("starts")
}

/// The long flags of a command, from its help.
fn flags(folder: &Path, command: &str) -> Vec<String> {
    let help = run(folder, &format!("{command} --help"));
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    let named = text.lines().filter_map(|l| l.split_whitespace().find(|w| w.starts_with("--")).filter(|_| l.trim_start().starts_with('-')));
    named
        .map(|w| w.trim_start_matches("--").trim_end_matches(',').to_owned())
        // A line of a description may begin with the name of a flag in quotes.
        .filter(|f| f.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
        .filter(|f| !["format", "threads", "quiet", "help"].contains(&f.as_str()))
        .collect()
}

/// A command, what it is called with, and for every flag a call that must differ from it: the flag's words are added, or replace the base where they
/// begin with the name of the command.
pub struct Audit {
    pub command: &'static str,
    pub base: &'static str,
    /// A file that is part of what comes out; none where it is empty.
    pub file: &'static str,
    pub calls: &'static [(&'static str, &'static str)],
}

/// Every flag of these commands is called, of each command in a folder of its own; those without effect, which are none.
pub fn silent(prepare: impl Fn(&Path, &Audit) + Sync, audits: &[Audit]) -> Vec<String> {
    let one = |audit: &Audit| {
        let folder = tempfile::tempdir().expect("a folder");
        prepare(folder.path(), audit);
        audit.silent(folder.path())
    };
    audits.par_iter().flat_map_iter(one).collect()
}

impl Audit {
    fn silent(&self, at: &Path) -> Vec<String> {
        let Self { command, base, file, calls } = self;
        let mut silent = Vec::new();
        let written = || std::fs::read(at.join(*file)).unwrap_or_default();
        let known = flags(at, command);
        assert!(!known.is_empty() || calls.is_empty(), "no flags of {command}");
        for flag in &known {
            assert!(calls.iter().any(|(name, _)| name == flag), "{command} --{flag} is not audited");
        }
        // What is measured does not matter here.
        let hurry = |call: &str| if command.starts_with("bench") && !call.contains("--seconds") { " --seconds 0.01" } else { "" };
        let usual = run(at, &format!("{command} {base}{} --format json", hurry(base)));
        assert!(usual.status.success(), "{command} {base}: {}", String::from_utf8_lossy(&usual.stderr));
        let film = written();
        for (flag, words) in *calls {
            assert!(known.iter().any(|f| f == flag), "{command} has no --{flag}");
            let whole = if words.starts_with(*command) { (*words).to_owned() } else { format!("{command} {base} {words}") };
            if *flag == "full" && !["movie", "figure", "certify"].contains(command) {
                // What is printed for people, with and without it.
                let without = run(at, &whole.replace(" --full", ""));
                let with = run(at, &whole);
                assert!(with.status.code() == without.status.code(), "{whole}: {}", String::from_utf8_lossy(&with.stderr));
                if with.stdout == without.stdout {
                    silent.push(whole);
                }
                continue;
            }
            let found = run(at, &format!("{whole}{} --format json", hurry(&whole)));
            let refused = matches!(found.status.code(), Some(1 | 5));
            if !refused && lasting(&found.stdout) == lasting(&usual.stdout) && written() == film {
                silent.push(whole);
            }
        }
        silent
    }
}

/// What is printed but for numbers of a clock: times, rates, and how often something was done in a given time.
fn lasting(printed: &[u8]) -> String {
    let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(printed) else {
        return String::from_utf8_lossy(printed).into_owned();
    };
    strip(&mut value);
    value.to_string()
}

fn strip(value: &mut serde_json::Value) {
    const CLOCK: [&str; 5] = ["second", "per_", "peak", "repetitions", "gflops"];
    if let Some(object) = value.as_object_mut() {
        object.retain(|key, _| {
            !CLOCK.iter().any(|c| key.contains(c)) && !key.starts_with("times_") && !["hours", "trials"].contains(&key.as_str())
        });
        object.values_mut().for_each(strip);
    }
}
