//! `saddles`: critical points of the energy and their connections.

use super::cancel::cancelled;
use super::digits::with_error;
use super::input::TokenArguments;
use super::interaction_saddles::{self, Request};
use super::output::{Output, all_digits, finite, matrix, note, vector};
use super::parameter::numbers;
use super::progress;
use crate::attention::{Spec, dynamics};
use crate::error::{Error, Result};
use crate::flow::clusters_within;
use crate::lab::arrays;
use crate::landscape::CriticalPoint;
use crate::landscape::connections::{Connection, DISPLACEMENT, connections};
use crate::landscape::search::{Search, SearchResult, critical_point_near};
use crate::proofs::critical_point;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Flags of `saddles`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable saddles --n 5 --d 2 --beta 6
  metastable saddles --n 4 --d 3 --beta 0.5..8:log5
  metastable saddles --n 8 --d 3 --beta 4 --starts 400 --connections sa --certificates proofs
  metastable saddles --from-run run/ --frame t=20 --beta 9

The list may be incomplete: points that no start reached are missing.
Starts are symmetric families (one cluster, antipodal pairs, polygons, simplices, rings about an
axis), descents and ascents of the energy from random tokens, and random clusters. The output shows
how many random starts found each point, and an estimate of the number of missing points.

Exit codes: 0; 3 if random starts did not converge, so that points may be missing there; 4 if no
start converged.")]
pub struct Arguments {
    /// Number of tokens and dimension (--n, --d); or tokens or a frame of a run, from which one
    /// critical point is reached.
    #[command(flatten)]
    tokens: TokenArguments,
    /// Inverse temperature, or several: 1,2,4 or 0.5..8:log5. Points found at one are continued to
    /// the others.
    #[arg(long, allow_hyphen_values = true, required_unless_present = "interaction")]
    beta: Option<String>,
    /// An interaction phi(s) in the place of e^{beta s}: power:p=3 or a formula of s and beta.
    #[arg(long, value_name = "PHI", conflicts_with_all = ["connections", "certificates"])]
    interaction: Option<String>,
    /// Number of random starts. Default: 200, then more until the second half of them found no new
    /// point, at most 1600.
    #[arg(long)]
    starts: Option<usize>,
    /// Follow the unstable directions to the next critical points, with this dynamics (sa or usa).
    #[arg(long, value_name = "DYNAMICS")]
    connections: Option<String>,
    /// Prove for each point that it is the only critical point of whole clusters nearby (on the
    /// slice that fixes rotations), and prove its index; write one certificate per point into this
    /// folder.
    #[arg(long, value_name = "FOLDER")]
    certificates: Option<PathBuf>,
}

/// Distance in radians within which tokens of a run are one cluster.
const COINCIDENT: f64 = 1e-6;

/// Finds a registered dynamics that increases the energy.
fn ascent(name: &str) -> Result<&'static dynamics::NamedDynamics> {
    let climbs = |e: &&dynamics::NamedDynamics| {
        e.build(&Spec::new(1.0, 2)).is_ok_and(|flow| flow.properties().energy_sign > 0)
    };
    let known: Vec<&dynamics::NamedDynamics> =
        dynamics::ALL.iter().copied().filter(climbs).collect();
    known
        .iter()
        .copied()
        .find(|e| e.name == name)
        .ok_or_else(|| Error::unknown("gradient dynamics", name, known.iter().map(|e| e.name)))
}

/// Smallest and largest number of random starts without --starts.
const STARTS: (usize, usize) = (200, 1600);

