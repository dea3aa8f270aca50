//! One of many systems: what is known of it, and its tokens while it has no lane.

use super::lanes::SystemTokens;
use crate::flow::coalesce::Components;
use crate::flow::outcome::{Outcome, Summary};
use crate::flow::rest::Rest;
use crate::sphere::{
    Tokens,
    geometry::{chord2, retract},
};

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
    /// For every initial token its row.
    pub labels: Vec<usize>,
}

impl Member {
    /// Before its first step.
    pub fn new(start: &Tokens, samples: usize) -> Self {
        let tokens = SystemTokens { x: start.coordinates().to_vec(), sizes: vec![1.0; start.n()] };
        let rows = Vec::with_capacity(samples);
        let labels = (0..start.n()).collect();
        Self { evaluations: 0, one_cluster: None, rest: Rest::default(), again: false, next: 0, rows, tokens, labels }
    }

    /// Such tokens in d dimensions, in place of its own.
    pub fn with(&self, d: usize, x: Vec<f64>) -> Tokens {
        let masses = self.tokens.sizes.iter().map(|size| size / self.labels.len() as f64).collect();
        Tokens::from_parts(d, x, masses)
    }

    /// How it ended.
    pub fn end(mut self, d: usize, t: f64, outcome: Outcome) -> Summary {
        let merges = self.labels.len() - self.live();
        let x = std::mem::take(&mut self.tokens.x);
        let clusters = self.with(d, x);
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
    /// Their squared chord first.
    pairs: Vec<(f64, (usize, usize))>,
    merged: Vec<(usize, usize)>,
    components: Components,
    /// For every row another of its cluster, in the end the first; at the first the place and the size of the cluster.
    roots: Vec<usize>,
    places: Vec<f64>,
    sizes: Vec<f64>,
    /// How many rows have become one row.
    rows: Vec<usize>,
}

impl Merger {
    /// Merges pairs of a system within the chord, the later token of each among the candidates (ascending): the nearest first, others where their clusters
    /// are then still within the chord, as pairs merge one after the other in a single run; then what has come within the chord by that.
    pub fn merge(&mut self, d: usize, member: &mut Member, chord: f64, candidates: impl Iterator<Item = usize>) {
        let Member { tokens: SystemTokens { x, sizes }, labels, .. } = member;
        let pair = |x: &[f64], (j, i): (usize, usize)| (chord2(&x[i * d..(i + 1) * d], &x[j * d..(j + 1) * d]), (j, i));
        let near = |p: &(f64, (usize, usize))| p.0 <= chord * chord;
        self.pairs.clear();
        self.pairs.extend(candidates.flat_map(|i| (0..i).map(move |j| (j, i))).map(|p| pair(x, p)).filter(near));
        while !self.pairs.is_empty() {
            self.pairs.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
            self.select(d, x, sizes, chord);
            self.components.of(sizes, &self.merged);
            self.components.mean(d, sizes, x);
            self.components.sum(sizes);
            labels.iter_mut().for_each(|label| *label = self.components.map[*label]);
            // What has moved: the components of more than one row.
            self.rows.clear();
            self.rows.resize(sizes.len(), 0);
            self.components.map.iter().for_each(|row| self.rows[*row] += 1);
            let (rows, pairs) = (&self.rows, &mut self.pairs);
            pairs.clear();
            let all = (0..rows.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
            pairs.extend(all.filter(|(j, i)| rows[*i] > 1 || rows[*j] > 1).map(|p| pair(x, p)).filter(near));
        }
    }

    /// The pairs that merge.
    fn select(&mut self, d: usize, x: &[f64], sizes: &[f64], chord: f64) {
        let Self { pairs, merged, roots, places, sizes: totals, .. } = self;
        merged.clear();
        roots.clear();
        roots.extend(0..sizes.len());
        places.clear();
        places.extend_from_slice(x);
        totals.clear();
        totals.extend_from_slice(sizes);
        for (_, pair) in pairs {
            let root = |mut i: usize| {
                while roots[i] != i {
                    i = roots[i];
                }
                i
            };
            let (a, b) = (root(pair.0).min(root(pair.1)), root(pair.0).max(root(pair.1)));
            if a == b || chord2(&places[a * d..(a + 1) * d], &places[b * d..(b + 1) * d]) > chord * chord {
                continue;
            }
            let share = totals[b] / (totals[a] + totals[b]);
            (0..d).for_each(|c| places[a * d + c] += share * (places[b * d + c] - places[a * d + c]));
            retract(&mut places[a * d..(a + 1) * d]);
            totals[a] += totals[b];
            roots[b] = a;
            merged.push(*pair);
        }
    }
}
