//! Patterns: what a query sees of the sources and how their positions enter the scores, one file each.
//!
//! With a pattern the logit of query i at source j is `beta <R_i Q x_i, R_j K y_j> + b_ij` where
//! `j` is among those that `i` sees, and minus infinity elsewhere: `R` comes from
//! [`Pattern::place`], `b` from [`Pattern::bias`]. beta does not multiply `b`.

mod alibi;
mod causal;
mod everything;
mod joined;
mod rotary;
mod table;
mod window;

pub use alibi::Alibi;
pub use causal::Causal;
pub use everything::Everything;
pub use joined::Joined;
pub use rotary::{Pairs, Rotary};
pub use table::BiasTable;
pub use window::Window;

use crate::error::Result;
use crate::num::dd::Dd;
use std::ops::Range;

/// What a pattern is going to be used for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Number of heads.
    pub heads: usize,
    /// Number of queries.
    pub queries: usize,
    /// Number of sources.
    pub sources: usize,
    /// Smallest and largest number of rows of Q and K.
    pub ranks: (usize, usize),
}

/// What tiles need to know of the biases of a head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bias {
    /// All are 0.
    Absent,
    /// `b_ij = -slope |i - j|`, the product without rounding.
    Distance {
        /// Loss per position.
        slope: f64,
    },
    /// Asked for one by one.
    Any,
}

/// What a query sees and how positions enter. Queries and sources are numbered from 0, each on their own in cross-attention.
///
/// Nothing must be written but what differs from plain attention:
///
/// ```
/// use metastable::attention::pattern::{Bias, Pattern};
/// /// The sources of the same parity.
/// struct Parity;
/// impl Pattern for Parity {
///     fn bias(&self, _: usize, i: usize, j: usize) -> f64 {
///         if i % 2 == j % 2 { 0.0 } else { f64::NEG_INFINITY }
///     }
/// }
/// assert_eq!(Parity.form(0), Bias::Any);
/// assert_eq!(Parity.seen(3, 8), 0..8);
/// ```
pub trait Pattern: Send + Sync {
    /// Refuses what it was not made for.
    ///
    /// **Errors** tables of another length, ranks that cannot be paired: place, value, and what was expected.
    fn check(&self, _extent: &Extent) -> Result<()> {
        Ok(())
    }

    /// The sources that query i sees, at most all of them; pairs outside cost nothing.
    fn seen(&self, _i: usize, sources: usize) -> Range<usize> {
        0..sources
    }

    /// `b_ij`: finite, or minus infinity for a pair that does not see each other.
    fn bias(&self, _head: usize, _i: usize, _j: usize) -> f64 {
        0.0
    }

    /// The same of the sources from `from` on, as many as there is room for.
    fn biases(&self, head: usize, i: usize, from: usize, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, b)| *b = self.bias(head, i, from + k));
    }

    /// What tiles need to know of the biases; whoever has none says so here and is faster.
    fn form(&self, _head: usize) -> Bias {
        Bias::Any
    }

    /// True when [`Pattern::place`] does something.
    fn turns(&self) -> bool {
        false
    }

    /// The linear map `R_i` on `Q x_i` or `K x_i`, in place.
    fn place(&self, _i: usize, _image: &mut [f64]) {}

    /// The same in double-double numbers, for logits too large for `f64`; by default from the two halves.
    fn place_exactly(&self, i: usize, image: &mut [Dd]) {
        let high: Vec<f64> = image.iter().map(|x| x.to_f64()).collect();
        let low: Vec<f64> = image.iter().zip(&high).map(|(x, h)| (*x - Dd::from(*h)).to_f64()).collect();
        let [mut high, mut low] = [high, low];
        self.place(i, &mut high);
        self.place(i, &mut low);
        image.iter_mut().zip(high.iter().zip(&low)).for_each(|(x, (h, l))| *x = Dd::from(*h) + Dd::from(*l));
    }

    /// True when it changes nothing: every query sees every source, no biases, no positions.
    fn is_plain(&self) -> bool {
        false
    }
}
