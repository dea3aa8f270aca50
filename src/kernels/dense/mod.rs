//! Dense layers in `f64` or `f32`: packed matrix products, activations, affine maps.

pub mod activate;
pub mod gemm;
mod linear;

pub use crate::num::simd::Float;
pub use activate::Activation;
pub use linear::Linear;
