//! `continue`: all branches of critical points over an interval of beta, of a parameter of an
//! interaction, or of a mass, with all bifurcations, or one branch, as chains of boxes with one
//! critical point each.

use super::input::note_unused_beta;
use super::output::{counted, note, note_seconds, number};
use super::problem::{Problem, words_of_masses};
use super::proof::{ALONE, Standing};
use super::{command_line, landscape, out_file, progress, session};
use crate::error::{Error, Result};
use crate::lab::{Provenance, arrays};
use crate::operation::{Answer, Exit, Operation, Parameters, Rows, Span, Table, any, column};
use crate::parameters;
use crate::proofs::landscape::branches::{
    Bifurcation, Branch, Continuation, End, Kind, all_branches, followed_branches, one_branch,
    seconds, seconds_followed,
};
use crate::proofs::landscape::{Tokens, UndecidedBox, VARYING, text_of_clusters};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

parameters! {
    /// Parameters of `continue`.
    struct Branches {
        ..problem: Problem;
        /// Follow only the branch near a start: tokens per cluster in cyclic order, as 2+1+2, or a
        /// file with one angle per token.
        start: Option<String>, any().form("SIZES|FILE");
        /// Follow the branches that reach the largest value of the parameter, and those that begin
        /// there, without the search for others.
        branches_only: bool, any().excludes(&["start"]);
        /// Ambient dimension: 2, the circle. `landscape --d` proves lists of points on spheres.
        d: Option<String>, any().hidden().check(circle);
        /// New or empty folder for the tables of branches, boxes and bifurcations.
        out: Option<PathBuf>, any().form("FOLDER");
    }
}

