//! `saddles`: critical points of the energy, and who falls into whom.

use super::cancel::cancelled;
use super::digits::with_error;
use super::input::TokenArguments;
use super::output::{Output, finite, in_full, matrix, note, vector};
use super::progress;
use crate::attention::{Spec, dynamics};
use crate::error::{Error, Result};
use crate::flow::clusters_within;
use crate::lab::arrays;
use crate::landscape::connections::{Connection, DISPLACEMENT, connections};
use crate::landscape::search::{Found, Search, nearby};
use crate::landscape::{CriticalPoint, certificate};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Flags of `saddles`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable saddles --n 5 --d 2 --beta 6
  metastable saddles --n 8 --d 3 --beta 4 --starts 400 --connections sa --certificates proofs
  metastable saddles --result run/ --frame t=20 --beta 9")]
pub struct Arguments {
    /// Number of tokens and dimension (--n, --d), or tokens or a frame of a run: then the one critical point that is reached from them.
    #[command(flatten)]
    tokens: TokenArguments,
    /// Inverse temperature.
    #[arg(long, allow_hyphen_values = true)]
    beta: f64,
    /// Random starts: squared gradient with and without deflation, eigenvector following, lulls of flows.
    #[arg(long)]
    starts: Option<usize>,
    /// Follow the unstable directions with this dynamics (sa or usa) to the next critical point.
    #[arg(long, value_name = "DYNAMICS")]
    connections: Option<String>,
    /// Prove that each point is the only critical point of whole clusters near it (on the slice that fixes rotations), and its
    /// index; write one certificate per point into this folder.
    #[arg(long, value_name = "DIR")]
    certificates: Option<PathBuf>,
}

/// Radians within which tokens of a run are one cluster.
const COINCIDENT: f64 = 1e-6;

/// A registered dynamics that climbs the energy, by name.
fn ascent(name: &str) -> Result<&'static dynamics::NamedDynamics> {
    let climbs = |e: &&dynamics::NamedDynamics| e.build(&Spec::new(1.0, 2)).is_ok_and(|flow| flow.facts().energy_sign > 0);
    let known: Vec<&dynamics::NamedDynamics> = dynamics::ALL.iter().copied().filter(climbs).collect();
    known.iter().copied().find(|e| e.name == name).ok_or_else(|| Error::unknown("gradient dynamics", name, known.iter().map(|e| e.name)))
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        out.in_full(self.tokens.full);
        self.check_beta()?;
        let ascent = self.connections.as_deref().map(ascent).transpose()?;
        let (mut found, n, d) = if self.tokens.is_given() { self.near()? } else { self.search()? };
        let (edges, lost) = match ascent {
            Some(dynamics) if !cancelled() => connections(dynamics, &mut found)?,
            _ => (Vec::new(), 0),
        };
        let proofs = self.prove(&found)?;
        let json = json!({
            "n": n, "d": d, "beta": self.beta, "starts": found.starts, "failed_starts": found.failed, "seed": self.tokens.seed(),
            "metric": "sum_i m_i |u_i|^2, scaled by exp(-|beta|)",
            "points": found.points.iter().zip(&proofs).map(|(p, c)| describe(p, c.as_deref())).collect::<Vec<_>>(),
            "connections": edges.iter().map(|e| json!({"from": e.from, "to": e.to, "rate": e.rate, "rate_error": finite(found.points[e.from].errors.eigenvalue), "t": e.t,
                "t_error": finite(e.t_error)})).collect::<Vec<_>>(),
            "displacement": DISPLACEMENT, "ends_without_rest": lost,
        });
        super::cancel::work_is_over();
        out.result(&json, &text(&found, &edges, lost, &proofs));
        Ok(if cancelled() { 130 } else { 0 })
    }

    /// At beta = 0 and far beyond it there is nothing to find.
    fn check_beta(&self) -> Result<()> {
        if self.beta == 0.0 {
            let expected = "another: at beta = 0 the critical points are consensus and all tokens of mean 0, none of them alone";
            return Err(Error::parameter("--beta", self.beta, expected));
        }
        crate::error::in_range("--beta", self.beta.abs(), 0.0, 1e4).map(drop)
    }

    /// The critical points that random starts find.
    fn search(&self) -> Result<(Found, usize, usize)> {
        let count = |name: &str, v: Option<i64>| {
            let found = v.map_or("nothing".to_owned(), |v| v.to_string());
            let expected = "a whole number >= 2, or tokens to start from";
            v.and_then(|v| usize::try_from(v).ok()).filter(|v| *v >= 2).ok_or_else(|| Error::parameter(name, found, expected))
        };
        let (n, d) = self.tokens.shape();
        let (n, d) = (count("--n", n)?, count("--d", d)?);
        let search = Search { beta: self.beta, n, d, starts: self.starts.unwrap_or(200), seed: self.tokens.seed() };
        let found = search.run_with(&mut |k, found| {
            let share = k as f64 / search.starts as f64;
            progress::report(Some(share), || format!("start {k} of {}, {} critical points", search.starts, found.points.len()));
            !cancelled()
        })?;
        if cancelled() {
            note(&format!("interrupted: the points of the first {} starts", found.starts));
        }
        Ok((found, n, d))
    }

    /// The critical point that is reached from given tokens, of which those that coincide are one cluster.
    fn near(&self) -> Result<(Found, usize, usize)> {
        if let Some(starts) = self.starts {
            return Err(Error::parameter("--starts", starts, "it without given tokens, for a search from random ones"));
        }
        let x = self.tokens.tokens()?;
        if x.uniform_mass().is_none() {
            return Err(Error::parameter("masses", "unequal ones", "equal masses: a cluster is known by its number of tokens"));
        }
        certificate::check_size(x.n(), x.d())?;
        let (clusters, labels) = clusters_within(&x, COINCIDENT);
        let mut sizes = vec![0; clusters.n()];
        labels.iter().for_each(|l| sizes[*l] += 1);
        let point = nearby(self.beta, &clusters, &sizes)?;
        note(&format!("the critical point lies at most {:.3e} rad from the given tokens", point.moved));
        Ok((Found { points: vec![point], starts: 1, failed: 0 }, x.n(), x.d()))
    }

    /// Certificates, where wanted: the outcome of each point.
    fn prove(&self, found: &Found) -> Result<Vec<Option<String>>> {
        let Some(folder) = &self.certificates else { return Ok(vec![None; found.points.len()]) };
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
        let one = |(k, p): (usize, &CriticalPoint)| match certificate::prove(p) {
            Ok(certificate) => {
                arrays::write_atomically(&folder.join(format!("saddle-{k}.json")), certificate.to_text().as_bytes())?;
                Ok(Some("proved".to_owned()))
            }
            Err(e) => Ok(Some(e.to_string())),
        };
        found.points.iter().enumerate().map(one).collect()
    }
}

