//! The ways in which tokens can coincide.

use std::collections::BTreeSet;

/// The masses of the tokens of a cluster, largest first.
pub(super) type Members = Vec<u32>;

/// The clusters in the largest of all orders that rotations and reflections give.
pub(super) fn canonical(clusters: &[Members]) -> Vec<Members> {
    let k = clusters.len();
    let order = |r: usize, back: bool| {
        (0..k)
            .map(|x| {
                let mut c = clusters[if back { r + k - x } else { r + x } % k].clone();
                c.sort_by(|a, b| b.cmp(a));
                c
            })
            .collect::<Vec<_>>()
    };
    (0..k).flat_map(|r| [order(r, false), order(r, true)]).max().unwrap_or_default()
}

/// All ways to put the tokens into clusters in cyclic order, token by token.
pub(super) fn strata(masses: &[u32]) -> BTreeSet<Vec<Members>> {
    let mut all = BTreeSet::from([vec![vec![masses[0]]]]);
    for m in &masses[1..] {
        let mut next = BTreeSet::new();
        for clusters in &all {
            for x in 0..clusters.len() {
                let mut joined = clusters.clone();
                joined[x].push(*m);
                next.insert(canonical(&joined));
                let mut alone = clusters.clone();
                alone.insert(x + 1, vec![*m]);
                next.insert(canonical(&alone));
            }
        }
        all = next;
    }
    all
}

/// Number of orders of equal masses.
pub(super) fn orders<'a>(masses: impl Iterator<Item = &'a u32>) -> u64 {
    let mut sorted: Vec<u32> = masses.copied().collect();
    sorted.sort_unstable();
    let mut same = 0;
    let mut product = 1;
    for (x, m) in sorted.iter().enumerate() {
        same = if x > 0 && sorted[x - 1] == *m { same + 1 } else { 1 };
        product *= same;
    }
    product
}
