//! `certify dwell`: bounds of the time that two clusters need to merge.

use crate::attention::dynamics;
use crate::cli::out_file;
use crate::cli::proof::Standing;
use crate::error::{Error, Result};
use crate::operation::{Answer, Exit, Operation, Parameters, any, below, column, within};
use crate::parameters;
use crate::proofs::merge_time::enclosed_merge_time;
use serde_json::json;
use std::f64::consts::PI;
use std::path::PathBuf;

parameters! {
    /// Parameters of `certify dwell`.
    struct Dwell {
        /// Angle between the clusters at the start, in radians.
        from: f64, within(0.0, PI);
        /// Angle at the end, in radians.
        to: f64, within(0.0, PI);
        /// Share of the mass in the first cluster.
        share: f64, below(0.0, 1.0).or("0.5").also(&["mass"]).form("A");
        /// Dynamics: sa or usa.
        dynamics: String, any().or("sa");
        /// Inverse temperature.
        beta: f64;
        /// Do not run the verifier; the bounds are then called found, not proved.
        unchecked: bool;
        /// File for the certificate.
        out: Option<PathBuf>, any().form("FILE");
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    family: "certify",
    name: "dwell",
    group: "Theorems",
    summary: "Bound the time that two clusters need to merge, from both sides",
    notes: "Examples:
  metastable certify dwell --from 2 --to 0.5 --beta 50
  metastable certify dwell --from 2 --to 1e-8 --beta 5 --out time.txt",
    parameters: Dwell::table,
    results: &[
        column("certified", "whether the bounds are proved"),
        column("proof", "what stands behind the word proved"),
        column("lower", "lower bound of the time"),
        column("upper", "upper bound of the time"),
        column("relative_width", "width of the bounds relative to the time"),
        column("beta", "inverse temperature"),
        column("dynamics", "name of the dynamics"),
        column("from", "angle at the start"),
        column("to", "angle at the end"),
        column("share", "share of the mass in the first cluster"),
        column("log_time_over_beta", "logarithm of the time over beta"),
        column("exponent", "its limit for large beta, 1 - cos(from)"),
    ],
    exits: &[
        (Exit::Shown, "proved, or found with --unchecked"),
        (Exit::Undecided, "not proved"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Dwell::of(given)?.run(),
    ..Operation::EMPTY
};

impl Dwell {
    /// Runs it.
    fn run(self) -> Result<Answer> {
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
        Ok(Answer::new(json, text.trim_end()).ended(super::shared::end(&standing)))
    }
}
