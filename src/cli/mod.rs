//! The command line, one subcommand per file. Results go to stdout, everything else to stderr.

pub mod answer;
mod bench;
mod cancel;
mod certify;
mod check;
mod checkpoint;
mod clusters;
mod colour;
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
mod papers;
mod parameter;
mod parts;
mod plot;
mod predict;
mod predict_rows;
mod predict_words;
mod printed;
pub mod progress;
mod recording;
mod region;
mod replay;
mod result_folder;
mod run;
mod saddles;
mod sections;
mod seeds;
mod solve;
mod study;
mod sweep;
mod trained;
mod velocity;
mod verdicts;
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

#[derive(Subcommand)]
enum Command {
    /// Velocity of every token.
    Velocity(velocity::Arguments),
    /// Energy, log energy, gradient norm, Hessian spectrum.
    Energy(energy::Arguments),
    /// Integrate the flow.
    Solve(solve::Arguments),
    /// Modes of a kernel density estimate, with a proof of their number.
    Modes(modes::Arguments),
    /// Critical points of the energy: search, spectra, connections, certificates.
    Saddles(saddles::Arguments),
    /// Evolve a density by the continuity equation: coefficients, negentropy and its rate.
    Measure(measure::Arguments),
    /// Hidden states and attention of a trained model; how far the theory holds in it.
    Model(trained::Arguments),
    /// Estimate the negentropy of tokens, layer by layer for hidden states.
    Entropy(entropy::Arguments),
    /// Clusters of tokens; merge tree and plateaus of a run.
    Clusters(clusters::Arguments),
    /// A film of a run on the circle or the sphere: GIF, animated PNG, numbered frames, MP4.
    Movie(movie::Arguments),
    /// Prove that a start converges to one point, that a critical point lies near given ones, or how long two clusters live; check certificates.
    Certify(certify::Arguments),
    /// Maps beside attention: residual, recurrent, convolutional; cosines, ranks, exponents, who hears whom.
    Compare(compare::Arguments),
    /// Which theorems already decide where given tokens end.
    IsCertain(is_certain::Arguments),
    /// What the theory predicts.
    Predict(predict::Arguments),
    /// Run an experiment (a TOML file or a built-in name) or a study; the same command again resumes.
    Run(run::Arguments),
    /// Test theorems: verdicts, margins, controls; with ranges, a sweep over a grid.
    Check(check::Arguments),
    /// Search a claim's range for a counterexample.
    Hunt(hunt::Arguments),
    /// Evaluate a counterexample again, with both integrators.
    Replay(replay::Arguments),
    /// Draw figures (SVG, PNG, CSV, caption).
    Figure(figure::Arguments),
    /// Plot any column over another one of a run, an experiment or a study, with bands over
    /// realisations.
    Plot(plot::Arguments),
    /// List theorems, dynamics, maps, laws, observables, figures, experiments, papers, printed figures and the like.
    List(list::Arguments),
    /// Explain a name: statement, hypotheses, citation, status.
    Explain(explain::Arguments),
    /// Conformance suite of a dynamics, or of all, and facts about this machine.
    Doctor(doctor::Arguments),
    /// The solver in a browser: one HTML file with sliders, plateaus and predictions.
    Page(page::Arguments),
    /// Two runs side by side: settings, tables, largest deviation.
    Diff(diff::Arguments),
    /// Where a result file comes from and how to make it again.
    Whence(whence::Arguments),
    /// Shell completions.
    Completions(completions::Arguments),
    /// Manual pages: one file for the program and one for each command.
    Man(man::Arguments),
    /// Time the machine on kernel sums.
    Bench(bench::Arguments),
}

impl Command {
    /// The name under which long work is reported.
    fn long_work(&self) -> &'static str {
        match self {
            Self::Solve(_) => "solve",
            Self::Measure(_) => "measure",
            Self::Modes(_) => "modes",
            Self::Saddles(_) => "saddles",
            Self::Model(_) => "model",
            Self::Entropy(_) => "entropy",
            Self::Movie(_) => "movie",
            Self::Certify(_) => "certify",
            Self::Compare(_) => "compare",
            Self::Run(_) => "run",
            Self::Check(_) => "check",
            Self::Hunt(_) => "hunt",
            Self::Figure(_) => "figure",
            Self::Plot(_) => "plot",
            Self::Doctor(_) => "doctor",
            Self::Bench(_) => "bench",
            _ => "at work",
        }
    }
}

/// Parses the arguments, runs the command and returns the exit code.
pub fn main() -> i32 {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(e) => {
            let words: Vec<String> = std::env::args().skip(1).collect();
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
            let e = input::as_flag(e, &command());
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
        progress::begin(arguments.command.as_ref().map_or("check", Command::long_work));
    }
    // Commands run on a thread of the pool: a parallel loop then starts without waking another one.
    rayon::scope(|_| run(arguments, out))
}

fn run(arguments: Arguments, out: &Output) -> Result<i32> {
    match arguments.command {
        None => check::quick(out),
        Some(Command::Velocity(a)) => a.run(out),
        Some(Command::Energy(a)) => a.run(out, &command()),
        Some(Command::Solve(a)) => a.run(out),
        Some(Command::Modes(a)) => a.run(out),
        Some(Command::Saddles(a)) => a.run(out),
        Some(Command::Measure(a)) => a.run(out),
        Some(Command::Clusters(a)) => a.run(out),
        Some(Command::Model(a)) => a.run(out),
        Some(Command::Entropy(a)) => a.run(out),
        Some(Command::Movie(a)) => a.run(out),
        Some(Command::Certify(a)) => a.run(out),
        Some(Command::Compare(a)) => a.run(out),
        Some(Command::IsCertain(a)) => a.run(out),
        Some(Command::Predict(a)) => a.run(out),
        Some(Command::Run(a)) => a.run(out),
        Some(Command::Check(a)) => a.run(out),
        Some(Command::Hunt(a)) => a.run(out),
        Some(Command::Replay(a)) => a.run(out),
        Some(Command::Figure(a)) => a.run(out),
        Some(Command::Plot(a)) => a.run(out),
        Some(Command::List(a)) => a.run(out),
        Some(Command::Explain(a)) => a.run(out),
        Some(Command::Doctor(a)) => a.run(out),
        Some(Command::Page(a)) => a.run(out),
        Some(Command::Diff(a)) => a.run(out),
        Some(Command::Whence(a)) => a.run(out),
        Some(Command::Completions(a)) => a.run(out, command()),
        Some(Command::Man(a)) => a.run(out, command()),
        Some(Command::Bench(a)) => a.run(out),
    }
}

/// The command with its flags, for completions and for errors that name flags.
pub fn command() -> clap::Command {
    <Arguments as clap::CommandFactory>::command()
}
