//! Who may use threads: a sweep runs its cells in parallel and everything inside them sequentially, one large run the other way round.

use std::cell::Cell;

thread_local! {
    static SEQUENTIAL: Cell<bool> = const { Cell::new(false) };
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
