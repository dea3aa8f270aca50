//! How rows of weights are normalised.

/// How a row of weights is normalised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weights {
    /// `m_j e^{l_j} / sum_k m_k e^{l_k}` (SA).
    Softmax,
    /// `m_j e^{l_j + shift}` with a common log factor (USA).
    Exponential {
        /// The log factor of the time normalisation.
        log_factor: f64,
    },
}

impl Weights {
    /// Log of the factor from `e^{beta G - |beta|}` to the weights (USA).
    pub fn log_scale(self, beta: f64) -> f64 {
        match self {
            Self::Softmax => 0.0,
            Self::Exponential { log_factor } => beta.abs() + log_factor,
        }
    }
}