/// The critical points at one inverse temperature.
struct Landscape {
    beta: f64,
    found: SearchResult,
    edges: Vec<Connection>,
    without_end: usize,
    proofs: Vec<Option<String>>,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        out.set_all_digits(self.tokens.all_digits);
        if let Some(text) = &self.interaction {
            return self.of_interaction(text, out);
        }
        let betas = self.betas()?;
        let ascent = self.connections.as_deref().map(ascent).transpose()?;
        let (all, n, d) =
            if self.tokens.is_given() { self.near(&betas)? } else { self.search(&betas)? };
        let mut landscapes = Vec::new();
        for (beta, mut found) in betas.iter().copied().zip(all) {
            let (edges, without_end) = match ascent {
                Some(dynamics) if !cancelled() => connections(dynamics, &mut found)?,
                _ => (Vec::new(), 0),
            };
            let proofs = self.prove(&found)?;
            landscapes.push(Landscape { beta, found, edges, without_end, proofs });
        }
        let seed = self.tokens.seed();
        let mut json = json!({"n": n, "d": d, "seed": seed});
        match &landscapes[..] {
            [one] => one.json().into_iter().for_each(|(key, value)| json[key] = value),
            all => json["landscapes"] = all.iter().map(|l| Value::Object(l.json())).collect(),
        }
        super::cancel::work_is_over();
        let text: Vec<String> = landscapes
            .iter()
            .map(|l| l.text(self.tokens.is_given(), landscapes.len() > 1))
            .collect();
        out.result(&json, &text.join("\n"));
        let any = |what: fn(&SearchResult) -> bool| landscapes.iter().any(|l| what(&l.found));
        Ok(match () {
            () if cancelled() => 130,
            () if any(|f| f.points.is_empty()) => 4,
            () if any(|f| f.failed > 0) => 3,
            () => 0,
        })
    }

    /// The critical points of an interaction of its own.
    fn of_interaction(&self, interaction: &str, out: &Output) -> Result<i32> {
        if self.tokens.is_given() {
            let expected = "--n and --d with an interaction of its own";
            return Err(Error::parameter("--interaction", "given tokens", expected));
        }
        let betas = self.beta.as_deref().map_or(Ok(Vec::new()), |b| numbers("--beta", b))?;
        if betas.len() > 1 {
            return Err(Error::parameter("--beta", "several beta", "one with an interaction"));
        }
        let request = Request {
            interaction,
            beta: betas.first().copied(),
            shape: self.shape()?,
            starts: self.starts.unwrap_or(STARTS.0),
            seed: self.tokens.seed(),
        };
        interaction_saddles::run(&request, out)
    }

    /// Tokens and dimension. **Errors** one that is missing or below 2.
    fn shape(&self) -> Result<(usize, usize)> {
        let count = |name: &str, v: Option<i64>| {
            let found = v.map_or("nothing".to_owned(), |v| v.to_string());
            let expected = "a whole number >= 2, or tokens to start from";
            v.and_then(|v| usize::try_from(v).ok())
                .filter(|v| *v >= 2)
                .ok_or_else(|| Error::parameter(name, found, expected))
        };
        let (n, d) = self.tokens.shape();
        Ok((count("--n", n)?, count("--d", d)?))
    }

    /// The inverse temperatures. **Errors** 0, where critical points are not isolated, and |beta| >
    /// 1e4.
    fn betas(&self) -> Result<Vec<f64>> {
        let betas = numbers("--beta", self.beta.as_deref().unwrap_or_default())?;
        for beta in &betas {
            if *beta == 0.0 {
                let expected = "another value: at beta = 0 the critical points, consensus and all tokens of mean 0, are not isolated";
                return Err(Error::parameter("--beta", beta, expected));
            }
            crate::error::in_range("--beta", beta.abs(), 0.0, 1e4)?;
        }
        if betas.len() > 1 && self.certificates.is_some() {
            return Err(Error::parameter(
                "--certificates",
                "several beta",
                "one beta: a folder holds the certificates of one beta",
            ));
        }
        Ok(betas)
    }

    /// The critical points at each inverse temperature, from its own starts and continued from its
    /// neighbours.
    fn search(&self, betas: &[f64]) -> Result<(Vec<SearchResult>, usize, usize)> {
        let (n, d) = self.shape()?;
        let (starts, max_starts) = self.starts.map_or(STARTS, |s| (s, s));
        let mut all = Vec::new();
        for (b, beta) in betas.iter().enumerate() {
            let search = Search {
                beta: *beta,
                n,
                d,
                starts,
                max_starts,
                fixed: true,
                seed: self.tokens.seed(),
            };
            all.push(search.run_with_progress(&mut |k, found| {
                let share = (b as f64 + (k as f64 / starts as f64).min(1.0)) / betas.len() as f64;
                let at = if betas.len() > 1 { format!("beta = {beta}, ") } else { String::new() };
                progress::report(Some(share), || {
                    format!("{at}random start {k}, {} critical points", found.points.len())
                });
                !cancelled()
            })?);
        }
        // Up and down: a point found at one beta is continued to all others.
        let last = betas.len() - 1;
        for (from, to) in (0..last).map(|b| (b, b + 1)).chain((0..last).rev().map(|b| (b + 1, b))) {
            for point in all[from].points.clone() {
                if let Ok(point) = critical_point_near(betas[to], &point.clusters, &point.sizes)
                    && !cancelled()
                {
                    all[to].add(point);
                }
            }
        }
        if cancelled() {
            note(&format!(
                "interrupted after {} random starts",
                all.iter().map(|f| f.starts).sum::<usize>()
            ));
        }
        Ok((all, n, d))
    }

    /// The critical point reached from given tokens; coinciding tokens are one cluster.
    fn near(&self, betas: &[f64]) -> Result<(Vec<SearchResult>, usize, usize)> {
        if let Some(starts) = self.starts {
            return Err(Error::parameter(
                "--starts",
                starts,
                "none with given tokens: it counts random starts",
            ));
        }
        let x = self.tokens.tokens()?;
        if x.uniform_mass().is_none() {
            return Err(Error::parameter(
                "masses",
                "unequal ones",
                "equal masses: the mass of a cluster is its number of tokens",
            ));
        }
        critical_point::check_size(x.n(), x.d())?;
        let (clusters, labels) = clusters_within(&x, COINCIDENT);
        let mut sizes = vec![0; clusters.n()];
        labels.iter().for_each(|l| sizes[*l] += 1);
        let mut all = Vec::new();
        for beta in betas {
            let point = critical_point_near(*beta, &clusters, &sizes)?;
            note(&format!(
                "the critical point lies at most {:.3e} rad from the given tokens",
                point.distance_from_start
            ));
            all.push(SearchResult {
                points: vec![point],
                hits: vec![1],
                starts: 1,
                ..SearchResult::default()
            });
        }
        Ok((all, x.n(), x.d()))
    }

    /// Writes certificates with --certificates; returns the outcome for each point.
    fn prove(&self, found: &SearchResult) -> Result<Vec<Option<String>>> {
        let Some(folder) = &self.certificates else { return Ok(vec![None; found.points.len()]) };
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
        let one = |(k, p): (usize, &CriticalPoint)| match critical_point::prove(p) {
            Ok(certificate) => {
                arrays::write_atomically(
                    &folder.join(format!("saddle-{k}.json")),
                    certificate.to_text().as_bytes(),
                )?;
                Ok(Some("proved".to_owned()))
            }
            Err(e) => Ok(Some(e.to_string())),
        };
        found.points.iter().enumerate().map(one).collect()
    }
}

