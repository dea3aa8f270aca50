//! `certify`: proofs by interval arithmetic, and the check of certificates.

pub mod check;
mod criteria;
pub mod critical_point;
pub mod dwell;
mod shared;
pub mod start;
mod trials;

pub use shared::write;
