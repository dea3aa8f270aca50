//! `landscape`: all critical points on the circle with the proof that there are no others, and
//! benign landscapes; `landscape_sphere` has those of other dimensions.

use super::landscape_sphere::Request;
use super::output::{Output, counted, note, number};
use super::parameter::axis;
use super::{progress, session};
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::proofs::landscape::{
    Benign, Landscape, Orbit, Tokens, UndecidedBox, benign, complete, seconds_benign,
    seconds_complete,
};
use crate::theorem::AxisValues;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Flags of `landscape`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable landscape --n 5 --beta 4
  metastable landscape --n 4 --beta 0.05..50 --out four.txt
  metastable landscape --n 6 --beta -0.66..-0.16 --benign
  metastable landscape --n 4 --d 3 --beta 2
  metastable landscape --n 5 --d any --beta 4
  metastable landscape --masses masses.csv --beta 1
  metastable certify check four.txt

Proved at one beta: the list contains all critical points, up to rotations, reflections and
permutations of equal masses, with their numbers of unstable directions. For an interval of beta: the
same holds in the middle of it, and for all beta in it there are as many points with the same
numbers. With --benign: for all beta in the interval, every critical point except one cluster has a
direction in which the energy increases; then almost every start of SA and USA converges to one
cluster.

Exit codes: 0 complete, or benign; 2 with --benign, a proved local maximum with several clusters;
3 undecided; 130 interrupted, with what was decided.")]
pub struct Arguments {
    /// Number of tokens. Default: the number of masses.
    #[arg(long, allow_hyphen_values = true, required_unless_present = "masses")]
    n: Option<i64>,
    /// Ambient dimension: 2 for the circle, more for a sphere, or `any` for all dimensions at once.
    /// Spheres have up to 5 tokens, one beta and no --benign.
    #[arg(long, value_name = "D|any", default_value = "2", allow_hyphen_values = true)]
    d: String,
    /// Inverse temperature B, or all in an interval A..B, between -10 and 100. The kernel is
    /// e^(beta cos), also for negative beta.
    #[arg(long, value_name = "B|A..B", allow_hyphen_values = true)]
    beta: String,
    /// File with the masses of the tokens, decimal numbers; their ratios count. Default: equal
    /// masses.
    #[arg(long, value_name = "FILE")]
    masses: Option<PathBuf>,
    /// Prove that every critical point except one cluster has a direction in which the energy
    /// increases, or a counterexample.
    #[arg(long)]
    benign: bool,
    /// File for the certificate, which `certify check` verifies independently.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Exit codes of a counterexample, of an open question, and of an interruption.
const COUNTEREXAMPLE: i32 = 2;
const UNDECIDED: i32 = 3;
const INTERRUPTED: i32 = 130;

/// Seconds above which the estimate of the time is printed.
const LONG: f64 = 20.0;

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        if self.d != "2" {
            let (masses, file) = (self.masses.as_deref(), self.out.as_deref());
            let (d, beta) = (&self.d, &self.beta);
            let sphere = Request { n: self.n, d, beta, masses, benign: self.benign, out: file };
            return sphere.run(out);
        }
        let tokens = self.tokens()?;
        let seconds = if self.benign { seconds_benign(&tokens) } else { seconds_complete(&tokens) };
        if seconds > LONG && seconds < 1e5 {
            note(&format!("the proof takes about {} s with two threads", number(seconds.round())));
        }
        let session = session::current();
        let report = |share: f64, boxes: u64| {
            progress::report(Some(share), || {
                format!("{boxes} boxes, {:.1} % of the volume decided", 100.0 * share)
            });
            !session.cancelled()
        };
        let keep = self.out.is_some();
        let (code, json, text, certificate) = if self.benign {
            let found = benign(&tokens, keep, &report)?;
            (code_of_benign(&found), of_benign(&found), text_of_benign(&found), found.certificate)
        } else {
            let found = complete(&tokens, keep, &report)?;
            (
                code_of_landscape(&found),
                of_landscape(&found),
                text_of_landscape(&found),
                found.certificate,
            )
        };
        super::cancel::work_is_over();
        self.write(certificate)?;
        let header = self.header(&tokens);
        let mut all = json!({ "n": tokens.n(), "d": 2, "masses": tokens.masses() });
        if let (Some(all), Value::Object(json)) = (all.as_object_mut(), json) {
            all.extend(json);
        }
        out.result(&all, &format!("{header}\n{text}"));
        Ok(code)
    }

    /// The tokens and the inverse temperatures.
    fn tokens(&self) -> Result<Tokens> {
        let beta = match axis("--beta", &self.beta)? {
            AxisValues::Range(low, high) => (low, high),
            AxisValues::List(all) if all.len() == 1 => (all[0], all[0]),
            AxisValues::List(_) => {
                let expected = "one number, or an interval a..b of numbers";
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
        Tokens::new(&masses, beta).map_err(|e| match e {
            Error::Parameter { name, expected, .. } if name == "n" && self.masses.is_none() => {
                Error::parameter("--n", self.n.unwrap_or_default(), expected)
            }
            Error::Parameter { name, found, expected } => {
                Error::Parameter { name: format!("--{name}"), found, expected }
            }
            other => other,
        })
    }

    /// What is proved, as a heading.
    fn header(&self, tokens: &Tokens) -> String {
        let masses: Vec<String> = tokens.masses().iter().map(u32::to_string).collect();
        let masses = if tokens.masses().iter().all(|m| *m == 1) {
            "equal masses".to_owned()
        } else {
            format!("masses {}", masses.join(", "))
        };
        format!("{} tokens on the circle, {masses}, beta = {}", tokens.n(), self.beta)
    }

    fn write(&self, certificate: Option<String>) -> Result<()> {
        match (&self.out, certificate) {
            (Some(path), Some(text)) => {
                arrays::write_atomically(path, text.as_bytes())?;
                note(&format!("wrote {}", path.display()));
            }
            (Some(path), None) => {
                note(&format!(
                    "no certificate: nothing is proved, {} is not written",
                    path.display()
                ));
            }
            _ => {}
        }
        Ok(())
    }
}

fn code_of_landscape(found: &Landscape) -> i32 {
    match () {
        () if found.complete => 0,
        () if found.interrupted => INTERRUPTED,
        () => UNDECIDED,
    }
}

fn code_of_benign(found: &Benign) -> i32 {
    match () {
        () if found.proved => 0,
        () if found.counterexample.is_some() => COUNTEREXAMPLE,
        () if found.interrupted => INTERRUPTED,
        () => UNDECIDED,
    }
}

fn of_orbit(orbit: &Orbit) -> Value {
    json!({
        "clusters": orbit.clusters.len(), "sizes": orbit.sizes(), "masses": orbit.clusters,
        "gaps": orbit.gaps, "gaps_error": orbit.gap_error, "energy_share": orbit.energy_share,
        "unstable_directions": orbit.ascents, "multiplicity": orbit.multiplicity,
        "rotations": orbit.rotations, "mirror": orbit.mirror,
    })
}

fn of_boxes(boxes: &[UndecidedBox]) -> Value {
    let one = |b: &UndecidedBox| {
        let turns: Vec<[f64; 2]> = b.gaps.iter().map(|g| [g.0, g.1]).collect();
        json!({ "masses": b.clusters, "gaps_in_turns": turns, "beta": [b.beta.0, b.beta.1] })
    };
    boxes.iter().map(one).collect()
}

fn of_landscape(found: &Landscape) -> Value {
    json!({
        "complete": found.complete, "at_beta": found.at,
        "orbits": found.orbits.iter().map(of_orbit).collect::<Vec<_>>(),
        "labelled_by_unstable_directions": found.labelled, "morse_inequalities": found.morse,
        "boxes": found.boxes, "undecided": found.undecided,
        "undecided_boxes": of_boxes(&found.undecided_boxes), "interrupted": found.interrupted,
    })
}

fn of_benign(found: &Benign) -> Value {
    let counterexample = found
        .counterexample
        .as_ref()
        .map(|(beta, orbit)| json!({ "beta": beta, "point": of_orbit(orbit) }));
    json!({
        "benign": found.proved, "counterexample": counterexample, "boxes": found.boxes,
        "undecided": found.undecided, "undecided_boxes": of_boxes(&found.undecided_boxes),
        "interrupted": found.interrupted,
    })
}

/// One line of the table.
fn line(orbit: &Orbit) -> String {
    let sizes: Vec<String> = orbit
        .clusters
        .iter()
        .map(|c| if c.iter().all(|m| *m == 1) { c.len().to_string() } else { format!("{c:?}") })
        .collect();
    let gaps: Vec<String> = orbit.gaps.iter().map(|g| format!("{:.4}", g.to_degrees())).collect();
    let unstable = orbit.ascents.map_or("?".to_owned(), |a| a.to_string());
    format!(
        "{:<20} {unstable:>8}  {:>12}  {:>12}  {:>9}  {}\n",
        sizes.join("+"),
        orbit.multiplicity,
        number(orbit.energy_share),
        orbit.rotations,
        gaps.join(" ")
    )
}

fn undecided(boxes: u64, listed: &[UndecidedBox]) -> String {
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
            "; the first: clusters {:?}, gaps in degrees {}, beta in [{}, {}]",
            first.clusters,
            bounds.join(" "),
            first.beta.0,
            first.beta.1
        ));
    }
    text
}

