//! `certify`: prove a critical point near given clusters, or check a certificate.

use super::output::{Output, note};
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::landscape::{CriticalPoint, certificate, certificate::Certificate};
use crate::sphere::Tokens;
use serde_json::json;
use std::path::PathBuf;

/// Flags of `certify`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable certify --tokens clusters.csv --beta 6 --out saddle.json
  metastable certify --check saddle.json

What is proved: exactly one critical point among the configurations of whole clusters in a small box, on the slice
that fixes rotations. Not excluded: critical points that split a cluster, or that lie off the slice.")]
pub struct Arguments {
    /// Check this certificate: exit code 0 if it is accepted.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tokens", "beta", "sizes", "out", "radius", "anywhere"])]
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
    /// How far a row may be from its cluster in the proved point, in radians. Nothing is turned to make them fit. The
    /// default holds for rows written with two decimals.
    #[arg(long, value_name = "R", default_value_t = 0.01, allow_hyphen_values = true, conflicts_with = "anywhere")]
    radius: f64,
    /// Prove the critical point that Newton's method reaches, however far it is and whatever merges on the way.
    #[arg(long)]
    anywhere: bool,
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
        crate::error::in_range("--radius", self.radius, 0.0, std::f64::consts::PI)?;
        let x = arrays::tokens(path, None, self.normalise)?;
        let sizes = if self.sizes.is_empty() { vec![1; x.n()] } else { self.sizes.clone() };
        if sizes.len() != x.n() || sizes.contains(&0) {
            return Err(Error::parameter("--sizes", format!("{sizes:?}"), format!("{} positive numbers, one per cluster", x.n())));
        }
        certificate::check_size(x.n(), x.d())?;
        let masses: Vec<f64> = sizes.iter().map(|s| *s as f64).collect();
        let point = CriticalPoint::near(beta, &x.clone().with_masses(&masses)?, &sizes)?;
        if !self.anywhere {
            self.refuse_elsewhere(&x, &point)?;
        }
        let proof = certificate::prove(&point)?;
        if let Some(path) = &self.out {
            arrays::write_atomically(path, proof.to_text().as_bytes())?;
            note(&format!("wrote {}", path.display()));
        }
        let distance = proof.distance_from(&x, &point.labels);
        let json = json!({
            "proved": true, "statement": proof.statement(), "not_excluded": proof.not_excluded(),
            "radius": proof.radius, "distance": distance, "clusters_given": x.n(), "clusters": proof.sizes.len(), "sizes": proof.sizes,
            "unstable_directions": proof.unstable, "morse_index": proof.morse_index, "rotations": proof.rotations.len(),
            "energy_share": point.log_energy.exp(), "points": super::output::matrix(&proof.points, proof.d),
        });
        let clusters = match (x.n(), proof.sizes.len()) {
            (given, left) if given == left => format!("{left} clusters"),
            (given, left) => format!("{left} clusters ({given} were given: some merged)"),
        };
        let text = format!(
            "proved: {clusters}, {} unstable directions, Morse index {}, at most {distance:.3e} rad from the given rows\n{}\nnot excluded: {}",
            proof.unstable,
            proof.morse_index,
            proof.statement(),
            proof.not_excluded()
        );
        out.result(&json, &text);
        Ok(0)
    }

    /// A proof of some other point is no answer.
    fn refuse_elsewhere(&self, given: &Tokens, found: &CriticalPoint) -> Result<()> {
        let (before, after) = (given.n(), found.clusters.n());
        let clusters = if before == after { format!("{after} clusters") } else { format!("{after} clusters, not the {before} given") };
        if before == after && found.moved <= self.radius {
            return Ok(());
        }
        Err(Error::Numerical {
            what: format!(
                "not proved: the critical point that Newton's method reaches lies {:.3e} rad from the given rows (--radius {}) and has {clusters}; --anywhere \
                 proves it all the same",
                found.moved, self.radius
            ),
        })
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
    let json = json!({
        "accepted": true, "statement": proof.statement(), "not_excluded": proof.not_excluded(), "unstable_directions": proof.unstable,
        "morse_index": proof.morse_index, "radius": proof.radius, "beta": proof.beta,
    });
    let text = format!(
        "accepted: beta = {}, {} clusters, {} unstable directions, Morse index {}\n{}\nnot excluded: {}",
        proof.beta,
        proof.sizes.len(),
        proof.unstable,
        proof.morse_index,
        proof.statement(),
        proof.not_excluded()
    );
    out.result(&json, &text);
    Ok(0)
}
