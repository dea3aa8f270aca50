//! Critical points of the interaction energy: spectra modulo rotations, Newton's method, saddle search, connections.
//!
//! A critical point of n tokens is a set of K clusters with masses. Directions in which the tokens of one cluster separate decouple from
//! the rest exactly, so everything is computed with K points; the spectrum of the n tokens follows.

pub mod connections;
pub mod critical;
#[doc(hidden)]
pub mod lulls;
pub mod search;
pub mod spectrum;
pub mod starts;

pub use critical::CriticalPoint;
pub use spectrum::Spectrum;
