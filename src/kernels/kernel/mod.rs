//! Kernel sums, one file per algorithm. The kernel is defined by the chord, `e^{beta G} = e^{beta} e^{-beta |x-y|^2/2}`
//! (for negative beta by the antichord), so no weight is the exponential of a positive number and accuracy does not depend on beta.
//!
//! Every algorithm computes the same two sums per token, a drift and a mass, with a bound of their error (see [`Sums`]); `close` makes velocities of
//! the drifts where they stand. [`Attention::apply`] chooses the cheapest one that can keep the accuracy wanted, and evaluates again, row by row, every velocity whose
//! bound is not kept: a fast algorithm is never believed where it cannot be.
//!
//! `tiles`: tokens in blocks and panels, and how these meet. `exact`: sums by chords, for every beta. `fast`: sums by inner products and series,
//! with their errors. `close`: from sums to velocities.

#![allow(clippy::needless_range_loop, reason = "arrays of registers: loops over constants that must unroll")]

mod apply;
mod attention;
mod batch;
mod choice;
mod close;
mod definition;
mod doubtful;
mod exact;
mod fast;
mod hessian;
mod job;
mod limits;
mod pairs;
mod registry;
mod sums;
mod tiles;
mod weight;
mod workspace;

pub use attention::Attention;
pub use batch::Batch;
pub use batch::{Pull, WIDEST};
pub use choice::Choice;
pub use doubtful::Doubtful;
pub use exact::direct::exact_sums;
pub use exact::shared::{Company, Shared};
pub use fast::series::{MAX_ORDER, Series};
pub use hessian::hessian_sums;
pub use job::{Ending, Form, Job, Kernel, Weights};
pub use limits::{AWAKE_WORK, EXACT, LEAST_WORK, PARALLEL_WORK, in_a_row};
pub use pairs::pairs_above;
pub use registry::{ALL, find};
pub use sums::Sums;
pub use weight::{exp_shifted, log_kernel};
pub use workspace::Workspace;
