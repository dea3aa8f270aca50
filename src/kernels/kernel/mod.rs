//! Kernel sums, one algorithm (a [`Kernel`]) per file.
//!
//! For token i, with `G_ij = <x_i, x_j>` and masses m, a kernel computes the mass
//! `z_i = sum_j m_j w_ij` and the drift `sum_j m_j w_ij x_j` (up to multiples of `x_i`), with
//! weights `w_ij = e^{beta G_ij - |beta|}` or any function `phi(G_ij)` ([`Weight`]), and bounds of
//! the errors (see [`Sums`]). No exponential has a positive argument. Exact kernels use chords,
//! `beta G - beta = -beta |x-y|^2 / 2` (for negative beta, antichords), so their accuracy does not
//! depend on beta.
//!
//! The epilogue turns drifts into velocities in place. [`Attention::apply`] chooses the cheapest
//! kernel that can reach the accuracy, and recomputes exactly every row whose error bound exceeds
//! it.
//!
//! `tiles`: tokens in blocks and panels, and the order of their pairs. `exact`: kernels by chords,
//! for every beta. `fast`: kernels by inner products and series, with error bounds. `epilogue`:
//! from sums to velocities. `batch`: many small systems, one per lane.

#![allow(
    clippy::needless_range_loop,
    reason = "arrays of registers: loops over constants that must unroll"
)]

mod algorithm;
mod apply;
mod attention;
mod batch;
mod bounds;
mod choice;
mod count_pairs;
mod definition;
mod epilogue;
mod exact;
mod fast;
mod flagged_rows;
mod hessian;
mod limits;
mod pair_series;
mod problem;
mod registry;
mod sums;
mod tiles;
mod weight;
mod weight_profile;
mod workspace;

pub use algorithm::Kernel;
pub use apply::IDENTITY;
pub use attention::Attention;
pub use batch::{Batch, BatchField, MAX_LANES};
pub use bounds::Bounds;
pub use choice::KernelChoice;
pub use count_pairs::pairs_above;
pub use exact::direct::exact_sums;
pub use exact::distributed::{Communicator, Distributed};
pub use fast::series::{MAX_ORDER, Series};
pub use flagged_rows::FlaggedRows;
pub use hessian::hessian_sums;
pub use limits::{
    EXACT_ACCURACY, MIN_PARALLEL_WORK, MIN_REPEATED_WORK, MIN_SPINNING_WORK,
    with_repeated_evaluations,
};
pub use pair_series::{CELLS, Cells, Closed, PairSeries, Piece, PieceForm, Powers};
pub use problem::{Epilogue, KernelProblem, OutputForm, Weights};
pub use registry::{ALL, find};
pub use sums::Sums;
pub use weight::{Weight, exp_shifted, log_kernel};
pub use weight_profile::{Arcs, ArcsProfile, MAX_DEGREE, SeriesProfile, WeightProfile};
pub use workspace::Workspace;
