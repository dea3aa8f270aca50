//! `certify critical-point`: one critical point near given clusters.

use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::cli::input::{self, TokenArguments};
use crate::cli::out_file;
use crate::cli::output::matrix;
use crate::cli::proof::Standing;
use crate::error::{Error, Result};
use crate::landscape::CriticalPoint;
use crate::landscape::interaction::InteractionCriticalPoint;
use crate::operation::{
    Answer, Exit, Operation, Parameters, Rows, Table, any, at_least, column, within,
};
use crate::parameters;
use crate::proofs::critical_point::{self, Certificate};
use crate::sphere::{Tokens, geometry::dist};
use serde_json::json;
use std::f64::consts::PI;
use std::path::PathBuf;

parameters! {
    /// Parameters of `certify critical-point`.
    struct Point {
        ..tokens: TokenArguments;
        /// Tokens per cluster, separated by commas (default: one each).
        sizes: Vec<usize>, at_least(1.0).separated();
        /// Inverse temperature.
        beta: Option<f64>, within(-1e4, 1e4).unless(&["interaction"]);
        /// An interaction phi(s) in the place of e^{beta s}: power:p=3 or a formula of s and beta,
        /// with parameters of its own after a semicolon: 's^p + a; p=3, a=1'. The energy is (1/2)
        /// sum_ij m_i m_j W(<x_i, x_j>) with W' = phi.
        interaction: Option<String>, any().form("PHI");
        /// Largest distance in radians between a row and its cluster in the proved point; no
        /// rotation is applied before comparing. The default suits rows with two decimals. `any`:
        /// the critical point that Newton's method reaches, also if clusters merge.
        radius: String, any().or("0.01").form("R|any").excludes(&["anywhere"]).check(distance);
        /// As --radius any.
        anywhere: bool, any().hidden();
        /// Do not run the verifier; the point is then called found by the search, not proved.
        unchecked: bool;
        /// File for the certificate.
        out: Option<PathBuf>, any().form("FILE");
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    family: "certify",
    name: "critical-point",
    group: "Theorems",
    summary: "Prove that one critical point lies near given clusters",
    notes: "Examples:
  metastable certify critical-point --tokens clusters.csv --beta 6 --out saddle.json
  metastable certify critical-point --tokens clusters.csv --sizes 3,2 --beta 4
  metastable certify critical-point --angles triangle.csv --interaction power:p=2

Proved: among the configurations of whole clusters in a small box, on the slice that fixes
rotations, exactly one is a critical point. Not excluded: critical points that split a cluster, or
that lie off the slice. SA and USA have the same critical points.",
    parameters: Point::table,
    results: &[
        column("proved", "whether a critical point is proved"),
        column("proof", "what stands behind the word proved"),
        column("statement", "the proved statement"),
        column("not_excluded", "what the proof does not exclude"),
        column("radius", "radius of the box"),
        column("distance", "largest distance of a row from its cluster"),
        column("clusters_given", "number of given rows"),
        column("clusters", "number of clusters"),
        column("unstable_directions", "directions in which the energy increases"),
        column("morse_index", "directions in which the energy decreases"),
        column("rotations", "dimension of the rotations that move the point"),
        column("energy_share", "energy relative to one cluster"),
        column("cause", "why nothing is proved"),
    ],
    tables: &[Table {
        name: "clusters",
        what: "one row for each cluster",
        rows: Rows::Lists,
        columns: &[column("sizes", "number of tokens"), column("points", "its place")],
    }],
    exits: &[(Exit::Shown, "proved, or found with --unchecked"), (Exit::Undecided, "not proved")],
    run: |given, _| Point::of(given)?.run(),
};

/// **Errors** a text that is no radius.
fn distance(text: &str) -> Result<()> {
    radius(text).map(drop)
}

/// The largest distance in radians; none for any distance.
fn radius(text: &str) -> Result<Option<f64>> {
    if text == "any" {
        return Ok(None);
    }
    let number = text.trim().parse::<f64>().ok().filter(|r| (0.0..=PI).contains(r));
    number
        .map(Some)
        .ok_or_else(|| Error::parameter("radius", text, format!("a number in [0, {PI}], or any")))
}

impl Point {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        super::shared::refuse_all_digits(&self.tokens)?;
        self.out.iter().try_for_each(|path| out_file::check_own(path))?;
        let beta = self.beta;
        let radius = if self.anywhere { None } else { radius(&self.radius)? };
        let x = self.tokens.tokens()?;
        if x.uniform_mass().is_none() {
            return Err(Error::parameter(
                "--masses",
                "masses that differ",
                "equal masses; --sizes sets the sizes of clusters",
            ));
        }
        let sizes = if self.sizes.is_empty() { vec![1; x.n()] } else { self.sizes.clone() };
        if sizes.len() != x.n() {
            return Err(Error::parameter(
                "--sizes",
                format!("{sizes:?}"),
                format!("{} positive numbers, one per cluster", x.n()),
            ));
        }
        critical_point::check_size(x.n(), x.d())?;
        let masses: Vec<f64> = sizes.iter().map(|s| *s as f64).collect();
        let (near, proof) = match self.find(beta, &x.clone().with_masses(&masses)?, &sizes, radius)
        {
            Err(Error::Numerical { what }) => return Ok(unproved(&what)),
            found => found?,
        };
        let certificate = proof.to_text();
        let standing = Standing::of_point(&proof, &certificate, self.unchecked);
        if standing.holds() {
            super::shared::write(&certificate, self.out.as_deref())?;
        }
        let distance = proof.distance_from(&x, &near.labels);
        let mut json = json!({
            "proved": standing.is_proved(), "proof": standing.json(), "statement": proof.statement(), "not_excluded": proof.not_excluded(),
            "radius": proof.radius, "distance": distance, "clusters_given": x.n(), "clusters": proof.sizes.len(), "sizes": proof.sizes,
            "unstable_directions": proof.unstable, "morse_index": proof.morse_index, "rotations": proof.rotations.len(),
            "points": matrix(&proof.points, proof.d),
        });
        if let Found::Exponential(point) = &near.found {
            json["energy_share"] = json!(point.log_energy.exp());
        }
        let clusters = match (x.n(), proof.sizes.len()) {
            (given, left) if given == left => format!("{left} clusters"),
            (given, left) => format!("{left} clusters ({given} were given: some merged)"),
        };
        let text = format!(
            "{}: {clusters}, {} unstable directions, Morse index {}, at most {distance:.3e} rad from the given rows\n{}\nnot excluded: {}",
            standing.word(),
            proof.unstable,
            proof.morse_index,
            // The verifier's sentence is the statement.
            match &standing {
                Standing::Checked(_) => standing.line().trim_end().to_owned(),
                _ => standing.line() + &proof.statement(),
            },
            proof.not_excluded()
        );
        Ok(Answer::new(json, text).ended(super::shared::end(&standing)))
    }
}

