//! `man`: manual pages.

use super::out_file;
use crate::error::{Error, Result};
use crate::lab::replace::{self, Problem};
use crate::operation::{Answer, Operation, Parameters, Rows, Table, any, column};
use crate::parameters;
use clap_mangen::Man;
use serde_json::json;
use std::path::{Path, PathBuf};

parameters! {
    /// Parameters of `man`.
    struct Manual {
        /// Folder for the pages metastable.1, metastable-check.1, ...; it is created if missing.
        folder: PathBuf, any().form("FOLDER").positional();
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "man",
    group: "Develop",
    summary: "Write manual pages, one for the program and one for each command",
    notes: "Examples:
  metastable man ~/.local/share/man/man1",
    parameters: Manual::table,
    results: &[],
    tables: &[Table {
        name: "files",
        what: "one row for each page",
        rows: Rows::Lists,
        columns: &[column("files", "the page")],
    }],
    run: |given, _| Manual::of(given)?.run(),
    ..Operation::EMPTY
};

impl Manual {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        std::fs::create_dir_all(&self.folder)
            .map_err(|e| Error::io(self.folder.display(), "create the folder", &e))?;
        // `build` gives every command the global flags and its full name, which names its page.
        let mut command = super::command().disable_help_subcommand(true);
        command.build();
        let mut files = Vec::new();
        pages(&command, &self.folder, &mut files)?;
        let text = files.join("\n");
        Ok(Answer::new(json!({"files": files}), text))
    }
}

/// Writes the page of a command, then those of its subcommands.
fn pages(command: &clap::Command, folder: &Path, files: &mut Vec<String>) -> Result<()> {
    let man = Man::new(command.clone());
    let path = folder.join(man.get_filename());
    let mut page = Vec::new();
    render(&man, command, &mut page)
        .map_err(|e| Error::io(path.display(), "write the page", &e))?;
    files.push(path.display().to_string());
    let problem = Problem::of(&page);
    replace::write(vec![(path, page)], problem.as_ref(), out_file::replaced(false))?;
    command.get_subcommands().filter(|c| !c.is_hide_set()).try_for_each(|c| pages(c, folder, files))
}

/// A page; that of the program lists its commands by groups.
fn render(man: &Man, command: &clap::Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    if command.get_name() != "metastable" {
        return man.render(page);
    }
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    for (heading, all) in super::groups(command) {
        let group = clap::Command::new("metastable")
            .disable_help_subcommand(true)
            .subcommand_help_heading(heading);
        Man::new(group.subcommands(all.into_iter().cloned())).render_subcommands_section(page)?;
    }
    man.render_extra_section(page)?;
    man.render_version_section(page)
}
