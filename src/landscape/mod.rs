//! Critical points of the interaction energy: spectra modulo rotations, Newton's method, saddle search, connections, certificates.
//! And [`trajectory`]: proofs that a start converges to one point.
//!
//! A critical point of n tokens is a set of K clusters with masses. Directions in which the tokens of one cluster separate decouple from
//! the rest exactly, so everything is computed with K points; the spectrum of the n tokens follows.

pub mod certificate;
pub mod connections;
pub mod critical;
pub(crate) mod lulls;
pub mod search;
pub mod spectrum;
pub mod starts;
pub mod trajectory;

pub use critical::CriticalPoint;
pub use spectrum::Spectrum;
