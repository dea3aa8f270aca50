//! `completions`: for bash, zsh, fish and others.

use super::output::Output;
use crate::error::Result;
use serde_json::json;

/// Flags of `completions`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The shell.
    shell: clap_complete::Shell,
}

impl Arguments {
    /// Runs it, for this command.
    pub fn run(self, out: &Output, command: &mut clap::Command) -> Result<i32> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, command, "metastable", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        out.result(&json!({"script": script}), &script);
        Ok(0)
    }
}
