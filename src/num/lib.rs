//! Numerics: deterministic sums, log-sum-exp, Bessel and Gegenbauer functions, quadrature, roots,
//! intervals, random streams.
//!
//! SIMD, its exponential, aligned buffers and threads are hidden from the documentation: they serve
//! the kernels, tests and benchmarks.

#[doc(hidden)]
pub mod aligned;
pub mod bessel;
pub mod brownian;
pub mod chebyshev;
pub mod chebyshev_samples;
pub mod chebyshev_series;
pub mod cloud;
pub mod dd;
pub mod dense;
pub mod deviation;
pub mod disjoint_sets;
pub mod error;
#[doc(hidden)]
pub mod exp;
pub mod fft;
pub mod formula;
pub mod gegenbauer;
pub mod interval;
pub mod key_values;
pub mod linearised;
pub mod lu;
pub mod lyapunov;
pub mod number;
pub mod ode;
pub mod panel;
#[doc(hidden)]
pub mod peak;
pub mod quadrature;
pub mod roots;
#[doc(hidden)]
pub mod semigroup;
#[doc(hidden)]
pub mod simd;
pub mod softmax;
pub mod stats;
pub mod stream;
pub mod sum;
#[doc(hidden)]
pub mod threads;
#[doc(hidden)]
pub mod tile;
pub mod ulps;

pub use error::{Error, Result};
pub mod vector;

/// The pairs `(i, j)` with `j < i < n`, row by row.
pub fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(|i| (0..i).map(move |j| (i, j)))
}