/// **Errors** another dimension than 2.
fn circle(d: &str) -> Result<()> {
    let expected = "2: branches are followed on the circle only; `landscape --d 3 --beta A..B` \
                    proves lists of points on spheres";
    if d == "2" { Ok(()) } else { Err(Error::parameter("d", d, expected)) }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "continue",
    group: "Analyse",
    summary: "All branches of critical points over an interval of beta, with all bifurcations",
    notes: "Examples:
  metastable continue --n 5 --beta 0.19..0.22
  metastable continue --n 4 --beta 0.05..50 --out four
  metastable continue --n 8 --beta 0.1..50 --start 2+1+2+1+2
  metastable continue --masses 1,2,3,4 --beta 0.5..4
  metastable continue --masses 1,1,1,0.5..2 --beta 1
  metastable continue --n 4 --interaction sigmoid:k=1..4
  metastable continue --n 3 --interaction \"exp(beta*s) + 1\" --beta 1..4

One parameter has an interval: beta, a mass, or a parameter of the interaction. Proved: the branches
are all critical points for all its values, up to rotations, reflections and permutations of equal
masses; each is a chain of boxes with exactly one critical point for every value; the number of
unstable directions changes only at the listed bifurcations. With --start: only the chain of this
branch and its bifurcations. With --branches-only: the chains and their bifurcations, but not that
there are no others. This program alone proves it: branches have no certificate yet.

Another interaction has two derivatives and is positive on [-1, 1]; both are proved.

Files in --out: branches.csv (critical points), pieces.csv (boxes of gaps in turns), and
bifurcations.csv. After Ctrl-C they have what was found; the command begins anew.",
    parameters: Branches::table,
    results: &[
        column("n", "number of tokens"),
        column("masses", "masses; m is one that is the parameter"),
        column("parameter", "name of the parameter"),
        column("interaction", "the interaction"),
        column("complete", "whether the branches are proved to be all"),
        column("proof", "what stands behind the word proved"),
        column("morse_inequalities", "whether the Morse inequalities hold"),
        column("boxes", "number of boxes"),
        column("undecided", "number of undecided boxes"),
        column("undecided_boxes", "the first undecided boxes"),
        column("missing", "what is not proved"),
        column("interrupted", "whether the search was interrupted"),
    ],
    tables: &[
        Table {
            name: "branches",
            what: "one row for each branch",
            rows: Rows::Objects("branches"),
            columns: &[
                column("masses", "masses of the tokens of each cluster"),
                column("multiplicity", "number of labelled points"),
                column("symmetries", "rotations that map its points to themselves"),
                column("mirror", "whether the mirror image is the same branch"),
                column("ends", "how it ends: range, open, or the number of a bifurcation"),
                column("pieces", "number of boxes"),
                column("points", "points on the branch, in --format json and --out"),
            ],
        },
        Table {
            name: "bifurcations",
            what: "one row for each bifurcation",
            rows: Rows::Objects("bifurcations"),
            columns: &[
                column("type", "fold, pitchfork, transcritical or multiple"),
                column("masses", "masses of the tokens of each cluster"),
                column("gaps_in_turns", "bounds of the gaps"),
                column("splitting", "the cluster that splits"),
                column("unstable_below", "unstable directions below"),
                column("unstable_above", "unstable directions above"),
                column("branch", "the branch"),
                column("born", "the branches that begin"),
                column("proved", "whether these are proved"),
            ],
        },
    ],
    exits: &[
        (Exit::Shown, "complete, or the branch that was asked for"),
        (Exit::Undecided, "not complete, with the list of what is missing"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Branches::of(given)?.run(),
    ..Operation::EMPTY
};

impl Branches {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        let tokens = self.tokens()?;
        let provenance = self.provenance(&tokens);
        if let Some(folder) = &self.out {
            out_file::check_folder(folder, &TABLES, &provenance)?;
        }
        let _ending = super::cancel::ends_itself();
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
                note_seconds("the search at one end", seconds_followed(&tokens));
                followed_branches(&tokens, &report)
            }
            None => {
                note_seconds("the proof", seconds(&tokens));
                all_branches(&tokens, &report)
            }
        };
        let found = found.map_err(|e| self.problem.refused(e))?;
        // A failed write does not lose the printed result.
        let written = self.write(&found, tokens.parameter().name(), &provenance);
        let end = match () {
            () if found.interrupted => Exit::Interrupted,
            () if found.complete || self.start.is_some() && found.missing.is_empty() => Exit::Shown,
            () => Exit::Undecided,
        };
        let answer = Answer::new(self.json(&tokens, &found), self.text(&tokens, &found));
        written.map(|()| answer.ended(end))
    }

    /// The origin of the tables.
    fn provenance(&self, tokens: &Tokens) -> Provenance {
        let masses = (tokens.masses(), tokens.upper_masses());
        let search = (&self.start, self.branches_only);
        let beta = self.problem.beta.as_ref().map(|span| &span.text);
        let settings = format!("{beta:?} {:?} {masses:?} {search:?}", self.problem.interaction);
        Provenance::new("continue", &settings, command_line::reproduce())
    }

    /// Writes the tables.
    fn write(&self, found: &Continuation, parameter: &str, provenance: &Provenance) -> Result<()> {
        let Some(folder) = &self.out else { return Ok(()) };
        // Tables of an interrupted run do not replace those of a run that ended.
        let before = std::fs::read_to_string(folder.join(TABLES[0])).unwrap_or_default();
        let ended = before.lines().next().is_some() && !before.lines().any(|l| l == STOPPED);
        if found.interrupted && ended {
            note(&format!("{} has the tables of a run that ended; they stay", folder.display()));
            return Ok(());
        }
        write(folder, found, parameter, provenance)?;
        note(&format!("wrote {}", folder.display()));
        Ok(())
    }

    /// The tokens and the interval of a parameter.
    fn tokens(&self) -> Result<Tokens> {
        let (masses, upper) = self.problem.bounds()?;
        let open: Vec<usize> = (0..masses.len()).filter(|x| masses[*x] < upper[*x]).collect();
        let (beta, span) = (self.problem.beta(), self.problem.beta.as_ref());
        let has_interval = span.is_some_and(Span::is_interval);
        let interaction = self.problem.interaction.as_deref();
        let written = interaction.is_some_and(|text| text.contains(".."));
        let intervals = open.len() + usize::from(has_interval) + usize::from(written);
        if intervals != 1 {
            let expected = "one interval A..B: of --beta, of one mass, or of a parameter of the \
                            interaction such as sigmoid:k=1..4";
            if let Some(text) = interaction.filter(|_| !written) {
                // A text that is no interaction has an error of its own.
                landscape::interaction(text, beta).map_err(|e| self.problem.refused(e))?;
            }
            return Err(Error::parameter("continue", format!("{intervals} intervals"), expected));
        }
        let with_beta = |text: &str, value: &str| {
            let separator = if text.contains(';') { "," } else { ";" };
            format!("{text}{separator} beta={value}")
        };
        let plain = vec![1.0; masses.len()];
        let found = match (interaction, open.first()) {
            (None, None) => Tokens::new(&masses, beta.unwrap_or_default()),
            (Some(text), None) => {
                let mut names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                let text = match span.map(|span| &span.text) {
                    // A name with parameters, or a formula without beta.
                    Some(value) if text.contains(':') || !names.any(|name| name == "beta") => {
                        if value.contains("..") {
                            let expected = format!("no --beta: beta is no parameter of {text}");
                            return Err(Error::parameter("--beta", value, expected));
                        }
                        note_unused_beta(text);
                        text.to_owned()
                    }
                    Some(value) => with_beta(text, value),
                    None => text.to_owned(),
                };
                Tokens::new(&masses, (0.0, 0.0)).and_then(|t| t.with_interactions(&text))
            }
            (text, Some(token)) => {
                let tokens = Tokens::new(&plain, beta.unwrap_or_default());
                let phi = text.map(|text| landscape::interaction(text, beta)).transpose();
                let bound = upper[*token];
                tokens.and_then(|t| t.with_mass_up_to(&masses, *token, bound, phi?))
            }
        };
        found.map_err(|e| self.problem.refused(e))
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
        let parameter = tokens.parameter();
        let name = parameter.name();
        let of_bifurcation = |b: &Bifurcation| of_bifurcation(b, name);
        json!({
            "n": tokens.n(), "masses": of_members(tokens.masses()), "parameter": name,
            name: [found.beta.0, found.beta.1], "interaction": self.problem.interaction,
            "complete": found.complete, "proof": Standing::Alone.json(), "morse_inequalities": found.morse,
            "bifurcations": found.bifurcations.iter().map(of_bifurcation).collect::<Vec<_>>(),
            "branches": found.branches.iter().map(|b| of_branch(b, found, name)).collect::<Vec<_>>(),
            "boxes": found.boxes, "undecided": found.undecided,
            "undecided_boxes": of_boxes(&found.undecided_boxes, name), "missing": found.missing,
            "interrupted": found.interrupted,
        })
    }

    fn text(&self, tokens: &Tokens, found: &Continuation) -> String {
        let (parameter, range) = (tokens.parameter(), found.beta);
        let name = parameter.name();
        let mass = |m: &u32| match *m {
            VARYING => format!("{}..{}", range.0, range.1),
            m => m.to_string(),
        };
        let masses: Vec<String> = tokens.masses().iter().map(mass).collect();
        let masses = words_of_masses(&masses);
        let mut text = format!("{} tokens on the circle, {masses}", tokens.n());
        if let Some(phi) = &self.problem.interaction {
            text.push_str(&format!(", phi(s) = {phi}"));
        }
        if let Some(beta) = &self.problem.beta {
            text.push_str(&format!(", beta = {}", beta.text));
        }
        text.push('\n');
        let branches = counted(found.branches.len(), "branch");
        let bifurcations = counted(found.bifurcations.len(), "bifurcation");
        match () {
            () if self.start.is_some() => {
                let parent = found.branches.len() > 1;
                let parent = if parent { " and that from which it splits," } else { "" };
                text.push_str(&format!("one branch{parent} with {bifurcations}, proved {ALONE}\n"));
            }
            () if found.complete => text.push_str(&format!(
                "proved {ALONE}: exactly {branches} and {bifurcations}, up to rotations, \
                 reflections and permutations of equal masses ({} boxes)\n",
                found.boxes
            )),
            () => text.push_str(&format!(
                "not complete: {branches} and {bifurcations} found in {} boxes, {} undecided{}; \
                 each is proved {ALONE}\n",
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
                "the first undecided box: clusters {}, gaps in turns {:?}, {name} in {:?}\n",
                text_of_clusters(&first.clusters),
                first.gaps,
                first.beta
            ));
        }
        if !found.bifurcations.is_empty() {
            text.push_str(&format!(
                "  #  {name:<16} +-       kind         clusters    unstable  branches that begin\n"
            ));
        }
        for (x, b) in found.bifurcations.iter().enumerate() {
            text.push_str(&bifurcation_line(x, b, self.start.is_some()));
        }
        text.push_str(&format!("  #  clusters       multiplicity  unstable  pieces  {name}\n"));
        for (x, b) in found.branches.iter().enumerate() {
            text.push_str(&branch_line(x, b, found));
        }
        text
    }
}

