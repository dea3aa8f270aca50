//! Sums by chords: exact for every beta.

pub(crate) mod coordinates;
pub(crate) mod direct;
pub(crate) mod rows;
pub(crate) mod shared;
