//! The pattern of plain attention: no mask, no biases, no positions.

use super::{BiasForm, Pattern};

/// Every query sees every source; no biases, no positions.
///
/// ```
/// use metastable::attention::pattern::{FullAttention, Pattern};
/// assert!(FullAttention.is_plain());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FullAttention;

impl Pattern for FullAttention {
    fn bias_form(&self, _: usize) -> BiasForm {
        BiasForm::Absent
    }

    fn is_plain(&self) -> bool {
        true
    }
}