/// A mass; m is one that is the parameter.
fn mass(m: &u32) -> String {
    if *m == VARYING { "m".to_owned() } else { m.to_string() }
}

/// The tokens per cluster, or the masses in a cluster.
fn sizes(clusters: &[Vec<u32>]) -> String {
    super::problem::sizes(clusters, &mass)
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Pitchfork => "pitchfork",
        Kind::Fold => "fold",
        Kind::Transcritical => "transcritical",
        Kind::Multiple => "multiple",
    }
}

/// A line of the table; `one`: only one branch was asked for.
fn bifurcation_line(x: usize, b: &Bifurcation, one: bool) -> String {
    let born: Vec<String> = b.born.iter().map(usize::to_string).collect();
    let born = match () {
        () if b.kind == Kind::Fold => "turns".to_owned(),
        () if b.proved || one && !born.is_empty() => born.join(" "),
        () if one => "not asked".to_owned(),
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

/// Masses; "m" is one that is the parameter.
fn of_members(masses: &[u32]) -> Value {
    masses.iter().map(|m| if *m == VARYING { json!("m") } else { json!(m) }).collect()
}

fn of_clusters(clusters: &[Vec<u32>]) -> Value {
    clusters.iter().map(|c| of_members(c)).collect()
}

fn of_boxes(boxes: &[UndecidedBox], name: &str) -> Value {
    let one = |b: &UndecidedBox| {
        let turns: Vec<[f64; 2]> = b.gaps.iter().map(|g| [g.0, g.1]).collect();
        json!({
            "masses": of_clusters(&b.clusters), "gaps_in_turns": turns, name: [b.beta.0, b.beta.1],
        })
    };
    boxes.iter().map(one).collect()
}

fn of_bifurcation(b: &Bifurcation, name: &str) -> Value {
    let turns: Vec<[f64; 2]> = b.gaps.iter().map(|g| [g.0, g.1]).collect();
    json!({
        name: 0.5 * (b.beta.0 + b.beta.1), (format!("{name}_bounds")): [b.beta.0, b.beta.1],
        "type": kind(b.kind), "masses": of_clusters(&b.clusters), "gaps_in_turns": turns,
        "splitting": b.splitting, "unstable_below": b.ascents.0, "unstable_above": b.ascents.1,
        "branch": b.branch, "born": b.born, "proved": b.proved,
    })
}

fn of_branch(branch: &Branch, found: &Continuation, name: &str) -> Value {
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
                name: s.beta, "energy_share": s.energy_share,
                "unstable_directions": s.ascents, "gaps": s.gaps,
            })
        })
        .collect();
    json!({
        "masses": of_clusters(&branch.clusters), "multiplicity": branch.multiplicity, "mirror": branch.mirror,
        "symmetries": branch.rotations, name: [low, high],
        "ends": [end(branch.ends.0), end(branch.ends.1)], "pieces": branch.pieces.len(),
        "points": samples,
    })
}

