//! `check` and `hunt` on several machines: each shard writes its results into a shared folder, and
//! `--merge` reads all of them.

use super::output::note;
use super::run::ShardArguments;
use super::verdicts::rows;
use crate::error::{Error, Result};
use crate::lab::provenance::{NUMERICAL_VERSION, hash};
use crate::lab::replace::{self, Problem};
use crate::lab::{Provenance, arrays::write_atomically, report::headline, shard::Shard};
use crate::num::threads::par_map;
use crate::operation::{Answer, Exit};
use crate::theorem::{Claim, Effort, Verdict, check, exit_code_of};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The file of one result: its name and the hash of all settings that determine it.
fn file(folder: &Path, name: &str, settings: &str) -> PathBuf {
    folder.join("cells").join(format!(
        "{name}-{}.json",
        &hash(format!("{NUMERICAL_VERSION}/{name}/{settings}"))[..12]
    ))
}

/// A result, if its file exists and is complete.
fn read_result(path: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn write_result(path: &Path, answer: &Value) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    }
    write_atomically(path, answer.to_string().as_bytes())
}

fn missing(folder: &Path, found: usize, all: usize, first: &str) -> Error {
    Error::Parameter {
        name: folder.display().to_string(),
        found: format!("{found} of {all} results, without {first}"),
        expected:
            "all of them, from the same flags and version; repeat the missing shards, which resume"
                .into(),
    }
}

/// Claims that are checked in shards.
pub struct ShardedCheck<'a> {
    /// All claims.
    pub claims: &'a [&'static Claim],
    /// Number of trials.
    pub effort: Effort,
    /// Seed.
    pub seed: u64,
    /// The shared folder.
    pub folder: &'a Path,
}

impl ShardedCheck<'_> {
    fn file(&self, claim: &Claim) -> PathBuf {
        file(self.folder, claim.name, &format!("{:?}/{}", self.effort, self.seed))
    }

    /// Checks the unfinished claims of a shard.
    pub fn run(&self, shard: &Shard) -> Result<Answer> {
        let mine: Vec<&&Claim> = self.claims.iter().filter(|c| shard.holds(c.name)).collect();
        let (done, session) = (AtomicUsize::new(0), super::session::current());
        let one = |_: usize, claim: &&&Claim| {
            let k = done.load(Ordering::Relaxed);
            if session.cancelled() {
                return Err(Error::Interrupted {
                    resume: format!(
                        "{k} of {} claims were checked; the same command resumes",
                        mine.len()
                    ),
                });
            }
            super::progress::report(Some(k as f64 / mine.len() as f64), || claim.name.to_owned());
            let path = self.file(claim);
            if read_result(&path).is_none() {
                write_result(&path, &rows(&[check(claim, self.effort, self.seed)?])[0])?;
            }
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        par_map(&mine, one)?;
        let names: Vec<&str> = mine.iter().map(|c| c.name).collect();
        let text = format!(
            "shard {shard}: {} of {} claims are finished, in {}",
            mine.len(),
            self.claims.len(),
            self.folder.display()
        );
        Ok(Answer::new(
            json!({"shard": shard.to_string(), "claims": names, "of": self.claims.len()}),
            text,
        ))
    }

    /// The verdicts of all shards.
    pub fn merge(&self) -> Result<Answer> {
        let found: Vec<Option<Value>> =
            self.claims.iter().map(|c| read_result(&self.file(c))).collect();
        if let Some(first) = found.iter().position(Option::is_none) {
            let there = found.iter().flatten().count();
            return Err(missing(self.folder, there, found.len(), self.claims[first].name));
        }
        let verdicts: Vec<Value> = found.into_iter().flatten().collect();
        let good = verdicts.iter().filter(|v| v["as_expected"] == true).count();
        let names: Vec<&str> = self.claims.iter().map(|c| c.name).collect();
        let provenance = Provenance::new(
            "check in shards",
            &format!("{:?} {} {names:?}", self.effort, self.seed),
            "metastable check --merge",
        );
        let file = json!({"provenance": serde_json::to_value(&provenance).unwrap_or_default(), "claims": verdicts});
        let files = vec![(self.folder.join("verdicts.json"), file.to_string().into_bytes())];
        let problem = Problem::from(&provenance);
        replace::write(files, Some(&problem), super::out_file::replaced(false))?;
        note(&format!("wrote {}", self.folder.join("verdicts.json").display()));
        let line = |v: &Value| {
            let word = |key: &str| v[key].as_str().unwrap_or_default().to_owned();
            let mark = if v["as_expected"] == true { "" } else { " (!)" };
            let margin = v["margin"].as_f64().map_or("-".to_owned(), |m| format!("{m:.3e}"));
            format!(
                "{:<30} {:<11} {:<10} {:<20} {margin:>10}\n",
                word("name"),
                word("status"),
                word("kind"),
                word("verdict") + mark
            )
        };
        let text: String = verdicts.iter().map(line).collect();
        let violated = |v: &Value| v["verdict"] == Verdict::Violated.to_string();
        let code = exit_code_of(
            self.claims
                .iter()
                .zip(&verdicts)
                .map(|(c, v)| (c.status, violated(v), v["as_expected"] == true)),
        );
        let names = self.claims.iter().map(|c| c.name);
        let expected = verdicts.iter().map(|v| v["as_expected"] == true);
        let text = format!("{text}{}\n", headline(names.zip(expected)));
        let values = json!({"claims": verdicts, "seed": self.seed, "as_expected": good});
        Ok(Answer::new(values, text).ended(Exit::of(code)))
    }
}

