//! `clusters`: clusters of a tokens file at a linking distance, or the merge tree and plateaus of a
//! finished run.

use super::input::TokenArguments;
use super::output::{Output, matrix, more, number, shown, vector};
use crate::clusters::{
    linkage::linkage,
    plateau::{Criterion, plateaus},
    tree::Tree,
};
use crate::error::{Error, Result, in_range};
use crate::flow::Merge;
use crate::lab::arrays;
use serde_json::{Value, json};
use std::path::Path;

/// Flags of `clusters`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable clusters --tokens tokens.csv --linking-distance 0.1
  metastable clusters --from-run run/                     (merge tree and plateaus)
  metastable clusters --from-run run/ --frame t=20 --beta 9   (clusters at one time)
`solve --out` writes such a folder. A folder of `run` needs --frame cell=ID,realisation=R,t=T.")]
pub struct Arguments {
    #[command(flatten)]
    tokens: TokenArguments,
    /// Link tokens within this geodesic distance, in radians.
    #[arg(long, allow_hyphen_values = true)]
    linking_distance: Option<f64>,
    /// Use half a kernel width, beta^(-1/2)/2, as the linking distance.
    #[arg(long, allow_hyphen_values = true, conflicts_with = "linking_distance")]
    beta: Option<f64>,
    /// With --from-run: largest change of the log energy on a plateau (default 0.01).
    #[arg(long, allow_hyphen_values = true)]
    plateau_tolerance: Option<f64>,
    /// With --from-run: smallest length of a plateau in decades of time (default 0.5).
    #[arg(long, allow_hyphen_values = true)]
    plateau_decades: Option<f64>,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        out.set_all_digits(self.tokens.all_digits);
        match self.tokens.past.folder() {
            // The whole run, unless a frame or a radius selects one time.
            Some(folder)
                if !self.tokens.past.has_frame()
                    && self.linking_distance.is_none()
                    && self.beta.is_none() =>
            {
                self.of_run(folder, out)
            }
            _ => self.of_tokens(out),
        }
    }

    fn of_tokens(&self, out: &Output) -> Result<i32> {
        for (flag, given) in [
            ("--plateau-tolerance", self.plateau_tolerance),
            ("--plateau-decades", self.plateau_decades),
        ] {
            if let Some(v) = given {
                return Err(Error::parameter(
                    flag,
                    v,
                    "it with --from-run and without --frame: only a run has plateaus",
                ));
            }
        }
        let radius = match (self.linking_distance, self.beta) {
            (Some(r), _) => in_range("--linking-distance", r, 0.0, std::f64::consts::PI)?,
            (None, Some(beta)) => 0.5 / in_range("--beta", beta, 0.03, 1e300)?.sqrt(),
            (None, None) => {
                return Err(Error::parameter(
                    "--linking-distance",
                    "nothing",
                    "--linking-distance R, or --beta B for half a kernel width",
                ));
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
        out.table(&json, &["sizes", "masses", "centres", "radii"], &text);
        Ok(0)
    }

    fn of_run(&self, folder: &Path, out: &Output) -> Result<i32> {
        self.tokens.refuse_with_run()?;
        let usual = Criterion::default();
        let criterion = Criterion {
            tolerance: in_range(
                "--plateau-tolerance",
                self.plateau_tolerance.unwrap_or(usual.tolerance),
                0.0,
                100.0,
            )?,
            decades: in_range(
                "--plateau-decades",
                self.plateau_decades.unwrap_or(usual.decades),
                0.0,
                300.0,
            )?,
        };
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
        out.table(&json, &["mergers"], &text);
        Ok(0)
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
