//! `landscape --d D` for D from 3 on, and `landscape --d any`: all critical points on spheres with
//! the proof that there are no others.

use super::output::{counted, note, note_seconds, number};
use super::problem::{Problem, sizes, words_of_masses};
use super::proof::{ALONE, Standing};
use super::{out_file, progress, session};
use crate::error::Result;
use crate::lab::replace;
use crate::operation::{Answer, Exit};
use crate::proofs::spheres::{
    Benign, Landscape, Orbit, Piece, Tokens, UndecidedBox, benign, complete, seconds,
};
use serde_json::{Value, json};
use std::path::Path;

/// The parameters of `landscape` that apply to spheres.
pub(super) struct Request<'a> {
    /// Tokens and inverse temperatures.
    pub(super) problem: &'a Problem,
    /// The dimension, or `any`.
    pub(super) d: &'a str,
    /// Masses.
    pub(super) masses: &'a [f64],
    /// Whether a benign landscape is asked for.
    pub(super) benign: bool,
    /// Whether the verifier is not run.
    pub(super) unchecked: bool,
    /// File for the certificate.
    pub(super) out: Option<&'a Path>,
}

impl Request<'_> {
    /// Runs it.
    pub(super) fn run(&self) -> Result<Answer> {
        let d = self.d.parse().ok();
        let beta = self.problem.beta().unwrap_or_default();
        let tokens = Tokens::new(self.masses, beta).map_err(|e| self.problem.refused(e))?;
        self.check_file(&tokens, d)?;
        if !self.benign {
            note_seconds("the proof", seconds(&tokens));
        }
        let session = session::current();
        let report = |share: f64, boxes: u64| {
            progress::report(Some(share), || {
                format!("{boxes} boxes, {:.1} % of the volume decided", 100.0 * share)
            });
            !session.cancelled()
        };
        let keep = self.out.is_some() || !self.unchecked;
        let _ending = super::cancel::ends_itself();
        if self.benign {
            let found = benign(&tokens, d, keep, &report)?;
            // The certificate is that of the complete list, which exists if nothing is undecided.
            let decided = found.proved || found.counterexample.is_some();
            let standing =
                Standing::of_search(decided, found.certificate.as_deref(), self.unchecked);
            // A failed write does not lose the printed result.
            let written = self.write(found.certificate.as_deref().filter(|_| standing.holds()));
            let end = match () {
                () if found.proved && standing.holds() => Exit::Shown,
                () if found.counterexample.is_some() && standing.holds() => Exit::Counterexample,
                () if found.interrupted || standing == Standing::Interrupted => Exit::Interrupted,
                () => Exit::Undecided,
            };
            let text = self.text_of_benign(&tokens, &found, &standing);
            let values = self.json_of_benign(&tokens, &found, &standing);
            return written.map(|()| Answer::new(values, text).ended(end));
        }
        let found = complete(&tokens, d, keep, &report)?;
        let standing =
            Standing::of_search(found.complete, found.certificate.as_deref(), self.unchecked);
        let written = self.write(found.certificate.as_deref().filter(|_| standing.holds()));
        let end = match () {
            () if found.complete && standing.holds() => Exit::Shown,
            () if found.interrupted || standing == Standing::Interrupted => Exit::Interrupted,
            () => Exit::Undecided,
        };
        let text = self.text(&tokens, &found, &standing);
        written.map(|()| Answer::new(self.json(&tokens, &found, &standing), text).ended(end))
    }

    /// **Errors** a file of another problem.
    fn check_file(&self, tokens: &Tokens, d: Option<usize>) -> Result<()> {
        let own = tokens.hypotheses();
        let average = d.filter(|_| self.benign).map(|d| format!("{own}average {d}\n"));
        let same = |found: &replace::Problem| match found {
            replace::Problem::Hypotheses(text) => *text == own || average.as_ref() == Some(text),
            replace::Problem::Result(_) => false,
        };
        self.out.map_or(Ok(()), |path| out_file::check(path, &same))
    }

    fn write(&self, certificate: Option<&str>) -> Result<()> {
        match (self.out, certificate) {
            (Some(path), Some(text)) => super::certify::write(text, Some(path))?,
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

    /// The dimension, the masses and beta.
    fn hypotheses(&self, tokens: &Tokens) -> Value {
        let d = self.d.parse::<u64>().map_or_else(|_| json!(self.d), Value::from);
        let (low, high) = tokens.beta();
        let beta = if low < high { json!([low, high]) } else { json!(low) };
        json!({ "n": tokens.n(), "d": d, "masses": tokens.masses(), "beta": beta })
    }

    fn json(&self, tokens: &Tokens, found: &Landscape, standing: &Standing) -> Value {
        let orbits = |all: &[Orbit]| all.iter().map(|o| self.orbit(o)).collect::<Vec<_>>();
        let piece = |p: &Piece| {
            json!({
                "beta": [p.beta.0, p.beta.1], "at_beta": p.at, "complete": p.complete,
                "proof": p.complete.then(|| Standing::Alone.json()), "orbits": orbits(&p.orbits),
            })
        };
        with(
            self.hypotheses(tokens),
            json!({
                "at_beta": found.at, "complete": found.complete && standing.holds(),
                "proof": standing.json(), "orbits": orbits(&found.orbits),
                "labelled_by_unstable_directions": found.labelled,
                "morse_inequalities": found.morse, "boxes": found.boxes,
                "undecided": found.undecided,
                "undecided_boxes": boxes(&found.undecided_boxes),
                "undecided_beta": pairs(&found.open),
                "pieces": found.pieces.iter().map(piece).collect::<Vec<_>>(),
                "interrupted": found.interrupted,
            }),
        )
    }

    fn json_of_benign(&self, tokens: &Tokens, found: &Benign, standing: &Standing) -> Value {
        let point = |(beta, d, orbit): &(f64, usize, Orbit)| json!({ "beta": beta, "dimension": d, "point": self.orbit(orbit) });
        with(
            self.hypotheses(tokens),
            json!({
                "benign": found.proved && standing.holds(), "proof": standing.json(),
                "by_average": found.average,
                "counterexample":
                    found.counterexample.as_ref().filter(|_| standing.holds()).map(point),
                "boxes": found.boxes, "undecided": found.undecided,
                "undecided_boxes": boxes(&found.undecided_boxes),
                "undecided_beta": pairs(&found.open), "interrupted": found.interrupted,
            }),
        )
    }

    fn orbit(&self, orbit: &Orbit) -> Value {
        let d = self.d.parse().ok();
        json!({
            "clusters": orbit.clusters.len(), "sizes": orbit.sizes(), "masses": orbit.clusters,
            "inner_products": orbit.gram, "inner_products_error": orbit.gram_error,
            "rank": orbit.rank, "unstable_in_span": orbit.inside,
            "unstable_per_further_dimension": orbit.outside,
            "unstable_directions": d.and_then(|d| orbit.index(d)),
            "energy_share": orbit.energy_share, "multiplicity": orbit.multiplicity,
            "symmetries": orbit.symmetries,
        })
    }

    /// What is proved, as a heading.
    fn header(&self, tokens: &Tokens) -> String {
        let masses: Vec<String> = tokens.masses().iter().map(u32::to_string).collect();
        let masses = words_of_masses(&masses);
        let place = match self.d {
            "any" => "spheres of all dimensions".to_owned(),
            d => format!("the sphere of R^{d}"),
        };
        format!("{} tokens on {place}, {masses}, beta = {}\n", tokens.n(), self.problem.beta_text())
    }

    fn text(&self, tokens: &Tokens, found: &Landscape, standing: &Standing) -> String {
        let points = counted(found.orbits.len(), "critical point");
        let (low, high) = tokens.beta();
        let interval = low < high;
        let mut text = self.header(tokens);
        text.push_str(&if found.complete {
            let all = if interval { " for every beta in the interval" } else { "" };
            format!(
                "{}: exactly {points}{all}, up to rotations, reflections and permutations of equal \
                 masses ({} boxes)\n{}",
                standing.word(),
                found.boxes,
                standing.line()
            )
        } else {
            let at = if interval { format!(" at beta = {}", found.at) } else { String::new() };
            let undecided = undecided(found.undecided, &found.undecided_boxes, interval);
            let interrupted = if found.interrupted { "; interrupted" } else { "" };
            format!(
                "not complete: {points} found{at} in {} boxes, {undecided}{interrupted}\n",
                found.boxes
            )
        });
        if !found.open.is_empty() {
            text.push_str(&format!("undecided for beta in {}\n", intervals(&found.open)));
        }
        for piece in &found.pieces {
            let points = counted(piece.orbits.len(), "critical point");
            let how = match piece.complete {
                true => format!("proved {ALONE}: exactly"),
                false => "not complete: found".to_owned(),
            };
            text.push_str(&format!("beta in {}: {how} {points}\n", intervals(&[piece.beta])));
        }
        if interval {
            text.push_str(&format!("the points at beta = {}:\n", found.at));
        }
        text.push_str(COLUMNS);
        found.orbits.iter().for_each(|o| text.push_str(&self.line(o)));
        if let Some(labelled) = &found.labelled {
            let some = labelled.iter().enumerate().filter(|(_, count)| **count > 0);
            // In high dimensions most numbers are 0.
            let list = match labelled.len() {
                ..=30 => format!("{labelled:?}"),
                _ => some
                    .map(|(index, n)| format!("{n} with {index}"))
                    .collect::<Vec<_>>()
                    .join(", "),
            };
            text.push_str(&format!(
                "labelled points modulo rotations and reflections, by unstable directions: {list}\n"
            ));
        }
        if let Some(hold) = found.morse {
            let verdict = if hold { "hold" } else { "are violated: points are missing" };
            text.push_str(&format!("Morse inequalities {verdict}\n"));
        }
        text
    }

    fn text_of_benign(&self, tokens: &Tokens, found: &Benign, standing: &Standing) -> String {
        let header = self.header(tokens);
        if found.proved {
            let how = match found.average {
                true => "on average over all directions, also for more tokens".to_owned(),
                false => format!("{} boxes", found.boxes),
            };
            return format!(
                "{header}{}: benign. Every critical point except one cluster has a direction in \
                 which the energy increases at second order, for all these beta ({how}). So almost \
                 every start of SA and USA converges to one cluster.\n{}",
                standing.word(),
                standing.line()
            );
        }
        if let Some((beta, d, orbit)) = &found.counterexample {
            return format!(
                "{header}counterexample: at beta = {beta} a configuration of several clusters is a \
                 strict local maximum of the energy in R^{d} ({})\n{}{COLUMNS}{}",
                standing.word(),
                standing.line(),
                self.line(orbit)
            );
        }
        let (low, high) = tokens.beta();
        let mut text = format!(
            "{header}not decided after {} boxes: {}{}\n",
            found.boxes,
            undecided(found.undecided, &found.undecided_boxes, low < high),
            if found.interrupted { "; interrupted" } else { "" }
        );
        if !found.open.is_empty() {
            text.push_str(&format!("undecided for beta in {}\n", intervals(&found.open)));
        }
        text
    }

    /// One line of the table.
    fn line(&self, orbit: &Orbit) -> String {
        let unstable = match (self.d.parse::<usize>(), orbit.inside, orbit.outside) {
            (Ok(d), Some(_), Some(_)) => orbit.index(d).map_or("?".into(), |i| i.to_string()),
            (Err(_), Some(a), Some(0)) => a.to_string(),
            (Err(_), Some(a), Some(1)) => format!("{a} + (d-{})", orbit.rank),
            (Err(_), Some(a), Some(b)) => format!("{a} + {b} (d-{})", orbit.rank),
            _ => "?".into(),
        };
        let line = format!(
            "{:<12} {:>4}  {unstable:>10}  {:>12}  {:>10}  {:>12}  {}",
            sizes(&orbit.clusters, &u32::to_string),
            orbit.rank,
            orbit.multiplicity,
            orbit.symmetries,
            number(orbit.energy_share),
            products(&orbit.gram)
        );
        format!("{}\n", line.trim_end())
    }
}

/// The entries of two objects.
fn with(mut first: Value, second: Value) -> Value {
    if let (Some(all), Value::Object(more)) = (first.as_object_mut(), second) {
        all.extend(more);
    }
    first
}

fn pairs(all: &[(f64, f64)]) -> Value {
    all.iter().map(|p| json!([p.0, p.1])).collect()
}

fn boxes(all: &[UndecidedBox]) -> Value {
    let one = |b: &UndecidedBox| json!({ "inner_products": pairs(&b.inner_products), "beta": [b.beta.0, b.beta.1] });
    all.iter().map(one).collect()
}

/// Intervals of beta.
fn intervals(all: &[(f64, f64)]) -> String {
    let one = |p: &(f64, f64)| format!("[{:.8}, {:.8}]", p.0, p.1);
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The number of undecided boxes, and the first of them.
fn undecided(count: u64, listed: &[UndecidedBox], interval: bool) -> String {
    let boxes = match count {
        1 => "1 undecided box".to_owned(),
        more => format!("{more} undecided boxes"),
    };
    let Some(first) = listed.first() else { return boxes };
    let bounds: Vec<String> =
        first.inner_products.iter().map(|g| format!("[{:.8}, {:.8}]", g.0, g.1)).collect();
    let beta = match interval {
        true => format!(", beta in {}", intervals(&[first.beta])),
        false => String::new(),
    };
    format!(
        "{boxes}; the first: inner products of tokens 1 2, 1 3, ..., 2 3, ... in {}{beta}",
        bounds.join(" ")
    )
}

/// The inner products of different clusters, each with the number of pairs that have it.
fn products(gram: &[Vec<f64>]) -> String {
    let mut all: Vec<String> = Vec::new();
    let mut values: Vec<f64> =
        gram.iter().enumerate().flat_map(|(a, row)| row[a + 1..].iter().copied()).collect();
    values.sort_by(f64::total_cmp);
    for group in values.chunk_by(|a, b| (a - b).abs() < 1e-9) {
        // Adding 0 turns -0 into 0.
        let value = (group[0] * 1e4).round() / 1e4 + 0.0;
        all.push(match group.len() {
            1 => format!("{value:.4}"),
            count => format!("{value:.4} ({count})"),
        });
    }
    all.join(" ")
}

const COLUMNS: &str = "clusters     rank    unstable  multiplicity  symmetries  energy share  \
                       inner products (pairs)\n";
