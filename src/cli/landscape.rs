//! `landscape`: all critical points on the circle with the proof that there are no others, and
//! benign landscapes; `landscape_sphere` has those of other dimensions.

use super::landscape_sphere::Request;
use super::output::{counted, note, note_seconds, number};
use super::problem::{Problem, sizes, words_of_masses};
use super::proof::Standing;
use super::{any_number, input, out_file, progress, session};
use crate::attention::interaction::Interaction;
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::lab::replace;
use crate::lab::write::is_special;
use crate::operation::{
    Answer, Exit, Operation, Parameters, Rows, Span, Table, any, column, within,
};
use crate::parameters;
use crate::proofs::landscape::{
    Benign, KIND, Landscape, Orbit, Partial, Region, Tokens, UndecidedBox, Work, benign_with,
    complete_with, seconds_benign, seconds_complete,
};
use crate::proofs::spheres::MAX_DIMENSION;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

parameters! {
    /// Parameters of `landscape`.
    struct Complete {
        ..problem: Problem;
        /// Ambient dimension: 2 for the circle, more for a sphere, or `any` for all dimensions at
        /// once. Spheres have up to 5 tokens.
        d: String, any().or("2").form("D|any").check(dimension);
        /// Prove that every critical point except one cluster has a direction in which the energy
        /// increases, or a counterexample.
        benign: bool;
        /// File for the certificate, which `certify check` verifies independently. After Ctrl-C,
        /// and every minute, it has what was decided, and the same command goes on from there.
        out: Option<PathBuf>;
        /// Minutes after which --out is written again, on the circle (default 1).
        keep_every: Option<f64>, within(0.0, 1e5).form("MINUTES").needs(&["out"]);
        /// Search part k of K of the boxes, k from 0, one part per machine; write it to --out.
        shard: Option<String>, any().form("k/K").needs(&["out"]).check(part);
        /// Files of shares or of interrupted runs whose decided boxes are taken over. The joint
        /// certificate is verified before it is written.
        from: Vec<PathBuf>, any().form("FILES").needs(&["out"]).separated();
        /// Do not run the verifier; the answer is then called found by the search, not proved.
        unchecked: bool, any().excludes(&["from"]);
    }
}

/// **Errors** a text that is no dimension.
fn dimension(text: &str) -> Result<()> {
    let d = text.parse::<usize>().ok();
    match d.filter(|d| (2..=MAX_DIMENSION).contains(d)) {
        None if text != "any" => {
            let expected = "2, the circle; a number from 3 to 1000; or any, all dimensions at once";
            Err(Error::parameter("d", text, expected))
        }
        _ => Ok(()),
    }
}

