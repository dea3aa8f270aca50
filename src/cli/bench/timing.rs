//! Repeated timing.

use crate::num::stats::median;
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

/// Times `work` at least 5 times and for half a second, after once to warm up.
pub fn time(mut work: impl FnMut()) -> Timing {
    work();
    let (mut seconds, started) = (Vec::new(), Instant::now());
    while seconds.len() < 5 || (started.elapsed().as_secs_f64() < 0.5 && seconds.len() < 100_000) {
        let once = Instant::now();
        work();
        seconds.push(once.elapsed().as_secs_f64());
    }
    let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    Timing { median: median(&seconds), best, repetitions: seconds.len() }
}
