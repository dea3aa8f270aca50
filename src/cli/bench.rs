//! `bench`: seconds of one right-hand side on this machine.

use super::output::Output;
use crate::attention::{Spec, dynamics};
use crate::error::{Error, Result};
use crate::num::{stats::median, stream::Stream};
use crate::sphere::law::Law;
use clap::Subcommand;
use serde_json::json;
use std::time::Instant;

/// Flags of `bench`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// One right-hand side for n uniform tokens (see also --threads).
    Rhs {
        #[arg(long, default_value_t = 1024)]
        n: usize,
        #[arg(long, default_value_t = 3)]
        d: usize,
        #[arg(long, default_value_t = 4.0, allow_hyphen_values = true)]
        beta: f64,
        #[arg(long, default_value = "sa")]
        dynamics: String,
    },
}

impl Arguments {
    /// Runs it: at least 5 evaluations and half a second, after one to warm up.
    pub fn run(self, out: &Output) -> Result<i32> {
        let What::Rhs { n, d, beta, dynamics: name } = self.what;
        if n > 10_000_000 {
            return Err(Error::parameter("--n", n, "at most 10000000 tokens"));
        }
        let x = Law::parse("uniform")?.sample(n, d, &mut Stream::new(1, &["bench"]))?;
        let dynamics = dynamics::build(&name, false, &Spec::new(beta, n))?;
        let mut v = vec![0.0; x.coordinates().len()];
        dynamics.velocity(&x, &mut v);
        let (mut seconds, started) = (Vec::new(), Instant::now());
        while seconds.len() < 5 || (started.elapsed().as_secs_f64() < 0.5 && seconds.len() < 100_000) {
            let once = Instant::now();
            dynamics.velocity(&x, &mut v);
            seconds.push(once.elapsed().as_secs_f64());
        }
        let middle = median(&seconds);
        let pairs = (n as f64).powi(2) / middle;
        let json = json!({"median_seconds": middle, "pairs_per_second": pairs, "repetitions": seconds.len(), "n": n, "d": d, "beta": beta,
            "dynamics": name, "threads": rayon::current_num_threads(), "kernel": "direct"});
        let text = format!(
            "{middle:.4e} s per right-hand side, {:.3} ns per pair, {} threads, {} repetitions",
            1e9 / pairs,
            rayon::current_num_threads(),
            seconds.len()
        );
        out.result(&json, &text);
        Ok(0)
    }
}
