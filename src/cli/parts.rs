//! `check` and `hunt` on several machines: each part writes what it finished into a folder that all share, and `--merge` reads all of them.

use super::output::{Output, note};
use super::run::PartArguments;
use super::verdicts::rows;
use crate::error::{Error, Result};
use crate::lab::provenance::{NUMERICAL_VERSION, hash};
use crate::lab::{Provenance, arrays::write_atomically, part::Share, report::headline};
use crate::num::threads::spread;
use crate::theorem::{Claim, Effort, Verdict, check, worst_of};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The file of one piece of work: its name, and the hash of all that decides its answer.
fn file(folder: &Path, name: &str, settings: &str) -> PathBuf {
    folder.join("cells").join(format!("{name}-{}.json", &hash(format!("{NUMERICAL_VERSION}/{name}/{settings}"))[..12]))
}

/// A finished piece, if it is there and whole.
fn finished(path: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn keep(path: &Path, answer: &Value) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    }
    write_atomically(path, answer.to_string().as_bytes())
}

fn missing(folder: &Path, found: usize, all: usize, first: &str) -> Error {
    Error::Parameter {
        name: folder.display().to_string(),
        found: format!("{found} of {all} parts of the work, without {first}"),
        expected: "all of them, made with the same flags and version: run the missing parts again (they resume)".into(),
    }
}

/// Claims that are checked in parts.
pub struct CheckInParts<'a> {
    /// All of them.
    pub claims: &'a [&'static Claim],
    /// How thoroughly.
    pub effort: Effort,
    /// Seed.
    pub seed: u64,
    /// The folder that the machines share.
    pub folder: &'a Path,
}

impl CheckInParts<'_> {
    fn file(&self, claim: &Claim) -> PathBuf {
        file(self.folder, claim.name, &format!("{:?}/{}", self.effort, self.seed))
    }

    /// Checks the claims of a part that are not finished.
    pub fn run(&self, part: &Share, out: &Output) -> Result<i32> {
        let mine: Vec<&&Claim> = self.claims.iter().filter(|c| part.holds(c.name)).collect();
        let done = AtomicUsize::new(0);
        let one = |_: usize, claim: &&&Claim| {
            let k = done.load(Ordering::Relaxed);
            if super::cancel::cancelled() {
                return Err(Error::Interrupted { resume: format!("{k} of {} claims were checked; the same command resumes", mine.len()) });
            }
            super::progress::report(Some(k as f64 / mine.len() as f64), || claim.name.to_owned());
            let path = self.file(claim);
            if finished(&path).is_none() {
                keep(&path, &rows(&[check(claim, self.effort, self.seed)?])[0])?;
            }
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        spread(&mine, one)?;
        let names: Vec<&str> = mine.iter().map(|c| c.name).collect();
        let text = format!("part {part}: {} of {} claims are finished, in {}", mine.len(), self.claims.len(), self.folder.display());
        out.result(&json!({"part": part.to_string(), "claims": names, "of": self.claims.len()}), &text);
        Ok(0)
    }

    /// The verdicts of all parts.
    pub fn merge(&self, out: &Output) -> Result<i32> {
        let found: Vec<Option<Value>> = self.claims.iter().map(|c| finished(&self.file(c))).collect();
        if let Some(first) = found.iter().position(Option::is_none) {
            let there = found.iter().flatten().count();
            return Err(missing(self.folder, there, found.len(), self.claims[first].name));
        }
        let verdicts: Vec<Value> = found.into_iter().flatten().collect();
        let good = verdicts.iter().filter(|v| v["as_expected"] == true).count();
        let provenance = Provenance::new("check", &format!("{:?} {}", self.effort, self.seed), "metastable check --merge");
        let file = json!({"provenance": serde_json::to_value(&provenance).unwrap_or_default(), "claims": verdicts});
        write_atomically(&self.folder.join("verdicts.json"), file.to_string().as_bytes())?;
        note(&format!("wrote {}", self.folder.join("verdicts.json").display()));
        let line = |v: &Value| {
            let word = |key: &str| v[key].as_str().unwrap_or_default().to_owned();
            let mark = if v["as_expected"] == true { "" } else { " (!)" };
            let margin = v["margin"].as_f64().map_or("-".to_owned(), |m| format!("{m:.3e}"));
            format!("{:<30} {:<11} {:<10} {:<20} {margin:>10}\n", word("name"), word("status"), word("kind"), word("verdict") + mark)
        };
        let text: String = verdicts.iter().map(line).collect();
        let violated = |v: &Value| v["verdict"] == Verdict::Violated.to_string();
        let code = worst_of(self.claims.iter().zip(&verdicts).map(|(c, v)| (c.status, violated(v), v["as_expected"] == true)));
        out.result(
            &json!({"claims": verdicts, "seed": self.seed, "as_expected": good}),
            &format!("{text}{}\n", headline(good, self.claims.len())),
        );
        Ok(code)
    }
}

