//! Geometry: tokens and masses on `S^{d-1}`, tangent vectors, distances, caps, and laws of initial tokens.

pub mod cap;
pub mod geometry;
pub mod law;
pub mod space;
mod tokens;

pub use tokens::Tokens;
