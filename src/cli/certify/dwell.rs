//! `certify dwell`: bounds of the time that two clusters need to merge.

use crate::attention::dynamics;
use crate::cli::output::Output;
use crate::error::{Error, Result};
use crate::proofs::merge_time::enclosed_merge_time;
use serde_json::json;

/// Flags of `certify dwell`.
#[derive(clap::Args)]
#[command(after_help = "Example:
  metastable certify dwell --from 2 --to 0.5 --beta 50")]
pub struct Arguments {
    /// Angle between the clusters at the start, in radians.
    #[arg(long, allow_hyphen_values = true)]
    from: f64,
    /// Angle at the end, in radians.
    #[arg(long, allow_hyphen_values = true)]
    to: f64,
    /// Share of the mass in the first cluster.
    #[arg(long, value_name = "A", default_value_t = 0.5, allow_hyphen_values = true)]
    share: f64,
    /// Dynamics: sa or usa.
    #[arg(long, default_value = "sa")]
    dynamics: String,
    /// Inverse temperature.
    #[arg(long, allow_hyphen_values = true)]
    beta: f64,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let Self { from, to, share, beta, .. } = self;
        let entry = dynamics::find(&self.dynamics, false)?;
        let weights = entry.variant.and_then(|v| v.mutual_weights());
        let weights =
            weights.ok_or_else(|| Error::parameter("--dynamics", entry.name, "sa or usa"))?;
        let t = enclosed_merge_time(weights, beta, share, from, to)?;
        let width = t.width() / t.lo();
        let json = json!({
            "certified": true, "lower": t.lo(), "upper": t.hi(), "relative_width": width, "beta": beta, "dynamics": entry.name, "from": from, "to": to,
            "share": share, "log_time_over_beta": (beta > 0.0).then(|| t.mid().ln() / beta), "exponent": 1.0 - from.cos(),
        });
        let text = format!(
            "{} <= time <= {} (relative width {width:.1e})\nln(time) / beta {:.6} beside 1 - cos(from) = {:.6}",
            t.lo(),
            t.hi(),
            t.mid().ln() / beta,
            1.0 - from.cos()
        );
        out.result(&json, &text);
        Ok(0)
    }
}
