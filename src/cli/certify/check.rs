//! `certify check`: check a certificate.

use crate::cli::output::Output;
use crate::cli::{progress, session};
use crate::error::{Error, Result};
use crate::proofs::critical_point::Certificate;
use serde_json::json;
use std::path::PathBuf;

/// Flags of `certify check`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable certify check saddle.json
  metastable certify check proof.txt
  metastable certify check landscape.txt")]
pub struct Arguments {
    /// A certificate that `certify`, `saddles --certificates`, `landscape --out` or `modes --out`
    /// wrote.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Check by the independent verifier: this is the default.
    #[arg(long = "exact", hide = true)]
    _exact: bool,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let refused = |problem| Error::File {
            path: self.file.display().to_string(),
            place: String::new(),
            problem,
        };
        let text = std::fs::read_to_string(&self.file)
            .map_err(|e| Error::io(self.file.display(), "read", &e))?;
        let session = session::current();
        let watch = |share: f64| {
            progress::report(Some(share), || format!("{:.1} % confirmed", 100.0 * share));
            !session.cancelled()
        };
        let _ending = crate::cli::cancel::ends_itself();
        let checked = metastable_verifier::check_watched(&text, &watch);
        let statement = match checked {
            Ok(statement) => statement,
            Err(why) if why == metastable_verifier::INTERRUPTED => {
                return Err(Error::Interrupted { resume: "nothing is decided".into() });
            }
            Err(problem) => return Err(refused(format!("refused: {problem}"))),
        };
        let mut json = json!({ "accepted": true, "statement": statement });
        let mut more = String::new();
        if let Ok(proof) = Certificate::from_text(&text) {
            json["not_excluded"] = json!(proof.not_excluded());
            json["unstable_directions"] = json!(proof.unstable);
            json["morse_index"] = json!(proof.morse_index);
            json["radius"] = json!(proof.radius);
            json["beta"] = json!(proof.formula.is_none().then_some(proof.beta));
            more = format!("\nnot excluded: {}", proof.not_excluded());
        }
        out.result(&json, &format!("accepted: {statement}{more}"));
        Ok(0)
    }
}
