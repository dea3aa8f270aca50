//! Dense layers, in `f64` or `f32`: products of matrices by panels, activations, linear maps.

pub mod activate;
mod linear;
pub mod product;
mod real;

pub use activate::Activation;
pub use linear::Linear;
pub use real::Real;
