//! `hunt`: search a claim's range for a counterexample.

use super::cancel::cancelled;
use super::output::{Output, finite, number};
use super::parts::{keep_hunt, merge_hunts, shared};
use super::progress;
use super::region::Flags;
use super::run::PartArguments;
use crate::error::{Error, Result};
use crate::lab::{Counterexample, Provenance, arrays::write_atomically};
use crate::theorem::hunt::{self, ShareAt, ShareHunt, Timekeeper};
use crate::theorem::{Attempt, Betas, Claim, Finding, Kind, Stop, confirm, find};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Flags of `hunt`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  metastable hunt sa-entropy --minutes 5\n  metastable hunt cone-speed-printed --n 2..4 --beta 1..10")]
pub struct Arguments {
    /// The claim (see `list theorems`).
    claim: String,
    /// Time to spend (what is found is confirmed after it); Ctrl-C ends the hunt earlier and keeps the best.
    #[arg(long, default_value_t = 2.0, value_name = "M", allow_hyphen_values = true)]
    minutes: f64,
    #[command(flatten)]
    part: Flags,
    /// Seed of draws and searches.
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    seed: u64,
    /// Where a counterexample goes (default runs/hunt/CLAIM.json); with --cells and --merge the folder that all machines share.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    #[command(flatten)]
    parts: PartArguments,
}

impl Arguments {
    /// Runs it; 0 when the hunt ended as the literature predicts, 2 when a theorem or a correction is violated.
    pub fn run(mut self, out: &Output) -> Result<i32> {
        let claim = find(&self.claim)?;
        let parts = shared(self.out.as_deref(), &self.parts)?;
        let Some((folder, part)) = parts else { return self.alone(claim, out).map(|(code, _)| code) };
        let Some(part) = part else { return merge_hunts(&folder, claim, out) };
        // Every part draws from a seed of its own, and says which.
        let settings = self.seed.to_string();
        self.seed = part.seed(self.seed);
        self.out = Some(folder.join(format!("{}-{}.json", claim.name, part.to_string().replace('/', "-of-"))));
        let (code, mut answer) = self.alone(claim, out)?;
        answer["parts"] = part.of().into();
        keep_hunt(&folder, claim, &settings, &part, &answer)?;
        Ok(code)
    }

    /// One hunt; its exit code and what it answered.
    fn alone(&self, claim: &'static Claim, out: &Output) -> Result<(i32, Value)> {
        if !(self.minutes > 0.0 && self.minutes <= 1e5) {
            return Err(Error::parameter("--minutes", self.minutes, "a time in (0, 1e5]"));
        }
        let region = self.part.region()?;
        let started = Instant::now();
        let limit = Duration::from_secs_f64(60.0 * self.minutes);
        let stop = Stop::default();
        let _off = alarm(limit, &stop);
        let go_on = |evaluations: u64, best: Option<f64>| {
            let share = started.elapsed().as_secs_f64() / limit.as_secs_f64();
            let margin = || best.map_or(String::new(), |b| format!(", smallest margin {b:.3e}"));
            progress::report(Some(share), || format!("{evaluations} trials{}", margin()));
            started.elapsed() < limit && !cancelled()
        };
        let time = Timekeeper { go_on: &go_on, stop };
        if let Kind::Share(level) = claim.kind {
            let seen = hunt::share(claim, &region, self.seed, &time)?;
            return Ok(shares(claim, level, &seen, started.elapsed().as_secs_f64(), out));
        }
        let hunted = hunt::hunt(claim, &region, self.seed, &time)?;
        let seconds = started.elapsed().as_secs_f64();
        let Some(best) = hunted.best.as_ref().filter(|b| b.failed()) else {
            let margin = hunted.margin();
            let words = margin
                .map_or("no trial that met the hypotheses ended in this time".to_owned(), |m| format!("smallest margin {}", number(m)));
            let text = format!(
                "{}: nothing found in {} trials, {seconds:.0} s; {words}. A search that finds nothing proves nothing.",
                claim.name, hunted.evaluations
            );
            let budget = json!({"trials": hunted.evaluations, "seconds": seconds});
            let answer = json!({"claim": claim.name, "found": false, "margin": margin.map(finite), "budget": budget, "file": null});
            out.result(&answer, &text);
            let inconclusive = if claim.status.expects_violation() { 3 } else { 0 };
            return Ok((if super::cancel::cancelled() { 130 } else { inconclusive }, answer));
        };
        let small = hunt::minimised(claim, &region, best, self.seed, &time)?;
        self.found(claim, &small, hunted.evaluations, seconds, out)
    }

