use super::{Bias, Pattern};

/// Every query sees every source, positions do not enter.
///
/// ```
/// use metastable::attention::pattern::{Everything, Pattern};
/// assert!(Everything.is_plain());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Everything;

impl Pattern for Everything {
    fn form(&self, _: usize) -> Bias {
        Bias::Absent
    }

    fn is_plain(&self) -> bool {
        true
    }
}
