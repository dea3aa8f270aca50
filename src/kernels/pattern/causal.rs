use super::{Bias, Pattern};
use std::ops::Range;

/// Query i sees the sources `j <= i`: the mask of a decoder.
///
/// ```
/// use metastable::attention::pattern::{Causal, Pattern};
/// assert_eq!(Causal.seen(2, 8), 0..3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Causal;

impl Pattern for Causal {
    fn seen(&self, i: usize, sources: usize) -> Range<usize> {
        0..sources.min(i.saturating_add(1))
    }

    fn form(&self, _: usize) -> Bias {
        Bias::Absent
    }
}