    /// Confirms and writes what was found, whatever the time is.
    fn found(&self, claim: &Claim, small: &Attempt, evaluations: u64, seconds: f64, out: &Output) -> Result<(i32, Value)> {
        let confirmation = confirm(claim, small, self.seed)?;
        let path = self.out.clone().unwrap_or_else(|| PathBuf::from("runs/hunt").join(format!("{}.json", claim.name)));
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
        }
        let line = format!("metastable hunt {} --minutes {} --seed {}", claim.name, self.minutes, self.seed);
        let provenance = Provenance::new(format!("hunt {}", claim.name), &format!("{} {}", claim.statement, self.seed), line);
        let file = Counterexample::new(claim, small, self.seed, &confirmation, provenance);
        write_atomically(&path, file.text().as_bytes())?;
        let margin = if let Finding::Margin(m) = &small.finding { Some(m.value) } else { None };
        let enclosed = small.evidence.margin;
        let certificate = enclosed
            .map_or(String::new(), |m| format!("\n  certified: by enclosures the margin is at most {m:.4e}; the claim is violated here"));
        let text = format!(
            "{}: violated at {}\n  margin {}, after {} trials, {seconds:.1} s; {confirmation}{certificate}\n  wrote {}; again: metastable replay {}",
            claim.name,
            small.case,
            margin.map_or("no".into(), number),
            evaluations,
            path.display(),
            path.display()
        );
        let budget = json!({"trials": evaluations, "seconds": seconds});
        let answer = json!({"claim": claim.name, "found": true, "confirmed": confirmation.holds(), "confirmed_by": confirmation.by, "against": confirmation.against, "certified": enclosed.is_some(),
            "certified_margin": enclosed, "margin": margin,
            "budget": budget, "file": path.display().to_string()});
        out.result(&answer, &text);
        let code = match (confirmation.holds(), claim.status.must_hold()) {
            (true, true) => 2,
            (false, _) => 3,
            _ => 0,
        };
        Ok((code, answer))
    }
}

/// Sets a stop when the time is over, unless what it returns is dropped before.
fn alarm(limit: Duration, stop: &Stop) -> Sender<()> {
    let (off, wait) = channel();
    let stop = stop.clone();
    std::thread::spawn(move || {
        if wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            stop.set();
        }
    });
    off
}

/// What the hunt of a share saw: a place where the share fails, or the place of the smallest share.
fn shares(claim: &Claim, level: f64, seen: &ShareHunt, seconds: f64, out: &Output) -> (i32, Value) {
    let percent = |w: &ShareAt| format!("{} of {} draws held ({:.1} %)", w.held, w.draws, 100.0 * w.share());
    let budget = json!({"trials": seen.evaluations, "seconds": seconds});
    let margin = seen.worst.map(|w| finite(w.share() - level));
    let place = seen.worst.map(|w| w.case.to_string());
    let answer = json!({
        "claim": claim.name, "found": seen.found(), "confirmed": seen.confirmed(), "margin": margin, "budget": budget, "file": null,
        "share": seen.worst.map(|w| w.share()), "share_at_most": seen.worst.map(|w| w.at_most()), "level": level, "place": place,
    });
    let about = "One draw is no counterexample to a share: the hunt looks for a place of the range where the share fails.";
    let text = match (&seen.worst, &seen.again) {
        (Some(w), Some(again)) => format!(
            "{}: the share {level} is {} at {}: {}, at most {:.3} (99.9 %); another seed of all draws: {}\n  {about}\n  again: {}",
            claim.name,
            if seen.confirmed() { "violated" } else { "NOT confirmed to be violated" },
            w.case,
            percent(w),
            w.at_most(),
            percent(again),
            repeated(claim, w),
        ),
        (Some(w), None) => format!(
            "{}: nothing found in {} trials, {seconds:.0} s; smallest share: {} at {}. {about} A search that finds nothing proves nothing.",
            claim.name,
            seen.evaluations,
            percent(w),
            w.case
        ),
        _ => format!("{}: nothing found in {} trials, {seconds:.0} s; no trial met the hypotheses. {about}", claim.name, seen.evaluations),
    };
    out.result(&answer, &text);
    let code = match (seen.found(), seen.confirmed()) {
        (true, true) if claim.status.must_hold() => 2,
        (true, false) => 3,
        (false, _) if cancelled() => 130,
        (false, _) if claim.status.expects_violation() => 3,
        _ => 0,
    };
    (code, answer)
}

/// The check that measures the share at a place.
fn repeated(claim: &Claim, at: &ShareAt) -> String {
    let (case, domain) = (at.case, &claim.domain);
    let mut line = format!("metastable check {} --n {} --d {} --trials {}", claim.name, case.n, case.d, at.draws);
    if !matches!(domain.beta, Betas::Unused) {
        line.push_str(&format!(" --beta {}", case.beta));
    }
    if domain.dynamics.len() > 1 {
        line.push_str(&format!(" --dynamics {}", case.dynamics));
    }
    if domain.laws.len() > 1 {
        line.push_str(&format!(" --law {}", case.law));
    }
    line
}
