//! The command line, one subcommand per file. Results go to stdout, everything else to stderr.

mod any_number;
mod bench;
pub mod call;
mod cancel;
mod certify;
mod check;
mod checkpoint;
mod clusters;
pub mod colour;
mod command_line;
mod compare;
mod completions;
mod continue_branch;
pub mod data;
pub use crate::operation::digits;
mod energy;
mod explain;
mod figure;
mod grid_flags;
mod hunt;
mod input;
mod landscape;
mod landscape_sphere;
mod list;
mod man;
mod masses;
mod measure;
mod model;
mod model_flags;
mod modes;
mod movie;
mod mpi;
mod operation;
mod out_file;
mod output;
mod page;
mod paper_page;
pub mod papers;
mod parameter;
mod plot;
mod predict;
pub mod printed;
mod problem;
pub mod progress;
mod proof;
mod provenance;
mod rates;
mod recording;
mod run;
mod run_folder;
mod saddle_table;
mod saddles;
pub mod sections;
mod selftest;
mod sentences;
mod session;
mod shards;
mod solve;
mod study;
mod sweep;
mod terms;
mod velocity;
pub mod verdicts;
mod version;

use crate::error::{Error, Result};
use crate::operation::{Answer, Given, Operation, Parameter, Parameters, any, within};
use output::Format;
use std::ffi::OsString;

crate::parameters! {
    /// What all commands have.
    struct Everywhere {
        /// text, json (one object), csv (a table of the result; its single values become comments),
        /// or markdown (tables of `list`, pages of papers).
        format: Format, any().or("text").form("FORMAT").group("Everywhere");
        /// With --format csv: the table. Default: the first one.
        table: Option<String>, any().form("NAME").group("Everywhere");
        /// Number of threads; results do not depend on it. Default: the variable
        /// METASTABLE_THREADS, or all of the machine.
        threads: Option<usize>, within(1.0, 256.0).form("T").group("Everywhere");
        /// Print no progress and no notes, only results and errors.
        quiet: bool, any().group("Everywhere");
        /// Replace files of other problems and of other programs.
        force: bool, any().group("Everywhere");
    }
}

const ABOUT: &str = "A numerical laboratory for the theory of self-attention dynamics.

Without a command it runs `check --quick`: a table of verdicts, figures and a report.";

const EXAMPLES: &str = "Examples:
  metastable check --quick
  metastable solve --init uniform --n 32 --d 2 --beta 9 --t-end 1e6
  metastable explain cone-collapse";

/// All operations. `predict` has one for each prediction.
pub fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().copied().chain(predict::operations())
}

/// First words of the names of several operations: heading, name, summary.
const FAMILIES: [(&str, &str, &str); 3] = [
    (
        "Theorems",
        "predict",
        "Evaluate closed forms of the theory: growth rates, merge times, thresholds",
    ),
    (
        "Theorems",
        "certify",
        "Prove a critical point, convergence of a start or a merge time; check certificates",
    ),
    ("Develop", "bench", "Time kernel sums and heads on this machine"),
];

/// Operations with a description of their own, in the order of the help page.
static OPERATIONS: [&Operation; 30] = [
    &solve::OPERATION,
    &velocity::OPERATION,
    &energy::OPERATION,
    &measure::OPERATION,
    &model::OPERATION,
    &run::OPERATION,
    &movie::OPERATION,
    &page::OPERATION,
    &modes::OPERATION,
    &saddles::OPERATION,
    &landscape::OPERATION,
    &continue_branch::OPERATION,
    &rates::OPERATION,
    &clusters::OPERATION,
    &crate::entropy::operation::OPERATION,
    &compare::OPERATION,
    &plot::OPERATION,
    &check::OPERATION,
    &hunt::OPERATION,
    &certify::critical_point::OPERATION,
    &certify::start::OPERATION,
    &certify::dwell::OPERATION,
    &certify::check::OPERATION,
    &figure::OPERATION,
    &explain::OPERATION,
    &list::OPERATION,
    &bench::right_hand_side::OPERATION,
    &bench::heads::OPERATION,
    &completions::OPERATION,
    &man::OPERATION,
];