/// **Errors** a text that is no part of boxes.
fn part(text: &str) -> Result<()> {
    shard(text).map(drop)
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "landscape",
    group: "Analyse",
    summary: "All critical points on the circle or on spheres, proved to be all",
    notes: "Examples:
  metastable landscape --n 5 --beta 4
  metastable landscape --n 4 --beta 0.05..50 --out four.txt
  metastable landscape --n 6 --beta -0.66..-0.16 --benign
  metastable landscape --n 4 --d 3 --beta 2
  metastable landscape --n 5 --d any --beta 4
  metastable landscape --n 4 --d any --beta 1..4
  metastable landscape --n 4 --d 3 --beta 1..4 --benign
  metastable landscape --masses masses.csv --beta 1
  metastable landscape --masses 1..1.2,1..1.2,2 --beta 1..2 --benign
  metastable landscape --n 5 --interaction \"1/(1 + exp(-10*(s + 0.25)))\" --benign
  metastable certify check four.txt

Proved at one beta: the list contains all critical points, up to rotations, reflections and
permutations of equal masses, with their numbers of unstable directions. For an interval of beta:
the table shows its midpoint; the number of points and their unstable directions are proved to be
the same at every beta of the interval. With --benign: for all beta in the interval, every critical
point except one cluster has a direction in which the energy increases; then almost every start of
SA and USA converges to one cluster. The independent verifier checks each proof before the answer is
called proved.

phi must be twice differentiable on [-1, 1]. If phi > 0 is not proved, tokens may lie outside a half
circle, so the search is larger.",
    parameters: Complete::table,
    results: &[
        column("n", "number of tokens"),
        column("d", "ambient dimension"),
        column("masses", "masses as whole numbers"),
        column("largest_masses", "upper bounds of the masses"),
        column("beta", "inverse temperature, or the ends of its interval"),
        column("interaction", "the interaction"),
        column("interaction_is_positive", "whether it is proved to be positive"),
        column("largest_gap_in_turns", "largest gap between clusters that is searched"),
        column("complete", "whether the list is proved to be complete"),
        column("proof", "what stands behind the word proved"),
        column("at_beta", "inverse temperature of the table"),
        column(
            "labelled_by_unstable_directions",
            "number of labelled points by unstable directions",
        ),
        column("morse_inequalities", "whether the Morse inequalities hold"),
        column("boxes", "number of boxes"),
        column("undecided", "number of undecided boxes"),
        column("undecided_beta", "intervals of beta that are not decided"),
        column("interrupted", "whether the search was interrupted"),
        column("benign", "whether the landscape is proved to be benign"),
        column("by_average", "whether an average over all directions proves it"),
        column("counterexample", "a proved local maximum with several clusters"),
        column("any_number_of_tokens", "what is proved for any number of tokens"),
        column("pieces", "intervals of beta with lists of their own"),
    ],
    tables: &[
        Table {
            name: "orbits",
            what: "one row for each critical point, up to symmetry",
            rows: Rows::Objects("orbits"),
            columns: &[
                column("clusters", "number of clusters"),
                column("sizes", "tokens per cluster"),
                column("masses", "masses of the tokens of each cluster"),
                column("unstable_directions", "directions in which the energy increases"),
                column("multiplicity", "number of labelled points"),
                column("symmetries", "symmetries that map the point to itself"),
                column("mirror", "whether its mirror image is the same point"),
                column("energy_share", "energy relative to one cluster"),
                column("gaps", "on the circle: angles between the clusters, in radians"),
                column("gaps_error", "their error"),
                column("rank", "on spheres: dimension of the span"),
                column("unstable_in_span", "on spheres: unstable directions within the span"),
                column(
                    "unstable_per_further_dimension",
                    "on spheres: further ones for each further dimension",
                ),
                column("inner_products", "on spheres: inner products of the clusters"),
                column("inner_products_error", "their error"),
            ],
        },
        Table {
            name: "undecided_boxes",
            what: "one row for each of the first undecided boxes",
            rows: Rows::Objects("undecided_boxes"),
            columns: &[
                column("masses", "masses of the tokens of each cluster"),
                column("gaps_in_turns", "bounds of the gaps"),
                column("inner_products", "bounds of the inner products"),
                column("beta", "bounds of beta"),
            ],
        },
        Table {
            name: "undecided_regions",
            what: "one row for each region of undecided boxes",
            rows: Rows::Objects("undecided_regions"),
            columns: &[
                column("masses", "masses of the tokens of each cluster"),
                column("gaps_in_turns", "bounds of the gaps"),
                column("beta", "bounds of beta"),
                column("boxes", "number of boxes"),
                column("has_critical_point", "whether it is proved to have a critical point"),
            ],
        },
    ],
    exits: &[
        (Exit::Shown, "complete, or benign, or a decided share"),
        (Exit::Counterexample, "with --benign, a proved local maximum with several clusters"),
        (Exit::Undecided, "undecided"),
        (Exit::Interrupted, "interrupted, with what was decided"),
    ],
    run: |given, _| Complete::of(given)?.run(),
    ..Operation::EMPTY
};

/// Least time between two pauses if most of it went into boxes that were visited before.
const REPEATED: Duration = Duration::from_millis(100);

