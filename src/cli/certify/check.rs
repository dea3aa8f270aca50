//! `certify check`: check a certificate.

use super::shared::KIND;
use crate::cli::output::Output;
use crate::error::{Error, Result};
use crate::proofs::critical_point::{self, Certificate};
use crate::proofs::{landscape, spheres};
use serde_json::json;
use std::path::PathBuf;

/// Flags of `certify check`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable certify check saddle.json
  metastable certify check proof.txt --exact
  metastable certify check landscape.txt")]
pub struct Arguments {
    /// A certificate that `certify critical-point`, `certify start`, `saddles --certificates` or
    /// `landscape --out` wrote.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Check in exact arithmetic, by the independent verifier, which shares no code with the
    /// prover. Certificates of starts and of landscapes are always checked by it.
    #[arg(long)]
    exact: bool,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let refused = |problem| Error::File {
            path: self.file.display().to_string(),
            place: String::new(),
            problem,
        };
        let in_file = |e: Error| match e {
            Error::Parameter { found, expected, .. } => {
                refused(format!("found {found}, expected {expected}"))
            }
            other => other,
        };
        let text = std::fs::read_to_string(&self.file)
            .map_err(|e| Error::io(self.file.display(), "read", &e))?;
        let by_verifier =
            [KIND, landscape::KIND, spheres::KIND].iter().any(|kind| text.starts_with(kind));
        if self.exact || by_verifier {
            let statement = metastable_verifier::check(&text)
                .map_err(|problem| refused(format!("refused: {problem}")))?;
            out.result(
                &json!({ "accepted": true, "statement": statement }),
                &format!("accepted: {statement}"),
            );
            return Ok(0);
        }
        let proof = Certificate::from_text(&text).map_err(in_file)?;
        critical_point::check(&proof).map_err(in_file)?;
        let json = json!({
            "accepted": true, "statement": proof.statement(), "not_excluded": proof.not_excluded(), "unstable_directions": proof.unstable,
            "morse_index": proof.morse_index, "radius": proof.radius, "beta": proof.formula.is_none().then_some(proof.beta),
        });
        let what = match &proof.formula {
            None => format!("beta = {}", proof.beta),
            Some(phi) => format!("phi(s) = {}", phi.text()),
        };
        let text = format!(
            "accepted: {what}, {} clusters, {} unstable directions, Morse index {}\n{}\nnot excluded: {}",
            proof.sizes.len(),
            proof.unstable,
            proof.morse_index,
            proof.statement(),
            proof.not_excluded()
        );
        out.result(&json, &text);
        Ok(0)
    }
}
