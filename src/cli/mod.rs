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
mod diff;
pub mod digits;
mod energy;
mod entropy;
mod explain;
mod figure;
mod grid_flags;
mod hunt;
mod input;
mod landscape;
mod landscape_sphere;
mod list;
mod man;
mod measure;
mod model;
mod model_flags;
mod modes;
mod movie;
mod mpi;
mod out_file;
mod output;
mod page;
mod paper_page;
pub mod papers;
mod parameter;
mod plot;
mod predict;
pub mod printed;
pub mod progress;
mod proof;
mod provenance;
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
use clap::{Parser, Subcommand};
use output::{Format, Output};
use std::ffi::OsString;

/// A numerical laboratory for the theory of self-attention dynamics.
///
/// Without a command it runs `check --quick`: a table of verdicts, figures and a report.
#[derive(Parser)]
#[command(name = "metastable", version, arg_required_else_help = false, after_help = EXAMPLES)]
struct Arguments {
    /// text, json (one object), or csv (the table of the result; its single values become
    /// comments).
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "text",
        hide_possible_values = true,
        help_heading = "Everywhere"
    )]
    format: Format,
    /// Number of threads; results do not depend on it. Default: the variable METASTABLE_THREADS,
    /// or all of the machine.
    #[arg(
        long,
        global = true,
        value_name = "T",
        allow_hyphen_values = true,
        help_heading = "Everywhere"
    )]
    threads: Option<usize>,
    /// Print no progress and no notes, only results and errors.
    #[arg(long, global = true, help_heading = "Everywhere")]
    quiet: bool,
    /// Replace files of other problems and of other programs.
    #[arg(long, global = true, help_heading = "Everywhere")]
    force: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  metastable check --quick
  metastable solve --init uniform --n 32 --d 2 --beta 9 --t-end 1e6
  metastable explain cone-collapse";

