//! Long work beside the interpreter: on the threads of the pool, without the interpreter's lock, ended by Ctrl-C.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often signals are looked at.
const BEAT: Duration = Duration::from_millis(10);

/// How long work may take to end after Ctrl-C: what has not looked at its flag by then ends by itself, unheard.
const GRACE: Duration = Duration::from_millis(60);

/// Set when the threads of the pool are used.
static STARTED: AtomicBool = AtomicBool::new(false);

/// Set in a child process that has no threads any more.
static GONE: AtomicBool = AtomicBool::new(false);

/// A fork took the threads away.
#[pyfunction(name = "_forked")]
pub fn forked() {
    GONE.store(STARTED.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// **Errors** a process that was forked after the threads were started: it would wait for them for ever.
pub fn begin() -> PyResult<()> {
    STARTED.store(true, Ordering::Relaxed);
    if !GONE.load(Ordering::Relaxed) {
        return Ok(());
    }
    let said = "this process was forked after metastable had started its threads, which a fork does not copy: start processes with the method \
                `spawn` or `forkserver` (multiprocessing.set_start_method, Pool(context=...))";
    Err(PyRuntimeError::new_err(said))
}

/// The number of threads; with `count`, sets it first (once, before any work). Results do not depend on it.
///
/// >>> import metastable as ms
/// >>> ms.threads() >= 1
/// True
#[pyfunction]
#[pyo3(signature = (count=None))]
pub fn threads(count: Option<usize>) -> PyResult<usize> {
    if let Some(count) = count {
        if !(1..=256).contains(&count) {
            return Err(PyValueError::new_err(format!("threads: found {count}, expected a number in [1, 256]")));
        }
        let built = rayon::ThreadPoolBuilder::new().num_threads(count).build_global();
        if built.is_err() && rayon::current_num_threads() != count {
            let said = format!(
                "threads: found {count}, expected it before any work: {} threads are at work already",
                rayon::current_num_threads()
            );
            return Err(PyValueError::new_err(said));
        }
    }
    begin()?;
    Ok(rayon::current_num_threads())
}

/// Runs `work` on the pool while this thread looks for signals; `stop` asks the work to end at Ctrl-C, which raises within a fifth of a second in any case.
pub fn interruptible<T: Send + 'static>(py: Python<'_>, stop: &dyn Fn(), work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    begin()?;
    let (send, receive) = sync_channel(1);
    let receive = Mutex::new(receive);
    rayon::spawn(move || {
        // Nobody listens after Ctrl-C.
        let _ = send.send(catch_unwind(AssertUnwindSafe(work)));
    });
    let wait = |time: Duration| py.detach(|| lock(&receive).recv_timeout(time));
    loop {
        match wait(BEAT) {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "metastable met a bug of its own: the work ended without an answer (see the message above)",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals() {
                    stop();
                    let _ = wait(GRACE);
                    return Err(signal);
                }
            }
        }
    }
}

fn lock<T>(receive: &Mutex<Receiver<T>>) -> std::sync::MutexGuard<'_, Receiver<T>> {
    receive.lock().unwrap_or_else(PoisonError::into_inner)
}
