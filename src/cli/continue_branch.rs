//! `continue`: all branches of critical points over an interval of beta with all bifurcations, or
//! one branch, as chains of boxes with one critical point each.

use super::output::{Output, counted, note, note_seconds, number};
use super::parameter::axis;
use super::{command_line, progress, session};
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::proofs::landscape::branches::{
    Bifurcation, Branch, Continuation, End, Kind, all_branches, followed_branches, one_branch,
    seconds, seconds_followed,
};
use crate::proofs::landscape::{Tokens, UndecidedBox};
use crate::theorem::AxisValues;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Flags of `continue`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable continue --n 5 --beta 0.19..0.22
  metastable continue --n 4 --beta 0.05..50 --out four
  metastable continue --n 8 --beta 0.1..50 --start 2+1+2+1+2
  metastable continue --masses masses.csv --beta 0.5..4

Proved: the branches are all critical points for every beta in the interval, up to rotations,
reflections and permutations of equal masses; each is a chain of boxes with exactly one critical point
for every beta; the number of unstable directions changes only at the listed bifurcations. With
--start: only the chain of this branch and its bifurcations. With --branches-only: the chains and
their bifurcations, but not that there are no others.

Files in --out: branches.csv (critical points), pieces.csv (boxes of gaps in turns), bifurcations.csv.

