//! Repeated timing.

use crate::num::stats::median;
use crate::operation::above;
use crate::parameters;
use std::sync::OnceLock;
use std::time::Instant;

/// Durations of repeated runs, in seconds.
pub struct Durations {
    /// Median.
    pub median: f64,
    /// Fastest.
    pub best: f64,
    /// Number of runs.
    pub repetitions: usize,
}

/// Minimum duration of the measurements of this process, in seconds.
static MIN_SECONDS: OnceLock<f64> = OnceLock::new();

parameters! {
    /// How long it is measured.
    pub struct Timing {
        /// Minimum duration of each measurement; each is repeated at least five times.
        seconds: f64, above(0.0, 3600.0).or("0.5").form("SECONDS");
    }
}

impl Timing {
    /// Sets the minimum duration of the measurements of this process.
    pub fn set(&self) {
        MIN_SECONDS.get_or_init(|| self.seconds);
    }
}

/// Times `work` after one warm-up run: at least 5 times, and for the minimum duration (half a
/// second by default).
pub fn time(mut work: impl FnMut()) -> Durations {
    let [timing] = time_in_turn([&mut work]);
    timing
}

/// Times several works in turn, so that all of them see the same pace of the machine.
pub fn time_in_turn<const K: usize>(mut works: [&mut dyn FnMut(); K]) -> [Durations; K] {
    works.iter_mut().for_each(|work| work());
    let minimum = K as f64 * *MIN_SECONDS.get().unwrap_or(&0.5);
    let mut seconds: [Vec<f64>; K] = std::array::from_fn(|_| Vec::new());
    let started = Instant::now();
    while seconds[0].len() < 5
        || (started.elapsed().as_secs_f64() < minimum && seconds[0].len() < 100_000)
    {
        for (work, seconds) in works.iter_mut().zip(&mut seconds) {
            let once = Instant::now();
            work();
            seconds.push(once.elapsed().as_secs_f64());
        }
    }
    seconds.map(|seconds| {
        let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        Durations { median: median(&seconds), best, repetitions: seconds.len() }
    })
}
