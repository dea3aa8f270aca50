//! Long computations on the thread pool, without the interpreter's lock, interrupted by Ctrl-C.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Interval between checks for signals.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Time for work to end after Ctrl-C. Work that does not check its flag by then continues, and its
/// result is discarded.
const CANCEL_GRACE: Duration = Duration::from_millis(60);

/// Set once the thread pool has been used.
static POOL_STARTED: AtomicBool = AtomicBool::new(false);

/// Set in a forked process, which has lost the threads of its parent.
static POOL_LOST: AtomicBool = AtomicBool::new(false);

/// Called in the child process after a fork.
#[pyfunction(name = "_after_fork")]
pub fn after_fork() {
    POOL_LOST.store(POOL_STARTED.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Marks the thread pool as used. **Errors** a process that was forked after the pool was started:
/// it would wait for the threads forever.
pub fn start_pool() -> PyResult<()> {
    POOL_STARTED.store(true, Ordering::Relaxed);
    if !POOL_LOST.load(Ordering::Relaxed) {
        return Ok(());
    }
    let message = "this process was forked after metastable had started its threads, which a fork does not copy: start processes with the method \
                `spawn` or `forkserver` (multiprocessing.set_start_method, Pool(context=...))";
    Err(PyRuntimeError::new_err(message))
}

/// The number of threads; with `count`, sets it first (once, before any work). Results do not
/// depend on it.
///
/// >>> import metastable as ms
/// >>> ms.threads() >= 1
/// True
#[pyfunction]
#[pyo3(signature = (count=None))]
pub fn threads(count: Option<usize>) -> PyResult<usize> {
    if let Some(count) = count {
        if !(1..=256).contains(&count) {
            return Err(PyValueError::new_err(format!(
                "threads: found {count}, expected a number in [1, 256]"
            )));
        }
        let built = rayon::ThreadPoolBuilder::new().num_threads(count).build_global();
        if built.is_err() && rayon::current_num_threads() != count {
            let message = format!(
                "threads: found {count}, expected the call before any computation: the pool already has {} threads",
                rayon::current_num_threads()
            );
            return Err(PyValueError::new_err(message));
        }
    }
    start_pool()?;
    Ok(rayon::current_num_threads())
}

/// Runs `work` on the pool while this thread checks for signals. At Ctrl-C it calls `stop`, which
/// asks the work to end, and raises within a fifth of a second in any case.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    stop: &dyn Fn(),
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    start_pool()?;
    let (send, receive) = sync_channel(1);
    let receive = Mutex::new(receive);
    rayon::spawn(move || {
        // After Ctrl-C the receiver is gone.
        let _ = send.send(catch_unwind(AssertUnwindSafe(work)));
    });
    let wait = |time: Duration| py.detach(|| lock(&receive).recv_timeout(time));
    loop {
        match wait(POLL_INTERVAL) {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "internal error of metastable: the computation ended without a result (see the message above)",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals() {
                    stop();
                    let _ = wait(CANCEL_GRACE);
                    return Err(signal);
                }
            }
        }
    }
}

fn lock<T>(receive: &Mutex<Receiver<T>>) -> std::sync::MutexGuard<'_, Receiver<T>> {
    receive.lock().unwrap_or_else(PoisonError::into_inner)
}
