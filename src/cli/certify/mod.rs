//! `certify`: proofs by interval arithmetic, and the check of certificates.

mod check;
mod criteria;
mod critical_point;
mod dwell;
mod shared;
mod start;
mod trials;

pub use shared::write;

use super::output::Output;
use crate::error::Result;

/// Flags of `certify`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable certify critical-point --tokens clusters.csv --beta 6 --out saddle.json
  metastable certify start --init uniform --n 16 --d 3 --seed 7 --beta 4 --radius 1e-6 \\
      --out proof.txt
  metastable certify dwell --from 2 --to 0.5 --beta 50
  metastable certify check saddle.json
Exit code 3 if a proof was not found.")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Prove that one critical point lies near given clusters.
    CriticalPoint(critical_point::Arguments),
    /// Prove that a start, and every start near it, converges to one point.
    Start(start::Arguments),
    /// Bound the time that two clusters need to merge, from both sides.
    Dwell(dwell::Arguments),
    /// Check a certificate: exit code 0 if it is accepted.
    Check(check::Arguments),
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        match self.what {
            What::CriticalPoint(arguments) => arguments.run(out),
            What::Start(arguments) => arguments.run(out),
            What::Dwell(arguments) => arguments.run(out),
            What::Check(arguments) => arguments.run(out),
        }
    }
}
