//! Attention at a fixed time, as data.

use super::choice::KernelChoice;
use super::limits::EXACT_ACCURACY;
use super::problem::Weights;
use crate::Head;
use crate::num::simd::Isa;

/// Attention at a fixed time: inverse temperature, heads, mask, weights, and the sign of V (-1
/// reverses the flow).
#[derive(Clone, Debug)]
pub struct Attention {
    /// Inverse temperature.
    pub beta: f64,
    /// At least one head.
    pub heads: Vec<Head>,
    /// Token i sees the tokens `j <= i` only.
    pub causal: bool,
    /// Row normalisation.
    pub weights: Weights,
    /// +1 attracts, -1 repels.
    pub sign: f64,
    /// Kernel that computes the sums.
    pub kernel: KernelChoice,
    /// Largest relative error of a row. Up to `1e-13` only exact kernels are used; above it a fast
    /// kernel may be chosen.
    pub accuracy: f64,
    /// Instruction set.
    pub isa: Isa,
}

impl Attention {
    /// One identity head, attracting, softmax, exact.
    pub fn new(beta: f64) -> Self {
        Self {
            beta,
            heads: vec![Head::default()],
            causal: false,
            weights: Weights::Softmax,
            sign: 1.0,
            kernel: KernelChoice::Auto,
            accuracy: EXACT_ACCURACY,
            isa: Isa::best(),
        }
    }

    /// The value matrix of a single head without Q and K, which is applied after the kernel.
    pub fn deferred_value_matrix(&self) -> Option<&[f64]> {
        match &self.heads[..] {
            [head] if head.q.is_none() && head.k.is_none() => head.v.as_deref(),
            _ => None,
        }
    }
}
