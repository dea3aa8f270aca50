//! Attention of a fixed system, as data.

use super::choice::Choice;
use super::job::Weights;
use super::limits::EXACT;
use crate::Head;
use crate::num::simd::Level;

/// Attention of a fixed system: inverse temperature, heads, mask, weights, and the sign of V (-1 reverses the flow).
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
    /// Algorithm of the sums.
    pub kernel: Choice,
    /// Largest relative error of a row: below `1e-13` everything is exact to rounding, above it a fast algorithm may be chosen.
    pub accuracy: f64,
    /// Instruction set.
    pub level: Level,
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
            kernel: Choice::Auto,
            accuracy: EXACT,
            level: Level::best(),
        }
    }

    /// The value matrix of a single head without Q and K: applied to what the tiles return.
    pub fn value_at_the_end(&self) -> Option<&[f64]> {
        match &self.heads[..] {
            [head] if head.q.is_none() && head.k.is_none() => head.v.as_deref(),
            _ => None,
        }
    }
}