fn describe(p: &CriticalPoint, proof: Option<&str>) -> Value {
    let e = &p.errors;
    json!({
        "clusters": p.clusters.n(), "sizes": p.sizes, "tokens_per_cluster": p.sizes,
        "log_energy": finite(p.log_energy), "log_energy_error": finite(e.log_energy),
        "energy_share": finite(p.log_energy.exp()), "energy_share_error": finite(p.log_energy.exp() * e.log_energy.exp_m1()),
        "morse_index": p.spectrum.morse_index, "unstable_directions": p.spectrum.unstable, "nullity": p.spectrum.nullity,
        "rotations": p.spectrum.rotations, "nearly_degenerate": p.spectrum.is_nearly_degenerate(),
        "rotation_defect": p.spectrum.rotation_defect, "eigenvalues": p.spectrum.values,
        "eigenvalues_error": finite(e.eigenvalue), "index_margin": finite(p.spectrum.margin), "residual": p.residual,
        "angles": p.angles, "angles_error": finite(e.angle), "symmetry": p.symmetry,
        "points": matrix(p.clusters.coordinates(), p.clusters.d()), "points_error": finite(e.position), "certificate": proof,
    })
}

fn text(found: &Found, edges: &[Connection], lost: usize, proofs: &[Option<String>]) -> String {
    let mut text = format!(
        "{} distinct critical points from {} starts ({} did not converge)\nenergy: of one cluster 1; errors of points and rates: estimates\n  #  clusters of                           energy  points +-  rates +-  unstable  Morse index  residual  symmetry\n",
        found.points.len(),
        found.starts,
        found.failed
    );
    for (k, p) in found.points.iter().enumerate() {
        let sizes = p.sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("+");
        let mark = if p.spectrum.is_nearly_degenerate() { "  nearly degenerate" } else { "" };
        let proof = proofs[k].as_ref().map(|p| format!("  {p}")).unwrap_or_default();
        text.push_str(&format!(
            "{k:>3}  {sizes:<20} {:>25}  {:>9.0e}  {:>8.0e}  {:>8}  {:>11}  {:>8.1e}  {:>8}{mark}{proof}\n",
            with_error(p.log_energy.exp(), p.log_energy.exp() * p.errors.log_energy.exp_m1()),
            p.errors.position,
            p.errors.eigenvalue,
            p.spectrum.unstable,
            p.spectrum.morse_index,
            p.residual,
            p.symmetry
        ));
        if in_full() {
            p.clusters.rows().for_each(|row| text.push_str(&format!("       at {}\n", vector(row))));
        }
    }
    for e in edges {
        let (rate, t) = (with_error(e.rate, found.points[e.from].errors.eigenvalue), with_error(e.t, e.t_error));
        text.push_str(&format!("{:>3} -> {:<3} along rate {rate} in t = {t}\n", e.from, e.to));
    }
    if lost > 0 {
        text.push_str(&format!("{lost} ends did not come to rest at a critical point and are left out\n"));
    }
    text
}
