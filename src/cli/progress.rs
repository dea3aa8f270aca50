//! How far long work has come: a bar on a terminal, plain lines elsewhere, both on stderr and only when it takes long.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What the work said last.
static SAID: Mutex<Said> = Mutex::new(Said { share: None, timed: true, words: String::new() });

/// The part of the whole work that is under way, as shares of it.
static PART: Mutex<(f64, f64)> = Mutex::new((0.0, 1.0));

/// Set when something new is to be said; the work looks here before it makes words.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Set when results are printed: nothing is said after that.
static OVER: AtomicBool = AtomicBool::new(false);

static BAR: OnceLock<ProgressBar> = OnceLock::new();

/// Silence before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Silence before the first plain line and between two of them.
const PAUSE: Duration = Duration::from_secs(10);

/// Starts to watch the clock for a command of this name.
pub fn begin(name: &'static str) {
    std::thread::spawn(move || watch(name));
}

/// How far the work is.
#[derive(Clone)]
pub struct Said {
    /// The share of it in [0, 1], when it is known.
    pub share: Option<f64>,
    /// The time that is left follows from the share.
    pub timed: bool,
    /// In words.
    pub words: String,
}

/// Says how far the work is, if anybody wants to know: the share of it in [0, 1] when it is known, and words.
pub fn report(share: Option<f64>, words: impl FnOnce() -> String) {
    report_with(|| (share, words()));
}

/// The same with both made only if they are wanted.
pub fn report_with(make: impl FnOnce() -> (Option<f64>, String)) {
    report_all(|| {
        let (share, words) = make();
        Said { share, timed: true, words }
    });
}

/// The same for work that also knows whether shares tell the time.
pub fn report_all(make: impl FnOnce() -> Said) {
    if WANTED.swap(false, Ordering::Relaxed) {
        let said = make();
        let share = said.share.map(of_the_whole);
        *SAID.lock().unwrap_or_else(PoisonError::into_inner) = Said { share, ..said };
    }
}

/// A share of the part that is under way as a share of the whole.
pub fn of_the_whole(share: f64) -> f64 {
    let (from, to) = *PART.lock().unwrap_or_else(PoisonError::into_inner);
    from + (to - from) * share.clamp(0.0, 1.0)
}

/// While it lives, shares that are reported are those of a part of the work: of one figure among
/// several, of the figures after the claims. Without it the time left at the end would be that of
/// the last part, taken for the whole.
pub struct Stage {
    before: (f64, f64),
}

/// The work between two shares of the part that is under way. Parts of parts are allowed; one
/// thread makes them.
pub fn part(from: f64, to: f64) -> Stage {
    let inside = (of_the_whole(from), of_the_whole(to));
    Stage { before: std::mem::replace(&mut *PART.lock().unwrap_or_else(PoisonError::into_inner), inside) }
}

impl Drop for Stage {
    fn drop(&mut self) {
        *PART.lock().unwrap_or_else(PoisonError::into_inner) = self.before;
    }
}

/// The work is over.
pub fn over() {
    OVER.store(true, Ordering::Relaxed);
    if let Some(bar) = BAR.get() {
        bar.finish_and_clear();
    }
}

/// Writes a line to stderr, above the bar where there is one.
pub fn above(line: &str) {
    let write = || {
        let _ = writeln!(std::io::stderr(), "{line}");
    };
    match BAR.get() {
        Some(bar) if !bar.is_finished() => bar.suspend(write),
        _ => write(),
    }
}

fn watch(name: &'static str) {
    let (started, terminal) = (Instant::now(), std::io::stderr().is_terminal());
    let mut last = Instant::now();
    while !OVER.load(Ordering::Relaxed) {
        WANTED.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(200));
        let Said { share, timed, words } = SAID.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if OVER.load(Ordering::Relaxed) {
            return;
        }
        if terminal && started.elapsed() > PATIENCE {
            draw(BAR.get_or_init(|| bar(name)), share, words);
        } else if !terminal && last.elapsed() >= PAUSE {
            last = Instant::now();
            above(&line(name, started.elapsed().as_secs_f64(), share.filter(|_| timed), &words));
        }
    }
}

fn bar(name: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(1000).with_prefix(name);
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent} %, {elapsed}, {eta} left {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn draw(bar: &ProgressBar, share: Option<f64>, words: String) {
    bar.set_message(words);
    bar.set_position((1000.0 * share.unwrap_or(0.0)) as u64);
    bar.tick();
}

/// A plain line: `solve: 20 s, about 40 s left: t = 3e5`.
pub fn line(name: &str, seconds: f64, share: Option<f64>, words: &str) -> String {
    // Of the first hundredth nothing follows.
    let left = share.filter(|s| *s > 0.01).map_or(String::new(), |s| format!(", about {:.0} s left", seconds * (1.0 - s) / s));
    let words = if words.is_empty() { String::new() } else { format!(": {words}") };
    format!("{name}: {seconds:.0} s{left}{words}")
}
