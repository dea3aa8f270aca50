//! Numbers: deterministic sums, log-sum-exp, Bessel and Gegenbauer functions, quadrature, roots, random streams.

pub mod aligned;
pub mod bessel;
pub mod chebyshev;
pub mod dd;
pub mod dense;
pub mod exp;
pub mod gegenbauer;
pub mod interval;
pub mod loops;
pub mod lu;
mod memory;
pub mod ode;
pub mod panel;
pub mod quadrature;
pub mod roots;
pub mod simd;
pub mod softmax;
pub mod stats;
pub mod stream;
pub mod sum;
pub mod threads;
