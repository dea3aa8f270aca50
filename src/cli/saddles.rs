//! `saddles`: critical points of the energy and their connections.

use super::cancel::cancelled;
use super::input::{self, TokenArguments};
use super::output::{note, set_all_digits};
use super::progress;
use super::proof::Standing;
use super::saddle_table::{Landscape, Listed, branch_keys, branch_table, merge, normalisation};
use crate::attention::interaction::InteractionEnergy;
use crate::attention::{Spec, dynamics};
use crate::error::{Error, Result};
use crate::flow::clusters_within;
use crate::lab::arrays;
use crate::landscape::branches::{Branch, Family};
use crate::landscape::connections::connections;
use crate::landscape::search::{Search, SearchResult, critical_point_near};
use crate::landscape::searched::SearchedEnergy;
use crate::landscape::starts::Start;
use crate::landscape::{CriticalPoint, Exponential};
use crate::operation::{
    Answer, Exit, Numbers, Operation, Parameters, Rows, Table, any, column, within,
};
use crate::parameters;
use crate::proofs::complete_list::{self, CompleteBy};
use crate::proofs::critical_point::{self, Certificate};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

parameters! {
    /// Parameters of `saddles`.
    struct Saddles {
        ..tokens: TokenArguments;
        /// Inverse temperature, or several: 1,2,4 or 1..10 or 0.5..8:log5. Points found at one are
        /// continued to the others.
        beta: Option<Numbers>, within(-1e4, 1e4).unless(&["interaction"]);
        /// An interaction phi(s) in the place of e^{beta s}: power:p=3 or a formula of s and beta,
        /// with parameters of its own after a semicolon: 's^p + a; p=3, a=1'.
        interaction: Option<String>, any().form("PHI").excludes(&["connections", "out"]);
        /// Number of random starts. Default: 200, then more until the second half of them found no
        /// new point, at most 1600.
        starts: Option<usize>,
            within(0.0, 1e7).excludes(&["tokens", "angles", "from_run", "init"]);
        /// Follow the unstable directions to the next critical points, with this dynamics (sa or
        /// usa).
        connections: Option<String>, any().form("DYNAMICS");
        /// Prove for each point that it is the only critical point of whole clusters nearby (on the
        /// slice that fixes rotations), and prove its index; write one certificate per point into
        /// this folder.
        out: Option<PathBuf>, any().form("FOLDER").also(&["certificates"]);
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "saddles",
    group: "Analyse",
    summary: "Critical points of the energy: search, spectra, connections, certificates",
    notes: "Examples:
  metastable saddles --n 5 --d 2 --beta 6
  metastable saddles --n 4 --d 3 --beta 0.5..8:log5
  metastable saddles --n 8 --d 3 --beta 4 --starts 400 --connections sa --out proofs
  metastable saddles --n 4 --d 2 --interaction power:p=3
  metastable saddles --from-run run/ --frame t=20 --beta 9

Starts are symmetric families (one cluster, antipodal pairs, polygons, simplices, rings about an
axis), descents and ascents of the energy from random tokens, and random clusters: from each of
these a search for a critical point, a descent and an ascent. The output shows how many random
starts found each point, and estimates of the number of missing points. On the circle, for few
tokens or large beta, it proves that the list is complete; elsewhere points may be missing.

With several values of beta, the points at one value are starts at the next, and all are continued
up and down; a table lists the branches.",
    parameters: Saddles::table,
    results: &[
        column("n", "number of tokens"),
        column("d", "ambient dimension"),
        column("seed", "random seed"),
        column("interaction", "the interaction"),
        column("normalisation", "what the energy is"),
        column("beta", "inverse temperature"),
        column("starts", "number of random starts"),
        column("failed_starts", "random starts that did not converge"),
        column("fixed_starts", "number of fixed starts"),
        column("proved_complete", "whether the list is proved to be complete"),
        column("complete", "what is proved about the list"),
        column("found_by_one_start", "points that one random start found"),
        column("missing_estimate", "lower estimate of the number of missing points"),
        column("found_by_fixed_starts_only", "points that only fixed starts found"),
        column("visible_probability", "points with a larger probability were found with 95 %"),
        column("new_points_per_start", "new points that a further start finds on average"),
        column(
            "second_half_found_nothing_new",
            "whether the second half of the starts found no new point",
        ),
        column(
            "reached_largest_number_of_starts",
            "whether the largest number of starts ended the search",
        ),
        column("metric", "metric of the eigenvalues"),
        column("displacement", "displacement at the start of a connection"),
        column("ends_without_rest", "trajectories that reached no critical point"),
        column("landscapes", "with several beta: the answer for each"),
        column("branches", "with several beta: points that continue each other"),
    ],
    tables: &[
        Table {
            name: "points",
            what: "one row for each critical point",
            rows: Rows::Objects("points"),
            columns: &[
                column("clusters", "number of clusters"),
                column("sizes", "tokens per cluster"),
                column("unstable_directions", "directions in which the energy increases"),
                column("morse_index", "directions in which it decreases"),
                column("nullity", "directions in which it is flat"),
                column("rotations", "dimension of the rotations that move the point"),
                column("symmetries", "rotations that map the point to itself"),
                column("energy", "energy of an interaction"),
                column("energy_share", "energy relative to one cluster"),
                column("log_energy", "its logarithm"),
                column("residual", "norm of the gradient"),
                column("points_error", "error of the places"),
                column("eigenvalues_error", "error of the eigenvalues"),
                column("nearly_degenerate", "whether an eigenvalue is near 0"),
                column("found_by_starts", "random starts that found it"),
                column("certificate", "what is proved about it"),
            ],
        },
        Table {
            name: "connections",
            what: "one row for each connection",
            rows: Rows::Objects("connections"),
            columns: &[
                column("from", "the upper point"),
                column("to", "the lower point"),
                column("rate", "rate at which it is left"),
                column("rate_error", "its error"),
                column("t", "time of the connection"),
                column("t_error", "its error"),
            ],
        },
    ],
    exits: &[
        (Exit::Shown, "computed"),
        (
            Exit::Undecided,
            "random starts did not converge, so that points may be missing there, and the list is not proved complete",
        ),
        (Exit::Failure, "no start converged"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Saddles::of(given)?.run(),
    ..Operation::EMPTY
};

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

/// The result at every inverse temperature, the number of tokens, the dimension.
type Searched<P> = (Vec<SearchResult<P>>, usize, usize);

/// Seconds for the proof that a list is complete: the longest estimate, and the end.
const PROOF_SECONDS: (f64, u64) = (5.0, 30);

impl Saddles {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        set_all_digits(self.tokens.all_digits);
        let betas = self.betas()?;
        if let Some(folder) = &self.out {
            self.check_folder(folder, &betas)?;
        }
        match &self.interaction {
            Some(text) => {
                let energy =
                    |beta: Option<f64>| Ok(InteractionEnergy::new(input::interaction(text, beta)?));
                self.of_energy(&betas, &energy, &mut |_| Ok(()))
            }
            None => {
                let ascent = self.connections.as_deref().map(ascent).transpose()?;
                let energy = |beta: Option<f64>| Ok(Exponential { beta: beta.unwrap_or_default() });
                self.of_energy(&betas, &energy, &mut |landscape| {
                    if !self.tokens.is_given() {
                        self.prove_complete(landscape)?;
                    }
                    let before = landscape.found.points.len();
                    if let Some(dynamics) = ascent
                        && !cancelled()
                    {
                        (landscape.edges, landscape.without_end) =
                            connections(dynamics, &mut landscape.found, &mut || !cancelled())?;
                    }
                    if landscape.found.points.len() > before {
                        landscape.complete = None;
                    }
                    landscape.proofs = self.prove(&landscape.found)?;
                    Ok(())
                })
            }
        }
    }

    /// Searches and prints. `finish` adds what exists for one kind of energy only.
    fn of_energy<E>(
        &self,
        betas: &[Option<f64>],
        energy: &(dyn Fn(Option<f64>) -> Result<E> + Sync),
        finish: &mut dyn FnMut(&mut Landscape<E::Point>) -> Result<()>,
    ) -> Result<Answer>
    where
        E: SearchedEnergy,
        E::Point: Listed,
    {
        let _ending = super::cancel::ends_itself();
        let (all, n, d) = if self.tokens.is_given() {
            self.near(betas, energy)?
        } else {
            self.search(betas, energy)?
        };
        let mut landscapes = Vec::new();
        for (beta, found) in betas.iter().zip(all) {
            let limit =
                (!found.is_settled() && found.starts >= self.starts().1).then_some(found.starts);
            let proofs = vec![None; found.points.len()];
            let mut landscape = Landscape {
                beta: *beta,
                found,
                edges: Vec::new(),
                without_end: 0,
                proofs,
                complete: None,
                limit,
            };
            finish(&mut landscape)?;
            landscapes.push(landscape);
        }
        let branches = self.branches(betas, energy, &landscapes)?;
        let mut json = json!({"n": n, "d": d, "seed": self.tokens.seed()});
        if let Some(text) = &self.interaction {
            merge(&mut json, normalisation(text));
        }
        match &landscapes[..] {
            [one] => merge(&mut json, Value::Object(one.json())),
            all => {
                json["landscapes"] = all.iter().map(|l| Value::Object(l.json())).collect();
                json["branches"] = branch_keys(&branches, all);
            }
        }
        let several = landscapes.len() > 1;
        let mut text: Vec<String> =
            landscapes.iter().map(|l| l.text(self.tokens.is_given(), several)).collect();
        if several && !branches.is_empty() {
            text.push(branch_table(&branches, &landscapes));
        }
        let end = match () {
            () if cancelled() => Exit::Interrupted,
            () if landscapes.iter().any(|l| l.found.points.is_empty()) => Exit::Failure,
            () if landscapes.iter().any(|l| l.found.failed > 0 && !l.is_complete()) => {
                Exit::Undecided
            }
            () => Exit::Shown,
        };
        Ok(Answer::new(json, text.join("\n")).ended(end))
    }

    /// Smallest and largest number of random starts.
    fn starts(&self) -> (usize, usize) {
        self.starts.map_or(STARTS, |s| (s, s))
    }

    /// Tokens and dimension. **Errors** one that is missing or below 2.
    fn shape(&self) -> Result<(usize, usize)> {
        let count = |name: &str, v: Option<usize>| {
            let found = v.map_or("nothing".to_owned(), |v| v.to_string());
            let expected = "a whole number >= 2, or tokens to start from";
            v.filter(|v| *v >= 2).ok_or_else(|| Error::parameter(name, found, expected))
        };
        let (n, d) = self.tokens.shape();
        Ok((count("--n", n)?, count("--d", d)?))
    }

    /// The inverse temperatures; none for an interaction without one. **Errors** 0 for the
    /// exponential, where critical points are not isolated, and |beta| > 1e4.
    fn betas(&self) -> Result<Vec<Option<f64>>> {
        let Some(Numbers(betas)) = self.beta.clone() else { return Ok(vec![None]) };
        for beta in &betas {
            if *beta == 0.0 && self.interaction.is_none() {
                let expected = "another value: at beta = 0 the critical points, consensus and all tokens of mean 0, are not isolated";
                return Err(Error::parameter("--beta", beta, expected));
            }
        }
        if betas.len() > 1 && self.out.is_some() {
            return Err(Error::parameter(
                "out",
                "several beta",
                "one beta: a folder holds the certificates of one beta",
            ));
        }
        Ok(betas.into_iter().map(Some).collect())
    }

    /// The critical points at each inverse temperature, from its own starts and from the points at
    /// the one before, and continued from its neighbours.
    fn search<E: SearchedEnergy>(
        &self,
        betas: &[Option<f64>],
        energy: &(dyn Fn(Option<f64>) -> Result<E> + Sync),
    ) -> Result<Searched<E::Point>> {
        self.tokens.refuse_unused(
            "no tokens are given: critical points are searched for equal masses; `landscape \
             --masses` lists those of unequal masses on the circle",
        )?;
        let (n, d) = self.shape()?;
        let (starts, max_starts) = self.starts();
        let mut all: Vec<SearchResult<E::Point>> = Vec::new();
        for (b, beta) in betas.iter().enumerate() {
            let search = Search {
                energy: energy(*beta)?,
                n,
                d,
                starts,
                max_starts,
                fixed: true,
                seed: self.tokens.seed(),
            };
            let further: Vec<Start> = all.last().map(starts_of).unwrap_or_default();
            all.push(search.run_with_progress(&further, &mut |k, found| {
                let share = (b as f64 + (k as f64 / starts as f64).min(1.0)) / betas.len() as f64;
                let at = match beta {
                    Some(beta) if betas.len() > 1 => format!("beta = {beta}, "),
                    _ => String::new(),
                };
                progress::report(Some(share), || {
                    format!("{at}random start {k}, {} critical points", found.points.len())
                });
                !cancelled()
            })?);
        }
        if betas.len() > 1 {
            let values: Vec<f64> = betas.iter().flatten().copied().collect();
            let family = Family { values: &values, energy: &|beta| energy(Some(beta)) };
            family.extend(&mut all, &mut || !cancelled())?;
        }
        if cancelled() {
            note(&format!(
                "interrupted after {} random starts",
                all.iter().map(|f| f.starts).sum::<usize>()
            ));
        }
        Ok((all, n, d))
    }

    /// The branches over several values of beta.
    fn branches<E: SearchedEnergy>(
        &self,
        betas: &[Option<f64>],
        energy: &(dyn Fn(Option<f64>) -> Result<E> + Sync),
        all: &[Landscape<E::Point>],
    ) -> Result<Vec<Branch>> {
        if all.len() < 2 || cancelled() || self.tokens.is_given() {
            return Ok(Vec::new());
        }
        let values: Vec<f64> = betas.iter().flatten().copied().collect();
        let results: Vec<SearchResult<E::Point>> = all.iter().map(|l| l.found.clone()).collect();
        Family { values: &values, energy: &|beta| energy(Some(beta)) }.branches(&results)
    }

    /// The critical point reached from given tokens; coinciding tokens are one cluster.
    fn near<E>(
        &self,
        betas: &[Option<f64>],
        energy: &(dyn Fn(Option<f64>) -> Result<E> + Sync),
    ) -> Result<Searched<E::Point>>
    where
        E: SearchedEnergy,
        E::Point: Listed,
    {
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
            let point = critical_point_near(&energy(*beta)?, &clusters, &sizes)?;
            note(&format!(
                "the critical point lies at most {:.3e} rad from the given tokens",
                point.distance()
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

    /// Proves on the circle that the list is complete, if that takes seconds.
    fn prove_complete(&self, landscape: &mut Landscape<CriticalPoint>) -> Result<()> {
        let (n, d) = self.shape()?;
        let Some(beta) = landscape.beta.filter(|_| d == 2 && !cancelled()) else { return Ok(()) };
        let (longest, end) = PROOF_SECONDS;
        let started = Instant::now();
        let proceed = |_: f64, _: u64| !cancelled() && started.elapsed() < Duration::from_secs(end);
        let by = complete_list::prove(beta, n, &mut landscape.found, longest, &proceed)?;
        landscape.complete = by.map(|by| {
            let standing = match &by {
                CompleteBy::Theorem => Standing::Alone,
                CompleteBy::Boxes { certificate, .. } => Standing::of(certificate, false),
            };
            (by, standing)
        });
        Ok(())
    }

    /// Prepares the folder of --certificates: it is new or empty, or holds certificates of the same
    /// number of tokens, dimension and beta.
    ///
    /// **Errors** other files in the folder.
    fn check_folder(&self, folder: &Path, betas: &[Option<f64>]) -> Result<()> {
        let shape = if self.tokens.is_given() { None } else { Some(self.shape()?) };
        let fits = |point: &Certificate| {
            let beta = betas.iter().flatten().any(|beta| beta.to_bits() == point.beta.to_bits());
            beta && shape.is_none_or(|own| own == (point.sizes.iter().sum::<usize>(), point.d))
        };
        let own = |entry: std::fs::DirEntry| {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            Certificate::from_text(&text).is_ok_and(|point| fits(&point))
        };
        let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        if entries.all(own) {
            return std::fs::create_dir_all(folder)
                .map_err(|e| Error::io(folder.display(), "create the folder", &e));
        }
        super::recording::create(folder).map_err(|e| match e {
            Error::Parameter { found, expected, .. } => Error::parameter("out", found, expected),
            other => other,
        })
    }

    /// Writes certificates with --certificates; returns the outcome for each point.
    fn prove(&self, found: &SearchResult<CriticalPoint>) -> Result<Vec<Option<String>>> {
        let Some(folder) = &self.out else { return Ok(vec![None; found.points.len()]) };
        let one = |(k, p): (usize, &CriticalPoint)| {
            if cancelled() {
                return Ok(Some("interrupted before it was proved".to_owned()));
            }
            let certificate = match critical_point::prove(p) {
                Ok(certificate) => certificate,
                Err(e) => return Ok(Some(e.to_string())),
            };
            let text = certificate.to_text();
            let standing = Standing::of_point(&certificate, &text, false);
            if !standing.holds() {
                return Ok(Some(standing.line().trim_end().to_owned()));
            }
            let path = folder.join(format!("saddle-{k}.json"));
            arrays::write_atomically(&path, text.as_bytes())?;
            Ok(Some(standing.word().to_owned()))
        };
        found.points.iter().enumerate().map(one).collect()
    }
}

/// The points of a search as starts.
fn starts_of<P: crate::landscape::searched::FoundPoint>(found: &SearchResult<P>) -> Vec<Start> {
    found.points.iter().map(|p| (p.clusters().clone(), p.sizes().to_vec())).collect()
}
