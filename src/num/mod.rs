//! Numbers: deterministic sums, log-sum-exp, Bessel and Gegenbauer functions, quadrature, roots, random streams.

pub mod bessel;
pub mod dd;
pub mod dense;
pub mod gegenbauer;
pub mod quadrature;
pub mod roots;
pub mod softmax;
pub mod stats;
pub mod stream;
pub mod sum;
