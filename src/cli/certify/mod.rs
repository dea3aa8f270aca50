//! `certify`: prove a critical point near given clusters, or that a start converges to one point; or check a certificate.

mod converges;
mod dwell;
mod trials;

use super::input::TokenArguments;
use super::output::{Output, note};
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::landscape::CriticalPoint;
use crate::proofs::certificate::{self, Certificate};
use crate::sphere::Tokens;
use serde_json::json;
use std::path::PathBuf;

/// Flags of `certify`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable certify --tokens clusters.csv --beta 6 --out saddle.json
  metastable certify --check saddle.json
  metastable certify --converges --init uniform --n 16 --d 3 --seed 7 --beta 4 --radius 1e-6 --out proof.txt
  metastable certify --check proof.txt --exact
  metastable certify --converges --init uniform --n 8 --d 2 --beta 2 --trials 100
  metastable certify --dwell 2,0.5 --beta 50

What is proved of clusters: exactly one critical point among the configurations of whole clusters in a small box, on the slice
that fixes rotations. Not excluded: critical points that split a cluster, or that lie off the slice.
What is proved of starts: every start whose tokens lie within the radius of the given ones converges to one point. Exit code 3
when that could not be proved.")]
pub struct Arguments {
    /// Check this certificate: exit code 0 if it is accepted.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tokens", "angles", "init", "masses", "beta", "sizes", "out", "radius", "anywhere", "converges"])]
    check: Option<PathBuf>,
    /// Check it in exact arithmetic, by the referee, which shares nothing with the program that proves (certificates of convergence
    /// are always checked by it). With --trials: check every proof.
    #[arg(long)]
    exact: bool,
    /// Prove that the start converges to one point.
    #[arg(long)]
    converges: bool,
    /// Of --converges with --init: how many starts of N can be proved, seed after seed, and what ends the other proofs.
    #[arg(long, value_name = "N", requires = "converges", conflicts_with = "out")]
    trials: Option<usize>,
    /// Bound the time that two clusters need to close from one angle to another (radians), from both sides.
    #[arg(long, value_name = "FROM,TO", value_delimiter = ',', conflicts_with_all = ["converges", "tokens", "angles", "init", "out", "check", "radius", "anywhere"])]
    dwell: Option<Vec<f64>>,
    /// Of --dwell: the share of the mass in the first of the two clusters (default 0.5).
    #[arg(long, value_name = "A")]
    share: Option<f64>,
    #[command(flatten)]
    tokens: TokenArguments,
    /// Dynamics of --converges and --dwell: sa (default), usa; of --converges also causal-sa and causal-usa.
    #[arg(long)]
    dynamics: Option<String>,
    /// Tokens per cluster, comma separated (default: one each).
    #[arg(long, value_delimiter = ',', conflicts_with = "converges")]
    sizes: Vec<usize>,
    /// Inverse temperature.
    #[arg(long, allow_hyphen_values = true)]
    beta: Option<f64>,
    /// How far a row may be from its cluster in the proved point, in radians; nothing is turned to make them fit. The
    /// default, 0.01, holds for rows written with two decimals. With --converges: how far, as a chord, each token may start
    /// from the given one (default 0).
    #[arg(long, value_name = "R", allow_hyphen_values = true, conflicts_with = "anywhere")]
    radius: Option<f64>,
    /// Prove the critical point that Newton's method reaches, however far it is and whatever merges on the way.
    #[arg(long, conflicts_with = "converges")]
    anywhere: bool,
    /// Where the certificate goes.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Rows that are written with two decimals, in radians.
const TWO_DECIMALS: f64 = 0.01;

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let name = self.dynamics.as_deref().unwrap_or("sa");
        if let (Some(share), None) = (self.share, &self.dwell) {
            return Err(Error::parameter("--share", share, "it with --dwell"));
        }
        if self.tokens.full {
            return Err(Error::parameter("--full", "--full", "none: certificates hold all digits"));
        }
        match (&self.check, &self.dwell) {
            (Some(path), _) => check(path, self.exact, out),
            (None, _) if self.exact && self.trials.is_none() => {
                Err(Error::parameter("--exact", "nothing to check", "--check FILE or --trials N with it"))
            }
            (None, Some(angles)) => dwell::bound(angles, self.share.unwrap_or(0.5), name, self.beta()?, out),
            (None, None) if self.converges => {
                let near = (self.beta()?, self.radius.unwrap_or(0.0));
                match self.trials {
                    Some(count) => trials::Trials { tokens: &self.tokens, count, exact: self.exact }.run(name, near, out),
                    None => converges::prove(&self.tokens.tokens()?, name, near, self.out.as_deref(), out),
                }
            }
            (None, None) => self.prove(out),
        }
    }

    fn prove(&self, out: &Output) -> Result<i32> {
        if let Some(name) = &self.dynamics {
            return Err(Error::parameter(
                "--dynamics",
                name,
                "it with --converges or --dwell: critical points are the same for SA and USA",
            ));
        }
        let beta = self.beta()?;
        crate::error::in_range("--beta", beta, -1e4, 1e4)?;
        let radius = crate::error::in_range("--radius", self.radius.unwrap_or(TWO_DECIMALS), 0.0, std::f64::consts::PI)?;
        let x = self.tokens.tokens()?;
        if x.uniform_mass().is_none() {
            return Err(Error::parameter("--masses", "masses that differ", "--sizes for clusters, or --converges"));
        }
        let sizes = if self.sizes.is_empty() { vec![1; x.n()] } else { self.sizes.clone() };
        if sizes.len() != x.n() || sizes.contains(&0) {
            return Err(Error::parameter("--sizes", format!("{sizes:?}"), format!("{} positive numbers, one per cluster", x.n())));
        }
        certificate::check_size(x.n(), x.d())?;
        let masses: Vec<f64> = sizes.iter().map(|s| *s as f64).collect();
        let point = CriticalPoint::near(beta, &x.clone().with_masses(&masses)?, &sizes)?;
        if !self.anywhere {
            refuse_elsewhere(&x, &point, radius)?;
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

    fn beta(&self) -> Result<f64> {
        self.beta.ok_or_else(|| Error::parameter("--beta", "nothing", "--tokens FILE with --beta B, or --check FILE"))
    }
}

/// A proof of some other point is no answer.
fn refuse_elsewhere(given: &Tokens, found: &CriticalPoint, radius: f64) -> Result<()> {
    let (before, after) = (given.n(), found.clusters.n());
    let clusters = if before == after { format!("{after} clusters") } else { format!("{after} clusters, not the {before} given") };
    if before == after && found.moved <= radius {
        return Ok(());
    }
    Err(Error::Numerical {
        what: format!(
            "not proved: the critical point that Newton's method reaches lies {:.3e} rad from the given rows (--radius {radius}) and has {clusters}; --anywhere \
             proves it all the same",
            found.moved
        ),
    })
}

fn check(path: &std::path::Path, exact: bool, out: &Output) -> Result<i32> {
    let in_file = |e: Error| match e {
        Error::Parameter { found, expected, .. } => {
            Error::File { path: path.display().to_string(), place: String::new(), problem: format!("found {found}, expected {expected}") }
        }
        other => other,
    };
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path.display(), "read", &e))?;
    if exact || text.starts_with(converges::KIND) {
        return converges::check(path, &text, out);
    }
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
