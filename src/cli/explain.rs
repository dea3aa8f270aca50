//! `explain`: what a name means.

use super::list;
use super::output::Output;
use crate::error::{Error, Result};
use crate::theorem::{self, Expected};
use crate::{attention::dynamics, lab::experiment, sphere::law};
use serde_json::json;

/// Flags of `explain`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  metastable explain cone-collapse")]
pub struct Arguments {
    /// A theorem, dynamics, law, observable, figure, experiment, outcome or verdict.
    name: String,
}

const WORDS: [(&str, &str); 10] = [
    (
        "supported",
        "every margin exceeds its numerical error in every trial that met the hypotheses, and the negative control failed as it should",
    ),
    ("inconclusive", "an error bar covers the threshold, a run did not finish, a violation was not confirmed, or the control did not fail"),
    (
        "violated",
        "a margin lies below minus its error and was confirmed at a hundredth of the tolerance: violated as encoded, with a replayable case and seed",
    ),
    ("hypotheses never met", "no draw met the hypotheses, so nothing was tested"),
    ("reached", "the run reached its end time"),
    ("one-cluster", "all tokens became one cluster"),
    ("max-steps", "the budget of steps was spent; partial results are kept"),
    ("step-too-small", "no step that still moves a token met the tolerance"),
    ("non-finite", "a velocity became infinite or NaN; the message names token and time"),
    ("interrupted", "Ctrl-C; finished cells are kept and the same command resumes"),
];

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let name = self.name.as_str();
        let text = describe(name).ok_or_else(|| {
            let mut known: Vec<String> = ["theorems", "dynamics", "laws", "observables", "figures", "experiments", "studies"]
                .iter()
                .flat_map(|k| list::entries(k).into_iter().map(|e| e.0))
                .collect();
            known.extend(WORDS.iter().map(|w| w.0.to_owned()));
            Error::Unknown { kind: "name", found: name.into(), known }
        })?;
        out.result(&json!({"name": name, "text": text}), &text);
        Ok(0)
    }
}

fn describe(name: &str) -> Option<String> {
    if let Ok(c) = theorem::find(name) {
        let expected = match c.expected {
            Expected::Holds => "expected to hold",
            Expected::Violated => "printed wrongly: expected to be violated",
        };
        let kind = if c.almost_sure { "; for almost every start (reported as k of N with a one-sided 99.9 % bound)" } else { "" };
        return Some(format!(
            "{}\n\nStatement   {}\nHypotheses  {}\nStatus      {expected}{kind}\nControl     {} (must be violated)\nSource      {}\nGrid        {} cases; try: metastable check {}",
            c.title,
            c.statement,
            c.hypotheses,
            c.control.what,
            c.citation,
            c.cases.len(),
            c.name
        ));
    }
    if let Some(e) = dynamics::ALL.iter().find(|e| e.name == name) {
        return Some(format!("{}\n\nSource  {}\nConformance: metastable doctor {}", e.summary, e.citation, e.name));
    }
    if let Some(e) = law::ALL.iter().find(|e| e.name == name) {
        let keys: Vec<String> = e.keys.iter().map(|(k, v, lo, hi, what)| format!("  {k} (default {v}, in [{lo}, {hi}]): {what}")).collect();
        return Some(format!("{}\n{}", e.summary, keys.join("\n")));
    }
    if let Some((_, text)) = experiment::BUILT_IN.iter().find(|(n, _)| *n == name) {
        return Some((*text).to_owned());
    }
    if let Ok(s) = crate::study::find(name) {
        return Some(format!("{}\n\nSource  {}\nTables: metastable run {}", s.title, s.citation, s.name));
    }
    if let Some((_, meaning)) = WORDS.iter().find(|(w, _)| *w == name) {
        return Some((*meaning).to_owned());
    }
    ["observables", "figures", "integrators"].iter().flat_map(|k| list::entries(k)).find(|(n, _)| n == name).map(|(_, s)| s)
}
