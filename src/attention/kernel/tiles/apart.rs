//! Four panels in two tasks that share nothing until all have met: two joins, and sums change hands once.

use crate::attention::kernel::tiles::blocks::both;
use crate::attention::kernel::tiles::panels::{Panel, Panels};
use crate::num::simd::{Float, Lanes, Level, Task};

impl<F: Float> Panels<F> {
    /// Lets four panels meet in two tasks that share nothing: each fills what it needs, keeps its own two panels, and shares the meetings
    /// across with sums of its own for the other's panels, its guests. What guests gathered is missing until [`Halves::join`].
    pub fn meet_apart(
        &mut self,
        parallel: bool,
        fill: impl Fn(&mut Panel<F>) + Sync,
        own: impl Fn(&mut Panel<F>) + Sync,
        pair: impl Fn(&mut Panel<F>, &mut Panel<F>) + Sync,
    ) {
        let pair = |later: &mut Panel<F>, earlier: &mut Panel<F>| {
            if later.len > 0 {
                pair(later, earlier);
            }
        };
        self.apart = true;
        self.guests.resize_with(3, Panel::default);
        for (guest, panel) in self.guests.iter_mut().zip(&self.list[1..]) {
            (guest.start, guest.len) = (panel.start, panel.len);
        }
        let (a, b) = self.list.split_at_mut(2);
        let (guest_a, guests_b) = self.guests.split_at_mut(1);
        let within = |list: &mut [Panel<F>], guests: &mut [Panel<F>]| {
            list.iter_mut().chain(guests).for_each(&fill);
            list.iter_mut().for_each(&own);
            let (first, second) = list.split_at_mut(1);
            pair(&mut second[0], &mut first[0]);
        };
        // The first panel meets the guests, the guest those of the other half: two meetings each.
        let early = || {
            within(a, guests_b);
            guests_b.iter_mut().for_each(|later| pair(later, &mut a[0]));
        };
        let late = || {
            within(b, guest_a);
            b.iter_mut().for_each(|later| pair(later, &mut guest_a[0]));
        };
        both(parallel, early, late);
    }

    /// The panels of two tasks, with the guests whose sums they miss.
    pub fn halves(&mut self) -> [Halves<'_, F>; 2] {
        let middle = self.list.len() / 2;
        let (a, b) = self.list.split_at_mut(middle);
        let guests = if self.apart { &self.guests[..] } else { &[] };
        let (guest_a, guests_b) = guests.split_at(guests.len().min(1));
        [Halves { list: a, guests: guest_a }, Halves { list: b, guests: guests_b }]
    }
}

/// Half of the panels.
pub(crate) struct Halves<'a, F> {
    list: &'a mut [Panel<F>],
    guests: &'a [Panel<F>],
}

impl<F: Float> Halves<'_, F> {
    /// Adds what guests gathered for the last panels.
    pub fn join(&mut self, level: Level) {
        for (panel, guest) in self.list.iter_mut().rev().zip(self.guests.iter().rev()).filter(|(_, guest)| !guest.fresh) {
            level.run(Add { panel, guest });
        }
    }

    /// Every panel with its guest, if that gathered anything.
    pub fn pairs(&self) -> impl Iterator<Item = (&Panel<F>, Option<&Panel<F>>)> {
        let without = self.list.len() - self.guests.len();
        self.list
            .iter()
            .enumerate()
            .map(move |(i, panel)| (panel, i.checked_sub(without).map(|i| &self.guests[i]).filter(|guest| !guest.fresh)))
    }
}

/// Adding sums with the width of the vectors known.
struct Add<'a, F> {
    panel: &'a mut Panel<F>,
    guest: &'a Panel<F>,
}

impl<F: Float> Task for Add<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, l: L) {
        let Panel { drift, mass, led, .. } = self.panel;
        for (sums, more) in [(drift, &self.guest.drift), (mass, &self.guest.mass), (led, &self.guest.led)] {
            for (sum, more) in L::view_mut(sums).iter_mut().zip(L::view(more)) {
                *sum = l.add(*sum, *more);
            }
        }
    }
}