impl Landscape {
    /// The keys of one landscape.
    fn json(&self) -> serde_json::Map<String, Value> {
        let (found, points) = (&self.found, &self.found.points);
        let edge = |e: &Connection| json!({"from": e.from, "to": e.to, "rate": e.rate, "rate_error": finite(points[e.from].errors.eigenvalue), "t": e.t, "t_error": finite(e.t_error)});
        let describe =
            |(k, p): (usize, &CriticalPoint)| describe(p, found.hits[k], self.proofs[k].as_deref());
        // A point reached from given tokens has no search statistics.
        let searched = found.starts > 0 && found.fixed_starts > 0;
        let json = json!({
            "beta": self.beta, "starts": found.starts, "failed_starts": found.failed, "fixed_starts": found.fixed_starts,
            "proved_complete": false, "found_by_one_start": found.found_once(), "missing_estimate": searched.then(|| found.missing()),
            "second_half_found_nothing_new": searched.then(|| found.is_settled()),
            "metric": "sum_i m_i |u_i|^2, scaled by exp(-|beta|)",
            "points": points.iter().enumerate().map(describe).collect::<Vec<_>>(),
            "connections": self.edges.iter().map(edge).collect::<Vec<_>>(),
            "displacement": DISPLACEMENT, "ends_without_rest": self.without_end,
        });
        json.as_object().cloned().unwrap_or_default()
    }

