//! The causal mask.

use super::{BiasForm, Pattern};
use std::ops::Range;

/// Query i sees the sources `j <= i`: the causal mask of a decoder.
///
/// ```
/// use metastable::attention::pattern::{Causal, Pattern};
/// assert_eq!(Causal.visible(2, 8), 0..3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Causal;

impl Pattern for Causal {
    fn visible(&self, i: usize, sources: usize) -> Range<usize> {
        0..sources.min(i.saturating_add(1))
    }

    fn bias_form(&self, _: usize) -> BiasForm {
        BiasForm::Absent
    }
}