/// The answer that says why no point is proved.
fn unproved(cause: &str) -> Answer {
    let values = json!({"proved": false, "cause": cause});
    Answer::new(values, format!("not proved: {cause}")).ended(Exit::Undecided)
}

/// A critical point near the given rows.
struct Near {
    found: Found,
    /// The cluster of each given row.
    labels: Vec<usize>,
    /// The number of clusters.
    clusters: usize,
    /// Largest distance from a row to its cluster.
    distance: f64,
}

/// A critical point of the energy of the exponential, or of an interaction.
enum Found {
    Exponential(Box<CriticalPoint>),
    Interaction(Box<Interaction>, Box<InteractionCriticalPoint>),
}

impl Point {
    /// The critical point that is asked for, and its proof.
    ///
    /// **Errors** as the search and the proof; [`Error::Numerical`] if Newton's method reaches
    /// another point.
    fn find(
        &self,
        beta: Option<f64>,
        x: &Tokens,
        sizes: &[usize],
        radius: Option<f64>,
    ) -> Result<(Near, Certificate)> {
        let near = self.near(beta, x, sizes)?;
        if let Some(radius) = radius {
            refuse_elsewhere(x, &near, radius)?;
        }
        let proof = near.prove()?;
        Ok((near, proof))
    }

    /// The critical point that Newton's method reaches.
    fn near(&self, beta: Option<f64>, x: &Tokens, sizes: &[usize]) -> Result<Near> {
        let Some(text) = &self.interaction else {
            let point = CriticalPoint::near(beta.unwrap_or_default(), x, sizes)?;
            let (labels, distance) = (point.labels.clone(), point.distance_from_start);
            let clusters = point.clusters.n();
            return Ok(Near {
                found: Found::Exponential(point.into()),
                labels,
                clusters,
                distance,
            });
        };
        let interaction = input::interaction(text, beta)?;
        let energy = InteractionEnergy::new(interaction.clone());
        let point = InteractionCriticalPoint::near(&energy, x, sizes)?;
        let (mut labels, mut distance) = (Vec::with_capacity(x.n()), 0f64);
        for row in x.rows() {
            let all = point.clusters.rows().map(|c| dist(row, c)).enumerate();
            let (label, own) = all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
            labels.push(label);
            distance = distance.max(own);
        }
        let clusters = point.clusters.n();
        let found = Found::Interaction(interaction.into(), point.into());
        Ok(Near { found, labels, clusters, distance })
    }
}

impl Near {
    fn prove(&self) -> Result<Certificate> {
        match &self.found {
            Found::Exponential(point) => critical_point::prove(point),
            Found::Interaction(phi, point) => {
                critical_point::prove_interaction(phi, &point.clusters, &point.sizes)
            }
        }
    }
}

/// **Errors** a critical point other than the given one.
fn refuse_elsewhere(given: &Tokens, found: &Near, radius: f64) -> Result<()> {
    let (before, after) = (given.n(), found.clusters);
    let clusters = if before == after {
        format!("{after} clusters")
    } else {
        format!("{after} clusters, not the {before} given")
    };
    if before == after && found.distance <= radius {
        return Ok(());
    }
    Err(Error::Numerical {
        what: format!(
            "the critical point that Newton's method reaches lies {:.3e} rad from the given rows (--radius {radius}) and has \
             {clusters}; with --radius any it is proved",
            found.distance
        ),
    })
}
