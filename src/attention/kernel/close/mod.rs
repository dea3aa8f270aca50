//! From sums to velocities and fields.

pub(crate) mod finish;
pub(crate) mod sums;
