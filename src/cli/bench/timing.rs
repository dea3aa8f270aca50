//! Repeated timing.

use crate::error::{Error, Result};
use crate::num::stats::median;
use std::sync::OnceLock;
use std::time::Instant;

/// Seconds of repeated runs.
pub struct Timing {
    /// Median.
    pub median: f64,
    /// Fastest.
    pub best: f64,
    /// Number of runs.
    pub repetitions: usize,
}

/// Least seconds of a measurement: one number for all of a command.
static LEAST: OnceLock<f64> = OnceLock::new();

/// Sets the least seconds of every measurement.
///
/// **Errors** none, or more than an hour.
pub fn at_least(seconds: f64) -> Result<()> {
    if !(seconds > 0.0 && seconds <= 3600.0) {
        return Err(Error::parameter("--seconds", seconds, "a positive number of at most 3600"));
    }
    LEAST.get_or_init(|| seconds);
    Ok(())
}

/// Times `work` at least 5 times and for the least seconds, half a second if not set, after once to warm up.
pub fn time(mut work: impl FnMut()) -> Timing {
    work();
    let least = *LEAST.get().unwrap_or(&0.5);
    let (mut seconds, started) = (Vec::new(), Instant::now());
    while seconds.len() < 5 || (started.elapsed().as_secs_f64() < least && seconds.len() < 100_000) {
        let once = Instant::now();
        work();
        seconds.push(once.elapsed().as_secs_f64());
    }
    let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    Timing { median: median(&seconds), best, repetitions: seconds.len() }
}
