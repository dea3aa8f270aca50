//! Merging: tokens closer than a radius become one token with the summed mass. Exact in the limit
//! of a small radius for dynamics with a common field, where coincident tokens stay coincident.

use super::event::Event;
use crate::num::disjoint_sets::DisjointSets;
use crate::sphere::{
    Tokens,
    geometry::{chord_of, chord2, retract},
};
use std::cell::RefCell;

/// One merge.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// Located time.
    pub t: f64,
    /// Initial tokens of the new cluster, ascending.
    pub members: Vec<usize>,
    /// Mass of the new cluster.
    pub mass: f64,
}

/// Finds pairs `j < i` of rows whose chord is at most `chord`, ascending. **Cost** `O(n log n)`,
/// plus the number of pairs whose first coordinates are that close.
#[derive(Default)]
pub struct ClosePairs {
    order: Vec<(f64, usize)>,
    /// The pairs found.
    pub pairs: Vec<(usize, usize)>,
}

impl ClosePairs {
    /// Finds the pairs; reuses its buffers.
    pub fn find(&mut self, x: &Tokens, chord: f64) -> &[(usize, usize)] {
        let Self { order, pairs } = self;
        order.clear();
        order.extend(x.rows().enumerate().map(|(i, r)| (r[0], i)));
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        pairs.clear();
        for (k, &(first, i)) in order.iter().enumerate() {
            for &(_, j) in order[k + 1..].iter().take_while(|o| o.0 - first <= chord) {
                if chord2(x.row(i), x.row(j)) <= chord * chord {
                    pairs.push((i.min(j), i.max(j)));
                }
            }
        }
        pairs.sort_unstable_by_key(|p| (p.1, p.0));
        pairs
    }
}

/// The event that two tokens come within the merge radius. It changes the system, so the stepper
/// restarts after it.
pub(super) struct MergeEvent {
    chord: f64,
    close: RefCell<ClosePairs>,
}

impl MergeEvent {
    /// `None` for the radius 0: tokens never merge.
    pub fn new(radius: f64) -> Option<Self> {
        let chord = chord_of(radius);
        (chord > 0.0).then(|| Self { chord, close: RefCell::default() })
    }

    /// The pairs that merge. At the located time their chord may exceed the radius by the width of
    /// the root bracket.
    pub fn pairs(&self, x: &Tokens) -> Vec<(usize, usize)> {
        self.close.borrow_mut().find(x, self.chord * (1.0 + 1e-6)).to_vec()
    }

    /// The radius minus the distance of the closest of the pairs.
    fn depth(&self, x: &Tokens, pairs: &[(usize, usize)]) -> f64 {
        self.chord
            - pairs
                .iter()
                .map(|&(i, j)| chord2(x.row(i), x.row(j)).sqrt())
                .fold(f64::INFINITY, f64::min)
    }
}

impl Event for MergeEvent {
    fn name(&self) -> String {
        "merge".into()
    }

    /// Negative if no pair is within the radius; the size then has no meaning.
    fn value(&self, x: &Tokens) -> f64 {
        let mut close = self.close.borrow_mut();
        if close.find(x, self.chord).is_empty() {
            -1.0
        } else {
            self.depth(x, &close.pairs).max(0.0)
        }
    }

    /// The same function for the pairs found at the end of the step.
    fn value_inside_step(&self, x: &Tokens) -> f64 {
        self.depth(x, &self.close.borrow().pairs)
    }
}

/// The connected components of a graph of rows, given by pairs. Each component becomes one row.
#[derive(Default)]
pub struct Components {
    sets: DisjointSets,
    /// For every row the first row of its component.
    first: Vec<usize>,
    /// First rows of the components, ascending.
    representatives: Vec<usize>,
    /// For every row the number of its component.
    pub map: Vec<usize>,
    weights: Vec<f64>,
    means: Vec<f64>,
}

impl Components {
    /// Finds the components under these pairs of rows with these weights; reuses its buffers.
    pub fn find(&mut self, weights: &[f64], pairs: &[(usize, usize)]) {
        self.sets.reset(weights.len());
        pairs.iter().for_each(|&(a, b)| self.sets.union(a, b));
        self.first.clear();
        self.first.extend((0..weights.len()).map(|i| self.sets.find(i)));
        self.number_components(weights);
    }

