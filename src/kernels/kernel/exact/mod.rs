//! Kernels by chords: exact for every weight.

#[doc(hidden)]
pub mod direct;
#[doc(hidden)]
pub mod direct_large_d;
mod direct_series;
#[doc(hidden)]
pub mod distributed;
#[doc(hidden)]
pub mod reference;
