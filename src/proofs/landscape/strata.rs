//! Strata: the ways in which tokens can coincide, as clusters in cyclic order, up to rotations,
//! reflections and permutations of equal masses.

use super::cell::{Arrangement, MAX_TOKENS, Row};
use super::kernel::Law;
use std::collections::{BTreeMap, BTreeSet};

/// The masses of the tokens of a cluster, largest first; [`VARYING`] is that of a token whose mass
/// is the parameter.
pub(super) type Members = Vec<u32>;

/// What stands for a mass that is the parameter: no mass is 0.
pub const VARYING: u32 = 0;

/// The clusters in the largest of all orders that rotations and reflections give.
fn canonical(clusters: &[Members]) -> Vec<Members> {
    canonical_with_gaps(clusters, &[0.0; MAX_TOKENS]).0
}

/// The clusters in the largest of all orders that rotations and reflections give, and the gaps
/// after them.
pub(super) fn canonical_with_gaps(
    clusters: &[Members],
    gaps: &Row<f64>,
) -> (Vec<Members>, Row<f64>) {
    let k = clusters.len();
    let order = |turn: usize, back: bool| {
        let own = |x: usize| (turn + if back { k - x } else { x }) % k;
        // A reflection puts the gap before a cluster after it.
        let after = |x: usize| if back { (own(x) + k - 1) % k } else { own(x) };
        let gap = |x: usize| if x < k { gaps[after(x)] } else { gaps[x] };
        ((0..k).map(|x| clusters[own(x)].clone()).collect::<Vec<_>>(), std::array::from_fn(gap))
    };
    (0..k)
        .flat_map(|t| [order(t, false), order(t, true)])
        .max_by(|a: &(Vec<Members>, Row<f64>), b| a.0.cmp(&b.0))
        .unwrap_or((vec![], *gaps))
}

/// All strata of tokens with these masses, those with few clusters first.
///
/// **Cost** for equal masses `2^(n-1)`, otherwise the number of cyclically ordered set partitions,
/// `sum_k S(n, k) (k - 1)!`: 1 295 for n = 6, 47 293 for n = 8.
pub(super) fn strata(masses: &[u32]) -> Vec<Vec<Members>> {
    let mut all: BTreeSet<(usize, Vec<Members>)> = BTreeSet::new();
    let n = masses.len();
    if masses.windows(2).all(|m| m[0] == m[1]) {
        for cuts in 0..1u32 << (n - 1) {
            let mut clusters = vec![vec![masses[0]]];
            for (x, mass) in masses[1..].iter().enumerate() {
                match clusters.last_mut() {
                    Some(last) if cuts >> x & 1 == 0 => last.push(*mass),
                    _ => clusters.push(vec![*mass]),
                }
            }
            all.insert((clusters.len(), canonical(&clusters)));
        }
    } else {
        partition(masses, &mut Vec::new(), &mut all);
    }
    all.into_iter().map(|(_, clusters)| clusters).collect()
}

/// Adds the rest of the tokens to clusters whose order is the cyclic order.
fn partition(rest: &[u32], clusters: &mut Vec<Members>, all: &mut BTreeSet<(usize, Vec<Members>)>) {
    let Some((mass, rest)) = rest.split_first() else {
        let mut sorted = clusters.clone();
        sorted.iter_mut().for_each(|c| c.sort_by(|a, b| b.cmp(a)));
        all.insert((sorted.len(), canonical(&sorted)));
        return;
    };
    for x in 0..clusters.len() {
        clusters[x].push(*mass);
        partition(rest, clusters, all);
        clusters[x].pop();
    }
    // A new cluster goes to every place after the first cluster.
    for x in clusters.len().min(1)..=clusters.len() {
        clusters.insert(x, vec![*mass]);
        partition(rest, clusters, all);
        clusters.remove(x);
    }
}

/// The clusters with their masses and symmetries.
pub(super) fn arrange(clusters: &[Members]) -> Arrangement {
    let k = clusters.len();
    let (mut mass, mut size) = ([0.0; MAX_TOKENS], [0; MAX_TOKENS]);
    for (x, c) in clusters.iter().enumerate() {
        (mass[x], size[x]) = (f64::from(c.iter().sum::<u32>()), c.len());
    }
    let varying = clusters.iter().position(|c| c.contains(&VARYING)).map(|x| (x, 0.0));
    let mut symmetries = Vec::new();
    for (back, r) in [false, true].into_iter().flat_map(|b| (0..k).map(move |r| (b, r))) {
        // Cluster x goes to x + r or to r - x, and gap x is between the clusters x and x + 1.
        let cluster = |x: usize| if back { (r + k - x) % k } else { (x + r) % k };
        if (0..k).all(|x| clusters[cluster(x)] == clusters[x]) {
            let gap = |x: usize| if back { (r + 2 * k - x - 1) % k } else { (x + r) % k };
            let image: Row<usize> = std::array::from_fn(|x| if x < k { gap(x) } else { x });
            symmetries.push((image, back));
        }
    }
    Arrangement { k, mass, varying, size, symmetries, upper: mass, law: Law::Exponential }
}

/// Clusters as text: the masses of the tokens of each, `m` for one that is the parameter.
pub fn text_of_clusters(clusters: &[Members]) -> String {
    let name = |m: &u32| if *m == VARYING { "m".to_owned() } else { m.to_string() };
    let one = |c: &Members| format!("[{}]", c.iter().map(name).collect::<Vec<_>>().join(", "));
    format!("[{}]", clusters.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn factorial(n: usize) -> u64 {
    (1..=n as u64).product()
}

/// The number of ways to order the tokens of a list such that equal masses differ.
fn orders(masses: impl IntoIterator<Item = u32>) -> u64 {
    let mut count: BTreeMap<u32, usize> = BTreeMap::new();
    masses.into_iter().for_each(|m| *count.entry(m).or_default() += 1);
    count.into_values().map(factorial).product()
}

/// Number of configurations of labelled tokens modulo rotations in the orbit of a configuration:
/// permutations of equal masses, without those inside clusters and those that a rotation undoes,
/// twice if no reflection maps the configuration to itself.
pub(super) fn multiplicity(clusters: &[Members], rotations: u64, mirror: bool) -> u64 {
    let all = orders(clusters.iter().flatten().copied());
    let inside: u64 = clusters.iter().map(|c| orders(c.iter().copied())).product();
    all / inside / rotations.max(1) * if mirror { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::{multiplicity, strata};

    #[test]
    fn strata_are_counted() {
        // Necklaces of compositions up to reflection, all numbers of parts.
        for (n, wanted) in [(1, 1), (2, 2), (3, 3), (4, 5), (5, 7), (6, 12), (7, 17)] {
            assert_eq!(strata(&vec![1; n]).len(), wanted, "{n}");
        }
        // Cyclically ordered set partitions up to reflection: for n = 3 there are 1 + 3 + 1, and
        // for n = 4 there are 1 + 7 + 6 + 3.
        assert_eq!(strata(&[3, 2, 1]).len(), 5);
        assert_eq!(strata(&[4, 3, 2, 1]).len(), 17);
    }

    #[test]
    fn orbits_are_counted() {
        assert_eq!(multiplicity(&[vec![1], vec![1], vec![1], vec![1]], 4, true), 6);
        assert_eq!(multiplicity(&[vec![1, 1], vec![1], vec![1]], 1, true), 12);
        assert_eq!(multiplicity(&[vec![1, 1], vec![1, 1]], 2, true), 3);
    }
}
