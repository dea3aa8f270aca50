//! Sums by chords: exact for every beta.

#[doc(hidden)]
pub mod coordinates;
#[doc(hidden)]
pub mod direct;
#[doc(hidden)]
pub mod rows;
#[doc(hidden)]
pub mod shared;
