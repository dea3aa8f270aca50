//! `bench`: what this machine reaches, beside its own peaks.

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
#[command(after_help = "Example:\n  metastable bench rhs --n 4096 --d 128 --accuracy 1e-9 --format json")]
pub struct Arguments {
    /// Least seconds of each measurement; every one is repeated at least five times.
    #[arg(long, global = true, default_value_t = 0.5, value_name = "SECONDS", allow_hyphen_values = true)]
    seconds: f64,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// One right-hand side for n uniform tokens.
    Rhs(rhs::Arguments),
    /// Projections, attention and output of several heads.
    Heads(heads::Arguments),
    /// The phase-diagram workload.
    Sweep(sweep::Arguments),
    /// This machine's peaks: fused multiply-adds, exponentials, memory copies.
    Peak,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        timing::at_least(self.seconds)?;
        match self.what {
            What::Rhs(arguments) => arguments.run(out),
            What::Heads(arguments) => arguments.run(out),
            What::Sweep(arguments) => arguments.run(out),
            What::Peak => {
                let peaks = peak::Peaks::measure(crate::num::simd::Level::best());
                out.result(&peaks.json(), &peaks.text());
                Ok(0)
            }
        }
    }
}
