//! Four panels in two tasks that share nothing until all have met: two joins, and sums change hands once.

use crate::kernel::tiles::blocks::both;
use crate::kernel::tiles::panels::{Panels, TokenPanel};
use crate::num::simd::{Float, Lanes, Level, Task};

impl<F: Float> Panels<F> {
    /// Lets four panels meet in two tasks that share nothing: each fills what it needs, keeps its own two panels, and shares the meetings
    /// across with sums of its own for the other's panels, the partial sums. They are missing until [`Halves::join`].
    pub fn meet_in_two_tasks(
        &mut self,
        parallel: bool,
        fill: impl Fn(&mut TokenPanel<F>) + Sync,
        own: impl Fn(&mut TokenPanel<F>) + Sync,
        pair: impl Fn(&mut TokenPanel<F>, &mut TokenPanel<F>) + Sync,
    ) {
        let pair = |later: &mut TokenPanel<F>, earlier: &mut TokenPanel<F>| {
            if later.len > 0 {
                pair(later, earlier);
            }
        };
        self.in_two_tasks = true;
        self.partials.resize_with(3, TokenPanel::default);
        for (partial, panel) in self.partials.iter_mut().zip(&self.list[1..]) {
            (partial.start, partial.len) = (panel.start, panel.len);
        }
        let (a, b) = self.list.split_at_mut(2);
        let (partial_a, partials_b) = self.partials.split_at_mut(1);
        let within = |list: &mut [TokenPanel<F>], partials: &mut [TokenPanel<F>]| {
            list.iter_mut().chain(partials).for_each(&fill);
            list.iter_mut().for_each(&own);
            let (first, second) = list.split_at_mut(1);
            pair(&mut second[0], &mut first[0]);
        };
        // The first panel meets the copies of the later ones, its copy those of the other half: two meetings each.
        let early = || {
            within(a, partials_b);
            partials_b.iter_mut().for_each(|later| pair(later, &mut a[0]));
        };
        let late = || {
            within(b, partial_a);
            b.iter_mut().for_each(|later| pair(later, &mut partial_a[0]));
        };
        both(parallel, early, late);
    }

    /// The panels of two tasks, with the partial sums they miss.
    pub fn halves(&mut self) -> [Halves<'_, F>; 2] {
        let middle = self.list.len() / 2;
        let (a, b) = self.list.split_at_mut(middle);
        let partials = if self.in_two_tasks { &self.partials[..] } else { &[] };
        let (partial_a, partials_b) = partials.split_at(partials.len().min(1));
        [Halves { list: a, partials: partial_a }, Halves { list: b, partials: partials_b }]
    }
}

/// Half of the panels.
pub struct Halves<'a, F> {
    list: &'a mut [TokenPanel<F>],
    partials: &'a [TokenPanel<F>],
}

impl<F: Float> Halves<'_, F> {
    /// Adds the partial sums of the last panels.
    pub fn join(&mut self, level: Level) {
        for (panel, partial) in self.list.iter_mut().rev().zip(self.partials.iter().rev()).filter(|(_, partial)| !partial.fresh) {
            level.run(Add { panel, partial });
        }
    }

    /// Every panel with its partial sums, if there are any.
    pub fn pairs(&self) -> impl Iterator<Item = (&TokenPanel<F>, Option<&TokenPanel<F>>)> {
        let without = self.list.len() - self.partials.len();
        self.list
            .iter()
            .enumerate()
            .map(move |(i, panel)| (panel, i.checked_sub(without).map(|i| &self.partials[i]).filter(|partial| !partial.fresh)))
    }
}

/// Adding sums with the width of the vectors known.
struct Add<'a, F> {
    panel: &'a mut TokenPanel<F>,
    partial: &'a TokenPanel<F>,
}

impl<F: Float> Task for Add<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, l: L) {
        let TokenPanel { drift, mass, led, .. } = self.panel;
        for (sums, more) in [(drift, &self.partial.drift), (mass, &self.partial.mass), (led, &self.partial.led)] {
            for (sum, more) in L::view_mut(sums).iter_mut().zip(L::view(more)) {
                *sum = l.add(*sum, *more);
            }
        }
    }
}