const COLUMNS: &str =
    "clusters             unstable  multiplicity  energy share  rotations  gaps in degrees\n";

fn text_of_landscape(found: &Landscape) -> String {
    let points = counted(found.orbits.len(), "critical point");
    let mut text = if found.complete {
        format!(
            "proved: exactly {points}, up to rotations, reflections and permutations of equal \
             masses ({} boxes)\n",
            found.boxes
        )
    } else {
        format!(
            "not complete: {points} found in {} boxes, {}{}\n",
            found.boxes,
            undecided(found.undecided, &found.undecided_boxes),
            if found.interrupted { "; interrupted" } else { "" }
        )
    };
    text.push_str(&format!("the points at beta = {}:\n{COLUMNS}", found.at));
    found.orbits.iter().for_each(|o| text.push_str(&line(o)));
    if let Some(labelled) = &found.labelled {
        text.push_str(&format!(
            "labelled points modulo rotations, by unstable directions: {labelled:?}; Morse \
             inequalities {}\n",
            if found.morse == Some(true) { "hold" } else { "are violated: points are missing" }
        ));
    }
    text
}

fn text_of_benign(found: &Benign) -> String {
    if found.proved {
        return format!(
            "proved: benign. Every critical point except one cluster has a direction in which the \
             energy increases at second order, for all these beta ({} boxes). So almost every \
             start of SA and USA converges to one cluster.\n",
            found.boxes
        );
    }
    if let Some((beta, orbit)) = &found.counterexample {
        return format!(
            "counterexample: at beta = {beta} a configuration of several clusters is a strict local \
             maximum of the energy (proved)\n{COLUMNS}{}",
            line(orbit)
        );
    }
    format!(
        "not decided after {} boxes: {}{}\n",
        found.boxes,
        undecided(found.undecided, &found.undecided_boxes),
        if found.interrupted { "; interrupted" } else { "" }
    )
}
