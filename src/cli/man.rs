//! `man`: manual pages.

use super::output::Output;
use crate::error::{Error, Result};
use crate::lab::arrays;
use clap_mangen::Man;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Flags of `man`.
#[derive(clap::Args)]
#[command(after_help = "Example:
  metastable man ~/.local/share/man/man1")]
pub struct Arguments {
    /// Folder for the pages, made where it is missing: metastable.1, metastable-check.1, ...
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        std::fs::create_dir_all(&self.folder).map_err(|e| Error::io(self.folder.display(), "create the folder", &e))?;
        // Built, every command knows the global flags and its full name, which is that of its page.
        let mut command = super::command().disable_help_subcommand(true);
        command.build();
        let mut files = Vec::new();
        pages(&command, &self.folder, &mut files)?;
        out.result(&json!({"files": files}), &files.join("\n"));
        Ok(0)
    }
}

/// Writes the page of a command, then those of its subcommands.
fn pages(command: &clap::Command, folder: &Path, files: &mut Vec<String>) -> Result<()> {
    let man = Man::new(command.clone());
    let path = folder.join(man.get_filename());
    let mut page = Vec::new();
    man.render(&mut page).map_err(|e| Error::io(path.display(), "write the page", &e))?;
    arrays::write_atomically(&path, &page)?;
    files.push(path.display().to_string());
    command.get_subcommands().filter(|c| !c.is_hide_set()).try_for_each(|c| pages(c, folder, files))
}
