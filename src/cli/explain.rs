//! `explain`: what a name means.

use super::list;
use super::output::Output;
use crate::error::{Error, Result};
use crate::theorem::{self, Claim, Kind, Status};
use crate::{attention::dynamics, lab::experiment, sphere::law};
use serde_json::json;

/// Flags of `explain`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  metastable explain cone-collapse")]
pub struct Arguments {
    /// A theorem, dynamics, law, observable, figure, experiment, outcome or verdict.
    name: String,
}

const WORDS: [(&str, &str); 16] = [
    ("certified", "interval arithmetic decides the claim for exactly the printed box, and every trial agrees"),
    ("supported", "every margin exceeds its error in every trial that met the hypotheses, and the control came out on its side"),
    (
        "inconclusive",
        "an error bar covers the threshold, a run did not finish, a violation was not confirmed, over half of the draws missed the hypotheses, a bound on exceptions is not \
         reached, or the control came out on the wrong side",
    ),
    (
        "violated",
        "a margin lies below minus its error and was confirmed by what the trial depends on: a hundredth of the tolerance and the second integrator, double-double velocities, another \
         seed, or inputs moved by an ulp; violated as encoded, with a counterexample that can be replayed",
    ),
    ("margin", "signed distance to a claim without a unit: 1 is far from the threshold, 0 on it, negative beyond"),
    ("slack", "how many times larger the bound of an inequality is than what happens; the smallest over all trials"),
    (
        "resolving power",
        "the relative change of the stated constant or law that the check would notice, by bisection; `not 2x`: half or twice would pass too",
    ),
    ("control", "the same code with one thing changed: violated for a claim that should hold, held for one that is false"),
    ("hypotheses never met", "no draw met the hypotheses, so nothing was tested"),
    ("reached", "the run reached its end time"),
    ("stationary", "a stable state was reached to rounding: nothing will move any more, and the state holds until the end time"),
    ("one-cluster", "all tokens became one cluster"),
    ("max-steps", "the budget of steps was spent; partial results are kept"),
    ("step-too-small", "no step that still moves a token met the tolerance"),
    ("non-finite", "a velocity became infinite or NaN; the message names token and time"),
    ("interrupted", "Ctrl-C or SIGTERM; finished cells are kept and the same command resumes"),
];

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let name = self.name.as_str();
        let figure = super::figure::find(name).ok().map(super::figure::explained);
        let meanings: Vec<String> = describe(name).into_iter().chain(figure).collect();
        let text = (!meanings.is_empty()).then(|| meanings.join("\n\n")).ok_or_else(|| {
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
        return Some(claim(c));
    }
    if let Ok(e) = dynamics::find(name, false) {
        return Some(format!("{}\n\nSource  {}\nConformance: metastable doctor {}", e.summary, e.citation, e.name));
    }
    if let Ok(e) = law::find(name) {
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
    ["observables", "integrators"].iter().flat_map(|k| list::entries(k)).find(|(n, _)| n == name).map(|(_, s)| s)
}

/// A claim with everything a referee asks for.
fn claim(c: &Claim) -> String {
    let expected = match c.status {
        Status::Theorem => "theorem: a violation is a failure (exit code 2)",
        Status::Corrected => "corrected (the source prints it wrongly): a violation is a failure (exit code 2)",
        Status::Misprinted => "misprinted: a violation is expected",
        Status::Folklore => "folklore, and false: a violation is expected",
        Status::Open => "open: a violation is a discovery",
        Status::Observation => "observation without a proof",
    };
    let kind = match c.kind {
        Kind::Identity => "identity: margin 1 - deviation / tolerance".to_owned(),
        Kind::Inequality => "inequality: margin (bound - value) / bound".to_owned(),
        Kind::Law => "law: margin 1 - |measured - stated| / allowed, with the sampling error".to_owned(),
        Kind::Share(level) => format!("share: at least {level} of all draws (Clopper-Pearson, 99.9 %)"),
        Kind::Every(exceptions) => format!("share: every draw; supported when exceptions are below {exceptions} at 99.9 %"),
    };
    let mut text = format!("{}\n\nStatement   {}\nHypotheses  {}\n", c.title, c.statement, c.domain);
    let mut line = |label: &str, words: &str| {
        if !words.is_empty() {
            text.push_str(&format!("{label:<11} {words}\n"));
        }
    };
    line("Narrower", c.narrower);
    line("Status", expected);
    line("Kind", &kind);
    line("Resolves", &if c.perturbed.is_empty() { String::new() } else { format!("{} is perturbed until the check notices", c.perturbed) });
    let side = if c.status.expects_violation() { "must hold" } else { "must be violated" };
    line("Control", &format!("{} ({side})", c.control.what));
    line("Proof", c.proof.as_ref().map_or("", |p| p.what));
    line("Source", c.citation);
    line(
        "Trials",
        &format!("{} quick, {} standard, the ends of all ranges among them; try: metastable check {}", c.trials.0, c.trials.1, c.name),
    );
    line("Search", &format!("metastable hunt {}", c.name));
    text.trim_end().to_owned()
}
