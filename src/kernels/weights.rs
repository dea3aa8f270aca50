//! How a row of attention weights is normalised.

/// How a row of weights is normalised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weights {
    /// `m_j e^{l_j} / sum_k m_k e^{l_k}` (SA).
    Softmax,
    /// `m_j e^{l_j + log_factor}` (USA).
    Exponential {
        /// Logarithm of the time normalisation, common to all weights.
        log_factor: f64,
    },
}

impl Weights {
    /// Logarithm of the factor that turns the kernel `e^{beta G - |beta|}` into the weights (USA).
    pub fn log_scale(self, beta: f64) -> f64 {
        match self {
            Self::Softmax => 0.0,
            Self::Exponential { log_factor } => beta.abs() + log_factor,
        }
    }
}
