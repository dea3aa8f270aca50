//! `bench`: speed of this machine, compared with its own peaks.

mod heads;
mod peak;
mod rhs;
mod sweep;
mod timing;

use super::output::Output;
use crate::error::Result;
use clap::Subcommand;

/// Flags of `bench`.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  metastable bench rhs --n 4096 --d 128 --accuracy 1e-9 --format json"
)]
pub struct Arguments {
    /// Minimum duration of each measurement in seconds; each is repeated at least five times.
    #[arg(
        long,
        global = true,
        default_value_t = 0.5,
        value_name = "SECONDS",
        allow_hyphen_values = true
    )]
    seconds: f64,
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// One right-hand side for n uniform tokens.
    Rhs(rhs::Arguments),
    /// Projections, attention and output of several heads.
    Heads(heads::Arguments),
    /// The workload of the phase diagram.
    Sweep(sweep::Arguments),
    /// This machine's peaks: fused multiply-adds, exponentials, memory copies.
    Peak,
}

impl Arguments {
    /// Runs the benchmark.
    pub fn run(self, out: &Output) -> Result<i32> {
        timing::set_min_seconds(self.seconds)?;
        match self.benchmark {
            Benchmark::Rhs(arguments) => arguments.run(out),
            Benchmark::Heads(arguments) => arguments.run(out),
            Benchmark::Sweep(arguments) => arguments.run(out),
            Benchmark::Peak => {
                let peaks = peak::Peaks::measure(crate::num::simd::Isa::best());
                out.result(&peaks.json(), &peaks.text());
                Ok(0)
            }
        }
    }
}
