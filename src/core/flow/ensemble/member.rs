//! A member of an ensemble (one system), with its tokens while it has no lane.

use super::lanes::SystemTokens;
use crate::flow::merging::Components;
use crate::flow::outcome::{Outcome, Summary};
use crate::flow::steady_state::SteadyStateDetector;
use crate::sphere::{
    Tokens,
    geometry::{chord2, retract},
};

/// A system of the ensemble.
pub struct EnsembleMember {
    pub evaluations: u64,
    /// Time at which its tokens became one cluster.
    pub one_cluster: Option<f64>,
    /// Detects steady states.
    pub detector: SteadyStateDetector,
    /// The system must be integrated again alone: it may be in a steady state.
    pub needs_rerun: bool,
    /// Index of the next sample time.
    pub next: usize,
    /// Measured values, in order of the sample times.
    pub rows: Vec<f64>,
    /// Its tokens. Positions are current only while it has no lane; their number always is.
    pub tokens: SystemTokens,
    /// For every initial token, the index of its token.
    pub labels: Vec<usize>,
}

impl EnsembleMember {
    /// A system before its first step.
    pub fn new(start: &Tokens, samples: usize) -> Self {
        let tokens = SystemTokens { x: start.coordinates().to_vec(), sizes: vec![1.0; start.n()] };
        let rows = Vec::with_capacity(samples);
        let labels = (0..start.n()).collect();
        Self {
            evaluations: 0,
            one_cluster: None,
            detector: SteadyStateDetector::default(),
            needs_rerun: false,
            next: 0,
            rows,
            tokens,
            labels,
        }
    }

    /// Its tokens at the positions `x` in d dimensions.
    pub fn tokens_at(&self, d: usize, x: Vec<f64>) -> Tokens {
        let masses = self.tokens.sizes.iter().map(|size| size / self.labels.len() as f64).collect();
        Tokens::from_parts(d, x, masses)
    }

    /// The summary of the ended system.
    pub fn into_summary(mut self, d: usize, t: f64, outcome: Outcome) -> Summary {
        let merges = self.labels.len() - self.token_count();
        let x = std::mem::take(&mut self.tokens.x);
        let clusters = self.tokens_at(d, x);
        Summary {
            outcome,
            t,
            clusters,
            merges,
            evaluations: self.evaluations,
            one_cluster: self.one_cluster,
        }
    }

    /// Number of tokens left.
    pub fn token_count(&self) -> usize {
        self.tokens.sizes.len()
    }
}

/// Merges tokens of systems; reuses its buffers.
#[derive(Default)]
pub struct ClusterMerger {
    /// Pairs with their squared chord.
    pairs: Vec<(f64, (usize, usize))>,
    merged: Vec<(usize, usize)>,
    components: Components,
    /// For every row another row of its cluster, in the end the first row. `positions` and `sizes`
    /// hold the position and the size of the cluster at its first row.
    roots: Vec<usize>,
    positions: Vec<f64>,
    sizes: Vec<f64>,
    /// Number of old rows in every new row.
    rows: Vec<usize>,
}

impl ClusterMerger {
    /// Merges the pairs of a system within the chord. The later token of each pair is among the
    /// candidates (ascending). Pairs merge from the nearest to the farthest, if their clusters are
    /// then still within the chord, as in a single run. This is repeated for the clusters that come
    /// within the chord by merging.
    pub fn merge(
        &mut self,
        d: usize,
        member: &mut EnsembleMember,
        chord: f64,
        candidates: impl Iterator<Item = usize>,
    ) {
        let EnsembleMember { tokens: SystemTokens { x, sizes }, labels, .. } = member;
        let pair = |x: &[f64], (j, i): (usize, usize)| {
            (chord2(&x[i * d..(i + 1) * d], &x[j * d..(j + 1) * d]), (j, i))
        };
        let near = |p: &(f64, (usize, usize))| p.0 <= chord * chord;
        self.pairs.clear();
        self.pairs.extend(
            candidates.flat_map(|i| (0..i).map(move |j| (j, i))).map(|p| pair(x, p)).filter(near),
        );
        while !self.pairs.is_empty() {
            self.pairs.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
            self.select_pairs(d, x, sizes, chord);
            self.components.find(sizes, &self.merged);
            self.components.mean_directions(d, sizes, x);
            self.components.sum_weights(sizes);
            labels.iter_mut().for_each(|label| *label = self.components.map[*label]);
            // Only components of more than one row have moved.
            self.rows.clear();
            self.rows.resize(sizes.len(), 0);
            self.components.map.iter().for_each(|row| self.rows[*row] += 1);
            let (rows, pairs) = (&self.rows, &mut self.pairs);
            pairs.clear();
            let all = (0..rows.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
            pairs.extend(
                all.filter(|(j, i)| rows[*i] > 1 || rows[*j] > 1).map(|p| pair(x, p)).filter(near),
            );
        }
    }

    /// Selects the pairs that merge.
    fn select_pairs(&mut self, d: usize, x: &[f64], sizes: &[f64], chord: f64) {
        let Self { pairs, merged, roots, positions, sizes: totals, .. } = self;
        merged.clear();
        roots.clear();
        roots.extend(0..sizes.len());
        positions.clear();
        positions.extend_from_slice(x);
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
            if a == b
                || chord2(&positions[a * d..(a + 1) * d], &positions[b * d..(b + 1) * d])
                    > chord * chord
            {
                continue;
            }
            let share = totals[b] / (totals[a] + totals[b]);
            (0..d).for_each(|c| {
                positions[a * d + c] += share * (positions[b * d + c] - positions[a * d + c])
            });
            retract(&mut positions[a * d..(a + 1) * d]);
            totals[a] += totals[b];
            roots[b] = a;
            merged.push(*pair);
        }
    }
}
