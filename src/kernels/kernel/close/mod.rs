//! From sums to velocities and fields.

#[doc(hidden)]
pub mod sums;