Exit codes: 0 complete; 3 not complete, with the list of what is missing; 130 interrupted.")]
pub struct Arguments {
    /// Number of tokens. Default: the number of masses.
    #[arg(long, allow_hyphen_values = true, required_unless_present = "masses")]
    n: Option<i64>,
    /// Interval A..B of inverse temperatures, between 0.01 and 100.
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    beta: String,
    /// File with the masses of the tokens, decimal numbers; their ratios count. Default: equal
    /// masses.
    #[arg(long, value_name = "FILE")]
    masses: Option<PathBuf>,
    /// Follow only the branch near a start: tokens per cluster in cyclic order, as 2+1+2, or a
    /// file with one angle per token.
    #[arg(long, value_name = "SIZES|FILE", allow_hyphen_values = true)]
    start: Option<String>,
    /// Follow the branches that reach the largest beta, and those that begin there, without the
    /// search for others.
    #[arg(long, conflicts_with = "start")]
    branches_only: bool,
    /// Folder for the tables of branches, boxes and bifurcations.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Exit codes of an open question, and of an interruption.
const UNDECIDED: i32 = 3;
const INTERRUPTED: i32 = 130;

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let tokens = self.tokens()?;
        let session = session::current();
        let report = |share: f64, boxes: u64| {
            progress::report(Some(share), || {
                format!("{boxes} boxes, {:.1} % of the volume decided", 100.0 * share)
            });
            !session.cancelled()
        };
        let found = match &self.start {
            Some(start) => {
                let (clusters, gaps) = self.start(start, &tokens)?;
                one_branch(&tokens, &clusters, &gaps, &report)
            }
            None if self.branches_only => {
                note_seconds("the search at the largest beta", seconds_followed(&tokens));
                followed_branches(&tokens, &report)
            }
            None => {
                note_seconds("the proof", seconds(&tokens));
                all_branches(&tokens, &report)
            }
        };
        let found = found.map_err(|e| self.named(e))?;
        super::cancel::work_is_over();
        if let Some(folder) = &self.out {
            write(folder, &found)?;
            note(&format!("wrote {}", folder.display()));
        }
        let json = self.json(&tokens, &found);
        out.result(&json, &self.text(&tokens, &found));
        Ok(match () {
            () if found.interrupted => INTERRUPTED,
            () if found.complete || self.start.is_some() && found.missing.is_empty() => 0,
            () => UNDECIDED,
        })
    }

    /// An error with the names of flags.
    fn named(&self, error: Error) -> Error {
        match error {
            Error::Parameter { name, expected, .. } if name == "n" && self.masses.is_none() => {
                Error::parameter("--n", self.n.unwrap_or_default(), expected)
            }
            Error::Parameter { name, found, expected } if !name.starts_with('-') => {
                Error::Parameter { name: format!("--{name}"), found, expected }
            }
            other => other,
        }
    }

    /// The tokens and the inverse temperatures.
    fn tokens(&self) -> Result<Tokens> {
        let beta = match axis("--beta", &self.beta)? {
            AxisValues::Range(low, high) => (low, high),
            AxisValues::List(_) => {
                let expected = "an interval a..b of numbers";
                return Err(Error::parameter("--beta", &self.beta, expected));
            }
        };
        let masses = match &self.masses {
            Some(path) => arrays::list(path, None)?,
            None => {
                let n = self.n.unwrap_or_default();
                // A huge number is refused by its value, before memory is needed.
                vec![1.0; usize::try_from(n).unwrap_or_default().min(1000)]
            }
        };
        if let Some(n) = self.n
            && self.masses.is_some()
            && usize::try_from(n).ok() != Some(masses.len())
        {
            let expected = format!("{}, the number of masses", masses.len());
            return Err(Error::parameter("--n", n, expected));
        }
        Tokens::new(&masses, beta).map_err(|e| self.named(e))
    }

    /// Clusters of a start in cyclic order, and their gaps in turns.
    fn start(&self, start: &str, tokens: &Tokens) -> Result<(Vec<Vec<u32>>, Vec<f64>)> {
        let refuse = |expected: String| Err(Error::parameter("--start", start, expected));
        let sizes: Option<Vec<usize>> = start.split('+').map(|s| s.trim().parse().ok()).collect();
        let Some(sizes) = sizes else {
            let angles = arrays::list(Path::new(start), None)?;
            if angles.len() != tokens.n() {
                return refuse(format!("{} angles, one for each token", tokens.n()));
            }
            return Ok(tokens.clusters_at(&angles));
        };
        if sizes.iter().sum::<usize>() != tokens.n() || sizes.contains(&0) {
            return refuse(format!("sizes of clusters, at least 1, with the sum {}", tokens.n()));
        }
        let mut rest = tokens.masses();
        let mut clusters = Vec::new();
        for size in &sizes {
            let (own, others) = rest.split_at(*size);
            clusters.push(own.to_vec());
            rest = others;
        }
        Ok((clusters, vec![1.0 / sizes.len() as f64; sizes.len()]))
    }

    fn json(&self, tokens: &Tokens, found: &Continuation) -> Value {
        json!({
            "n": tokens.n(), "masses": tokens.masses(), "beta": [found.beta.0, found.beta.1],
            "complete": found.complete, "morse_inequalities": found.morse,
            "bifurcations": found.bifurcations.iter().map(of_bifurcation).collect::<Vec<_>>(),
            "branches": found.branches.iter().map(|b| of_branch(b, found)).collect::<Vec<_>>(),
            "boxes": found.boxes, "undecided": found.undecided,
            "undecided_boxes": of_boxes(&found.undecided_boxes), "missing": found.missing,
            "interrupted": found.interrupted,
        })
    }

    fn text(&self, tokens: &Tokens, found: &Continuation) -> String {
        let masses: Vec<String> = tokens.masses().iter().map(u32::to_string).collect();
        let masses = if tokens.masses().iter().all(|m| *m == 1) {
            "equal masses".to_owned()
        } else {
            format!("masses {}", masses.join(", "))
        };
        let mut text =
            format!("{} tokens on the circle, {masses}, beta = {}\n", tokens.n(), self.beta);
        let branches = counted(found.branches.len(), "branch");
        let branches = branches.replace("branchs", "branches");
        let bifurcations = counted(found.bifurcations.len(), "bifurcation");
        match () {
            () if self.start.is_some() => {
                text.push_str(&format!("one branch with {bifurcations}\n"));
            }
            () if found.complete => text.push_str(&format!(
                "proved: exactly {branches} and {bifurcations}, up to rotations, reflections and \
                 permutations of equal masses ({} boxes)\n",
                found.boxes
            )),
            () => text.push_str(&format!(
                "not complete: {branches} and {bifurcations} found in {} boxes, {} undecided{}\n",
                found.boxes,
                found.undecided,
                if found.interrupted { "; interrupted" } else { "" }
            )),
        }
        for what in &found.missing {
            text.push_str(&format!("not proved: {what}\n"));
        }
        if let Some(first) = found.undecided_boxes.first() {
            text.push_str(&format!(
                "the first undecided box: clusters {:?}, gaps in turns {:?}, beta in {:?}\n",
                first.clusters, first.gaps, first.beta
            ));
        }
        if !found.bifurcations.is_empty() {
            text.push_str(
                "  #  beta             +-       kind         clusters    unstable  branches that begin\n",
            );
        }
        for (x, b) in found.bifurcations.iter().enumerate() {
            text.push_str(&bifurcation_line(x, b));
        }
        text.push_str("  #  clusters       multiplicity  unstable  pieces  beta\n");
        for (x, b) in found.branches.iter().enumerate() {
            text.push_str(&branch_line(x, b, found));
        }
        text
    }
}

