//! Who may use threads: a sweep runs its cells in parallel and everything inside them sequentially, one large run the other way round.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

thread_local! {
    static SEQUENTIAL: Cell<bool> = const { Cell::new(false) };
    static AWAKE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with every sum inside it kept on this thread; a sweep wraps each of its tasks in this.
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

/// True unless an outer sweep owns the threads.
pub fn parallel_allowed() -> bool {
    !SEQUENTIAL.get()
}

/// Runs `work` on a thread of the pool when it is going to share its work: entering the pool costs ten microseconds, once here instead of
/// once per parallel loop.
pub fn inside_pool<R: Send>(shares: bool, work: impl FnOnce() -> R + Send) -> R {
    if shares && parallel_allowed() && rayon::current_thread_index().is_none() { rayon::scope(|_| work()) } else { work() }
}

/// Runs `work`, on a thread of the pool, while the others look for its tasks without falling asleep (waking one costs fifty microseconds): for many
/// evaluations in a row, each about as short as that. The others burn their processors until `work` ends or has had no task for some ten milliseconds.
/// Elsewhere it only runs `work`.
///
/// ```
/// use metastable::num::threads::awake;
/// let sum = rayon::scope(|_| awake(|| rayon::join(|| 1, || 2)));
/// assert_eq!(sum, (1, 2));
/// ```
pub fn awake<R>(work: impl FnOnce() -> R) -> R {
    /// Also when `work` panics, or the others would look for ever.
    struct Done<'a>(&'a AtomicBool);
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            AWAKE.set(false);
            self.0.store(true, Ordering::Release);
        }
    }
    let owner = rayon::current_thread_index();
    if !parallel_allowed() || owner.is_none() || AWAKE.get() {
        return work();
    }
    let done = &AtomicBool::new(false);
    rayon::in_place_scope(|scope| {
        scope.spawn_broadcast(move |_, here| {
            let mut idle = 0u32;
            // This thread itself comes by while it waits for a task.
            while Some(here.index()) != owner && idle < PATIENCE && !done.load(Ordering::Acquire) {
                if rayon::yield_now() == Some(rayon::Yield::Executed) {
                    idle = 0;
                    continue;
                }
                idle += 1;
                if idle.is_multiple_of(256) {
                    // For others, should there be more threads than processors.
                    std::thread::yield_now();
                }
            }
        });
        AWAKE.set(true);
        let _done = Done(done);
        work()
    })
}

/// Runs `work` outside of the pool, whose threads then look for more a fifth of a millisecond before they fall asleep: for calls that come one after the other from a
/// program that does a little between them. To wake a thread costs fifty microseconds, on some machines half a millisecond.
///
/// ```
/// assert_eq!(metastable::num::threads::lingering(true, || rayon::join(|| 1, || 2)), (1, 2));
/// ```
pub fn lingering<R>(shares: bool, work: impl FnOnce() -> R) -> R {
    let result = work();
    if shares && parallel_allowed() && rayon::current_thread_index().is_none() {
        rayon::spawn_broadcast(|_| {
            for _ in 0..LINGER {
                if rayon::yield_now() == Some(rayon::Yield::Executed) {
                    // The next call came: what comes after that is for it to say.
                    return;
                }
                std::thread::yield_now();
            }
        });
    }
    result
}

/// Looks for another call, half a microsecond each, before a thread goes to sleep.
const LINGER: u32 = 400;

/// Looks without a task, a fifth of a microsecond each, before a thread goes to sleep after all. A thread that was caught in the midst of a task, while it waits for
/// a part of that, goes on with it then: nobody waits for ever.
const PATIENCE: u32 = 60_000;

/// Runs `work` on every item and returns the results in the order of the items. A few items are taken one after the other, each with all threads; of many every
/// thread takes one after the other, with everything inside kept on that thread: what an item cannot share then leaves no thread idle. Items are begun in their
/// order.
///
/// **Errors** that of the first item that has one; after an error no item is begun.
///
/// ```
/// use metastable::num::threads::{parallel_allowed, spread};
/// let items: Vec<u32> = (0..1000).collect();
/// assert_eq!(spread(&items, |k, i| if k < 2000 { Ok(2 * i) } else { Err(k) }).unwrap()[999], 1998);
/// assert_eq!(spread(&items, |k, i| if k < 500 { Ok(2 * i) } else { Err(k) }), Err(500));
/// let inside = |items: &[u32]| spread(items, |_, _| Ok::<_, ()>(parallel_allowed())).unwrap();
/// assert_eq!((inside(&items)[999], inside(&items[..2])[1]), (false, true));
/// ```
pub fn spread<T: Sync, R: Send, E: Send>(items: &[T], work: impl Fn(usize, &T) -> Result<R, E> + Sync) -> Result<Vec<R>, E> {
    if items.len() < MANY {
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

/// Items from which on it no longer matters much that others wait for the last of them.
const MANY: usize = 32;

/// True inside [`awake`], where shorter tasks are worth sharing.
pub fn others_awake() -> bool {
    AWAKE.get()
}

/// Two tasks, side by side when there are threads for it.
pub fn both(parallel: bool, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
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
    fn the_others_go_home_when_the_work_panics() {
        let lost = std::panic::catch_unwind(|| rayon::scope(|_| awake(|| panic!("on purpose"))));
        assert!(lost.is_err() && !others_awake());
        // A pool with a thread that looks for ever would never end this.
        let inside = rayon::scope(|_| awake(|| (others_awake(), rayon::join(|| 1, || 2))));
        assert_eq!((inside, others_awake()), ((true, (1, 2)), false));
    }
}
