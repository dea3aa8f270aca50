//! The session of a running command: how it is cancelled, where its notes go, its command line.
//!
//! The program has one session. Each command that is called as a function (from Python) has another
//! one, so that several can run at once. The session belongs to the thread that runs the command; a
//! parallel loop takes it from [`current`] before it starts.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Set by the first Ctrl-C; it cancels the command of the program.
pub static CANCEL: AtomicBool = AtomicBool::new(false);

/// Set by `--force` of the program.
static FORCED: AtomicBool = AtomicBool::new(false);

/// Lets the command of the program replace all files.
pub fn force() {
    FORCED.store(true, Ordering::Relaxed);
}

/// The state of one running command.
#[derive(Default)]
pub struct Session {
    /// `None` for the session of the program.
    call: Option<Call>,
}

/// A command that is called as a function.
struct Call {
    cancel: Arc<AtomicBool>,
    notes: Mutex<Vec<String>>,
    words: Vec<String>,
    forced: bool,
}

thread_local! {
    static CURRENT: RefCell<Arc<Session>> = RefCell::default();
}

/// The session of the command that runs on this thread; else that of the program.
pub fn current() -> Arc<Session> {
    CURRENT.with_borrow(Arc::clone)
}

/// Makes a session the current one while the work runs.
pub fn within<T>(session: &Arc<Session>, work: impl FnOnce() -> T) -> T {
    /// Restores the session: while it waits, a thread of the pool may run another command.
    struct Restore(Arc<Session>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(std::mem::take(&mut self.0));
        }
    }
    let _restore = Restore(CURRENT.replace(session.clone()));
    work()
}

impl Session {
    /// The session of a command with these words, called as a function; `cancel` ends it, and it
    /// replaces all files if it is `forced`.
    pub fn for_command(words: &[String], forced: bool, cancel: &Arc<AtomicBool>) -> Arc<Self> {
        let (cancel, notes, words) = (cancel.clone(), Mutex::default(), words.to_vec());
        Arc::new(Self { call: Some(Call { cancel, notes, words, forced }) })
    }

    /// Whether the command replaces all files.
    pub fn is_forced(&self) -> bool {
        self.call.as_ref().map_or_else(|| FORCED.load(Ordering::Relaxed), |call| call.forced)
    }

    /// The flag that ends the command at its next step.
    pub fn cancel_flag(&self) -> &AtomicBool {
        self.call.as_ref().map_or(&CANCEL, |call| &call.cancel)
    }

    /// True after Ctrl-C.
    pub fn cancelled(&self) -> bool {
        self.cancel_flag().load(Ordering::Relaxed)
    }

    /// Stores a note for the caller. False in the session of the program, where notes are printed.
    pub fn store_note(&self, line: &str) -> bool {
        let Some(call) = &self.call else { return false };
        call.notes.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
        true
    }

    /// Takes the stored notes.
    pub fn notes(&self) -> Vec<String> {
        self.call.as_ref().map_or_else(Vec::new, |call| {
            std::mem::take(&mut call.notes.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }

    /// The words of the command, if it is called as a function.
    pub fn words(&self) -> Option<&[String]> {
        self.call.as_ref().map(|call| &call.words[..])
    }
}
