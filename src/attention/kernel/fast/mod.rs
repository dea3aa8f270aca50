//! Sums by inner products and by series, with bounds of their errors.

pub(crate) mod fourier;
pub(crate) mod gram;
pub(crate) mod harmonics;
pub(crate) mod heads;
pub(crate) mod inner;
pub(crate) mod products;
pub(crate) mod series;
pub(crate) mod single;
