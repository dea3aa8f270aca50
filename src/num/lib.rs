//! Numerics: errors, intervals, formulas, random streams, threads.
//!
//! Everything else (deterministic sums, special functions, quadrature, roots, SIMD) is hidden from
//! the documentation: it serves the packages above, tests and benchmarks, and may change with every
//! version.

#[doc(hidden)]
pub mod aligned;
#[doc(hidden)]
pub mod bessel;
#[doc(hidden)]
pub mod brownian;
#[doc(hidden)]
pub mod chebyshev;
#[doc(hidden)]
pub mod chebyshev_samples;
#[doc(hidden)]
pub mod chebyshev_series;
#[doc(hidden)]
pub mod cloud;
#[doc(hidden)]
pub mod dd;
#[doc(hidden)]
pub mod dense;
#[doc(hidden)]
pub mod deviation;
#[doc(hidden)]
pub mod disjoint_sets;
pub mod error;
#[doc(hidden)]
pub mod exp;
#[doc(hidden)]
pub mod fft;
pub mod formula;
#[doc(hidden)]
pub mod gegenbauer;
pub mod interval;
#[doc(hidden)]
pub mod key_values;
#[doc(hidden)]
pub mod linearised;
#[doc(hidden)]
pub mod lu;
#[doc(hidden)]
pub mod lyapunov;
#[doc(hidden)]
pub mod number;
#[doc(hidden)]
pub mod ode;
#[doc(hidden)]
pub mod panel;
#[doc(hidden)]
pub mod peak;
#[doc(hidden)]
pub mod quadrature;
#[doc(hidden)]
pub mod roots;
#[doc(hidden)]
pub mod semigroup;
#[doc(hidden)]
pub mod simd;
#[doc(hidden)]
pub mod softmax;
#[doc(hidden)]
pub mod stats;
pub mod stream;
#[doc(hidden)]
pub mod sum;
pub mod threads;
#[doc(hidden)]
pub mod tile;
#[doc(hidden)]
pub mod ulps;

pub use error::{Error, Result};
#[doc(hidden)]
pub mod vector;

/// The pairs `(i, j)` with `j < i < n`, row by row.
#[doc(hidden)]
pub fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(|i| (0..i).map(move |j| (i, j)))
}
