//! Ctrl-C and SIGTERM: the first ends the work at its next step, the second ends the process.

use super::{output, session};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// True if the command that runs on this thread is cancelled.
pub fn cancelled() -> bool {
    session::current().cancelled()
}

/// Set when the work is finished; only printing and writing remain.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Time in which an interrupted command may end by itself: loops that test [`session::CANCEL`] save
/// their results, others are ended.
const GRACE: Duration = Duration::from_millis(500);

/// Marks the work as finished, so that an interruption does not stop printing and writing.
pub fn work_is_over() {
    ENDING.store(true, Ordering::Relaxed);
}

/// Handles the first interruption: the process ends after [`GRACE`] if the loops have not ended.
/// Only the work in progress is lost, because every file is written completely or not at all.
pub fn interrupted() {
    output::note("interrupted: finishing the current step (press again to stop at once)");
    std::thread::spawn(|| {
        std::thread::sleep(GRACE);
        if !ENDING.load(Ordering::Relaxed) {
            output::note("interrupted: the work in progress is lost");
            std::process::exit(130);
        }
    });
}
