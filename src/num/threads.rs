//! Use of threads. A sweep runs its cells in parallel and everything inside a cell sequentially; a
//! single large run uses threads inside.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

thread_local! {
    static SEQUENTIAL: Cell<bool> = const { Cell::new(false) };
    static SPINNING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` without threads. A sweep wraps each of its tasks in this.
///
/// ```
/// use metastable::num::threads::{parallel_allowed, sequentially};
/// assert!(parallel_allowed());
/// assert!(!sequentially(parallel_allowed));
/// ```
pub fn sequentially<R>(work: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            SEQUENTIAL.set(self.0);
        }
    }
    let _restore = Restore(SEQUENTIAL.replace(true));
    work()
}

/// False inside [`sequentially`].
#[doc(hidden)]
pub fn parallel_allowed() -> bool {
    !SEQUENTIAL.get()
}

/// Runs `work` on a thread of the pool if it is going to share work. Entering the pool costs ten
/// microseconds: once here, instead of once per parallel loop.
pub fn enter_pool<R: Send>(shares: bool, work: impl FnOnce() -> R + Send) -> R {
    if shares && parallel_allowed() && rayon::current_thread_index().is_none() {
        rayon::scope(|_| work())
    } else {
        work()
    }
}

/// Runs `work`. On a thread of the pool, the other threads poll for its tasks meanwhile, without
/// sleeping (waking a thread costs fifty microseconds). Useful for many evaluations in a row that
/// each take about as long. The other threads keep their processors busy until `work` ends or there
/// has been no task for about ten milliseconds.
///
/// ```
/// use metastable::num::threads::with_spinning_workers;
/// let sum = rayon::scope(|_| with_spinning_workers(|| rayon::join(|| 1, || 2)));
/// assert_eq!(sum, (1, 2));
/// ```
#[doc(hidden)]
pub fn with_spinning_workers<R>(work: impl FnOnce() -> R) -> R {
    /// Stops the other threads, even if `work` panics.
    struct StopSpinning<'a>(&'a AtomicBool);
    impl Drop for StopSpinning<'_> {
        fn drop(&mut self) {
            SPINNING.set(false);
            self.0.store(true, Ordering::Release);
        }
    }
    let owner = rayon::current_thread_index();
    if !parallel_allowed() || owner.is_none() || SPINNING.get() {
        return work();
    }
    let done = &AtomicBool::new(false);
    rayon::in_place_scope(|scope| {
        scope.spawn_broadcast(move |_, here| {
            let mut idle = 0u32;
            // The owner of `work` runs this too while it waits for a task.
            while Some(here.index()) != owner
                && idle < MAX_IDLE_POLLS
                && !done.load(Ordering::Acquire)
            {
                if rayon::yield_now() == Some(rayon::Yield::Executed) {
                    idle = 0;
                    continue;
                }
                idle += 1;
                if idle.is_multiple_of(256) {
                    // If there are more threads than processors, let others run.
                    std::thread::yield_now();
                }
            }
        });
        SPINNING.set(true);
        let _done = StopSpinning(done);
        work()
    })
}

/// Runs `work` outside the pool; afterwards the threads of the pool poll for a fifth of a
/// millisecond before they sleep. Useful for successive calls from a program that does little
/// between them. Waking a thread costs fifty microseconds, on some machines half a millisecond.
///
/// ```
/// assert_eq!(metastable::num::threads::keep_workers_spinning(true, || rayon::join(|| 1, || 2)), (1, 2));
/// ```
#[doc(hidden)]
pub fn keep_workers_spinning<R>(shares: bool, work: impl FnOnce() -> R) -> R {
    let result = work();
    if shares && parallel_allowed() && rayon::current_thread_index().is_none() {
        rayon::spawn_broadcast(|_| {
            for _ in 0..SPIN_POLLS {
                if rayon::yield_now() == Some(rayon::Yield::Executed) {
                    // The next call has come and starts its own polling.
                    return;
                }
                std::thread::yield_now();
            }
        });
    }
    result
}

/// Polls before a thread sleeps, half a microsecond each.
const SPIN_POLLS: u32 = 400;

/// Polls without a task before a thread sleeps, a fifth of a microsecond each. A thread that polls
/// inside a task, while it waits for a part of that task, then continues with it, so no task waits
/// forever.
const MAX_IDLE_POLLS: u32 = 60_000;

/// Runs `work` on every item and returns the results in the order of the items. Few items run one
/// after the other, each with all threads. Many items are distributed over the threads, and
/// everything inside an item runs on its thread, so no thread is idle while an item has sequential
/// parts. Items are started in order.
///
/// **Errors** the error of the first item that has one; after an error no further item is started.
///
/// ```
/// use metastable::num::threads::{par_map, parallel_allowed};
/// let items: Vec<u32> = (0..1000).collect();
/// assert_eq!(par_map(&items, |k, i| if k < 2000 { Ok(2 * i) } else { Err(k) }).unwrap()[999], 1998);
/// assert_eq!(par_map(&items, |k, i| if k < 500 { Ok(2 * i) } else { Err(k) }), Err(500));
/// let inside = |items: &[u32]| par_map(items, |_, _| Ok::<_, ()>(parallel_allowed())).unwrap();
/// assert_eq!((inside(&items)[999], inside(&items[..2])[1]), (false, true));
/// ```
pub fn par_map<T: Sync, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(usize, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    if items.len() < MIN_ITEMS_TO_SPREAD {
        return items.iter().enumerate().map(|(k, item)| work(k, item)).collect();
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let some = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(k) else { break };
            let result = work(k, item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((k, result));
        }
        done
    };
    let mut done: Vec<_> = rayon::broadcast(|_| sequentially(some)).into_iter().flatten().collect();
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, result)| result).collect()
}

/// From this number of items on, the time in which threads wait for the last item is small.
const MIN_ITEMS_TO_SPREAD: usize = 32;

/// True inside [`with_spinning_workers`], where shorter tasks are worth sharing.
#[doc(hidden)]
pub fn workers_spinning() -> bool {
    SPINNING.get()
}

/// Runs two tasks, in parallel if `parallel`.
pub fn join_if(parallel: bool, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    if parallel {
        rayon::join(a, b);
    } else {
        a();
        b();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_stop_spinning_when_the_work_panics() {
        let result = std::panic::catch_unwind(|| {
            rayon::scope(|_| with_spinning_workers(|| panic!("on purpose")))
        });
        assert!(result.is_err() && !workers_spinning());
        // If a thread still polled, this would never end.
        let inside = rayon::scope(|_| {
            with_spinning_workers(|| (workers_spinning(), rayon::join(|| 1, || 2)))
        });
        assert_eq!((inside, workers_spinning()), ((true, (1, 2)), false));
    }
}
