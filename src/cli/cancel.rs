//! Ctrl-C: the first one ends what runs at its next step, a second one ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first Ctrl-C.
pub static CANCEL: AtomicBool = AtomicBool::new(false);

/// True after Ctrl-C.
pub fn cancelled() -> bool {
    CANCEL.load(Ordering::Relaxed)
}
