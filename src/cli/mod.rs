//! The command line, one subcommand per file. Results go to stdout, everything else to stderr.

pub mod answer;
mod bench;
mod cancel;
mod certify;
mod check;
mod checkpoint;
mod clusters;
pub mod colour;
mod command_line;
mod company;
mod compare;
mod completions;
mod diff;
pub mod digits;
mod doctor;
mod energy;
mod entropy;
mod explain;
mod figure;
mod film;
mod hunt;
mod input;
mod is_certain;
mod list;
mod man;
mod measure;
mod model;
mod modes;
mod movie;
mod output;
mod page;
mod paper_page;
pub mod papers;
mod parameter;
mod parts;
mod plot;
mod predict;
mod predict_rows;
pub mod predict_words;
pub mod printed;
pub mod progress;
mod recording;
mod region;
mod replay;
mod result_folder;
mod run;
mod saddles;
pub mod sections;
mod seeds;
mod solve;
mod study;
mod sweep;
mod trained;
mod velocity;
pub mod verdicts;
mod whence;
mod words;

use crate::error::{Error, Result};
use clap::{Parser, Subcommand};
use output::{Format, Output};
use std::sync::atomic::Ordering;

/// A numerical laboratory for the theory of self-attention dynamics.
///
/// Without a command: `check --quick`, the verdict table with figures and a report.
#[derive(Parser)]
#[command(name = "metastable", version, arg_required_else_help = false, after_help = EXAMPLES)]
struct Arguments {
    /// text for people, json (one object), or csv (the longest list of the result, its other numbers as comments).
    #[arg(long, global = true, value_enum, default_value = "text", hide_possible_values = true, help_heading = "Everywhere")]
    format: Format,
    /// Threads; results do not depend on it.
    #[arg(
        long,
        global = true,
        value_name = "T",
        env = "METASTABLE_THREADS",
        hide_env_values = true,
        allow_hyphen_values = true,
        help_heading = "Everywhere"
    )]
    threads: Option<usize>,
    /// No progress and no notes on stderr; results and errors stay.
    #[arg(long, global = true, help_heading = "Everywhere")]
    quiet: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  metastable check --quick
  metastable solve --init uniform --n 32 --d 2 --beta 9 --t-end 1e6
  metastable explain cone-collapse";

/// The subcommands: what help says of each, its name, its file.
macro_rules! commands {
    ($($(#[$help:meta])+ $name:literal $variant:ident $file:ident,)+) => {
        #[derive(Subcommand)]
        enum Command {
            $($(#[$help])+ #[command(name = $name)] $variant($file::Arguments),)+
        }

        impl Command {
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }

            fn run(self, out: &Output) -> Result<i32> {
                match self {
                    $(Self::$variant(arguments) => arguments.run(out),)+
                }
            }
        }
    };
}

commands! {
    /// Velocity of every token.
    "velocity" Velocity velocity,
    /// Energy, log energy, gradient norm, Hessian spectrum.
    "energy" Energy energy,
    /// Integrate the flow.
    "solve" Solve solve,
    /// Modes of a kernel density estimate, with a proof of their number.
    "modes" Modes modes,
    /// Critical points of the energy: search, spectra, connections, certificates.
    "saddles" Saddles saddles,
    /// Evolve a density by the continuity equation: coefficients, negentropy and its rate.
    "measure" Measure measure,
    /// Hidden states and attention of a trained model; how far the theory holds in it.
    "model" Model trained,
    /// Estimate the negentropy of tokens, layer by layer for hidden states.
    "entropy" Entropy entropy,
    /// Clusters of tokens; merge tree and plateaus of a run.
    "clusters" Clusters clusters,
    /// A film of a run on the circle or the sphere: GIF, animated PNG, numbered frames, MP4.
    "movie" Movie movie,
    /// Prove that a start converges to one point, that a critical point lies near given ones, or how long two clusters live; check certificates.
    "certify" Certify certify,
    /// Maps beside attention: residual, recurrent, convolutional; cosines, ranks, exponents, who hears whom.
    "compare" Compare compare,
    /// Which theorems already decide where given tokens end.
    "is-certain" IsCertain is_certain,
    /// What the theory predicts.
    "predict" Predict predict,
    /// Run an experiment (a TOML file or a built-in name) or a study; the same command again resumes.
    "run" Run run,
    /// Test theorems: verdicts, margins, controls; with ranges, a sweep over a grid.
    "check" Check check,
    /// Search a claim's range for a counterexample.
    "hunt" Hunt hunt,
    /// Evaluate a counterexample again, with both integrators.
    "replay" Replay replay,
    /// Draw figures (SVG, PNG, CSV, caption).
    "figure" Figure figure,
    /// Plot any column over another one of a run, an experiment or a study, with bands over
    /// realisations.
    "plot" Plot plot,
    /// List theorems, dynamics, maps, laws, observables, figures, experiments, papers, printed figures and the like.
    "list" List list,
    /// Explain a name: statement, hypotheses, citation, status.
    "explain" Explain explain,
    /// Conformance suite of a dynamics, or of all, and facts about this machine.
    "doctor" Doctor doctor,
    /// The solver in a browser: one HTML file with sliders, plateaus and predictions.
    "page" Page page,
    /// Two runs side by side: settings, tables, largest deviation.
    "diff" Diff diff,
    /// Where a result file comes from and how to make it again.
    "whence" Whence whence,
    /// Shell completions.
    "completions" Completions completions,
    /// Manual pages: one file for the program and one for each command.
    "man" Man man,
    /// Time the machine on kernel sums.
    "bench" Bench bench,
}

/// Parses the arguments, runs the command and returns the exit code.
pub fn main() -> i32 {
    command_line::define(command);
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(e) => {
            let words = command_line::words();
            let unknown = || input::unknown_command(&e, words.iter().map(String::as_str), &command());
            if let Some(ours) = input::wrong_number(&e).or_else(unknown) {
                output::complain(&ours.to_string());
                return 1;
            }
            let _ = e.print();
            // Help and version are not errors; wrong flags are exit code 1 here, clap's own would be 2.
            return i32::from(e.use_stderr());
        }
    };
    let _ = ctrlc::set_handler(|| {
        if cancel::CANCEL.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        cancel::interrupted();
    });
    let out = Output::new(arguments.format);
    if arguments.quiet {
        output::quieten();
    }
    match dispatch(arguments, &out) {
        Ok(code) => code,
        Err(e) => {
            let e = input::as_flag(e);
            out.error(&e);
            e.exit_code()
        }
    }
}

fn dispatch(arguments: Arguments, out: &Output) -> Result<i32> {
    if let Some(threads) = arguments.threads {
        if threads == 0 || threads > 256 {
            return Err(Error::parameter("--threads", threads, "a number in [1, 256]"));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|e| Error::Numerical { what: format!("the threads could not be started: {e}") })?;
    }
    if !arguments.quiet {
        progress::begin(arguments.command.as_ref().map_or("check", Command::name));
    }
    // Commands run on a thread of the pool: a parallel loop then starts without waking another one.
    rayon::scope(|_| run(arguments, out))
}

fn run(arguments: Arguments, out: &Output) -> Result<i32> {
    arguments.command.map_or_else(|| check::quick(out), |command| command.run(out))
}

/// The command with its flags, for completions and for errors that name flags.
pub fn command() -> clap::Command {
    <Arguments as clap::CommandFactory>::command()
}
