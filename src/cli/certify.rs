//! `certify`: prove a critical point near given clusters, or check a certificate.

use super::output::{Output, note};
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::landscape::{CriticalPoint, certificate, certificate::Certificate};
use serde_json::json;
use std::path::PathBuf;

/// Flags of `certify`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable certify --tokens clusters.csv --beta 6 --out saddle.json
  metastable certify --check saddle.json")]
pub struct Arguments {
    /// Check this certificate: exit code 0 if it is accepted.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tokens", "beta", "sizes", "out"])]
    check: Option<PathBuf>,
    /// Clusters near a critical point, one row each (CSV, NPY, NPZ).
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Divide every row by its length.
    #[arg(long)]
    normalise: bool,
    /// Tokens per cluster, comma separated (default: one each).
    #[arg(long, value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Inverse temperature.
    #[arg(long, allow_hyphen_values = true)]
    beta: Option<f64>,
    /// Where the certificate goes.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        match &self.check {
            Some(path) => check(path, out),
            None => self.prove(out),
        }
    }

    fn prove(&self, out: &Output) -> Result<i32> {
        let need = |name: &str| Error::parameter(name, "nothing", "--tokens FILE with --beta B, or --check FILE");
        let path = self.tokens.as_ref().ok_or_else(|| need("--tokens"))?;
        let beta = self.beta.ok_or_else(|| need("--beta"))?;
        crate::error::in_range("--beta", beta, -1e4, 1e4)?;
        let x = arrays::tokens(path, None, self.normalise)?;
        let sizes = if self.sizes.is_empty() { vec![1; x.n()] } else { self.sizes.clone() };
        if sizes.len() != x.n() || sizes.contains(&0) {
            return Err(Error::parameter("--sizes", format!("{sizes:?}"), format!("{} positive numbers, one per cluster", x.n())));
        }
        let masses: Vec<f64> = sizes.iter().map(|s| *s as f64).collect();
        let point = CriticalPoint::near(beta, &x.with_masses(&masses)?, &sizes)?;
        let proof = certificate::prove(&point)?;
        let text = proof.to_text();
        if let Some(path) = &self.out {
            arrays::write_atomically(path, text.as_bytes())?;
            note(&format!("wrote {}", path.display()));
        }
        let json = json!({
            "proved": true, "radius": proof.radius, "unstable_directions": proof.unstable, "morse_index": proof.morse_index,
            "clusters": proof.sizes.len(), "sizes": proof.sizes, "rotations": proof.rotations.len(), "energy_share": point.log_energy.exp(),
            "points": super::output::matrix(&proof.points, proof.d),
        });
        let line = format!(
            "proved: one critical point of {} clusters within {:e} in every coordinate, unique up to rotation; {} unstable directions, Morse index {}",
            proof.sizes.len(),
            proof.radius,
            proof.unstable,
            proof.morse_index
        );
        out.result(&json, &line);
        Ok(0)
    }
}

fn check(path: &std::path::Path, out: &Output) -> Result<i32> {
    let in_file = |e: Error| match e {
        Error::Parameter { found, expected, .. } => {
            Error::File { path: path.display().to_string(), place: String::new(), problem: format!("found {found}, expected {expected}") }
        }
        other => other,
    };
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path.display(), "read", &e))?;
    let proof = Certificate::from_text(&text).map_err(in_file)?;
    certificate::check(&proof).map_err(in_file)?;
    let json = json!({"accepted": true, "unstable_directions": proof.unstable, "morse_index": proof.morse_index, "radius": proof.radius, "beta": proof.beta});
    out.result(
        &json,
        &format!(
            "accepted: beta = {}, {} clusters, {} unstable directions, Morse index {}",
            proof.beta,
            proof.sizes.len(),
            proof.unstable,
            proof.morse_index
        ),
    );
    Ok(0)
}
