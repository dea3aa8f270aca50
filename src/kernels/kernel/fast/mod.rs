//! Sums by inner products and by series, with bounds of their errors.

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
pub mod products;
#[doc(hidden)]
pub mod series;
