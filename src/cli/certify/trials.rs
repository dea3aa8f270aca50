//! `certify start --starts N`: how many of N starts can be proved, and what ends the other proofs.

use super::shared::variant;
use crate::cli::input::TokenArguments;
use crate::cli::progress;
use crate::cli::session;
use crate::error::{Error, Result};
use crate::num::stats::median;
use crate::operation::{Answer, Exit};
use crate::proofs::trajectory::{Cause, Neighbourhood, prove};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The proof of one start.
struct Trial {
    seed: u64,
    seconds: f64,
    /// Time at which all tokens lie in a hemisphere, error bound there, steps; or the cause of
    /// failure.
    found: std::result::Result<(f64, f64, usize), Cause>,
    /// Whether the verifier accepts the certificate, and its seconds.
    checked: Option<(bool, f64)>,
}

/// Starts drawn from a law, with seeds from that of the flags on.
pub(super) struct Trials<'a> {
    pub(super) tokens: &'a TokenArguments,
    pub(super) count: usize,
    /// Certificates are not checked by the verifier.
    pub(super) unchecked: bool,
}

impl Trials<'_> {
    pub(super) fn run(&self, name: &str, (beta, radius): (f64, f64)) -> Result<Answer> {
        let (variant, done, session) = (variant(name)?, AtomicUsize::new(0), session::current());
        let one = |k: usize| -> Result<Trial> {
            if session.cancelled() {
                return Err(Error::Interrupted { resume: "the starts are not saved".into() });
            }
            let seed = self.tokens.seed().wrapping_add(k as u64);
            let start =
                Neighbourhood::new(variant, beta, &self.tokens.with_seed(seed).tokens()?, radius)?;
            let trial = self.trial(seed, &start);
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            progress::report(Some(done as f64 / self.count as f64), || {
                format!("{done} of {} starts", self.count)
            });
            trial
        };
        let all: Vec<Trial> = (0..self.count).into_par_iter().map(one).collect::<Result<_>>()?;
        let (json, text, complete) = summary(&all);
        let end = if complete { Exit::Shown } else { Exit::Undecided };
        Ok(Answer::new(json, text).ended(end))
    }

    fn trial(&self, seed: u64, start: &Neighbourhood) -> Result<Trial> {
        let began = Instant::now();
        let proof = prove(start)?;
        let seconds = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let check = |text: String| {
            (metastable_verifier::check(&text).is_ok(), began.elapsed().as_secs_f64())
        };
        // A proof that is not confirmed does not count.
        let checked = proof.as_ref().ok().filter(|_| !self.unchecked).map(|p| check(p.to_text()));
        Ok(Trial {
            seed,
            seconds,
            found: proof.map(|p| (p.t, p.error, p.steps())).map_err(|l| l.cause),
            checked,
        })
    }
}

/// Median and maximum.
fn spread(values: &[f64]) -> (f64, f64) {
    (median(values), values.iter().copied().fold(f64::NAN, f64::max))
}

fn summary(all: &[Trial]) -> (Value, String, bool) {
    let stands = |t: &&Trial| t.checked.is_none_or(|c| c.0);
    let found: Vec<(f64, f64, usize)> =
        all.iter().filter(stands).filter_map(|t| t.found.ok()).collect();
    let failures: Vec<(&str, usize, Vec<u64>)> = Cause::ALL
        .into_iter()
        .map(|c| {
            (c.name(), all.iter().filter(|t| t.found == Err(c)).map(|t| t.seed).collect::<Vec<_>>())
        })
        .filter(|(_, seeds)| !seeds.is_empty())
        .map(|(name, seeds)| (name, seeds.len(), seeds.into_iter().take(5).collect()))
        .collect();
    let of =
        |f: &dyn Fn(&(f64, f64, usize)) -> f64| spread(&found.iter().map(f).collect::<Vec<_>>());
    let (seconds, t, error, steps) = (
        spread(&all.iter().map(|t| t.seconds).collect::<Vec<_>>()),
        of(&|p| p.0),
        of(&|p| p.1),
        of(&|p| p.2 as f64),
    );
    let checked: Vec<(bool, f64)> = all.iter().filter_map(|t| t.checked).collect();
    let accepted = checked.iter().filter(|c| c.0).count();
    let time = spread(&checked.iter().map(|c| c.1).collect::<Vec<_>>());
    let pair = |v: (f64, f64)| json!({"median": v.0, "largest": v.1});
    let json = json!({
        "starts": all.len(), "found": found.len(), "proved": accepted, "share": found.len() as f64 / all.len() as f64,
        "not_proved": failures.iter().map(|(name, count, seeds)| json!({"cause": name, "starts": count, "first_seeds": seeds})).collect::<Vec<_>>(),
        "seconds": pair(seconds), "t_hemisphere": pair(t), "error_bound": pair(error), "steps": pair(steps),
        "checked": checked.len(), "accepted": accepted, "check_seconds": pair(time),
    });
    let word = if checked.is_empty() && !found.is_empty() {
        "found by the search, not checked"
    } else {
        "proved"
    };
    let mut text = format!(
        "{word}: {} of {} starts; median and largest: {:.3} and {:.2} s",
        found.len(),
        all.len(),
        seconds.0,
        seconds.1
    );
    if !found.is_empty() {
        let more = format!(
            ", t = {:.2e} and {:.2e}, error {:.0e} and {:.0e}, {} and {} steps",
            t.0, t.1, error.0, error.1, steps.0, steps.1
        );
        text.push_str(&more);
    }
    for (name, count, seeds) in &failures {
        text.push_str(&format!(
            "\nnot proved, cause {name}: {count} (seeds {seeds:?}{})",
            if seeds.len() < *count { " and others" } else { "" }
        ));
    }
    if !checked.is_empty() {
        text.push_str(&format!(
            "\nthe verifier accepts {accepted} of {} certificates; {:.2} and {:.2} s",
            checked.len(),
            time.0,
            time.1
        ));
    }
    (json, text, found.len() == all.len() && accepted == checked.len())
}
