//! Buffers of a run: every algorithm keeps its own, by type, so that a step allocates nothing after the first.

use super::doubtful::Doubtful;
use std::any::{Any, TypeId};

/// The buffers of one run of evaluations. It may be used for any tokens and any dynamics, one evaluation at a time.
///
/// ```
/// use metastable::attention::kernel::Workspace;
/// let mut work = Workspace::default();
/// work.of::<Vec<f64>>().push(1.0);
/// assert_eq!(work.of::<Vec<f64>>(), &[1.0]);
/// ```
#[derive(Default)]
pub struct Workspace {
    /// Every evaluation's own, and so not looked up.
    pub(super) doubtful: Doubtful,
    slots: Vec<(TypeId, Box<dyn Any + Send>)>,
}

impl Workspace {
    /// The buffers of this type, empty at first.
    pub fn of<T: Default + Send + 'static>(&mut self) -> &mut T {
        let own = TypeId::of::<T>();
        let place = self.slots.iter().position(|(of, _)| *of == own).unwrap_or_else(|| {
            self.slots.push((own, Box::new(T::default())));
            self.slots.len() - 1
        });
        self.slots[place].1.downcast_mut().expect("found by its type")
    }
}
