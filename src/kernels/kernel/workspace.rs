//! Buffers of the kernels, stored by type and reused, so that only the first step allocates.

use super::flagged_rows::FlaggedRows;
use std::any::{Any, TypeId};

/// Buffers for a sequence of evaluations, one evaluation at a time. The same workspace serves any
/// tokens and any dynamics.
///
/// ```
/// use metastable::attention::kernel::Workspace;
/// let mut work = Workspace::default();
/// work.buffers::<Vec<f64>>().push(1.0);
/// assert_eq!(work.buffers::<Vec<f64>>(), &[1.0]);
/// ```
#[derive(Default)]
pub struct Workspace {
    /// Used by every evaluation, so it has a field of its own.
    pub(super) flagged: FlaggedRows,
    slots: Vec<(TypeId, Box<dyn Any + Send>)>,
}

impl Workspace {
    /// The buffers of this type; default-constructed at first use.
    pub fn buffers<T: Default + Send + 'static>(&mut self) -> &mut T {
        let own = TypeId::of::<T>();
        let slot = self.slots.iter().position(|(of, _)| *of == own).unwrap_or_else(|| {
            self.slots.push((own, Box::new(T::default())));
            self.slots.len() - 1
        });
        self.slots[slot].1.downcast_mut().expect("found by its type")
    }
}
