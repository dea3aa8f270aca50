//! One of many systems: what is known of it, and its tokens while it has no lane.

use super::lanes::SystemTokens;
use crate::flow::coalesce::Components;
use crate::flow::outcome::{Outcome, Summary};
use crate::flow::rest::Rest;
use crate::sphere::{Tokens, geometry::chord2};

/// A system.
pub struct Member {
    pub evaluations: u64,
    /// When its tokens became one.
    pub one_cluster: Option<f64>,
    /// Watches for a state at rest.
    pub rest: Rest,
    /// To be done again alone: the state is perhaps at rest.
    pub again: bool,
    /// Index of the next sample time.
    pub next: usize,
    /// What was measured, in the order of the times.
    pub rows: Vec<f64>,
    /// Its tokens, current while it has no lane; their number always is.
    pub tokens: SystemTokens,
}

impl Member {
    /// Before its first step.
    pub fn new(start: &Tokens, samples: usize) -> Self {
        let tokens = SystemTokens { x: start.coordinates().to_vec(), sizes: vec![1.0; start.n()] };
        let rows = Vec::with_capacity(samples);
        Self { evaluations: 0, one_cluster: None, rest: Rest::default(), again: false, next: 0, rows, tokens }
    }

    /// How it ended, having begun with n tokens in d dimensions.
    pub fn end(self, n: usize, d: usize, t: f64, outcome: Outcome) -> Summary {
        let merges = n - self.live();
        let masses = self.tokens.sizes.iter().map(|size| size / n as f64).collect();
        let clusters = Tokens::from_parts(d, self.tokens.x, masses);
        Summary { outcome, t, clusters, merges, evaluations: self.evaluations, one_cluster: self.one_cluster }
    }

    /// Tokens left.
    pub fn live(&self) -> usize {
        self.tokens.sizes.len()
    }
}

/// Merges the tokens of systems; allocates only to grow.
#[derive(Default)]
pub struct Merger {
    pairs: Vec<(usize, usize)>,
    components: Components,
}

impl Merger {
    /// Merges pairs within the chord, the later token of each among the candidates (ascending).
    pub fn merge(&mut self, d: usize, tokens: &mut SystemTokens, chord: f64, candidates: impl Iterator<Item = usize>) {
        let SystemTokens { x, sizes } = tokens;
        let row = |i: usize| &x[i * d..(i + 1) * d];
        self.pairs.clear();
        for i in candidates {
            self.pairs.extend((0..i).filter(|j| chord2(row(i), row(*j)) <= chord * chord).map(|j| (j, i)));
        }
        if !self.pairs.is_empty() {
            self.components.of(sizes, &self.pairs);
            self.components.mean(d, sizes, x);
            self.components.sum(sizes);
        }
    }
}
