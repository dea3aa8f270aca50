//! `clusters`: clusters of a tokens file at a linking distance, or the merge tree and plateaus of a
//! finished run.

use super::input::TokenArguments;
use super::output::{matrix, more, number, set_all_digits, shown, vector};
use crate::clusters::{
    linkage::linkage,
    plateau::{Criterion, plateaus},
    tree::Tree,
};
use crate::error::{Error, Result};
use crate::flow::Merge;
use crate::lab::arrays;
use crate::operation::{Answer, Operation, Parameters, Rows, Table, any, column, within};
use crate::parameters;
use serde_json::{Value, json};
use std::f64::consts::PI;
use std::path::Path;

parameters! {
    /// Parameters of `clusters`.
    struct Clusters {
        ..tokens: TokenArguments;
        /// Link tokens within this geodesic distance, in radians.
        radius: Option<f64>, within(0.0, PI).also(&["linking_distance"]);
        /// Use half a kernel width, beta^(-1/2)/2, as the linking distance.
        beta: Option<f64>, within(0.03, 1e300).excludes(&["radius"]);
        /// With --from-run: largest change of the log energy on a plateau, and the smallest length
        /// of a plateau in decades of time.
        plateau: String, any().or("0.01,0.5").form("CHANGE,DECADES").check(plateau);
        /// The first number of --plateau.
        plateau_tolerance: Option<f64>, within(0.0, 100.0).hidden();
        /// The second number of --plateau.
        plateau_decades: Option<f64>, within(0.0, 300.0).hidden();
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "clusters",
    group: "Analyse",
    summary: "Clusters of tokens; merge tree and plateaus of a run",
    notes: "Examples:
  metastable clusters --tokens tokens.csv --radius 0.1
  metastable clusters --from-run run/                     (merge tree and plateaus)
  metastable clusters --from-run run/ --frame t=20 --beta 9   (clusters at one time)
`solve --out` writes such a folder. A cell of `run` is --from-run FOLDER:CELL.",
    parameters: Clusters::table,
    results: &[
        column("clusters", "number of clusters"),
        column("linking_distance", "tokens within this geodesic distance are linked"),
        column("labels", "the cluster of each token"),
        column("tokens", "number of tokens of the run"),
        column("clusters_left", "number of clusters at the end of the run"),
        column("leaf_order", "tokens in the order of the leaves of the merge tree"),
        column("newick", "the merge tree in Newick form"),
        column("plateau_tolerance", "largest change of the log energy on a plateau"),
        column("plateau_decades", "smallest length of a plateau in decades of time"),
    ],
    tables: &[
        Table {
            name: "clusters",
            what: "one row for each cluster",
            rows: Rows::Lists,
            columns: &[
                column("sizes", "number of tokens"),
                column("masses", "mass"),
                column("centres", "centre"),
                column("radii", "largest distance of a token from the centre"),
            ],
        },
        Table {
            name: "mergers",
            what: "one row for each merger of a run",
            rows: Rows::Objects("mergers"),
            columns: &[
                column("node", "number of the new node of the tree"),
                column("t", "time"),
                column("mass", "mass of the new cluster"),
                column("tokens", "number of its tokens"),
                column("parts", "the nodes that merged"),
            ],
        },
        Table {
            name: "plateaus",
            what: "one row for each plateau of a run",
            rows: Rows::Objects("plateaus"),
            columns: &[
                column("from", "first time"),
                column("to", "last time"),
                column("decades", "length in decades of time"),
                column("log_energy", "log energy"),
                column("energy_share", "energy relative to one cluster"),
            ],
        },
    ],
    run: |given, _| Clusters::of(given)?.run(),
    ..Operation::EMPTY
};

/// **Errors** a text that is no criterion of plateaus.
fn plateau(text: &str) -> Result<()> {
    criterion(text).map(drop)
}

/// The largest change of the log energy and the smallest length of a plateau.
fn criterion(text: &str) -> Result<(f64, f64)> {
    let both = text.split_once(',');
    let both = both.and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    let fits = |(a, b): &(f64, f64)| (0.0..=100.0).contains(a) && (0.0..=300.0).contains(b);
    both.filter(fits).ok_or_else(|| {
        let expected = "CHANGE,DECADES: numbers in [0, 100] and [0, 300], for example 0.01,0.5";
        Error::parameter("plateau", text, expected)
    })
}

impl Clusters {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        set_all_digits(self.tokens.all_digits);
        match self.tokens.past.folder() {
            // The whole run, unless a frame or a radius selects one time.
            Some(folder)
                if !self.tokens.past.has_frame()
                    && self.radius.is_none()
                    && self.beta.is_none() =>
            {
                self.of_run(folder)
            }
            _ => self.of_tokens(),
        }
    }

    fn of_tokens(&self) -> Result<Answer> {
        let radius = match (self.radius, self.beta) {
            (Some(radius), _) => radius,
            (None, Some(beta)) => 0.5 / beta.sqrt(),
            (None, None) => {
                let expected = "--radius R, or --beta B for half a kernel width";
                return Err(Error::parameter("radius", "nothing", expected));
            }
        };
        let x = self.tokens.tokens()?;
        let found = linkage(&x, radius)?;
        let json = json!({
            "clusters": found.sizes.len(), "linking_distance": radius, "sizes": found.sizes, "masses": found.centres.masses(), "labels": found.labels,
            "centres": matrix(found.centres.coordinates(), x.d()), "radii": found.radii,
        });
        let mut text =
            format!("{} clusters of {} tokens (linked at {radius})\n", found.sizes.len(), x.n());
        for (k, size) in found.sizes.iter().enumerate().take(shown(found.sizes.len())) {
            text.push_str(&format!(
                "  {size} tokens, mass {:.5}, radius {}, centre {}\n",
                found.centres.masses()[k],
                number(found.radii[k]),
                vector(found.centres.row(k))
            ));
        }
        text.push_str(&more(found.sizes.len()));
        Ok(Answer::new(json, text))
    }

    fn of_run(&self, folder: &Path) -> Result<Answer> {
        self.tokens.refuse_with_run()?;
        let (tolerance, decades) = criterion(&self.plateau)?;
        let tolerance = self.plateau_tolerance.unwrap_or(tolerance);
        let criterion = Criterion { tolerance, decades: self.plateau_decades.unwrap_or(decades) };
        let path = folder.join("record.json");
        let text =
            std::fs::read_to_string(&path).map_err(|e| Error::io(path.display(), "read", &e))?;
        let (masses, merges) = record(&path, &text)?;
        let n = masses.len();
        let tree = Tree::new(&masses, &merges);
        let timeline = arrays::read(&folder.join("timeline.npy"), None)?;
        let columns = columns(&text);
        let energy = columns.iter().position(|c| c == "log_energy");
        let samples: Vec<(f64, f64)> = match energy {
            Some(c) => timeline.data.chunks_exact(columns.len()).map(|r| (r[0], r[c])).collect(),
            None => {
                super::output::note(
                    "no plateaus: the time line has no log_energy (record it by solve --observables log-energy,...)",
                );
                Vec::new()
            }
        };
        let found = plateaus(&samples, criterion);
        let json = json!({
            "tokens": n, "clusters_left": tree.roots.len(),
            "mergers": tree.nodes[n..].iter().enumerate().map(|(k, m)| json!({"node": n + k, "t": m.t, "mass": m.mass, "tokens": m.tokens, "parts": m.parts})).collect::<Vec<_>>(),
            "leaf_order": tree.order(), "newick": tree.newick(),
            "plateaus": found.iter().map(|p| json!({"from": p.from, "to": p.to, "decades": p.decades(), "log_energy": p.log_energy, "energy_share": p.log_energy.exp()})).collect::<Vec<_>>(),
            "plateau_tolerance": criterion.tolerance, "plateau_decades": criterion.decades,
        });
        let mut text = format!(
            "{n} tokens, {} mergers, {} clusters left\n",
            tree.nodes.len() - n,
            tree.roots.len()
        );
        for m in tree.nodes[n..].iter().rev().take(12).collect::<Vec<_>>().into_iter().rev() {
            text.push_str(&format!(
                "  t = {}: {} tokens, mass {:.4}\n",
                number(m.t),
                m.tokens,
                m.mass
            ));
        }
        text.push_str(&format!(
            "{} plateaus (log energy within {}, at least {} decades)\n",
            found.len(),
            criterion.tolerance,
            criterion.decades
        ));
        for p in &found {
            text.push_str(&format!(
                "  t = {} to {} ({:.1} decades), energy {:.6}\n",
                number(p.from),
                number(p.to),
                p.decades(),
                p.log_energy.exp()
            ));
        }
        Ok(Answer::new(json, text))
    }
}