/// The tokens per cluster, or the masses in a cluster.
fn sizes(clusters: &[Vec<u32>]) -> String {
    let one = |c: &Vec<u32>| {
        let masses: Vec<String> = c.iter().map(u32::to_string).collect();
        if c.iter().all(|m| *m == 1) {
            c.len().to_string()
        } else {
            format!("({})", masses.join(" "))
        }
    };
    clusters.iter().map(one).collect::<Vec<_>>().join("+")
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Pitchfork => "pitchfork",
        Kind::Fold => "fold",
        Kind::Transcritical => "transcritical",
        Kind::Multiple => "multiple",
    }
}

fn bifurcation_line(x: usize, b: &Bifurcation) -> String {
    let born: Vec<String> = b.born.iter().map(usize::to_string).collect();
    let born = match () {
        () if b.kind == Kind::Fold => "turns".to_owned(),
        () if b.proved => born.join(" "),
        () => "not proved".to_owned(),
    };
    format!(
        "{x:>3}  {:<15.12}  {:<7.0e}  {:<13}{:<12}{:<10}{born}\n",
        0.5 * (b.beta.0 + b.beta.1),
        0.5 * (b.beta.1 - b.beta.0),
        kind(b.kind),
        sizes(&b.clusters),
        format!("{} to {}", b.ascents.0, b.ascents.1),
    )
}

fn branch_line(x: usize, branch: &Branch, found: &Continuation) -> String {
    let mut unstable: Vec<String> = branch.pieces.iter().map(|p| p.ascents.to_string()).collect();
    unstable.dedup();
    let reach = branch.reach(&found.bifurcations);
    let end = |e: End| match e {
        End::Range => String::new(),
        End::Bifurcation(b) => format!(" (bifurcation {b})"),
        End::Open => " (open)".to_owned(),
    };
    format!(
        "{x:>3}  {:<14} {:>12}  {:<8}  {:>6}  {}{} to {}{}\n",
        sizes(&branch.clusters),
        branch.multiplicity,
        unstable.join(","),
        branch.pieces.len(),
        number(reach.0),
        end(branch.ends.0),
        number(reach.1),
        end(branch.ends.1),
    )
}

fn of_boxes(boxes: &[UndecidedBox]) -> Value {
    let one = |b: &UndecidedBox| {
        let turns: Vec<[f64; 2]> = b.gaps.iter().map(|g| [g.0, g.1]).collect();
        json!({ "masses": b.clusters, "gaps_in_turns": turns, "beta": [b.beta.0, b.beta.1] })
    };
    boxes.iter().map(one).collect()
}

fn of_bifurcation(b: &Bifurcation) -> Value {
    let turns: Vec<[f64; 2]> = b.gaps.iter().map(|g| [g.0, g.1]).collect();
    json!({
        "beta": 0.5 * (b.beta.0 + b.beta.1), "beta_bounds": [b.beta.0, b.beta.1],
        "type": kind(b.kind), "masses": b.clusters, "gaps_in_turns": turns,
        "splitting": b.splitting, "unstable_below": b.ascents.0, "unstable_above": b.ascents.1,
        "branch": b.branch, "born": b.born, "proved": b.proved,
    })
}

