//! `certify dwell`: bounds of the time that two clusters need to merge.

use crate::attention::dynamics;
use crate::cli::out_file;
use crate::cli::output::Output;
use crate::cli::proof::Standing;
use crate::error::{Error, Result};
use crate::proofs::merge_time::enclosed_merge_time;
use serde_json::json;
use std::path::PathBuf;

/// Flags of `certify dwell`.
#[derive(clap::Args)]
#[command(after_help = "Example:
  metastable certify dwell --from 2 --to 0.5 --beta 50
  metastable certify dwell --from 2 --to 1e-8 --beta 5 --out time.txt")]
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
    /// Do not run the verifier; the bounds are then called found, not proved.
    #[arg(long)]
    unchecked: bool,
    /// File for the certificate.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    out: Option<PathBuf>,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let Self { from, to, share, beta, .. } = self;
        self.out.iter().try_for_each(|path| out_file::check_own(path))?;
        let entry = dynamics::find(&self.dynamics, false)?;
        let weights = entry.variant.and_then(|v| v.mutual_weights());
        let weights =
            weights.ok_or_else(|| Error::parameter("--dynamics", entry.name, "sa or usa"))?;
        let found = enclosed_merge_time(weights, beta, share, from, to)?;
        let standing = Standing::of(&found.certificate, self.unchecked);
        if standing.holds() {
            super::shared::write(&found.certificate, self.out.as_deref())?;
        }
        let t = found.time;
        let width = (t.lo() > 0.0).then(|| t.width() / t.lo());
        let rate = (beta > 0.0 && t.lo() > 0.0).then(|| t.mid().ln() / beta);
        let json = json!({
            "certified": standing.is_proved(), "proof": standing.json(), "lower": t.lo(), "upper": t.hi(), "relative_width": width, "beta": beta, "dynamics": entry.name, "from": from, "to": to,
            "share": share, "log_time_over_beta": rate, "exponent": 1.0 - from.cos(),
        });
        let width = width.map_or(String::new(), |w| format!(" (relative width {w:.1e})"));
        let mut text = format!(
            "{}: {:?} <= time <= {:?}{width}\n{}",
            standing.word(),
            t.lo(),
            t.hi(),
            standing.line()
        );
        if let Some(rate) = rate {
            text.push_str(&format!(
                "ln(time) / beta {rate:.6} beside 1 - cos(from) = {:.6}\n",
                1.0 - from.cos()
            ));
        }
        out.result(&json, text.trim_end());
        Ok(if standing.holds() { 0 } else { super::shared::UNPROVED })
    }
}
