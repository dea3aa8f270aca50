//! `selftest`: the conformance suite of every dynamics, with values and bounds.

use super::output::Output;
use crate::attention::{Spec, dynamics};
use crate::error::Result;
use crate::theorem::conformance::suite;
use serde_json::json;

/// Flags of `selftest`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  metastable selftest usa")]
pub struct Arguments {
    /// A dynamics (default: all).
    name: Option<String>,
    /// Random seed of the tokens.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Arguments {
    /// Runs it; exit code 2 if a check fails.
    pub fn run(self, out: &Output) -> Result<i32> {
        let entries: Vec<_> = match &self.name {
            Some(name) => vec![dynamics::find(name, false)?],
            None => dynamics::ALL.to_vec(),
        };
        let mut text = format!(
            "metastable {}, {}-{}, {} threads, {}\n",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::ARCH,
            std::env::consts::OS,
            rayon::current_num_threads(),
            crate::lab::provenance::build().1
        );
        let (mut lines, mut failed) = (Vec::new(), 0);
        for entry in entries {
            text.push_str(&format!("{}\n", entry.name));
            for check in suite(&|spec: &Spec| (entry.build)(spec), self.seed)? {
                let word = if check.passed() { "holds" } else { "FAILS" };
                failed += i32::from(!check.passed());
                text.push_str(&format!(
                    "  {:55} {:9.1e} (bound {:.0e})  {word}\n",
                    check.what, check.value, check.bound
                ));
                lines.push(json!({"dynamics": entry.name, "check": check.what, "value": check.value, "bound": check.bound, "passed": check.passed()}));
            }
        }
        out.result(
            &json!({"checks": lines, "failed": failed, "threads": rayon::current_num_threads()}),
            &text,
        );
        Ok(if failed > 0 { 2 } else { 0 })
    }
}