/// Operations that help does not list: they make files for the installation of the program.
const HIDDEN: [&str; 2] = ["completions", "man"];

/// A command line that was read.
struct Line {
    everywhere: Everywhere,
    work: Work,
    /// Flags of the command, without the dashes.
    flags: Vec<String>,
}

/// What a command line asks for.
enum Work {
    /// An operation with the texts of its parameters.
    Operation(&'static Operation, Given),
    /// Nothing, which stands for `check --quick` with figures and a report.
    Nothing,
}

/// Parses the arguments, runs the command and returns the exit code.
pub fn main() -> i32 {
    let words: Vec<OsString> = std::env::args_os().collect();
    let line = match parse(&words) {
        Ok(line) => line,
        Err(Refused::Input(e)) => {
            for problem in e.render(&|name| format!("--{}", operation::flag(name))).lines() {
                output::complain(problem);
            }
            return 1;
        }
        Err(Refused::Usage(e)) => {
            let _ = e.print();
            // Help and version are not errors; wrong flags are exit code 1 here, clap's own would
            // be 2.
            return i32::from(e.use_stderr());
        }
    };
    let _ = ctrlc::set_handler(cancel::signalled);
    output::begin(line.everywhere.format, line.everywhere.table.as_deref(), &line.flags);
    if line.everywhere.quiet {
        output::quieten();
    }
    if line.everywhere.force {
        session::force();
    }
    dispatch(line).unwrap_or_else(|e| {
        output::sentence(&e).lines().for_each(output::complain);
        e.exit_code()
    })
}

/// Why a command line was not accepted.
enum Refused {
    /// A value or a name, reported as every other input error.
    Input(Error),
    /// Help, version, and what clap reports about the form of the line.
    Usage(Box<clap::Error>),
}

/// Parses a command line whose first word is the program.
fn parse(words: &[OsString]) -> std::result::Result<Line, Refused> {
    // Manual pages are the same on every machine, so the instruction set is not part of `command`.
    // The text is needed until the end: it may be leaked.
    let program = command().long_version(&*version::text().leak());
    let refused = |e: clap::Error| {
        let known = tables(words);
        let ours = operation::malformed(&e, &known)
            .or_else(|| input::wrong_number(&e))
            .or_else(|| input::unknown_command(&e, words, &program));
        ours.map_or_else(|| Refused::Usage(Box::new(e)), Refused::Input)
    };
    let matches = program.clone().try_get_matches_from(words).map_err(refused)?;
    let everywhere = operation::given(&Everywhere::table(), &matches);
    let everywhere = Everywhere::of(&everywhere).map_err(Refused::Input)?;
    let (mut level, mut inner, mut flags) = (&program, &matches, Vec::new());
    let mut name = String::new();
    loop {
        flags.extend(level.get_arguments().filter_map(clap::Arg::get_long).map(str::to_owned));
        let next = inner.subcommand().and_then(|(n, m)| Some((level.find_subcommand(n)?, n, m)));
        let Some((below, word, matches)) = next else { break };
        name = format!("{name} {word}").trim_start().to_owned();
        (level, inner) = (below, matches);
    }
    let work = match operations().find(|o| o.full_name() == name) {
        Some(found) => Work::Operation(found, operation::given(&(found.parameters)(), inner)),
        None => Work::Nothing,
    };
    Ok(Line { everywhere, work, flags })
}

/// The parameters of the operation that these words name, and those of all commands.
fn tables(words: &[OsString]) -> Vec<Parameter> {
    let words: Vec<&str> = words.iter().skip(1).filter_map(|w| w.to_str()).collect();
    let own = operations().filter(|o| {
        let mut rest = words.iter().filter(|w| !w.starts_with('-'));
        let name = o.full_name();
        name.split(' ').all(|part| rest.next() == Some(&part))
    });
    let own: Vec<Parameter> = own.flat_map(|o| (o.parameters)()).collect();
    own.into_iter().chain(Everywhere::table()).collect()
}

fn dispatch(line: Line) -> Result<i32> {
    if let Some(threads) = threads(&line.everywhere)? {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|e| Error::Numerical {
            what: format!("the threads could not be started: {e}"),
        })?;
    }
    if !line.everywhere.quiet {
        progress::begin(match &line.work {
            Work::Operation(found, _) => found.name,
            Work::Nothing => "check",
        })?;
    }
    // Commands run on a thread of the pool: a parallel loop then starts without waking another one.
    let everywhere = line.everywhere;
    rayon::scope(|_| {
        let (found, answer) = run(line.work)?;
        let table = everywhere.table.as_deref();
        output::print(&operation::formatted(found, &answer, everywhere.format, table)?);
        Ok(answer.exit.code())
    })
}

