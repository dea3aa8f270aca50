//! Patterns: which sources a query sees, additive biases, and positions; one file each.
//!
//! The logit of query i and source j is `beta <R_i Q x_i, R_j K y_j> + b_ij` if i sees j, and minus
//! infinity otherwise. [`Pattern::rotate`] gives `R` and [`Pattern::bias`] gives `b`. beta does not
//! multiply `b`.

mod alibi;
mod causal;
mod combined;
mod full_attention;
mod rotary;
mod table;
mod window;

pub use alibi::Alibi;
pub use causal::Causal;
pub use combined::CombinedPattern;
pub use full_attention::FullAttention;
pub use rotary::{Pairs, Rotary};
pub use table::BiasTable;
pub use window::Window;

use crate::error::Result;
use crate::num::dd::Dd;
use std::ops::Range;

/// The sizes of a problem, for which a pattern is checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentionShape {
    /// Number of heads.
    pub heads: usize,
    /// Number of queries.
    pub queries: usize,
    /// Number of sources.
    pub sources: usize,
    /// Smallest and largest rank (number of rows of Q and K) of the heads.
    pub ranks: (usize, usize),
}

/// The form of the biases of a head; special forms are evaluated faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BiasForm {
    /// All biases are 0.
    Absent,
    /// `b_ij = -slope |i - j|`, where the product is exact.
    Distance {
        /// Decrease per position.
        slope: f64,
    },
    /// No special form: each bias is evaluated by itself.
    Any,
}

/// Mask, biases and positions of attention. Queries and sources are numbered from 0, separately in
/// cross-attention.
///
/// The default methods are those of plain attention; implement only what differs:
///
/// ```
/// use metastable::attention::pattern::{BiasForm, Pattern};
/// /// The sources of the same parity.
/// struct Parity;
/// impl Pattern for Parity {
///     fn bias(&self, _: usize, i: usize, j: usize) -> f64 {
///         if i % 2 == j % 2 { 0.0 } else { f64::NEG_INFINITY }
///     }
/// }
/// assert_eq!(Parity.bias_form(0), BiasForm::Any);
/// assert_eq!(Parity.visible(3, 8), 0..8);
/// ```
pub trait Pattern: Send + Sync {
    /// Checks that the pattern fits these sizes.
    ///
    /// **Errors** a table of another size, ranks without pairs. The error has the parameter, its
    /// value, and the expected value.
    fn check(&self, _extent: &AttentionShape) -> Result<()> {
        Ok(())
    }

    /// The range of sources visible to query i. Invisible pairs cost nothing.
    fn visible(&self, _i: usize, sources: usize) -> Range<usize> {
        0..sources
    }

    /// `b_ij`: finite, or minus infinity if i does not see j.
    fn bias(&self, _head: usize, _i: usize, _j: usize) -> f64 {
        0.0
    }

    /// The biases of query i for the sources from `from` on, one for each entry of `out`.
    fn bias_row(&self, head: usize, i: usize, from: usize, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, b)| *b = self.bias(head, i, from + k));
    }

    /// The form of the biases of a head. Return `Absent` if there are none: this is faster.
    fn bias_form(&self, _head: usize) -> BiasForm {
        BiasForm::Any
    }

    /// True if [`Pattern::rotate`] is not the identity.
    fn is_rotary(&self) -> bool {
        false
    }

    /// Applies the linear map `R_i` to `Q x_i` or `K x_i`, in place.
    fn rotate(&self, _i: usize, _image: &mut [f64]) {}

    /// [`Pattern::rotate`] in double-double arithmetic, for logits too large for `f64`. The default
    /// rotates the high and the low parts.
    fn rotate_exactly(&self, i: usize, image: &mut [Dd]) {
        let high: Vec<f64> = image.iter().map(|x| x.to_f64()).collect();
        let low: Vec<f64> =
            image.iter().zip(&high).map(|(x, h)| (*x - Dd::from(*h)).to_f64()).collect();
        let [mut high, mut low] = [high, low];
        self.rotate(i, &mut high);
        self.rotate(i, &mut low);
        image
            .iter_mut()
            .zip(high.iter().zip(&low))
            .for_each(|(x, (h, l))| *x = Dd::from(*h) + Dd::from(*l));
    }

    /// True if every query sees every source and there are no biases and no positions.
    fn is_plain(&self) -> bool {
        false
    }
}
