//! Coalescence: tokens closer than a radius become one token with the summed mass (design 3.3). Exact in the limit for dynamics with
//! a common field, where coincident tokens stay coincident for ever.

use crate::sphere::{
    Tokens,
    geometry::{chord2, retract},
};

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

/// Merges the connected components of the given pairs: mass-weighted mean direction (conserved by the pair's own attraction), summed mass.
/// Returns the new tokens and, for every old row, its new row.
pub fn merge(x: &Tokens, pairs: &[(usize, usize)]) -> (Tokens, Vec<usize>) {
    let (n, d) = (x.n(), x.d());
    let mut root: Vec<usize> = (0..n).collect();
    for &(a, b) in pairs {
        let (low, high) = (root[a].min(root[b]), root[a].max(root[b]));
        root.iter_mut().filter(|r| **r == high).for_each(|r| *r = low);
    }
    let survivors: Vec<usize> = (0..n).filter(|&i| root[i] == i).collect();
    let map: Vec<usize> = root.iter().map(|r| survivors.partition_point(|s| s < r)).collect();
    let (mut y, mut masses) = (vec![0.0; survivors.len() * d], vec![0.0; survivors.len()]);
    for (i, row) in x.rows().enumerate() {
        let s = map[i];
        let anchor = x.row(survivors[s]);
        masses[s] += x.masses()[i];
        // Summed as differences from the survivor, so that a lone token keeps its bytes.
        y[s * d..(s + 1) * d].iter_mut().zip(row.iter().zip(anchor)).for_each(|(y, (a, b))| *y += x.masses()[i] * (a - b));
    }
    for (s, row) in y.chunks_exact_mut(d).enumerate() {
        let anchor = x.row(survivors[s]);
        let moved = row.iter().any(|v| *v != 0.0);
        row.iter_mut().zip(anchor).for_each(|(v, a)| *v = a + *v / masses[s]);
        if moved {
            retract(row);
        }
    }
    (Tokens::from_parts(d, y, masses), map)
}