    /// As text; `given` if the point was reached from given tokens, `several` for more than one
    /// beta.
    fn text(&self, given: bool, several: bool) -> String {
        let found = &self.found;
        let mut text = if several { format!("beta = {}\n", self.beta) } else { String::new() };
        if given {
            text.push_str("the critical point reached from the given tokens\n");
        } else {
            text.push_str(&searched(found));
        }
        text.push_str(
            "energy: relative to one cluster; errors of points and rates are estimates\n",
        );
        text.push_str(
            "  #  clusters of                           energy  points +-  rates +-  unstable  Morse index  residual  symmetry  found by\n",
        );
        for (k, p) in found.points.iter().enumerate() {
            let sizes = p.sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("+");
            let mark = if p.spectrum.is_nearly_degenerate() { "  nearly degenerate" } else { "" };
            let proof = self.proofs[k].as_ref().map(|p| format!("  {p}")).unwrap_or_default();
            text.push_str(&format!(
                "{k:>3}  {sizes:<20} {:>25}  {:>9.0e}  {:>8.0e}  {:>8}  {:>11}  {:>8.1e}  {:>8}  {:>8}{mark}{proof}\n",
                with_error(p.log_energy.exp(), p.log_energy.exp() * p.errors.log_energy.exp_m1()),
                p.errors.position,
                p.errors.eigenvalue,
                p.spectrum.unstable,
                p.spectrum.morse_index,
                p.residual,
                p.symmetry,
                found.hits[k],
            ));
            if all_digits() {
                p.clusters
                    .rows()
                    .for_each(|row| text.push_str(&format!("       at {}\n", vector(row))));
            }
        }
        for e in &self.edges {
            let (rate, t) = (
                with_error(e.rate, found.points[e.from].errors.eigenvalue),
                with_error(e.t, e.t_error),
            );
            text.push_str(&format!("{:>3} -> {:<3} along rate {rate} in t = {t}\n", e.from, e.to));
        }
        if self.without_end > 0 {
            text.push_str(&format!(
                "{} trajectories did not reach a critical point and are left out\n",
                self.without_end
            ));
        }
        text
    }
}

/// Statistics of the search.
fn searched(found: &SearchResult) -> String {
    if found.starts == 0 {
        return format!(
            "{} distinct critical points from {} fixed starts and no random ones\n\
             missing points: no estimate without random starts. Completeness is not proved.\n",
            found.points.len(),
            found.fixed_starts
        );
    }
    let failed = match found.failed {
        0 => "all converged".to_owned(),
        k => format!("{k} did not converge and may be near further points"),
    };
    let settled = if found.is_settled() {
        "the second half found nothing new"
    } else {
        "the second half still found new points"
    };
    format!(
        "{} distinct critical points from {} random starts ({failed}; {settled}) and {} fixed starts\n\
         found by: number of random starts that reached the point; {} points were reached by one start only\n\
         missing points: about {:.1} (Chao's estimate, a lower bound on average). Completeness is not proved.\n",
        found.points.len(),
        found.starts,
        found.fixed_starts,
        found.found_once(),
        found.missing(),
    )
}

fn describe(p: &CriticalPoint, found_by: usize, proof: Option<&str>) -> Value {
    let e = &p.errors;
    json!({
        "clusters": p.clusters.n(), "sizes": p.sizes, "tokens_per_cluster": p.sizes, "found_by_starts": found_by,
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
