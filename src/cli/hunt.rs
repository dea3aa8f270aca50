//! `hunt`: search the range of a claim for a counterexample, or replay one.

use super::cancel::cancelled;
use super::grid_flags::GridFlags;
use super::output::{finite, number};
use super::run::ShardArguments;
use super::session::Session;
use super::shards::{merge_hunts, shared, write_hunt};
use super::{out_file, progress};
use crate::error::Result;
use crate::lab::{Counterexample, Provenance, arrays::write_atomically};
use crate::operation::{Answer, Exit, Operation, Parameters, above, any, column};
use crate::parameters;
use crate::theorem::hunt::{self, ShareEstimate, ShareHunt, TimeLimit};
use crate::theorem::{Betas, Claim, Finding, Kind, Region, Stop, TrialResult, confirm, find};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

parameters! {
    /// Parameters of `hunt`.
    struct Hunt {
        ..range: GridFlags;
        ..shards: ShardArguments;
        /// The claim (`list theorems`), or the file of a counterexample that `hunt` wrote: it is
        /// evaluated again by an independent method.
        claim: Option<String>, any().unless(&["replay"]).positional().form("CLAIM|FILE");
        /// Evaluate a counterexample that `hunt` wrote again, by an independent method.
        replay: Option<PathBuf>, any().hidden().excludes(&["claim"]);
        /// Time limit in minutes; a violation is confirmed after it. Ctrl-C ends the hunt earlier
        /// and keeps the best trial.
        minutes: f64, above(0.0, 1e5).or("2").form("M");
        /// Random seed of trials and searches.
        seed: u64, any().or("1");
        /// File for a counterexample (default runs/hunt/CLAIM.json); with --shard or --merge the
        /// shared folder.
        out: Option<PathBuf>, any().form("PATH");
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "hunt",
    group: "Theorems",
    summary: "Search the range of a claim for a counterexample, or replay one",
    notes: "Examples:
  metastable hunt sa-entropy --minutes 5
  metastable hunt cone-speed-printed --n 2..4 --beta 1..10
  metastable hunt runs/hunt/cone-speed-printed.json",
    parameters: Hunt::table,
    results: &[
        column("claim", "name of the claim"),
        column("found", "whether a violation was found"),
        column("confirmed", "whether it is confirmed"),
        column("confirmed_by", "methods that confirm it"),
        column("against", "methods that do not find it"),
        column("certified", "whether interval arithmetic certifies it"),
        column("certified_margin", "upper bound on the margin"),
        column("margin", "smallest margin"),
        column("error", "its error"),
        column("written_margin", "margin in the file"),
        column("budget", "trials and seconds"),
        column("file", "file of the counterexample"),
        column("share", "smallest share that was found"),
        column("share_at_most", "its upper bound"),
        column("level", "the claimed share"),
        column("place", "where it was found"),
        column("shards", "number of shards"),
        column("found_by", "shards that found a violation"),
    ],
    exits: &[
        (Exit::Shown, "as the literature predicts"),
        (Exit::Counterexample, "a theorem or a corrected claim is violated"),
        (Exit::Undecided, "another end than the literature predicts, or not confirmed"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Hunt::of(given)?.run(),
    ..Operation::EMPTY
};

impl Hunt {
    /// Runs it. Exit code 0 if the hunt ended as the literature predicts, 2 if a theorem or a
    /// corrected claim is violated.
    fn run(mut self) -> Result<Answer> {
        let written = self.claim.as_ref().filter(|name| Path::new(name).is_file());
        if let Some(file) = self.replay.clone().or(written.map(PathBuf::from)) {
            return replay(&file);
        }
        let claim = find(self.claim.as_deref().unwrap_or_default())?;
        let divided = shared(self.out.as_deref(), &self.shards)?;
        let Some((folder, shard)) = divided else {
            return self.hunt_once(claim);
        };
        let Some(shard) = shard else { return merge_hunts(&folder, claim) };
        // Every shard draws from its own seed.
        let settings = self.seed.to_string();
        self.seed = shard.seed(self.seed);
        self.out = Some(folder.join(format!(
            "{}-{}.json",
            claim.name,
            shard.to_string().replace('/', "-of-")
        )));
        let mut answer = self.hunt_once(claim)?;
        let mut values = Value::Object(answer.values.clone());
        values["shards"] = shard.count().into();
        write_hunt(&folder, claim, &settings, &shard, &values)?;
        answer.values.insert("shards".into(), shard.count().into());
        Ok(answer)
    }

    /// One hunt; its exit code and result.
    fn hunt_once(&self, claim: &'static Claim) -> Result<Answer> {
        let region = self.range.region()?;
        let started = Instant::now();
        let limit = Duration::from_secs_f64(60.0 * self.minutes);
        let stop = Stop::default();
        let session = super::session::current();
        let _off = alarm(limit, &stop, session.clone());
        let (path, provenance) = (self.path(claim), self.provenance(claim, &region));
        if self.out.is_some() {
            out_file::create_parent(&path)?;
        }
        if self.out.is_some() || path.exists() {
            out_file::check_result(&path, &provenance, self.out.is_none())?;
        }
        let _ending = super::cancel::ends_itself();
        let go_on = |evaluations: u64, best: Option<f64>| {
            let share = started.elapsed().as_secs_f64() / limit.as_secs_f64();
            let margin = || best.map_or(String::new(), |b| format!(", smallest margin {b:.3e}"));
            progress::report(Some(share), || format!("{evaluations} trials{}", margin()));
            started.elapsed() < limit && !session.cancelled()
        };
        let time = TimeLimit { keep_going: &go_on, stop };
        if let Kind::Share(level) = claim.kind {
            let seen = hunt::hunt_share(claim, &region, self.seed, &time)?;
            return Ok(shares(claim, level, &seen, started.elapsed().as_secs_f64()));
        }
        let hunted = hunt::hunt(claim, &region, self.seed, &time)?;
        let seconds = started.elapsed().as_secs_f64();
        let Some(best) = hunted.best.as_ref().filter(|b| b.failed()) else {
            let margin = hunted.margin();
            let words = margin
                .map_or("no trial that met the hypotheses finished in this time".to_owned(), |m| {
                    format!("smallest margin {}", number(m))
                });
            let text = format!(
                "{}: no violation found in {} trials, {seconds:.0} s; {words}. This proves nothing.",
                claim.name, hunted.evaluations
            );
            let budget = json!({"trials": hunted.evaluations, "seconds": seconds});
            let answer = json!({"claim": claim.name, "found": false, "margin": margin.map(finite), "budget": budget, "file": null});
            let end = match claim.status.expects_violation() {
                _ if session.cancelled() => Exit::Interrupted,
                true => Exit::Undecided,
                false => Exit::Shown,
            };
            return Ok(Answer::new(answer, text).ended(end));
        };
        let small = hunt::shrink(claim, &region, best, self.seed, &time)?;
        let file = (path.as_path(), provenance);
        self.report_violation(claim, &small, file, (hunted.evaluations, seconds))
    }

    /// The file of a counterexample.
    fn path(&self, claim: &Claim) -> PathBuf {
        let own = || PathBuf::from("runs/hunt").join(format!("{}.json", claim.name));
        self.out.clone().unwrap_or_else(own)
    }

    /// The origin of a counterexample.
    fn provenance(&self, claim: &Claim, region: &Region) -> Provenance {
        let line = format!(
            "metastable hunt {} --minutes {} --seed {}",
            claim.name, self.minutes, self.seed
        );
        let settings = format!("{} {} {region:?}", claim.statement(), self.seed);
        Provenance::new(format!("hunt {}", claim.name), &settings, line)
    }

    /// Confirms and writes a violation, also after the time limit.
    fn report_violation(
        &self,
        claim: &Claim,
        small: &TrialResult,
        (path, provenance): (&Path, Provenance),
        (evaluations, seconds): (u64, f64),
    ) -> Result<Answer> {
        let confirmation = confirm(claim, small, self.seed)?;
        let file = Counterexample::new(claim, small, self.seed, &confirmation, provenance);
        out_file::create_parent(path)?;
        write_atomically(path, file.text().as_bytes())?;
        let margin = if let Finding::Margin(m) = &small.finding { Some(m.value) } else { None };
        let enclosed = small.evidence.certified_margin;
        let certificate = enclosed.map_or(String::new(), |m| {
            format!("\n  certified by interval arithmetic: the margin is at most {m:.4e}, so the claim is violated here")
        });
        let text = format!(
            "{}: violated at {}\n  margin {}, after {} trials, {seconds:.1} s; {confirmation}{certificate}\n  wrote {}; repeat: metastable hunt {}",
            claim.name,
            small.case,
            margin.map_or("unknown".into(), number),
            evaluations,
            path.display(),
            path.display()
        );
        let budget = json!({"trials": evaluations, "seconds": seconds});
        let answer = json!({"claim": claim.name, "found": true, "confirmed": confirmation.holds(), "confirmed_by": confirmation.confirmed_by, "against": confirmation.not_found_by, "certified": enclosed.is_some(),
            "certified_margin": enclosed, "margin": margin,
            "budget": budget, "file": path.display().to_string()});
        let end = match (confirmation.holds(), claim.status.must_hold()) {
            (true, true) => Exit::Counterexample,
            (false, _) => Exit::Undecided,
            _ => Exit::Shown,
        };
        Ok(Answer::new(answer, text).ended(end))
    }
}

/// Evaluates a counterexample again. Exit code 0 if the claim is violated again and this is
/// confirmed, else 3.
fn replay(file: &Path) -> Result<Answer> {
    let file = Counterexample::read(file)?;
    let (claim, again) = file.evaluate()?;
    let confirmation = confirm(claim, &again, file.seed)?;
    let (margin, error) = match &again.finding {
        Finding::Margin(m) => (Some(m.value), Some(m.error())),
        _ => (None, None),
    };
    let found = match &again.finding {
        Finding::Margin(m) => format!("margin {:.6e}, error {:.1e}", m.value, m.error()),
        Finding::Answer(yes) => format!("the answer is {}", if *yes { "yes" } else { "no" }),
        Finding::HypothesesMissed => "the draw does not meet the hypotheses".into(),
        Finding::Unfinished(why) => format!("the trial did not finish: {why}"),
    };
    let confirmed = again.failed() && confirmation.holds();
    let text = format!(
        "{}\n{}\n  {}\n  {found} (in the file: {})\n  {}",
        claim.name,
        claim.statement(),
        again.case,
        file.margin.map_or("none".into(), |m| format!("{m:.6e}")),
        if again.failed() {
            format!("violated, {confirmation}")
        } else {
            "not violated".to_owned()
        },
    );
    let values = json!({
        "claim": claim.name, "margin": margin, "error": error, "written_margin": file.margin,
        "confirmed": confirmed, "confirmed_by": confirmation.confirmed_by,
        "against": confirmation.not_found_by,
    });
    let end = if confirmed { Exit::Shown } else { Exit::Undecided };
    Ok(Answer::new(values, text).ended(end))
}

/// Time between two looks at the clock and at Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Sets `stop` after the time limit or Ctrl-C, unless the returned sender is dropped before.
fn alarm(limit: Duration, stop: &Stop, session: Arc<Session>) -> Sender<()> {
    let (off, wait) = channel();
    let (stop, started) = (stop.clone(), Instant::now());
    std::thread::spawn(move || {
        while wait.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if session.cancelled() || started.elapsed() >= limit {
                stop.set();
                return;
            }
        }
    });
    off
}

/// Reports the hunt of a claim of the kind `share`: a violation, or the smallest share found.
fn shares(claim: &Claim, level: f64, seen: &ShareHunt, seconds: f64) -> Answer {
    let percent = |w: &ShareEstimate| {
        format!("{} of {} draws held ({:.1} %)", w.held, w.draws, 100.0 * w.share())
    };
    let budget = json!({"trials": seen.evaluations, "seconds": seconds});
    let margin = seen.worst.map(|w| finite(w.share() - level));
    let place = seen.worst.map(|w| w.case.to_string());
    let answer = json!({
        "claim": claim.name, "found": seen.found(), "confirmed": seen.confirmed(), "margin": margin, "budget": budget, "file": null,
        "share": seen.worst.map(|w| w.share()), "share_at_most": seen.worst.map(|w| w.upper_bound()), "level": level, "place": place,
    });
    let about = "A share is a property of many draws: the hunt searches for parameters where the share is too small.";
    let text = match (&seen.worst, &seen.repetition) {
        (Some(w), Some(again)) => format!(
            "{}: the share {level} is {} at {}: {}, at most {:.3} (99.9 %); with another seed: {}\n  {about}\n  repeat: {}",
            claim.name,
            if seen.confirmed() { "violated" } else { "NOT confirmed to be violated" },
            w.case,
            percent(w),
            w.upper_bound(),
            percent(again),
            repeated(claim, w),
        ),
        (Some(w), None) => format!(
            "{}: no violation found in {} trials, {seconds:.0} s; smallest share: {} at {}. {about} This proves nothing.",
            claim.name,
            seen.evaluations,
            percent(w),
            w.case
        ),
        _ => format!(
            "{}: no violation found in {} trials, {seconds:.0} s; no trial met the hypotheses. {about}",
            claim.name, seen.evaluations
        ),
    };
    let end = match (seen.found(), seen.confirmed()) {
        (true, true) if claim.status.must_hold() => Exit::Counterexample,
        (true, false) => Exit::Undecided,
        (false, _) if cancelled() => Exit::Interrupted,
        (false, _) if claim.status.expects_violation() => Exit::Undecided,
        _ => Exit::Shown,
    };
    Answer::new(answer, text).ended(end)
}

/// The command that measures the share at given parameters.
fn repeated(claim: &Claim, at: &ShareEstimate) -> String {
    let (case, domain) = (at.case, &claim.domain);
    let mut line = format!(
        "metastable check {} --n {} --d {} --trials {}",
        claim.name, case.n, case.d, at.draws
    );
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
