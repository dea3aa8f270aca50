//! Coalescence: tokens closer than a radius become one token with the summed mass. Exact in the limit for dynamics with
//! a common field, where coincident tokens stay coincident for ever.

use super::event::Event;
use crate::num::disjoint_sets::DisjointSets;
use crate::sphere::{
    Tokens,
    geometry::{chord_of, chord2, retract},
};
use std::cell::RefCell;

/// One coalescence.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// Located time.
    pub t: f64,
    /// Initial tokens of the new cluster, ascending.
    pub members: Vec<usize>,
    /// Its mass.
    pub mass: f64,
}

/// Pairs `j < i` of rows whose chord is at most `chord`, ascending. **Cost** `O(n log n)` besides the pairs whose first coordinates are
/// that close.
#[derive(Default)]
pub struct ClosePairs {
    order: Vec<(f64, usize)>,
    /// What was found.
    pub pairs: Vec<(usize, usize)>,
}

impl ClosePairs {
    /// Looks for them; allocates only to grow.
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

/// The event that two tokens come within the merge radius: what changes the system, after which its steps begin anew.
pub(super) struct Merging {
    chord: f64,
    close: RefCell<ClosePairs>,
}

impl Merging {
    /// `None` for the radius 0: tokens never merge.
    pub fn within(radius: f64) -> Option<Self> {
        let chord = chord_of(radius);
        (chord > 0.0).then(|| Self { chord, close: RefCell::default() })
    }

    /// The pairs that merge. The located point may lie above the radius by the width of the root bracket.
    pub fn pairs(&self, x: &Tokens) -> Vec<(usize, usize)> {
        self.close.borrow_mut().find(x, self.chord * (1.0 + 1e-6)).to_vec()
    }

    /// How far the nearest of the pairs lies within the radius.
    fn depth(&self, x: &Tokens, pairs: &[(usize, usize)]) -> f64 {
        self.chord - pairs.iter().map(|&(i, j)| chord2(x.row(i), x.row(j)).sqrt()).fold(f64::INFINITY, f64::min)
    }
}

impl Event for Merging {
    fn name(&self) -> String {
        "merge".into()
    }

    /// Negative, of no meaning, where no pair is within the radius.
    fn value(&self, x: &Tokens) -> f64 {
        let mut close = self.close.borrow_mut();
        if close.find(x, self.chord).is_empty() { -1.0 } else { self.depth(x, &close.pairs).max(0.0) }
    }

    /// That of the pairs found at the end of the step.
    fn inside(&self, x: &Tokens) -> f64 {
        self.depth(x, &self.close.borrow().pairs)
    }
}

/// The connected components of some pairs of rows, each to become one row: that of its first.
#[derive(Default)]
pub struct Components {
    sets: DisjointSets,
    /// The first row of every row's component.
    root: Vec<usize>,
    /// First rows, ascending.
    survivors: Vec<usize>,
    /// For every row its component.
    pub map: Vec<usize>,
    weights: Vec<f64>,
    means: Vec<f64>,
}

impl Components {
    /// Those of rows of these weights under these pairs; allocates only to grow.
    pub fn of(&mut self, weights: &[f64], pairs: &[(usize, usize)]) {
        self.sets.reset(weights.len());
        pairs.iter().for_each(|&(a, b)| self.sets.union(a, b));
        self.root.clear();
        self.root.extend((0..weights.len()).map(|i| self.sets.find(i)));
        self.number(weights);
    }

    /// Those of tokens under chords up to `chord`. **Cost** a sort, and every token looks at those of its slab that nobody has reached before: about
    /// linear where components are few or slabs hold few tokens.
    fn within(&mut self, x: &Tokens, chord: f64) {
        let mut order: Vec<(f64, usize)> = x.rows().enumerate().map(|(i, r)| (r[0], i)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut place = vec![0; x.n()];
        order.iter().enumerate().for_each(|(k, o)| place[o.1] = k);
        // For every place of the order the first from it on that nobody has reached.
        let mut free: Vec<usize> = (0..=x.n()).collect();
        fn next(free: &mut [usize], mut k: usize) -> usize {
            while free[k] != k {
                free[k] = free[free[k]];
                k = free[k];
            }
            k
        }
        self.root.clear();
        self.root.resize(x.n(), 0);
        let mut reached = Vec::new();
        for first in 0..x.n() {
            if free[place[first]] != place[first] {
                continue;
            }
            free[place[first]] += 1;
            reached.push(first);
            while let Some(i) = reached.pop() {
                self.root[i] = first;
                let here = order[place[i]].0;
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
        self.number(x.masses());
    }

    /// Numbers components by their first rows and sums their weights.
    fn number(&mut self, weights: &[f64]) {
        let Self { root, survivors, map, weights: sums, .. } = self;
        survivors.clear();
        map.clear();
        for (i, &r) in root.iter().enumerate() {
            if i == r {
                map.push(survivors.len());
                survivors.push(i);
            } else {
                map.push(map[r]);
            }
        }
        sums.clear();
        sums.resize(survivors.len(), 0.0);
        map.iter().zip(weights).for_each(|(s, w)| sums[*s] += w);
    }

    /// Puts the sum of its weights in the place of every component.
    pub fn sum(&self, weights: &mut Vec<f64>) {
        weights.clear();
        weights.extend_from_slice(&self.weights);
    }

    /// Puts the mean direction of its rows of d numbers with these weights in the place of every component.
    pub fn mean(&mut self, d: usize, weights: &[f64], rows: &mut Vec<f64>) {
        let Self { survivors, map, weights: sums, means, .. } = self;
        means.clear();
        means.resize(survivors.len() * d, 0.0);
        for ((row, &s), w) in rows.chunks_exact(d).zip(&*map).zip(weights) {
            let anchor = &rows[survivors[s] * d..];
            // Summed as differences from the survivor, so that a lone row keeps its bytes.
            means[s * d..(s + 1) * d].iter_mut().zip(row.iter().zip(anchor)).for_each(|(y, (a, b))| *y += w * (a - b));
        }
        for ((mean, &first), total) in means.chunks_exact_mut(d).zip(&*survivors).zip(&*sums) {
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

/// Merges the connected components of the given pairs: mass-weighted mean direction (conserved by the pair's own attraction), summed mass.
/// Returns the new tokens and, for every old row, its new row.
pub fn merge(x: &Tokens, pairs: &[(usize, usize)]) -> (Tokens, Vec<usize>) {
    let mut components = Components::default();
    components.of(x.masses(), pairs);
    merged(x, components)
}

fn merged(x: &Tokens, mut components: Components) -> (Tokens, Vec<usize>) {
    let (mut rows, mut masses) = (x.coordinates().to_vec(), x.masses().to_vec());
    components.mean(x.d(), x.masses(), &mut rows);
    components.sum(&mut masses);
    (Tokens::from_parts(x.d(), rows, masses), components.map)
}

/// Two tokens nearer than this are equal to rounding.
const EQUAL: f64 = 8.0 * f64::EPSILON;

/// The clusters of x: its components under geodesic distances up to `radius` (or equality to rounding, where that is more), as tokens merge in a run.
///
/// Tokens of dynamics without a common field never become one, however near they come; in every summary they count as one here.
pub fn clusters_within(x: &Tokens, radius: f64) -> (Tokens, Vec<usize>) {
    let chord = chord_of(radius).max(EQUAL);
    let mut components = Components::default();
    components.within(x, chord);
    merged(x, components)
}
