//! Kernel sums, one file per algorithm. The kernel is defined by the chord, `e^{beta G} = e^{beta} e^{-beta |x-y|^2/2}`
//! (for negative beta by the antichord), so no weight is the exponential of a positive number and accuracy does not depend on beta.
//!
//! Every algorithm computes the same two sums per token, the drift and the mass of [`Sums`], with a bound of its error. [`Attention::apply`]
//! chooses the cheapest one that can keep the accuracy wanted, turns sums into velocities, and evaluates again, row by row, every
//! velocity whose bound is not kept: a fast algorithm is never believed where it cannot be.

#![allow(clippy::needless_range_loop, reason = "arrays of registers: loops over constants that must unroll")]

mod apart;
mod attention;
mod batch;
mod blocks;
mod choice;
mod close;
mod coordinates;
mod direct;
mod finish;
mod fourier;
mod gram;
mod harmonics;
mod hessian;
mod inner;
mod pairs;
mod panels;
mod products;
mod rows;
mod series;
mod single;
mod squares;
mod workspace;

pub use attention::{Attention, EXACT, Output, Weights};
pub use batch::Batch;
pub(crate) use batch::{Pull, WIDEST};
pub use choice::{ALL, Choice, Job, Kernel, find};
pub use hessian::hessian_sums;
pub use pairs::pairs_above;
pub use series::{MAX_ORDER, Series};
pub use workspace::{Sums, unnormalised};

use crate::num::threads::awake;
use crate::sphere::{
    Tokens,
    geometry::{antichord2, chord2},
};

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

/// `beta <x, y> - |beta| <= 0`, from the chord or the antichord: absolute error `4u` times its own size.
pub fn log_kernel(beta: f64, x: &[f64], y: &[f64]) -> f64 {
    if beta >= 0.0 { -0.5 * beta * chord2(x, y) } else { 0.5 * beta * antichord2(x, y) }
}

/// `e^l e^shift` without overflow of a factor or underflow of a product that is representable.
pub fn exp_shifted(l: f64, shift: f64) -> f64 {
    if l > -600.0 && shift < 600.0 { l.exp() * shift.exp() } else { (l + shift).exp() }
}
