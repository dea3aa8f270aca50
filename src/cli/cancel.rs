//! Ctrl-C and SIGTERM: the first one ends what runs at its next step, a second one ends the process.

use super::output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Set by the first Ctrl-C.
pub static CANCEL: AtomicBool = AtomicBool::new(false);

/// True after Ctrl-C.
pub fn cancelled() -> bool {
    CANCEL.load(Ordering::Relaxed)
}

/// Set when the work is over and results are printed and written: from here on a command ends by itself.
static ENDING: AtomicBool = AtomicBool::new(false);

/// How long an interrupted command may take to end by itself: loops that look at [`CANCEL`] keep what they have within it, all others end there.
const GRACE: Duration = Duration::from_millis(500);

/// Says that the work is over, so that an interruption no longer cuts short what is printed and written.
pub fn work_is_over() {
    ENDING.store(true, Ordering::Relaxed);
}

/// The first interruption: loops are asked to end, and the process ends when they have not within [`GRACE`]. Nothing is lost by that but the work in
/// progress: every file is written whole or not at all.
pub fn interrupted() {
    output::note("interrupted: finishing the step (again: stop at once)");
    std::thread::spawn(|| {
        std::thread::sleep(GRACE);
        if !ENDING.load(Ordering::Relaxed) {
            output::note("interrupted: the work in progress is given up");
            std::process::exit(130);
        }
    });
}
