//! Kernels by chords: exact for every beta.

#[doc(hidden)]
pub mod any_weight;
#[doc(hidden)]
pub mod direct;
#[doc(hidden)]
pub mod direct_large_d;
#[doc(hidden)]
pub mod distributed;
#[doc(hidden)]
pub mod reference;