/// The tables.
const TABLES: [&str; 3] = ["branches.csv", "pieces.csv", "bifurcations.csv"];

/// A comment in tables of an interrupted run.
const STOPPED: &str = "# not complete: interrupted";

/// Writes the tables into a folder.
fn write(
    folder: &Path,
    found: &Continuation,
    parameter: &str,
    provenance: &Provenance,
) -> Result<()> {
    let most = found.branches.iter().map(|b| b.clusters.len()).max().unwrap_or(1);
    let mut header: String =
        provenance.csv_header().iter().map(|line| format!("# {line}\n")).collect();
    if found.interrupted {
        header.push_str(&format!("{STOPPED}\n"));
    }
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
        "branch,clusters,unstable_directions,{parameter},energy_share{}\n",
        names(&[""])
    ));
    let mut pieces = header.clone();
    pieces.push_str(
        "# bounds of gaps in turns: one critical point for every value of the parameter\n",
    );
    pieces.push_str(&format!(
        "branch,clusters,unstable_directions,{parameter}_low,{parameter}_high{}\n",
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
        "bifurcation,type,clusters,branch,born,unstable_below,unstable_above,proved,\
         {parameter}_low,{parameter}_high{}\n",
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
    let tables = TABLES.iter().zip([branches, pieces, bifurcations]);
    arrays::write_together(tables.map(|(name, text)| file(name, text)).collect())
}