    /// Finds the components of tokens under chords up to `chord`. **Cost** a sort; then every token
    /// is compared with the unvisited tokens of its slab, about linear if components are few or
    /// slabs hold few tokens.
    fn find_within(&mut self, x: &Tokens, chord: f64) {
        let mut order: Vec<(f64, usize)> = x.rows().enumerate().map(|(i, r)| (r[0], i)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut position = vec![0; x.n()];
        order.iter().enumerate().for_each(|(k, o)| position[o.1] = k);
        // free[k]: the first unvisited position >= k in the sorted order (path-compressed).
        let mut free: Vec<usize> = (0..=x.n()).collect();
        fn next(free: &mut [usize], mut k: usize) -> usize {
            while free[k] != k {
                free[k] = free[free[k]];
                k = free[k];
            }
            k
        }
        self.first.clear();
        self.first.resize(x.n(), 0);
        let mut reached = Vec::new();
        for first in 0..x.n() {
            if free[position[first]] != position[first] {
                continue;
            }
            free[position[first]] += 1;
            reached.push(first);
            while let Some(i) = reached.pop() {
                self.first[i] = first;
                let here = order[position[i]].0;
                let mut k = next(&mut free, order.partition_point(|o| o.0 < here - chord));
                while k < x.n() && order[k].0 <= here + chord {
                    if chord2(x.row(i), x.row(order[k].1)) <= chord * chord {
                        free[k] += 1;
                        reached.push(order[k].1);
                    }
                    k = next(&mut free, k + 1);
                }
            }
        }
        self.number_components(x.masses());
    }

    /// Numbers the components by their first rows and sums their weights.
    fn number_components(&mut self, weights: &[f64]) {
        let Self { first, representatives, map, weights: sums, .. } = self;
        representatives.clear();
        map.clear();
        for (i, &r) in first.iter().enumerate() {
            if i == r {
                map.push(representatives.len());
                representatives.push(i);
            } else {
                map.push(map[r]);
            }
        }
        sums.clear();
        sums.resize(representatives.len(), 0.0);
        map.iter().zip(weights).for_each(|(s, w)| sums[*s] += w);
    }

    /// Replaces the weights of the rows by those of the components.
    pub fn sum_weights(&self, weights: &mut Vec<f64>) {
        weights.clear();
        weights.extend_from_slice(&self.weights);
    }

    /// Replaces the rows of `d` numbers by the mean directions of the components, with these
    /// weights.
    pub fn mean_directions(&mut self, d: usize, weights: &[f64], rows: &mut Vec<f64>) {
        let Self { representatives, map, weights: sums, means, .. } = self;
        means.clear();
        means.resize(representatives.len() * d, 0.0);
        for ((row, &s), w) in rows.chunks_exact(d).zip(&*map).zip(weights) {
            let anchor = &rows[representatives[s] * d..];
            // Summed as differences from the first row, so that a row without a partner keeps its
            // bytes.
            means[s * d..(s + 1) * d]
                .iter_mut()
                .zip(row.iter().zip(anchor))
                .for_each(|(y, (a, b))| *y += w * (a - b));
        }
        for ((mean, &first), total) in means.chunks_exact_mut(d).zip(&*representatives).zip(&*sums)
        {
            let moved = mean.iter().any(|v| *v != 0.0);
            mean.iter_mut().zip(&rows[first * d..]).for_each(|(v, a)| *v = a + *v / total);
            if moved {
                retract(mean);
            }
        }
        rows.clear();
        rows.extend_from_slice(means);
    }
}

/// Merges the connected components of the given pairs: mass-weighted mean direction (conserved by
/// the attraction within a pair), summed mass. Returns the new tokens and, for every old row, its
/// new row.
pub fn merge(x: &Tokens, pairs: &[(usize, usize)]) -> (Tokens, Vec<usize>) {
    let mut components = Components::default();
    components.find(x.masses(), pairs);
    merge_components(x, components)
}

fn merge_components(x: &Tokens, mut components: Components) -> (Tokens, Vec<usize>) {
    let (mut rows, mut masses) = (x.coordinates().to_vec(), x.masses().to_vec());
    components.mean_directions(x.d(), x.masses(), &mut rows);
    components.sum_weights(&mut masses);
    (Tokens::from_parts(x.d(), rows, masses), components.map)
}

/// Tokens within this chord are equal to rounding.
const ROUNDING_CHORD: f64 = 8.0 * f64::EPSILON;

/// The clusters of x: the components under geodesic distances up to `radius` (or up to rounding, if
/// that is larger), merged as in a run.
///
/// Tokens of dynamics without a common field never merge in a run; summaries count their clusters
/// by this function.
pub fn clusters_within(x: &Tokens, radius: f64) -> (Tokens, Vec<usize>) {
    let chord = chord_of(radius).max(ROUNDING_CHORD);
    let mut components = Components::default();
    components.find_within(x, chord);
    merge_components(x, components)
}
