//! How far long work has come: a bar on a terminal, plain lines elsewhere, both on stderr and only when it takes long.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What the work said last: the share that is done, when it knows, and words.
static SAID: Mutex<(Option<f64>, String)> = Mutex::new((None, String::new()));

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

/// Says how far the work is, if anybody wants to know: the share of it in [0, 1] when it is known, and words.
pub fn report(share: Option<f64>, words: impl FnOnce() -> String) {
    report_with(|| (share, words()));
}

/// The same with both made only if they are wanted.
pub fn report_with(make: impl FnOnce() -> (Option<f64>, String)) {
    if WANTED.swap(false, Ordering::Relaxed) {
        let (share, words) = make();
        *SAID.lock().unwrap_or_else(PoisonError::into_inner) = (share.map(|s| s.clamp(0.0, 1.0)), words);
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
        let (share, words) = SAID.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if OVER.load(Ordering::Relaxed) {
            return;
        }
        if terminal && started.elapsed() > PATIENCE {
            draw(BAR.get_or_init(|| bar(name)), share, words);
        } else if !terminal && last.elapsed() >= PAUSE {
            last = Instant::now();
            above(&line(name, started.elapsed().as_secs_f64(), share, &words));
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
