//! Ctrl-C and SIGTERM. At the first signal, work that ends by itself finishes its step and keeps
//! what it has; other work ends at once. A later signal ends the process.

use super::{output, session};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// True if the command that runs on this thread is cancelled.
pub fn cancelled() -> bool {
    session::current().cancelled()
}

/// Signals within this time are one signal: `timeout` sends one to the program and one to its
/// group, and a terminal may repeat a key.
const SAME_SIGNAL: Duration = Duration::from_secs(2);

/// Number of guards of [`ends_itself`].
static ENDING: AtomicUsize = AtomicUsize::new(0);

/// Saves a state, before the process ends.
type Save = Box<dyn FnOnce() + Send>;

/// What [`save_at_signal`] has set.
static SAVE: Mutex<Option<Save>> = Mutex::new(None);

/// While it lives, no signal but a later one ends the process.
#[must_use]
pub struct Ending;

/// Declares that the command ends by itself after a signal: its loops test [`cancelled`], or only
/// printing and writing are left.
pub fn ends_itself() -> Ending {
    ENDING.fetch_add(1, Ordering::Relaxed);
    Ending
}

impl Drop for Ending {
    fn drop(&mut self) {
        ENDING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// While it lives, a signal saves a state.
#[must_use]
pub struct Saving;

/// Declares what a signal saves while the command does not end by itself. The function says what it
/// saved.
pub fn save_at_signal(save: impl FnOnce() + Send + 'static) -> Saving {
    *SAVE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(save));
    Saving
}

impl Drop for Saving {
    fn drop(&mut self) {
        SAVE.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Handles a signal.
pub fn signalled() {
    static FIRST: Mutex<Option<Instant>> = Mutex::new(None);
    let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = *first {
        if at.elapsed() < SAME_SIGNAL {
            return;
        }
        std::process::exit(130);
    }
    *first = Some(Instant::now());
    if ENDING.load(Ordering::Relaxed) > 0 {
        session::CANCEL.store(true, Ordering::Relaxed);
        output::note(
            "interrupted: finishing the current step (press again after two seconds to stop at \
             once)",
        );
        return;
    }
    let save = SAVE.lock().unwrap_or_else(PoisonError::into_inner).take();
    match save {
        Some(save) => save(),
        None => output::note("interrupted: the work in progress is lost"),
    }
    std::process::exit(130);
}
