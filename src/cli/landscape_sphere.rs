//! `landscape --d D` for D from 3 on, and `landscape --d any`: all critical points on spheres with
//! the proof that there are no others.

use super::output::{Output, counted, note, number};
use super::parameter::axis;
use super::{progress, session};
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::proofs::spheres::{Landscape, Orbit, Tokens, complete, seconds};
use crate::theorem::AxisValues;
use serde_json::{Value, json};
use std::path::Path;

/// The flags of `landscape` that apply to spheres.
pub(super) struct Request<'a> {
    /// Number of tokens.
    pub(super) n: Option<i64>,
    /// The dimension, or `any`.
    pub(super) d: &'a str,
    /// The inverse temperature.
    pub(super) beta: &'a str,
    /// Masses; equal if none are given.
    pub(super) masses: Option<&'a [f64]>,
    /// Whether a benign landscape is asked for.
    pub(super) benign: bool,
    /// File for the certificate.
    pub(super) out: Option<&'a Path>,
}

/// Exit codes of an open question and of an interruption.
const UNDECIDED: i32 = 3;
const INTERRUPTED: i32 = 130;

/// Seconds above which the estimate of the time is printed.
const LONG: f64 = 20.0;

impl Request<'_> {
    /// Runs it.
    pub(super) fn run(&self, out: &Output) -> Result<i32> {
        let d = self.dimension()?;
        let tokens = self.tokens()?;
        if self.benign {
            let expected = "no --benign: for d >= 3 and beta >= 0 it is a theorem that almost \
                            every start converges to one cluster (arXiv:2312.10794)";
            return Err(Error::parameter("--benign", format!("--d {}", self.d), expected));
        }
        let time = seconds(&tokens);
        if time > LONG {
            note(&format!("the proof takes about {} s with two threads", number(time.round())));
        }
        let session = session::current();
        let report = |share: f64, boxes: u64| {
            progress::report(Some(share), || {
                format!("{boxes} boxes, {:.1} % of the volume decided", 100.0 * share)
            });
            !session.cancelled()
        };
        let found = complete(&tokens, d, self.out.is_some(), &report)?;
        super::cancel::work_is_over();
        self.write(found.certificate.as_deref())?;
        out.result(&self.json(&tokens, &found), &self.text(&tokens, &found));
        Ok(match () {
            () if found.complete => 0,
            () if found.interrupted => INTERRUPTED,
            () => UNDECIDED,
        })
    }

    fn dimension(&self) -> Result<Option<usize>> {
        if self.d == "any" {
            return Ok(None);
        }
        let expected = "2, the circle; a number from 3 to 1000; or any, all dimensions at once";
        let d = self.d.parse::<i64>().ok().and_then(|d| usize::try_from(d).ok());
        let fits = d.filter(|d| (3..=crate::proofs::spheres::MAX_DIMENSION).contains(d));
        fits.map(Some).ok_or_else(|| Error::parameter("--d", self.d, expected))
    }

    fn tokens(&self) -> Result<Tokens> {
        let beta = match axis("--beta", self.beta)? {
            AxisValues::List(all) if all.len() == 1 => all[0],
            _ => {
                let expected = "one number: an interval a..b has proofs on the circle, --d 2";
                return Err(Error::parameter("--beta", self.beta, expected));
            }
        };
        let masses = match self.masses {
            Some(all) => all.to_vec(),
            None => {
                let n = usize::try_from(self.n.unwrap_or_default()).unwrap_or_default();
                // A huge number is refused by its value, before memory is needed.
                vec![1.0; n.min(1000)]
            }
        };
        if let (Some(n), Some(_)) = (self.n, self.masses)
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

    fn write(&self, certificate: Option<&str>) -> Result<()> {
        match (self.out, certificate) {
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

    fn json(&self, tokens: &Tokens, found: &Landscape) -> Value {
        let d = self.d.parse::<u64>().map_or_else(|_| json!(self.d), Value::from);
        let boxes: Vec<Vec<[f64; 2]>> =
            found.undecided_boxes.iter().map(|b| b.iter().map(|g| [g.0, g.1]).collect()).collect();
        let orbits: Vec<Value> = found.orbits.iter().map(|o| self.orbit(o)).collect();
        json!({
            "n": tokens.n(), "d": d, "masses": tokens.masses(), "beta": tokens.beta(),
            "complete": found.complete, "orbits": orbits,
            "labelled_by_unstable_directions": found.labelled, "morse_inequalities": found.morse,
            "boxes": found.boxes, "undecided": found.undecided, "undecided_boxes": boxes,
            "interrupted": found.interrupted,
        })
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

    fn text(&self, tokens: &Tokens, found: &Landscape) -> String {
        let masses: Vec<String> = tokens.masses().iter().map(u32::to_string).collect();
        let masses = if tokens.masses().iter().all(|m| *m == 1) {
            "equal masses".to_owned()
        } else {
            format!("masses {}", masses.join(", "))
        };
        let place = match self.d {
            "any" => "spheres of all dimensions".to_owned(),
            d => format!("the sphere of R^{d}"),
        };
        let points = counted(found.orbits.len(), "critical point");
        let mut text =
            format!("{} tokens on {place}, {masses}, beta = {}\n", tokens.n(), self.beta);
        text.push_str(&if found.complete {
            format!(
                "proved: exactly {points}, up to rotations, reflections and permutations of equal \
                 masses ({} boxes)\n",
                found.boxes
            )
        } else {
            let boxes = match found.undecided {
                1 => "1 undecided box".to_owned(),
                more => format!("{more} undecided boxes"),
            };
            let interrupted = if found.interrupted { "; interrupted" } else { "" };
            format!("not complete: {points} found in {} boxes, {boxes}{interrupted}\n", found.boxes)
        });
        if let Some(first) = found.undecided_boxes.first() {
            let bounds: Vec<String> =
                first.iter().map(|g| format!("[{:.8}, {:.8}]", g.0, g.1)).collect();
            text.push_str(&format!(
                "the first undecided box, inner products of tokens 1 2, 1 3, ..., 2 3, ...: {}\n",
                bounds.join(" ")
            ));
        }
        text.push_str(COLUMNS);
        found.orbits.iter().for_each(|o| text.push_str(&self.line(o)));
        if let Some(labelled) = &found.labelled {
            text.push_str(&format!(
                "labelled points modulo rotations and reflections, by unstable directions: \
                 {labelled:?}\n"
            ));
        }
        if let Some(hold) = found.morse {
            let verdict = if hold { "hold" } else { "are violated: points are missing" };
            text.push_str(&format!("Morse inequalities {verdict}\n"));
        }
        text
    }

    /// One line of the table.
    fn line(&self, orbit: &Orbit) -> String {
        let size = |c: &Vec<u32>| match c.iter().all(|m| *m == 1) {
            true => c.len().to_string(),
            false => format!("{c:?}"),
        };
        let sizes: Vec<String> = orbit.clusters.iter().map(size).collect();
        let unstable = match (self.d.parse::<usize>(), orbit.inside, orbit.outside) {
            (Ok(d), Some(_), Some(_)) => orbit.index(d).map_or("?".into(), |i| i.to_string()),
            (Err(_), Some(a), Some(0)) => a.to_string(),
            (Err(_), Some(a), Some(1)) => format!("{a} + (d-{})", orbit.rank),
            (Err(_), Some(a), Some(b)) => format!("{a} + {b} (d-{})", orbit.rank),
            _ => "?".into(),
        };
        let line = format!(
            "{:<12} {:>4}  {unstable:>10}  {:>12}  {:>10}  {:>12}  {}",
            sizes.join("+"),
            orbit.rank,
            orbit.multiplicity,
            orbit.symmetries,
            number(orbit.energy_share),
            products(&orbit.gram)
        );
        format!("{}\n", line.trim_end())
    }
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
