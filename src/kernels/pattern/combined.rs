//! Several patterns at once.

use super::{AttentionShape, BiasForm, Pattern};
use crate::error::Result;
use crate::num::dd::Dd;
use std::ops::Range;

/// Several patterns at once: a source is visible if it is visible in all of them, biases add up,
/// and rotations are applied one after the other.
///
/// ```
/// use metastable::attention::pattern::{Alibi, Causal, BiasForm, CombinedPattern, Pattern, Window};
/// let joined = CombinedPattern::new(vec![Box::new(Causal), Box::new(Window::new(3)?), Box::new(Alibi::new(2)?)]);
/// assert_eq!(joined.visible(5, 8), 3..6);
/// assert_eq!(joined.bias_form(0), BiasForm::Distance { slope: 0.0625 });
/// # Ok::<(), metastable::error::Error>(())
/// ```
#[derive(Default)]
pub struct CombinedPattern {
    parts: Vec<Box<dyn Pattern>>,
}

impl CombinedPattern {
    /// Combines these patterns; without any, the same as [`super::FullAttention`].
    pub fn new(parts: Vec<Box<dyn Pattern>>) -> Self {
        Self { parts }
    }
}

impl Pattern for CombinedPattern {
    fn check(&self, shape: &AttentionShape) -> Result<()> {
        self.parts.iter().try_for_each(|p| p.check(shape))
    }

    fn visible(&self, i: usize, sources: usize) -> Range<usize> {
        self.parts.iter().fold(0..sources, |all, part| {
            let visible = part.visible(i, sources);
            let end = all.end.min(visible.end);
            all.start.max(visible.start).min(end)..end
        })
    }

    fn bias(&self, head: usize, i: usize, j: usize) -> f64 {
        self.parts.iter().map(|p| p.bias(head, i, j)).sum()
    }

    fn bias_form(&self, head: usize) -> BiasForm {
        // The sum of two slopes would be rounded, and `BiasForm::Distance` promises an exact
        // product.
        let mut forms =
            self.parts.iter().map(|p| p.bias_form(head)).filter(|f| *f != BiasForm::Absent);
        match (forms.next(), forms.next()) {
            (None, _) => BiasForm::Absent,
            (Some(form), None) => form,
            _ => BiasForm::Any,
        }
    }

    fn is_rotary(&self) -> bool {
        self.parts.iter().any(|p| p.is_rotary())
    }

    fn rotate(&self, i: usize, image: &mut [f64]) {
        self.parts.iter().for_each(|p| p.rotate(i, image));
    }

    fn rotate_exactly(&self, i: usize, image: &mut [Dd]) {
        self.parts.iter().filter(|p| p.is_rotary()).for_each(|p| p.rotate_exactly(i, image));
    }

    fn is_plain(&self) -> bool {
        self.parts.iter().all(|p| p.is_plain())
    }
}
