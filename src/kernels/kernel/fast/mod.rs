//! Kernels by inner products and by series, with error bounds.

#[doc(hidden)]
pub mod arcs;
#[doc(hidden)]
pub mod fourier;
#[doc(hidden)]
pub mod gram;
#[doc(hidden)]
pub mod harmonics;
#[doc(hidden)]
pub mod heads;
#[doc(hidden)]
pub mod inner;
#[doc(hidden)]
pub mod pair_weight;
#[doc(hidden)]
pub mod products;
#[doc(hidden)]
pub mod series;
