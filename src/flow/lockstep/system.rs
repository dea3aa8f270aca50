//! One of many systems: what is known of it, and its tokens while it has no lane.

use super::lanes::Seat;
use crate::flow::coalesce::Components;
use crate::flow::outcome::{End, Outcome};
use crate::flow::rest::Rest;
use crate::sphere::{Tokens, geometry::chord2};

/// A system.
pub struct System {
    pub t: f64,
    pub h: f64,
    /// The last step was refused.
    pub shrunk: bool,
    pub attempts: u64,
    pub evaluations: u64,
    pub done: bool,
    /// When its tokens became one.
    pub one_cluster: Option<f64>,
    /// Watches for a state at rest.
    pub rest: Rest,
    /// To be done again alone: a velocity was not finite, the budget is spent, or the state is perhaps at rest.
    pub broken: bool,
    /// Index of the next sample time.
    pub next: usize,
    /// What was measured, in the order of the times.
    pub rows: Vec<f64>,
    /// Its tokens, current while it has no lane; their number always is.
    pub seat: Seat,
}

impl System {
    /// At t = 0, its first step still to come.
    pub fn new(start: &Tokens, samples: usize) -> Self {
        let x = start.coordinates().to_vec();
        let seat = Seat { x, sizes: vec![1.0; start.n()] };
        let rows = Vec::with_capacity(samples);
        Self {
            t: 0.0,
            h: 0.0,
            shrunk: false,
            attempts: 0,
            evaluations: 0,
            done: false,
            one_cluster: None,
            rest: Rest::default(),
            broken: false,
            next: 0,
            rows,
            seat,
        }
    }

    /// How it ended, having begun with n tokens in d dimensions.
    pub fn end(self, n: usize, d: usize) -> End {
        let merges = n - self.live();
        let masses = self.seat.sizes.iter().map(|size| size / n as f64).collect();
        let clusters = Tokens::from_parts(d, self.seat.x, masses);
        let outcome = if self.done { Outcome::Reached } else { Outcome::Interrupted { t: self.t } };
        End { outcome, t: self.t, clusters, merges, evaluations: self.evaluations, one_cluster: self.one_cluster }
    }

    /// Tokens left.
    pub fn live(&self) -> usize {
        self.seat.sizes.len()
    }
}

/// Merges the tokens of systems; allocates only to grow.
#[derive(Default)]
pub struct Merger {
    pairs: Vec<(usize, usize)>,
    components: Components,
}

impl Merger {
    /// Merges pairs within the chord, the later token of each among the suspects (ascending).
    pub fn merge(&mut self, d: usize, seat: &mut Seat, chord: f64, suspects: impl Iterator<Item = usize>) {
        let Seat { x, sizes } = seat;
        let row = |i: usize| &x[i * d..(i + 1) * d];
        self.pairs.clear();
        for i in suspects {
            self.pairs.extend((0..i).filter(|j| chord2(row(i), row(*j)) <= chord * chord).map(|j| (j, i)));
        }
        if !self.pairs.is_empty() {
            self.components.of(sizes, &self.pairs);
            self.components.mean(d, sizes, x);
            self.components.sum(sizes);
        }
    }
}