/// The number of threads that a flag or a variable sets. An empty variable sets nothing.
fn threads(everywhere: &Everywhere) -> Result<Option<usize>> {
    const VARIABLE: &str = "METASTABLE_THREADS";
    let set = std::env::var_os(VARIABLE).filter(|word| !word.is_empty());
    let (None, Some(word)) = (everywhere.threads, set) else { return Ok(everywhere.threads) };
    let word = word.to_string_lossy().into_owned();
    let of_variable = |e| crate::lab::range::named(e, VARIABLE);
    let given = Given::of(&[("threads", word.trim())]);
    Everywhere::of(&given).map(|read| read.threads).map_err(of_variable)
}

fn run(work: Work) -> Result<(&'static Operation, Answer)> {
    match work {
        Work::Operation(found, given) => Ok((found, found.answer(&given, &operation::Here)?)),
        Work::Nothing => Ok((&check::OPERATION, check::quick()?)),
    }
}

/// The definitions of commands and flags.
pub fn command() -> clap::Command {
    let everywhere = Everywhere::table();
    let program = clap::Command::new("metastable")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .after_help(EXAMPLES)
        .args(everywhere.iter().map(|p| operation::argument(p).global(true)))
        .subcommand_required(false);
    let single = operations().filter(|o| o.family.is_empty());
    let single = single.map(|o| operation::command(o).hide(HIDDEN.contains(&o.name)));
    let families = FAMILIES.iter().map(|(_, name, summary)| {
        let own = operations().filter(|o| o.family == *name);
        clap::Command::new(*name)
            .about(*summary)
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommands(own.map(operation::command))
    });
    let program = program.subcommands(single).subcommands(families);
    let groups: String =
        groups(&program).map(|(heading, all)| format!("{heading}:\n{}\n", lines(&all))).collect();
    program.help_template(format!(
        "{{about-with-newline}}
Usage: metastable [OPTIONS] [COMMAND]
       metastable COMMAND --help

{groups}Options:
{{options}}{{after-help}}"
    ))
}

/// The commands by the headings of the help page.
fn groups(program: &clap::Command) -> impl Iterator<Item = (&'static str, Vec<&clap::Command>)> {
    let families = FAMILIES.iter().map(|(heading, name, _)| (*heading, *name));
    let single = OPERATIONS.iter().filter(|o| o.family.is_empty() && !HIDDEN.contains(&o.name));
    let all: Vec<_> = single.map(|o| (o.group, o.name)).chain(families).collect();
    GROUPS.iter().map(move |heading| {
        let own = all.iter().filter(|(group, _)| group == heading);
        (*heading, own.filter_map(|(_, name)| program.find_subcommand(name)).collect())
    })
}

/// Headings of the help page.
const GROUPS: [&str; 5] = ["Simulate", "Analyse", "Theorems", "Papers", "Develop"];

fn lines(commands: &[&clap::Command]) -> String {
    commands.iter().map(|c| format!("  {:<12} {}\n", c.get_name(), summary(c))).collect()
}

/// The first line of a command's help.
fn summary(command: &clap::Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Name and summary of every command, with its group.
fn listed() -> Vec<(String, String)> {
    let program = command();
    let all =
        groups(&program).flat_map(|(heading, all)| all.into_iter().map(move |c| (heading, c)));
    all.map(|(heading, c)| (c.get_name().to_owned(), format!("[{heading}] {}", summary(c))))
        .collect()
}
