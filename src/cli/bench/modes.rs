//! `bench modes`: expected numbers of modes by the Kac-Rice formula.

use super::timing::time;
use crate::cli::output::Output;
use crate::error::Result;
use crate::theory::kac_rice;
use serde_json::json;

/// Flags of `bench modes`.
#[derive(clap::Args)]
pub struct Arguments {
    #[arg(long, default_value_t = 10000)]
    n: usize,
    #[arg(long, default_value_t = 100.0)]
    beta: f64,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let n = self.n as f64;
        let width = kac_rice::default_interval(n, self.beta)?;
        let modes = kac_rice::expected_modes(n, self.beta, width)?;
        let line = time(|| drop(kac_rice::expected_modes(n, self.beta, width))).median;
        let circle = time(|| drop(kac_rice::expected_modes_circle(self.beta))).median;
        let json = json!({"line_seconds": line, "circle_seconds": circle, "expected_modes": modes, "n": self.n, "beta": self.beta});
        let text = format!("{line:.3e} s per expected number of modes on the line ({modes:.3}), {circle:.3e} s on the circle");
        out.result(&json, &text);
        Ok(0)
    }
}
