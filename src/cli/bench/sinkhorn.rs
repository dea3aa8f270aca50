//! `bench sinkhorn`: one velocity under Sinkhorn weights, in units of one of SA.

use super::timing::time;
use crate::attention::kernel::{Attention, Workspace, in_a_row};
use crate::attention::{Dynamics, sinkhorn::Sinkhorn};
use crate::cli::output::Output;
use crate::error::{Result, in_range};
use crate::num::stream::Stream;
use crate::sphere::law::Law;
use serde_json::json;

/// Flags of `bench sinkhorn`.
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub struct Arguments {
    /// Number of tokens.
    #[arg(long, default_value_t = 512)]
    n: usize,
    /// Dimension.
    #[arg(long, default_value_t = 3)]
    d: usize,
    /// Inverse temperature.
    #[arg(long, default_value_t = 4.0)]
    beta: f64,
    /// Largest deviation of a row sum from 1.
    #[arg(long, default_value_t = 1e-12)]
    tolerance: f64,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let Self { n, d, beta, tolerance } = self;
        in_range("--n", n as f64, 2.0, 8192.0)?;
        let x = Law::parse("uniform")?.sample(n, d, &mut Stream::new(1, &["bench"]))?;
        let weights = Sinkhorn::new(beta, tolerance)?;
        let (_, residual, rounds) = weights.scaling(&x);
        let mut v = vec![0.0; x.coordinates().len()];
        let mut seconds = |dynamics: Dynamics| {
            let mut work = Workspace::default();
            in_a_row(&x, || time(|| dynamics.rates(0.0, &x, &mut work, &mut v)))
        };
        // SA before and after: the machine may change its pace.
        let before = seconds(Dynamics::of(Attention::new(beta)));
        let timing = seconds(Dynamics::of(weights));
        let after = seconds(Dynamics::of(Attention::new(beta)));
        let sa = 0.5 * (before.median + after.median);
        let json = json!({"median_seconds": timing.median, "best_seconds": timing.best, "repetitions": timing.repetitions, "sa_seconds": sa,
            "sa_best_seconds": before.best.min(after.best), "times_sa": timing.median / sa, "rounds": rounds, "residual": residual,
            "n": n, "d": d, "beta": beta, "tolerance": tolerance, "threads": rayon::current_num_threads()});
        let text = format!(
            "{:.3e} s per velocity, {:.2} times one of SA ({sa:.3e} s), {} threads\n{rounds} rounds, row sums within {residual:.1e} of 1",
            timing.median,
            timing.median / sa,
            rayon::current_num_threads()
        );
        out.result(&json, &text);
        Ok(0)
    }
}
