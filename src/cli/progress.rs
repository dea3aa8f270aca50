//! Progress of long work on stderr: a bar on a terminal, plain lines elsewhere.

use crate::error::{Error, Result};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The latest status.
static STATUS: Mutex<Status> =
    Mutex::new(Status { share: None, timed: true, words: String::new() });

/// The current stage as an interval of the whole work, [0, 1].
static STAGE: Mutex<(f64, f64)> = Mutex::new((0.0, 1.0));

/// Set when a new status is wanted; only then is its text made.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Set when results are printed; no progress follows.
static FINISHED: AtomicBool = AtomicBool::new(false);

static BAR: OnceLock<ProgressBar> = OnceLock::new();

/// Time before a bar appears.
const BAR_AFTER: Duration = Duration::from_secs(1);

/// Time before the first plain line and between two lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The variable that sets this time in seconds, or shows no progress.
const VARIABLE: &str = "METASTABLE_PROGRESS";

/// Longest and shortest time between two looks at the status.
const LOOK_EVERY: (Duration, Duration) = (Duration::from_millis(200), Duration::from_millis(10));

/// Starts the thread that shows the progress of a command.
///
/// **Errors** a variable `METASTABLE_PROGRESS` that is neither a number of seconds nor `never`.
pub fn begin(name: &'static str) -> Result<()> {
    if let Some(every) = line_every()? {
        std::thread::spawn(move || watch(name, every));
    }
    Ok(())
}

/// The time between two plain lines; `None` for no progress.
fn line_every() -> Result<Option<Duration>> {
    let set = std::env::var_os(VARIABLE).filter(|word| !word.is_empty());
    let Some(word) = set else { return Ok(Some(LINE_EVERY)) };
    let word = word.to_string_lossy();
    if word == "never" {
        return Ok(None);
    }
    let seconds = word.parse::<f64>().ok().filter(|s| (0.0..=1e6).contains(s));
    let expected = "seconds between two lines, at most 1e6, or never";
    let seconds = seconds.ok_or_else(|| Error::parameter(VARIABLE, &word, expected))?;
    Ok(Some(Duration::from_secs_f64(seconds)))
}

/// Progress of the work.
#[derive(Clone)]
pub struct Status {
    /// Fraction done, in [0, 1], if known.
    pub share: Option<f64>,
    /// Whether the fraction predicts the remaining time.
    pub timed: bool,
    /// A description.
    pub words: String,
}

/// Reports the fraction done, if known, and a description, if a new status is wanted.
pub fn report(share: Option<f64>, words: impl FnOnce() -> String) {
    report_with(|| (share, words()));
}

/// As [`report`]; the fraction too is computed only if it is wanted.
pub fn report_with(make: impl FnOnce() -> (Option<f64>, String)) {
    report_all(|| {
        let (share, words) = make();
        Status { share, timed: true, words }
    });
}

/// As [`report_with`], with a full status.
pub fn report_all(make: impl FnOnce() -> Status) {
    if WANTED.swap(false, Ordering::Relaxed) {
        let status = make();
        let share = status.share.map(total_share);
        *STATUS.lock().unwrap_or_else(PoisonError::into_inner) = Status { share, ..status };
    }
}

/// Converts a fraction of the current stage into a fraction of the whole work.
pub fn total_share(share: f64) -> f64 {
    let (from, to) = *STAGE.lock().unwrap_or_else(PoisonError::into_inner);
    from + (to - from) * share.clamp(0.0, 1.0)
}

/// A stage of the work, such as one figure of several. While it lives, reported fractions are those
/// of the stage.
pub struct Stage {
    before: (f64, f64),
}

/// Begins a stage that covers an interval of the current stage. Stages nest; only one thread may
/// begin them.
pub fn part(from: f64, to: f64) -> Stage {
    let inside = (total_share(from), total_share(to));
    Stage {
        before: std::mem::replace(
            &mut *STAGE.lock().unwrap_or_else(PoisonError::into_inner),
            inside,
        ),
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        *STAGE.lock().unwrap_or_else(PoisonError::into_inner) = self.before;
    }
}

/// Ends the progress display.
pub fn over() {
    FINISHED.store(true, Ordering::Relaxed);
    if let Some(bar) = BAR.get() {
        bar.finish_and_clear();
    }
}

/// Writes a line to stderr, above the progress bar.
pub fn above(line: &str) {
    let write = || {
        let _ = writeln!(std::io::stderr(), "{line}");
    };
    match BAR.get() {
        Some(bar) if !bar.is_finished() => bar.suspend(write),
        _ => write(),
    }
}

fn watch(name: &'static str, every: Duration) {
    let (started, terminal) = (Instant::now(), std::io::stderr().is_terminal());
    let (mut last, mut before) = (Instant::now(), None);
    while !FINISHED.load(Ordering::Relaxed) {
        WANTED.store(true, Ordering::Relaxed);
        std::thread::sleep(every.clamp(LOOK_EVERY.1, LOOK_EVERY.0));
        let Status { share, timed, words } =
            STATUS.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if FINISHED.load(Ordering::Relaxed) {
            return;
        }
        if terminal && started.elapsed() > BAR_AFTER {
            draw(BAR.get_or_init(|| bar(name)), share, words);
        } else if !terminal && last.elapsed() >= every {
            last = Instant::now();
            let (seconds, share) = (started.elapsed().as_secs_f64(), share.filter(|_| timed));
            above(&line(name, seconds, share, before, &words));
            before = share.map(|s| (seconds, s));
        }
    }
}

fn bar(name: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(1000).with_prefix(name);
    let style = ProgressStyle::with_template(
        "{prefix} [{bar:30}] {percent} %, {elapsed}, {eta} left {msg}",
    );
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn draw(bar: &ProgressBar, share: Option<f64>, words: String) {
    bar.set_message(words);
    bar.set_position((1000.0 * share.unwrap_or(0.0)) as u64);
    bar.tick();
}

/// An estimated time: seconds up to ten minutes, minutes up to two hours, hours.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s <= 600.0 => format!("{s:.0} s"),
        s if s <= 7200.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{:.0} hours", s / 3600.0),
    }
}

/// A plain line: `solve: 20 s, about 40 s left: t = 3e5`. `before` is the time and the fraction of
/// the line before it.
///
/// The rest is estimated twice: from all of the work and from the work since that line. If the two
/// disagree by more than a factor of two, both are printed; if nothing was done in between, only
/// the fraction is.
pub fn line(
    name: &str,
    seconds: f64,
    share: Option<f64>,
    before: Option<(f64, f64)>,
    words: &str,
) -> String {
    // The first hundredth gives no estimate.
    let left = share.filter(|s| *s > 0.01).map_or(String::new(), |s| {
        let all = seconds * (1.0 - s) / s;
        let (then, done) = before.unwrap_or((0.0, 0.0));
        let recent = (seconds - then) * (1.0 - s) / (s - done);
        if s <= done {
            return format!(", {:.1} % done", 100.0 * s);
        }
        let (low, high) = (all.min(recent), all.max(recent));
        if high > 2.0 * low {
            return format!(", {} to {} left", duration(low), duration(high));
        }
        format!(", about {} left", duration(recent))
    });
    let words = if words.is_empty() { String::new() } else { format!(": {words}") };
    format!("{name}: {seconds:.0} s{left}{words}")
}
