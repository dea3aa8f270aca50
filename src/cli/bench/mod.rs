//! `bench`: what this machine reaches, beside its own peaks.

mod block;
mod heads;
mod hessian;
mod measure;
mod modes;
mod peak;
mod rhs;
mod rows;
mod sinkhorn;
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
    /// A pass of tokens through Transformer blocks with random weights.
    Block(block::Arguments),
    /// Tokens of R^d, a step with noise, layers with random values.
    Rows(rows::Arguments),
    /// One velocity under Sinkhorn weights, in units of one of SA.
    Sinkhorn(sinkhorn::Arguments),
    /// The phase-diagram workload.
    Sweep(sweep::Arguments),
    /// Hessian-vector product, dense Hessian, spectrum.
    Hessian(hessian::Arguments),
    /// Right-hand sides of the continuity equation.
    Measure(measure::Arguments),
    /// Certified counts of modes.
    Modes(modes::Arguments),
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
            What::Block(arguments) => arguments.run(out),
            What::Rows(arguments) => arguments.run(out),
            What::Sinkhorn(arguments) => arguments.run(out),
            What::Sweep(arguments) => arguments.run(out),
            What::Hessian(arguments) => arguments.run(out),
            What::Measure(arguments) => arguments.run(out),
            What::Modes(arguments) => arguments.run(out),
            What::Peak => {
                let peaks = peak::Peaks::measure(crate::num::simd::Level::best());
                out.result(&peaks.json(), &peaks.text());
                Ok(0)
            }
        }
    }
}