/// One hunt of one part, as it was answered.
pub fn keep_hunt(folder: &Path, claim: &Claim, settings: &str, part: &Share, answer: &Value) -> Result<()> {
    keep(&file(folder, &format!("{}-{}", claim.name, part.to_string().replace('/', "-of-")), settings), answer)
}

/// The hunts of all parts: together their trials, the smallest margin and the counterexample that has it.
pub fn merge_hunts(folder: &Path, claim: &Claim, out: &Output) -> Result<i32> {
    let cells = folder.join("cells");
    let entries = std::fs::read_dir(&cells).map_err(|e| Error::io(cells.display(), "read the folder", &e))?;
    let named = |n: &str| n.starts_with(&format!("{}-", claim.name)) && n.contains("-of-") && n.ends_with(".json");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.file_name().is_some_and(|n| named(&n.to_string_lossy())));
    paths.sort();
    let hunts: Vec<Value> = paths.iter().filter_map(|p| finished(p)).filter(|v| v["claim"] == claim.name).collect();
    let parts = hunts.iter().filter_map(|v| v["parts"].as_u64()).max().unwrap_or(1) as usize;
    if hunts.len() < parts || hunts.is_empty() {
        return Err(missing(folder, hunts.len(), parts, "the others"));
    }
    let trials: u64 = hunts.iter().filter_map(|v| v["budget"]["trials"].as_u64()).sum();
    let seconds: f64 = hunts.iter().filter_map(|v| v["budget"]["seconds"].as_f64()).sum();
    let least = |a: &&Value, b: &&Value| {
        let margin = |v: &Value| v["margin"].as_f64().unwrap_or(f64::INFINITY);
        margin(a).total_cmp(&margin(b))
    };
    let found = hunts.iter().filter(|v| v["found"] == true);
    let best = found.clone().min_by(least).or_else(|| hunts.iter().min_by(least)).cloned().unwrap_or_default();
    let mut result = json!({"claim": claim.name, "found": best["found"], "confirmed": best["confirmed"], "margin": best["margin"], "file": best["file"],
        "budget": {"trials": trials, "seconds": seconds}, "parts": hunts.len(), "found_by": found.clone().count()});
    // What a hunt of a share says of its place; no other hunt has these.
    for key in ["share", "share_at_most", "level", "place"] {
        best.get(key).into_iter().for_each(|v| result[key] = v.clone());
    }
    let at = best["file"].as_str().or(best["place"].as_str()).unwrap_or_default();
    let words = if best["found"] == true { format!("violated; {at}") } else { "nothing found; that proves nothing".to_owned() };
    out.result(&result, &format!("{}: {words}; smallest margin {}, {trials} trials in {} parts", claim.name, best["margin"], hunts.len()));
    Ok(match (best["found"] == true, best["confirmed"] == true) {
        (true, true) if claim.status.must_hold() => 2,
        (true, false) => 3,
        (true, true) => 0,
        _ if claim.status.expects_violation() => 3,
        _ => 0,
    })
}

/// The folder of work in parts, which has to be said: all machines share it.
pub fn shared(folder: Option<&Path>, parts: &PartArguments) -> Result<Option<(PathBuf, Option<Share>)>> {
    let part = parts.part()?;
    if part.is_none() && !parts.merge {
        return Ok(None);
    }
    match folder {
        Some(folder) => Ok(Some((folder.to_owned(), part))),
        None => Err(Error::parameter("--out", "nothing", "a folder that all machines share")),
    }
}
