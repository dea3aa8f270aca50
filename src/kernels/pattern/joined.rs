use super::{Bias, Extent, Pattern};
use crate::error::Result;
use crate::num::dd::Dd;
use std::ops::Range;

/// Several patterns at once: a query sees what it sees in all of them, biases add up, positions are placed by one after the other.
///
/// ```
/// use metastable::attention::pattern::{Alibi, Causal, Bias, Joined, Pattern, Window};
/// let joined = Joined::new(vec![Box::new(Causal), Box::new(Window::new(3)?), Box::new(Alibi::new(2)?)]);
/// assert_eq!(joined.seen(5, 8), 3..6);
/// assert_eq!(joined.form(0), Bias::Distance { slope: 0.0625 });
/// # Ok::<(), metastable::error::Error>(())
/// ```
#[derive(Default)]
pub struct Joined {
    parts: Vec<Box<dyn Pattern>>,
}

impl Joined {
    /// These patterns together; none is [`super::Everything`].
    pub fn new(parts: Vec<Box<dyn Pattern>>) -> Self {
        Self { parts }
    }
}

impl Pattern for Joined {
    fn check(&self, extent: &Extent) -> Result<()> {
        self.parts.iter().try_for_each(|p| p.check(extent))
    }

    fn seen(&self, i: usize, sources: usize) -> Range<usize> {
        self.parts.iter().fold(0..sources, |all, part| {
            let seen = part.seen(i, sources);
            let end = all.end.min(seen.end);
            all.start.max(seen.start).min(end)..end
        })
    }

    fn bias(&self, head: usize, i: usize, j: usize) -> f64 {
        self.parts.iter().map(|p| p.bias(head, i, j)).sum()
    }

    fn form(&self, head: usize) -> Bias {
        // Two slopes would have to be added: their sum is rounded, which a distance promises not to be.
        let mut forms = self.parts.iter().map(|p| p.form(head)).filter(|f| *f != Bias::Absent);
        match (forms.next(), forms.next()) {
            (None, _) => Bias::Absent,
            (Some(form), None) => form,
            _ => Bias::Any,
        }
    }

    fn turns(&self) -> bool {
        self.parts.iter().any(|p| p.turns())
    }

    fn place(&self, i: usize, image: &mut [f64]) {
        self.parts.iter().for_each(|p| p.place(i, image));
    }

    fn place_exactly(&self, i: usize, image: &mut [Dd]) {
        self.parts.iter().filter(|p| p.turns()).for_each(|p| p.place_exactly(i, image));
    }

    fn is_plain(&self) -> bool {
        self.parts.iter().all(|p| p.is_plain())
    }
}