/// The columns of the time line.
fn columns(record: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(record).unwrap_or_default();
    let named = value["timeline_columns"].as_array();
    named.map_or_else(Vec::new, |list| {
        list.iter().filter_map(|c| c.as_str().map(str::to_owned)).collect()
    })
}

/// Masses of the tokens and mergers of a record of `solve`.
fn record(path: &Path, text: &str) -> Result<(Vec<f64>, Vec<Merge>)> {
    let bad = |what: &str| Error::File {
        path: path.display().to_string(),
        place: String::new(),
        problem: format!("found {what}, expected a record of `solve --out`"),
    };
    let value: Value = serde_json::from_str(text).map_err(|_| bad("something that is not JSON"))?;
    let n = value["labels"].as_array().ok_or_else(|| bad("no list `labels`"))?.len();
    let merge = |m: &Value| -> Option<Merge> {
        let members = m["members"]
            .as_array()?
            .iter()
            .map(|i| i.as_u64().map(|i| i as usize).filter(|i| *i < n))
            .collect::<Option<Vec<_>>>()?;
        Some(Merge { t: m["t"].as_f64()?, members, mass: m["mass"].as_f64()? })
    };
    let merges = value["merges"].as_array().ok_or_else(|| bad("no list `merges`"))?;
    let given = value["settings"]["masses"]["values"].as_array();
    let masses = given
        .map_or_else(|| vec![1.0 / n as f64; n], |m| m.iter().filter_map(Value::as_f64).collect());
    Ok((
        masses,
        merges
            .iter()
            .map(merge)
            .collect::<Option<_>>()
            .ok_or_else(|| bad("a merger without t, members or mass"))?,
    ))
}
