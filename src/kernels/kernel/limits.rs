//! What counts as exact, and from which work on threads share it.

use crate::num::threads::awake;
use crate::sphere::Tokens;

/// The accuracy of the exact algorithms.
pub const EXACT: f64 = 1e-13;

/// Below this many coordinate products a sum stays on the calling thread.
pub const PARALLEL_WORK: usize = 1 << 22;
/// The same when other threads are awake (see [`crate::num::threads::awake`]).
pub const AWAKE_WORK: usize = 1 << 21;
/// From here on other threads are kept awake by evaluations in a row: some algorithms share that much.
pub const LEAST_WORK: usize = 1 << 17;

/// Many evaluations in a row for tokens of this shape: the other threads stay awake if they will share them.
pub fn in_a_row<R>(x: &Tokens, work: impl FnOnce() -> R) -> R {
    if x.n() * x.n() * x.d() >= LEAST_WORK { awake(work) } else { work() }
}