/// Writes the result of the hunt of one shard.
pub fn write_hunt(
    folder: &Path,
    claim: &Claim,
    settings: &str,
    shard: &Shard,
    answer: &Value,
) -> Result<()> {
    write_result(
        &file(
            folder,
            &format!("{}-{}", claim.name, shard.to_string().replace('/', "-of-")),
            settings,
        ),
        answer,
    )
}

/// Merges the hunts of all shards: total trials, smallest margin, and its counterexample.
pub fn merge_hunts(folder: &Path, claim: &Claim) -> Result<Answer> {
    let cells = folder.join("cells");
    let entries =
        std::fs::read_dir(&cells).map_err(|e| Error::io(cells.display(), "read the folder", &e))?;
    let named = |n: &str| {
        n.starts_with(&format!("{}-", claim.name)) && n.contains("-of-") && n.ends_with(".json")
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.file_name().is_some_and(|n| named(&n.to_string_lossy())));
    paths.sort();
    let hunts: Vec<Value> =
        paths.iter().filter_map(|p| read_result(p)).filter(|v| v["claim"] == claim.name).collect();
    let shards = hunts.iter().filter_map(|v| v["shards"].as_u64()).max().unwrap_or(1) as usize;
    if hunts.len() < shards || hunts.is_empty() {
        return Err(missing(folder, hunts.len(), shards, "the others"));
    }
    let trials: u64 = hunts.iter().filter_map(|v| v["budget"]["trials"].as_u64()).sum();
    let seconds: f64 = hunts.iter().filter_map(|v| v["budget"]["seconds"].as_f64()).sum();
    let least = |a: &&Value, b: &&Value| {
        let margin = |v: &Value| v["margin"].as_f64().unwrap_or(f64::INFINITY);
        margin(a).total_cmp(&margin(b))
    };
    let found = hunts.iter().filter(|v| v["found"] == true);
    let best = found
        .clone()
        .min_by(least)
        .or_else(|| hunts.iter().min_by(least))
        .cloned()
        .unwrap_or_default();
    let mut result = json!({"claim": claim.name, "found": best["found"], "confirmed": best["confirmed"], "margin": best["margin"], "file": best["file"],
        "budget": {"trials": trials, "seconds": seconds}, "shards": hunts.len(), "found_by": found.clone().count()});
    // Keys that only hunts of claims of the kind `share` have.
    for key in ["share", "share_at_most", "level", "place"] {
        best.get(key).into_iter().for_each(|v| result[key] = v.clone());
    }
    let at = best["file"].as_str().or(best["place"].as_str()).unwrap_or_default();
    let words = if best["found"] == true {
        format!("violated; {at}")
    } else {
        "no violation found, which proves nothing".to_owned()
    };
    let text = format!(
        "{}: {words}; smallest margin {}, {trials} trials in {} shards",
        claim.name,
        best["margin"],
        hunts.len()
    );
    let code = match (best["found"] == true, best["confirmed"] == true) {
        (true, true) if claim.status.must_hold() => 2,
        (true, false) => 3,
        (true, true) => 0,
        _ if claim.status.expects_violation() => 3,
        _ => 0,
    };
    Ok(Answer::new(result, text).ended(Exit::of(code)))
}

/// The shared folder and the shard of divided work; no shard for `--merge`.
///
/// **Errors** divided work without `--out`.
pub fn shared(
    folder: Option<&Path>,
    shards: &ShardArguments,
) -> Result<Option<(PathBuf, Option<Shard>)>> {
    let shard = shards.shard()?;
    if shard.is_none() && !shards.merge {
        return Ok(None);
    }
    match folder {
        Some(folder) => Ok(Some((folder.to_owned(), shard))),
        None => Err(Error::parameter("--out", "nothing", "a folder that all machines share")),
    }
}
