//! The accuracy that counts as exact, and the work from which threads are used.

use crate::num::threads::with_spinning_workers;
use crate::sphere::Tokens;

/// Accuracy of the exact kernels.
pub const EXACT_ACCURACY: f64 = 1e-13;

/// From this many coordinate products on, a sum is shared by threads.
pub const MIN_PARALLEL_WORK: usize = 1 << 22;
/// The same limit while other threads spin (see [`crate::num::threads::with_spinning_workers`]).
pub const MIN_SPINNING_WORK: usize = 1 << 21;
/// From this work on, repeated evaluations keep other threads spinning, as some kernels share work
/// of this size.
pub const MIN_REPEATED_WORK: usize = 1 << 17;

/// Runs many evaluations in a row for tokens of this shape. Other threads spin meanwhile, if the
/// evaluations are large enough to share.
pub fn with_repeated_evaluations<R>(x: &Tokens, work: impl FnOnce() -> R) -> R {
    if x.n() * x.n() * x.d() >= MIN_REPEATED_WORK { with_spinning_workers(work) } else { work() }
}
