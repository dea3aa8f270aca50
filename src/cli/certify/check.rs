//! `certify check`: check a certificate.

use crate::cli::{progress, session};
use crate::error::{Error, Result};
use crate::operation::{Answer, Operation, Parameters, any, column};
use crate::parameters;
use crate::proofs::critical_point::Certificate;
use serde_json::json;
use std::path::PathBuf;

parameters! {
    /// Parameters of `certify check`.
    struct Check {
        /// A certificate that `certify`, `saddles --out`, `landscape --out` or `modes
        /// --out` wrote.
        file: PathBuf, any().positional();
        /// Check by the independent verifier: this is the default.
        exact: bool, any().hidden();
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    family: "certify",
    name: "check",
    group: "Theorems",
    summary: "Check a certificate: exit code 0 if it is accepted",
    notes: "Examples:
  metastable certify check saddle.json
  metastable certify check proof.txt
  metastable certify check landscape.txt",
    parameters: Check::table,
    results: &[
        column("accepted", "true: a certificate that is not accepted is an error"),
        column("statement", "what the certificate proves"),
        column("not_excluded", "what the proof of a critical point does not exclude"),
        column(
            "unstable_directions",
            "of a critical point: directions in which the energy increases",
        ),
        column("morse_index", "of a critical point: directions in which it decreases"),
        column("radius", "of a critical point: radius of the box"),
        column("beta", "of a critical point: inverse temperature"),
    ],
    run: |given, _| Check::of(given)?.run(),
    ..Operation::EMPTY
};

impl Check {
    /// Runs it.
    fn run(self) -> Result<Answer> {
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
        Ok(Answer::new(json, format!("accepted: {statement}{more}")))
    }
}
