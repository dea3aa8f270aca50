//! The session of a running command: how it is cancelled, where its notes go, its command line.
//!
//! The program has one session. A command that is called as a function has a session of its own, so
//! that several can run at once. The session belongs to the thread that runs the command; a
//! parallel loop takes it from [`current`] before it starts.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Set by the first Ctrl-C; it cancels the command of the program.
pub static CANCEL: AtomicBool = AtomicBool::new(false);

/// The state of one running command.
#[derive(Default)]
pub struct Session {
    /// Of a command that is called as a function.
    called: Option<Called>,
}

struct Called {
    cancel: Arc<AtomicBool>,
    notes: Mutex<Vec<String>>,
    words: Vec<String>,
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
    /// The session of a command with these words, called as a function; `cancel` ends it.
    pub fn called(words: &[String], cancel: &Arc<AtomicBool>) -> Arc<Self> {
        let called = Called { cancel: cancel.clone(), notes: Mutex::default(), words: words.to_vec() };
        Arc::new(Self { called: Some(called) })
    }

    /// The flag that ends the command at its next step.
    pub fn cancel_flag(&self) -> &AtomicBool {
        self.called.as_ref().map_or(&CANCEL, |called| &called.cancel)
    }

    /// True after Ctrl-C.
    pub fn cancelled(&self) -> bool {
        self.cancel_flag().load(Ordering::Relaxed)
    }

    /// Keeps a note; false if notes are printed.
    pub fn keep_note(&self, line: &str) -> bool {
        let Some(called) = &self.called else { return false };
        called.notes.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
        true
    }

    /// The kept notes.
    pub fn notes(&self) -> Vec<String> {
        self.called
            .as_ref()
            .map_or_else(Vec::new, |called| std::mem::take(&mut called.notes.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The words of the command, if it is called as a function.
    pub fn words(&self) -> Option<&[String]> {
        self.called.as_ref().map(|called| &called.words[..])
    }
}