fn of_branch(branch: &Branch, found: &Continuation) -> Value {
    let end = |e: End| match e {
        End::Range => json!("range"),
        End::Bifurcation(b) => json!(b),
        End::Open => json!("open"),
    };
    let (low, high) = branch.reach(&found.bifurcations);
    let samples: Vec<Value> = branch
        .samples
        .iter()
        .map(|s| {
            json!({
                "beta": s.beta, "energy_share": s.energy_share,
                "unstable_directions": s.ascents, "gaps": s.gaps,
            })
        })
        .collect();
    json!({
        "masses": branch.clusters, "multiplicity": branch.multiplicity, "mirror": branch.mirror,
        "rotations": branch.rotations, "beta": [low, high],
        "ends": [end(branch.ends.0), end(branch.ends.1)], "pieces": branch.pieces.len(),
        "points": samples,
    })
}

/// Writes the tables.
fn write(folder: &Path, found: &Continuation) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    let most = found.branches.iter().map(|b| b.clusters.len()).max().unwrap_or(1);
    let header = format!("# {}\n", command_line::reproduce());
    let row = |out: &mut String, words: &[String], numbers: &[f64], width: usize| {
        out.push_str(&words.join(","));
        for v in numbers {
            out.push(',');
            arrays::push_number(out, *v);
        }
        // Rows of a table have the same length: there are no further gaps.
        out.push_str(&",nan".repeat(width - numbers.len()));
        out.push('\n');
    };
    let names = |ends: &[&str]| -> String {
        (1..=most).flat_map(|k| ends.iter().map(move |e| format!(",gap_{k}{e}"))).collect()
    };
    let mut branches = header.clone();
    branches.push_str("# gaps in radians; energy relative to one cluster\n");
    branches.push_str(&format!(
        "branch,clusters,unstable_directions,beta,energy_share{}\n",
        names(&[""])
    ));
    let mut pieces = header.clone();
    pieces.push_str("# bounds of gaps in turns: one critical point for every beta\n");
    pieces.push_str(&format!(
        "branch,clusters,unstable_directions,beta_low,beta_high{}\n",
        names(&["_low", "_high"])
    ));
    for (x, branch) in found.branches.iter().enumerate() {
        let name = sizes(&branch.clusters);
        for s in &branch.samples {
            let numbers = [&[s.beta, s.energy_share][..], &s.gaps].concat();
            let words = [x.to_string(), name.clone(), s.ascents.to_string()];
            row(&mut branches, &words, &numbers, most + 2);
        }
        for p in &branch.pieces {
            let mut numbers = vec![p.beta.0, p.beta.1];
            numbers.extend(p.gaps.iter().flat_map(|g| [g.0, g.1]));
            let words = [x.to_string(), name.clone(), p.ascents.to_string()];
            row(&mut pieces, &words, &numbers, 2 * most + 2);
        }
    }
    let mut bifurcations = header;
    bifurcations.push_str("# gaps in radians\n");
    bifurcations.push_str(&format!(
        "bifurcation,type,clusters,branch,born,unstable_below,unstable_above,proved,beta_low,beta_high{}\n",
        names(&[""])
    ));
    for (x, b) in found.bifurcations.iter().enumerate() {
        let born: Vec<String> = b.born.iter().map(usize::to_string).collect();
        let words = [
            x.to_string(),
            kind(b.kind).to_owned(),
            sizes(&b.clusters),
            b.branch.to_string(),
            born.join(" "),
            b.ascents.0.to_string(),
            b.ascents.1.to_string(),
            b.proved.to_string(),
        ];
        let mut numbers = vec![b.beta.0, b.beta.1];
        numbers.extend(b.gaps.iter().map(|g| 0.5 * (g.0 + g.1) * std::f64::consts::TAU));
        row(&mut bifurcations, &words, &numbers, most + 2);
    }
    let file = |name: &str, text: String| -> arrays::PendingFile<'static> {
        (folder.join(name), Box::new(move || text.into_bytes()))
    };
    arrays::write_together(vec![
        file("branches.csv", branches),
        file("pieces.csv", pieces),
        file("bifurcations.csv", bifurcations),
    ])
}