/// The subcommands in the groups of the help page: heading, help text, name, file.
macro_rules! commands {
    ($($group:literal { $($(#[$help:meta])+ $name:literal $variant:ident $file:ident,)+ })+) => {
        #[derive(Subcommand)]
        enum Command {
            $($($(#[$help])+ #[command(name = $name)] $variant($file::Arguments),)+)+
        }

        impl Command {
            fn name(&self) -> &'static str {
                match self {
                    $($(Self::$variant(_) => $name,)+)+
                }
            }

            fn run(self, out: &Output) -> Result<i32> {
                match self {
                    $($(Self::$variant(arguments) => arguments.run(out),)+)+
                }
            }
        }

        /// Headings of the help page and the commands under each.
        const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$($name),+])),+];
    };
}

commands! {
    "Simulate" {
        /// Integrate the motion of tokens.
        "solve" Solve solve,
        /// Velocity of every token.
        "velocity" Velocity velocity,
        /// Energy, log energy, gradient norm, Hessian spectrum.
        "energy" Energy energy,
        /// Evolve a density by the continuity equation: coefficients, negentropy and its rate.
        "measure" Measure measure,
        /// Hidden states and attention of a trained model; how well the theory fits them.
        "model" Model model,
        /// Run an experiment (a TOML file or a built-in name) or a study; repeat it to resume.
        "run" Run run,
        /// Animate a run on the circle or the sphere: GIF, animated PNG, numbered frames, MP4.
        "movie" Movie movie,
        /// Write the solver as one HTML page for a browser, with sliders.
        "page" Page page,
    }
    "Analyse" {
        /// Modes of a kernel density estimate, with a proof of their number.
        "modes" Modes modes,
        /// Critical points of the energy: search, spectra, connections, certificates.
        "saddles" Saddles saddles,
        /// All critical points on the circle or on spheres, proved to be all.
        "landscape" Landscape landscape,
        /// All branches of critical points over an interval of beta, with all bifurcations.
        "continue" Continue continue_branch,
        /// Clusters of tokens; merge tree and plateaus of a run.
        "clusters" Clusters clusters,
        /// Estimate the negentropy of tokens, layer by layer for hidden states.
        "entropy" Entropy entropy,
        /// Compare attention with residual, recurrent and convolutional maps, layer by layer.
        "compare" Compare compare,
        /// Plot one column against another, from a run, an experiment or a study.
        "plot" Plot plot,
        /// Compare two runs: settings, tables, largest deviation.
        "diff" Diff diff,
    }
    "Theorems" {
        /// Evaluate closed forms of the theory: growth rates, merge times, thresholds.
        "predict" Predict predict,
        /// Test theorems: verdicts, margins, controls; with ranges, a sweep over a grid.
        "check" Check check,
        /// Search the range of a claim for a counterexample, or replay one.
        "hunt" Hunt hunt,
        /// Prove a critical point, convergence of a start or a merge time; check certificates.
        "certify" Certify certify,
    }
    "Papers" {
        /// Draw the figures of papers (SVG, PNG, CSV, caption).
        "figure" Figure figure,
        /// Explain a theorem, paper, law, figure or term: statement, hypotheses, citation, status.
        "explain" Explain explain,
        /// List theorems, dynamics, laws, observables, figures, experiments, papers and more.
        "list" List list,
    }
    "Inspect" {
        /// Where a result file comes from and the command that reproduces it.
        "provenance" Provenance provenance,
        /// Test the dynamics on this machine against their definitions.
        "selftest" Selftest selftest,
    }
    "Develop" {
        /// Time kernel sums on this machine.
        "bench" Bench bench,
        /// Write a completion script for a shell.
        "completions" Completions completions,
        /// Write manual pages, one for the program and one for each command.
        "man" Man man,
    }
}

/// Parses the arguments, runs the command and returns the exit code.
pub fn main() -> i32 {
    let words: Vec<OsString> = std::env::args_os().collect();
    let (arguments, flags) = match parse(&words) {
        Ok(parsed) => parsed,
        Err(Refused::Input(e)) => {
            output::complain(&e.render(&|flag| format!("--{flag}")));
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
    let out = Output::new(arguments.format, flags);
    if arguments.quiet {
        output::quieten();
    }
    if arguments.force {
        session::force();
    }
    match dispatch(arguments, &out) {
        Ok(code) => code,
        Err(e) => {
            out.error(&e);
            e.exit_code()
        }
    }
}

/// Why a command line was not accepted.
enum Refused {
    /// A value or a name, reported as every other input error.
    Input(Error),
    /// Everything else that clap reports; also help and version.
    Usage(clap::Error),
}

/// Parses a command line whose first word is the program; returns also the flags of the command.
fn parse(words: &[OsString]) -> std::result::Result<(Arguments, Vec<String>), Refused> {
    // Manual pages are the same on every machine, so the instruction set is not part of `command`.
    // The text is needed until the end: it may be leaked.
    let program = command().long_version(&*version::text().leak());
    let refused = |e: clap::Error| {
        let ours = input::wrong_number(&e).or_else(|| input::unknown_command(&e, words, &program));
        ours.map_or_else(|| Refused::Usage(e), Refused::Input)
    };
    let matches = program.clone().try_get_matches_from(words).map_err(refused)?;
    let arguments =
        <Arguments as clap::FromArgMatches>::from_arg_matches(&matches).map_err(Refused::Usage)?;
    let (mut level, mut given, mut flags) = (&program, &matches, Vec::new());
    loop {
        flags.extend(level.get_arguments().filter_map(clap::Arg::get_long).map(str::to_owned));
        let inner = given
            .subcommand()
            .and_then(|(name, inner)| Some((level.find_subcommand(name)?, inner)));
        let Some(inner) = inner else { return Ok((arguments, flags)) };
        (level, given) = inner;
    }
}

fn dispatch(arguments: Arguments, out: &Output) -> Result<i32> {
    if let Some(threads) = threads(&arguments)? {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|e| Error::Numerical {
            what: format!("the threads could not be started: {e}"),
        })?;
    }
    if !arguments.quiet {
        progress::begin(arguments.command.as_ref().map_or("check", Command::name))?;
    }
    // Commands run on a thread of the pool: a parallel loop then starts without waking another one.
    rayon::scope(|_| run(arguments, out))
}

/// The number of threads that a flag or a variable sets. An empty variable sets nothing.
fn threads(arguments: &Arguments) -> Result<Option<usize>> {
    const VARIABLE: &str = "METASTABLE_THREADS";
    const EXPECTED: &str = "a whole number in [1, 256]";
    let (name, threads) = match (arguments.threads, std::env::var_os(VARIABLE)) {
        (Some(threads), _) => ("--threads", threads),
        (None, Some(word)) if !word.is_empty() => {
            let word = word.to_string_lossy();
            let number = word.trim().parse::<usize>();
            (VARIABLE, number.map_err(|_| Error::parameter(VARIABLE, &word, EXPECTED))?)
        }
        _ => return Ok(None),
    };
    if !(1..=256).contains(&threads) {
        return Err(Error::parameter(name, threads, EXPECTED));
    }
    Ok(Some(threads))
}

fn run(arguments: Arguments, out: &Output) -> Result<i32> {
    arguments.command.map_or_else(|| check::quick(out), |command| command.run(out))
}

/// The definitions of commands and flags.
pub fn command() -> clap::Command {
    let command = <Arguments as clap::CommandFactory>::command();
    let groups: String =
        groups(&command).map(|(heading, all)| format!("{heading}:\n{}\n", lines(&all))).collect();
    command.help_template(format!(
        "{{about-with-newline}}
Usage: metastable [OPTIONS] [COMMAND]
       metastable COMMAND --help

{groups}Options:
{{options}}{{after-help}}"
    ))
}

/// The commands by the headings of the help page.
fn groups(program: &clap::Command) -> impl Iterator<Item = (&'static str, Vec<&clap::Command>)> {
    GROUPS.iter().map(|(heading, names)| {
        (*heading, names.iter().filter_map(|name| program.find_subcommand(name)).collect())
    })
}

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
