//! Critical points of the interaction energy: spectra modulo rotations, Newton's method, saddle
//! search, connections.
//!
//! A critical point of n tokens is a set of K clusters with masses. Directions in which the tokens
//! of one cluster separate decouple from the rest exactly. So all computations use K points, and
//! the spectrum of the n tokens follows.

pub mod connections;
pub mod critical;
pub mod interaction;
pub mod interaction_search;
pub mod search;
#[doc(hidden)]
pub mod slow_states;
pub mod spectrum;
pub mod starts;

pub use critical::CriticalPoint;
pub use spectrum::Spectrum;