impl Complete {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        if self.d != "2" {
            return self.on_spheres();
        }
        let tokens = self.tokens()?;
        let every = Duration::from_secs_f64(60.0 * self.keep_every.unwrap_or(1.0));
        self.check_files(&tokens)?;
        let seconds = if self.benign { seconds_benign(&tokens) } else { seconds_complete(&tokens) };
        note_seconds("the proof", seconds);
        let work = self.work(&tokens)?;
        let continued = work.is_continued();
        let _ending = super::cancel::ends_itself();
        let found = self.search(&tokens, work, every)?;
        let (certificate, mut partial) = found.files();
        let standing = Standing::of_search(found.is_decided(), certificate, self.unchecked);
        if let Standing::Refused(why) = &standing
            && continued
        {
            let found = format!("a tree that is not confirmed: {why}");
            let expected = "files that `landscape --out` wrote, unchanged";
            return Err(Error::parameter("--from", found, expected));
        }
        // Everything is decided; the same command goes on with the check.
        if standing == Standing::Interrupted {
            partial = certificate.and_then(unfinished);
        }
        let certificate = certificate.filter(|_| standing.holds());
        // A failed write does not lose the printed result.
        let written = self.write(certificate.or(partial));
        let end = found.end(&standing);
        // A share has no interruption, and boxes of other shares are undecided.
        if partial.is_some() && end == Exit::Undecided {
            let text = "this share is decided; `--from` with the files of all shares joins them";
            let text = format!("{}\n{text}\n", self.header(&tokens));
            return written.map(|()| Answer::new(found.json(&tokens, &standing), text));
        }
        let header = self.header(&tokens);
        let mut all = json!({
            "n": tokens.n(), "d": 2, "masses": tokens.masses(),
            "largest_masses": tokens.upper_masses(), "interaction": self.problem.interaction,
            "interaction_is_positive": tokens.is_positive(), "largest_gap_in_turns": tokens.longest_gap(),
        });
        if let (Some(all), Value::Object(json)) =
            (all.as_object_mut(), found.json(&tokens, &standing))
        {
            all.extend(json);
        }
        let text = format!("{header}\n{}", found.text(&tokens, &standing));
        written.map(|()| Answer::new(all, text).ended(end))
    }

    /// All critical points on spheres.
    ///
    /// **Errors** flags that only proofs on the circle have.
    fn on_spheres(&self) -> Result<Answer> {
        let of_the_circle = [
            ("--interaction", self.problem.interaction.is_some()),
            ("--shard", self.shard.is_some()),
            ("--from", !self.from.is_empty()),
            ("--keep-every", self.keep_every.is_some()),
        ];
        if let Some((flag, _)) = of_the_circle.iter().find(|f| f.1) {
            let expected = format!("--d 2, the circle, with {flag}");
            return Err(Error::parameter("--d", &self.d, expected));
        }
        let (low, high) = self.problem.bounds()?;
        if low != high {
            let expected = "numbers: intervals of masses need --benign and --d 2";
            let found = self.problem.masses.as_deref().unwrap_or_default();
            return Err(Error::parameter("masses", found, expected));
        }
        let sphere = Request {
            problem: &self.problem,
            d: &self.d,
            masses: &low,
            benign: self.benign,
            unchecked: self.unchecked,
            out: self.out.as_deref(),
        };
        sphere.run()
    }

    /// **Errors** files of other problems.
    fn check_files(&self, tokens: &Tokens) -> Result<()> {
        let same = |found: &replace::Problem| match found {
            replace::Problem::Hypotheses(text) => tokens.is_given_in(text, self.benign),
            replace::Problem::Result(_) => false,
        };
        self.out.iter().try_for_each(|path| out_file::check(path, &same))
    }

    /// The file in which the state of a search is kept: not a device or a pipe, and not a finished
    /// certificate, which an unfinished one must not replace.
    fn kept(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| !is_special(path) && !is_final(path))
    }

    /// What is kept, taken over, and left to others.
    fn work(&self, tokens: &Tokens) -> Result<Work> {
        let shard = self.shard.as_deref().map_or(Ok((0, 1)), shard)?;
        let mut earlier = Partial::default();
        for path in &self.from {
            earlier = earlier.join(Partial::read(&text_of(path)?)?)?;
        }
        if let Some(path) = self.kept().filter(|p| self.from.is_empty() && p.is_file()) {
            // An interrupted run; other files are replaced.
            let bytes = std::fs::read(path).map_err(|e| Error::io(path.display(), "read", &e))?;
            let text = String::from_utf8_lossy(&bytes);
            let is_maximum = text.starts_with(&format!("{KIND}\nkind maximum"));
            let goes_on = tokens.is_given_in(&text, self.benign) && !is_whole(&bytes);
            if goes_on && !is_maximum {
                earlier = match Partial::read(&text) {
                    Err(_) if session::current().is_forced() => earlier,
                    read => read?,
                };
                note(&format!("{}: its decided boxes are taken over", path.display()));
            }
        }
        Ok(Work { keep: self.out.is_some() || !self.unchecked, earlier, shard })
    }

    /// The search. It pauses to write what was decided, and goes on from there.
    fn search(&self, tokens: &Tokens, mut work: Work, every: Duration) -> Result<Found> {
        let (session, kept) = (session::current(), self.kept());
        let (mut before, mut wait, mut total) = ((0.0, 0u64), every, 0u64);
        loop {
            let (started, latest) = (Instant::now(), Mutex::new(before));
            let report = |share: f64, boxes: u64| {
                let all = (before.0 + (1.0 - before.0) * share, before.1 + boxes);
                *latest.lock().unwrap_or_else(PoisonError::into_inner) = all;
                progress::report(Some(all.0), || {
                    format!("{} boxes, {:.1} % of the volume decided", all.1, 100.0 * all.0)
                });
                // A pause comes after a step only.
                let pauses = kept.is_some() && boxes > 0 && started.elapsed() >= wait;
                !session.cancelled() && !pauses
            };
            let found = if self.benign {
                Found::Benign(benign_with(tokens, &work, &report)?)
            } else {
                Found::Landscape(complete_with(tokens, &work, &report)?)
            };
            let paused = found.is_interrupted() && !session.cancelled();
            let (Some(path), Some(text)) = (kept, found.files().1.filter(|_| paused)) else {
                // The verifier may take as long as the search.
                let decided = found.files().0.filter(|_| started.elapsed() >= every);
                if let (Some(path), Some(text)) = (kept, decided.and_then(unfinished)) {
                    keep(path, text);
                }
                return Ok(found);
            };
            let stopped = Instant::now();
            keep(path, text);
            work.earlier = Partial::read(text)?;
            let latest = latest.into_inner().unwrap_or_else(PoisonError::into_inner);
            // Boxes that stay undecided are visited again after each pause.
            let (visited, gained) = (latest.1 - before.1, found.boxes().saturating_sub(total));
            wait = if 2 * gained < visited { (2 * wait).max(REPEATED) } else { every };
            // Writing takes a tenth of the time at most.
            wait = wait.max(10 * stopped.elapsed());
            (before, total) = (latest, found.boxes());
        }
    }

    /// The tokens and the inverse temperatures.
    fn tokens(&self) -> Result<Tokens> {
        let (problem, beta) = (&self.problem, self.problem.beta());
        if problem.interaction.is_some() && problem.beta.as_ref().is_some_and(Span::is_interval) {
            let expected = "one number: an interaction has fixed parameters";
            return Err(Error::parameter("beta", problem.beta_text(), expected));
        }
        let (masses, upper) = problem.bounds()?;
        let tokens = Tokens::new(&masses, beta.unwrap_or_default())
            .and_then(|tokens| tokens.with_masses_up_to(&masses, &upper));
        let tokens = match &problem.interaction {
            Some(text) => {
                tokens.and_then(|tokens| tokens.with_interaction(&interaction(text, beta)?))
            }
            None => tokens,
        };
        tokens.map_err(|e| problem.refused(e))
    }

    /// What is proved, as a heading.
    fn header(&self, tokens: &Tokens) -> String {
        let (low, high) = (tokens.masses(), tokens.upper_masses());
        let mass = |(a, b): (&u32, &u32)| if a == b { a.to_string() } else { format!("{a}..{b}") };
        let masses: Vec<String> = low.iter().zip(high).map(mass).collect();
        let masses = words_of_masses(&masses);
        let law = match (tokens.interaction(), &self.problem.interaction) {
            (Some((_, parameters)), Some(text)) => {
                let beta = parameters.iter().find(|p| p.0 == "beta" && !text.contains("beta="));
                let beta = beta.map_or(String::new(), |p| format!(", beta = {}", p.1));
                format!("phi(s) = {text}{beta}\n{}", lemma(tokens))
            }
            _ => format!("beta = {}", self.problem.beta_text()),
        };
        format!("{} tokens on the circle, {masses}, {law}", tokens.n())
    }

    /// Writes the certificate, whole or unfinished.
    fn write(&self, text: Option<&str>) -> Result<()> {
        match (&self.out, text) {
            (Some(path), Some(text)) if !is_whole(text.as_bytes()) && is_final(path) => {
                note(&format!("{} has a finished certificate and stays", path.display()));
            }
            (Some(path), Some(text)) => {
                arrays::write_atomically(path, text.as_bytes())?;
                note(&format!("wrote {}", path.display()));
            }
            (Some(path), None) => {
                let what = if path.exists() { "stays as it is" } else { "is not written" };
                note(&format!("no certificate: nothing is proved, {} {what}", path.display()));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Writes the state of a search. A failed write does not end it.
fn keep(path: &Path, text: &str) {
    if let Err(e) = arrays::write_atomically(path, text.as_bytes()) {
        note(&format!("warning: {e}"));
    }
}

/// Whether these are the bytes of a certificate with its end.
fn is_whole(bytes: &[u8]) -> bool {
    bytes.starts_with(KIND.as_bytes()) && bytes.trim_ascii_end().ends_with(b"\nend")
}

/// Whether a file is a finished certificate, which an unfinished one replaces with `--force` only.
fn is_final(path: &Path) -> bool {
    !session::current().is_forced()
        && !is_special(path)
        && std::fs::read(path).is_ok_and(|bytes| is_whole(&bytes))
}

/// The text of a file.
fn text_of(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| Error::io(path.display(), "read", &e))
}

/// `k/K` as the number of a share and the number of shares.
fn shard(text: &str) -> Result<(u32, u32)> {
    let read = |(k, all): (&str, &str)| Some((k.trim().parse().ok()?, all.trim().parse().ok()?));
    let fits = |(k, all): &(u32, u32)| k < all && *all <= 512;
    let found = text.split_once('/').and_then(read).filter(fits);
    found
        .ok_or_else(|| Error::parameter("--shard", text, "k/K with 0 <= k < K <= 512, such as 1/4"))
}

/// An interaction, in which beta is a parameter if it is given.
pub(super) fn interaction(text: &str, beta: Option<(f64, f64)>) -> Result<Interaction> {
    input::interaction(text, beta.map(|b| b.0))
}

/// Which form of the half-circle lemma holds for an interaction.
fn lemma(tokens: &Tokens) -> String {
    let longest = 360.0 * tokens.longest_gap();
    if tokens.is_positive() {
        "phi is positive (proved), so no gap exceeds half a turn".to_owned()
    } else if longest < 360.0 {
        format!(
            "phi is not proved to be positive beyond {:.2} degrees: gaps up to {longest:.2} degrees \
             and pairs of clusters are searched",
            360.0 - longest
        )
    } else {
        "phi(1) is not positive: all gaps and pairs of clusters are searched".to_owned()
    }
}

/// A certificate without its end, as an interrupted run leaves it.
fn unfinished(text: &str) -> Option<&str> {
    let before = text.strip_suffix("end\n")?;
    let last = before.trim_end().rfind('\n').map_or(0, |x| x + 1);
    Some(if before[last..].starts_with("counts ") { &before[..last] } else { before })
}

/// What was found.
enum Found {
    Landscape(Landscape),
    Benign(Benign),
}

impl Found {
    /// The certificate, and what an interrupted run or a share decided.
    fn files(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Self::Landscape(f) => (f.certificate.as_deref(), f.partial.as_deref()),
            Self::Benign(f) => (f.certificate.as_deref(), f.partial.as_deref()),
        }
    }

    /// Whether the search ended with a proof or a counterexample.
    fn is_decided(&self) -> bool {
        match self {
            Self::Landscape(found) => found.complete,
            Self::Benign(found) => found.proved || found.counterexample.is_some(),
        }
    }

    /// Number of boxes.
    fn boxes(&self) -> u64 {
        match self {
            Self::Landscape(found) => found.boxes,
            Self::Benign(found) => found.boxes,
        }
    }

    /// Whether the search was stopped.
    fn is_interrupted(&self) -> bool {
        match self {
            Self::Landscape(found) => found.interrupted,
            Self::Benign(found) => found.interrupted,
        }
    }

    fn end(&self, standing: &Standing) -> Exit {
        match (standing.holds(), self) {
            (true, Self::Benign(found)) if found.counterexample.is_some() => Exit::Counterexample,
            (true, _) => Exit::Shown,
            _ if self.is_interrupted() || *standing == Standing::Interrupted => Exit::Interrupted,
            _ => Exit::Undecided,
        }
    }

    fn json(&self, tokens: &Tokens, standing: &Standing) -> Value {
        match self {
            Self::Landscape(found) => of_landscape(found, tokens, standing),
            Self::Benign(found) => of_benign(found, tokens, standing),
        }
    }

    fn text(&self, tokens: &Tokens, standing: &Standing) -> String {
        match self {
            Self::Landscape(found) => text_of_landscape(found, tokens, standing),
            Self::Benign(found) => text_of_benign(found, tokens, standing),
        }
    }
}

fn of_orbit(orbit: &Orbit) -> Value {
    json!({
        "clusters": orbit.clusters.len(), "sizes": orbit.sizes(), "masses": orbit.clusters,
        "gaps": orbit.gaps, "gaps_error": orbit.gap_error, "energy_share": orbit.energy_share,
        "unstable_directions": orbit.ascents, "multiplicity": orbit.multiplicity,
        "symmetries": orbit.rotations, "mirror": orbit.mirror,
    })
}

fn of_boxes(boxes: &[UndecidedBox]) -> Value {
    let one = |b: &UndecidedBox| {
        let turns: Vec<[f64; 2]> = b.gaps.iter().map(|g| [g.0, g.1]).collect();
        json!({ "masses": b.clusters, "gaps_in_turns": turns, "beta": [b.beta.0, b.beta.1] })
    };
    boxes.iter().map(one).collect()
}

fn of_landscape(found: &Landscape, tokens: &Tokens, standing: &Standing) -> Value {
    json!({
        "complete": found.complete && standing.holds(), "proof": standing.json(), "at_beta": of_beta(found.at, tokens),
        "orbits": found.orbits.iter().map(of_orbit).collect::<Vec<_>>(),
        "labelled_by_unstable_directions": found.labelled, "morse_inequalities": found.morse,
        "boxes": found.boxes, "undecided": found.undecided,
        "undecided_boxes": of_boxes(&found.undecided_boxes),
        "undecided_regions": found.regions.iter().map(of_region).collect::<Vec<_>>(),
        "interrupted": found.interrupted,
    })
}

fn of_region(region: &Region) -> Value {
    let turns: Vec<[f64; 2]> = region.gaps.iter().map(|g| [g.0, g.1]).collect();
    json!({
        "masses": region.clusters, "gaps_in_turns": turns, "beta": [region.beta.0, region.beta.1],
        "boxes": region.boxes, "has_critical_point": region.has_point,
    })
}

/// A beta, null for an interaction.
fn of_beta(beta: f64, tokens: &Tokens) -> Value {
    if tokens.interaction().is_some() { Value::Null } else { json!(beta) }
}

fn of_benign(found: &Benign, tokens: &Tokens, standing: &Standing) -> Value {
    let counterexample =
        found.counterexample.as_ref().filter(|_| standing.holds()).map(
            |(beta, orbit)| json!({ "beta": of_beta(*beta, tokens), "point": of_orbit(orbit) }),
        );
    json!({
        "benign": found.proved && standing.holds(), "proof": standing.json(),
        "counterexample": counterexample, "boxes": found.boxes,
        "undecided": found.undecided, "undecided_boxes": of_boxes(&found.undecided_boxes),
        "interrupted": found.interrupted,
        "any_number_of_tokens": any_number::json(tokens),
    })
}

/// One line of the table.
fn line(orbit: &Orbit) -> String {
    let gaps: Vec<String> = orbit.gaps.iter().map(|g| format!("{:.4}", g.to_degrees())).collect();
    let unstable = orbit.ascents.map_or("?".to_owned(), |a| a.to_string());
    format!(
        "{:<20} {unstable:>8}  {:>12}  {:>12}  {:>10}  {}\n",
        sizes(&orbit.clusters, &u32::to_string),
        orbit.multiplicity,
        number(orbit.energy_share),
        orbit.rotations,
        gaps.join(" ")
    )
}

fn undecided(boxes: u64, listed: &[UndecidedBox], tokens: &Tokens) -> String {
    let mut text = match boxes {
        1 => "1 undecided box".to_owned(),
        _ => format!("{boxes} undecided boxes"),
    };
    if let Some(first) = listed.first() {
        let bounds: Vec<String> = first
            .gaps
            .iter()
            .map(|g| format!("[{:.6}, {:.6}]", 360.0 * g.0, 360.0 * g.1))
            .collect();
        text.push_str(&format!(
            "; the first: clusters {:?}, gaps in degrees {}",
            first.clusters,
            bounds.join(" "),
        ));
        if tokens.interaction().is_none() {
            text.push_str(&format!(", beta in [{}, {}]", first.beta.0, first.beta.1));
        }
    }
    text
}

const COLUMNS: &str =
    "clusters             unstable  multiplicity  energy share  symmetries  gaps in degrees\n";

fn text_of_landscape(found: &Landscape, tokens: &Tokens, standing: &Standing) -> String {
    let points = counted(found.orbits.len(), "critical point");
    let mut text = if found.complete {
        format!(
            "{}: exactly {points}, up to rotations, reflections and permutations of equal masses \
             ({} boxes)\n{}",
            standing.word(),
            found.boxes,
            standing.line()
        )
    } else {
        format!(
            "not complete: {points} found in {} boxes, {}{}\n",
            found.boxes,
            undecided(found.undecided, &found.undecided_boxes, tokens),
            if found.interrupted { "; interrupted" } else { "" }
        )
    };
    let at = match tokens.interaction() {
        Some(_) => String::new(),
        None => format!(" at beta = {}", found.at),
    };
    text.push_str(&format!("the points{at}:\n{COLUMNS}"));
    found.orbits.iter().for_each(|o| text.push_str(&line(o)));
    if !found.regions.is_empty() {
        text.push_str(
            "undecided regions: all other critical points lie in them, and so do degenerate points \
             and continua\nclusters             boxes  width in degrees  gaps in degrees\n",
        );
        found.regions.iter().for_each(|r| text.push_str(&line_of_region(r)));
    }
    let morse = match found.morse {
        Some(true) => "hold",
        Some(false) => "are violated: points are missing",
        None => "do not apply: points may be degenerate or missing",
    };
    if let Some(labelled) = &found.labelled {
        text.push_str(&format!(
            "labelled points modulo rotations, by unstable directions: {labelled:?}; Morse \
             inequalities {morse}\n",
        ));
    } else {
        text.push_str(&format!("Morse inequalities {morse}\n"));
    }
    text
}

fn line_of_region(region: &Region) -> String {
    let gaps: Vec<String> =
        region.gaps.iter().map(|g| format!("[{:.5}, {:.5}]", 360.0 * g.0, 360.0 * g.1)).collect();
    let width = region.gaps.iter().map(|g| 360.0 * (g.1 - g.0)).fold(0.0, f64::max);
    format!(
        "{:<18} {:>7}  {:>16}  {}{}\n",
        sizes(&region.clusters, &u32::to_string),
        region.boxes,
        number(width),
        gaps.join(" "),
        if region.has_point { "  has a critical point (proved)" } else { "" }
    )
}

fn text_of_benign(found: &Benign, tokens: &Tokens, standing: &Standing) -> String {
    let other = tokens.interaction().is_some();
    if found.proved {
        let (all, flows) = match () {
            () if !other => (", for all these beta", "SA and USA"),
            () if tokens.is_positive() => ("", "SA-like and USA-like flows"),
            () => ("", "USA-like flows"),
        };
        return format!(
            "{}: benign. Every critical point except one cluster has a direction in which the \
             energy increases at second order{all} ({} boxes). So almost every start of {flows} \
             converges to one cluster.\n{}{}",
            standing.word(),
            found.boxes,
            standing.line(),
            any_number::text(tokens)
        );
    }
    if let Some((beta, orbit)) = &found.counterexample {
        let at = if other { String::new() } else { format!("at beta = {beta} ") };
        return format!(
            "counterexample: {at}a configuration of several clusters is a strict local maximum of \
             the energy ({})\n{}{COLUMNS}{}",
            standing.word(),
            standing.line(),
            line(orbit)
        );
    }
    format!(
        "not decided after {} boxes: {}{}\n",
        found.boxes,
        undecided(found.undecided, &found.undecided_boxes, tokens),
        if found.interrupted { "; interrupted" } else { "" }
    )
}
