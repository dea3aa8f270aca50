//! `bench modes`: certified counts of modes, and expected numbers by the Kac-Rice formula.

use super::timing::time;
use crate::cli::output::Output;
use crate::proofs::modes;
use crate::error::{Error, Result};
use crate::num::stream::Stream;
use crate::theory::kac_rice;
use serde_json::json;

/// Flags of `bench modes`.
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub struct Arguments {
    /// Normal samples.
    #[arg(long, default_value_t = 100_000)]
    n: usize,
    /// Inverse temperature.
    #[arg(long, default_value_t = 1e4, allow_hyphen_values = true)]
    beta: f64,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        if !(2..=100_000_000).contains(&self.n) {
            return Err(Error::parameter("--n", self.n, "from 2 to 1e8 samples"));
        }
        let mut samples = vec![0.0; self.n];
        Stream::new(1, &["bench", "modes"]).normals(&mut samples);
        let found = modes::line(&samples, self.beta)?;
        let on_circle = modes::circle(&samples, self.beta)?;
        let line = time(|| drop(modes::line(&samples, self.beta))).median;
        let circle = time(|| drop(modes::circle(&samples, self.beta))).median;
        let n = self.n as f64;
        let expected = kac_rice::default_interval(n, self.beta).and_then(|t| kac_rice::expected_modes(n, self.beta, t)).ok();
        let json = json!({"line_seconds": line, "circle_seconds": circle, "modes": found.proved().ok(), "certified": found.certified(), "circle_modes": on_circle.proved().ok(),
            "circle_certified": on_circle.certified(), "expected_modes": expected, "n": self.n, "beta": self.beta, "threads": rayon::current_num_threads()});
        let count = |m: &modes::Modes| match m.proved() {
            Ok(count) => format!("{count} modes (certified)"),
            Err(_) => format!("at least {} modes (not certified)", m.at_least()),
        };
        let text = format!(
            "{line:.3e} s for {} on the line, {circle:.3e} s for {} on the circle, n = {}, beta = {}",
            count(&found),
            count(&on_circle),
            self.n,
            self.beta
        );
        out.result(&json, &text);
        Ok(0)
    }
}
