//! Critical points of the interaction energy: spectra modulo rotations, Newton's method, saddle
//! search for the exponential and any interaction, branches over beta, connections.
//!
//! A critical point of n tokens is a set of K clusters with masses. Directions in which the tokens
//! of one cluster separate decouple from the rest exactly. So all computations use K points, and
//! the spectrum of the n tokens follows.

pub mod branches;
pub mod connections;
pub mod critical;
pub mod descent;
pub mod exits;
pub mod interaction;
mod newton;
pub mod search;
pub mod searched;
#[doc(hidden)]
pub mod slow_states;
pub mod spectrum;
pub mod starts;

pub use critical::CriticalPoint;
pub use searched::Exponential;
pub use spectrum::Spectrum;
