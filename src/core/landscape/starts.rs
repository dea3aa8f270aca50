//! Starting points of the search for critical points: symmetric families and random clusters.

use crate::num::stream::Stream;
use crate::sphere::{Tokens, geometry::retract, law::Law};
use std::f64::consts::{PI, TAU};

/// Clusters, and the number of tokens of each.
pub type Start = (Tokens, Vec<usize>);

/// Largest number of tokens for which all partitions into clusters are used. For more tokens only
/// the most equal partition is used, because the number of partitions grows too fast.
const MAX_TOKENS_ALL_PARTITIONS: usize = 12;
/// Largest number of ring configurations, for few and for many tokens; configurations of few rings
/// come first.
const RINGS: (usize, usize) = (400, 32);

/// Symmetric configurations of n tokens on the sphere of R^d, near which critical points are known
/// to lie: one cluster, two antipodal clusters, polygons in a plane, simplices, cross-polytopes,
/// (d >= 3) rings of clusters about an axis: prisms, antiprisms, pyramids, bipyramids, and (d >= 4)
/// sums of two regular polygons in orthogonal planes.
///
/// For at most 12 tokens every partition among the vertices is used (at most 400 ring
/// configurations). For more tokens only the most equal partition is used (polygons of up to 12
/// vertices, 32 ring configurations).
///
/// ```
/// use metastable::landscape::starts::families;
/// // Four tokens on S^2: the regular tetrahedron is among them.
/// let regular = |x: &metastable::sphere::Tokens| (0..4).all(|i| (0..i).all(|j| (x.inner(i, j) + 1.0 / 3.0).abs() < 1e-15));
/// assert!(families(4, 3).iter().any(|(x, sizes)| sizes.len() == 4 && regular(x)));
/// ```
pub fn families(n: usize, d: usize) -> Vec<Start> {
    let mut out = vec![clusters(d, copies_of_first_axis(1, d), &[n])];
    out.extend((1..=n / 2).map(|k| clusters(d, antipodes(d), &[n - k, k])));
    out.extend(polygons(n).into_iter().map(|sizes| polygon(&sizes, d, 0.0)));
    for k in 4..=n.min(d + 1) {
        let divided =
            if n <= MAX_TOKENS_ALL_PARTITIONS { partitions(n, k) } else { vec![equal_sizes(n, k)] };
        let Ok(x) =
            Law::parse("simplex").and_then(|l| l.sample(k, d, &mut Stream::new(0, &["simplex"])))
        else {
            continue;
        };
        out.extend(divided.iter().map(|sizes| clusters(d, x.coordinates().to_vec(), sizes)));
    }
    for j in 3..=d.min(n / 2) {
        out.push(clusters(d, cross_polytope(j, d), &equal_sizes(n, 2 * j)));
    }
    if d >= 3 {
        out.extend(rings(n, d));
    }
    if d >= 4 && n <= MAX_TOKENS_ALL_PARTITIONS {
        out.extend(two_polygons(n, d));
    }
    out
}

/// Clusters on the circle with these gaps in radians, in cyclic order.
///
/// ```
/// use metastable::landscape::starts::on_circle;
/// let (x, sizes) = on_circle(&[1.5, 2.5, 2.2], &[2, 1, 1]);
/// assert!((x.inner(0, 1) - 1.5f64.cos()).abs() < 1e-15 && sizes == [2, 1, 1]);
/// assert!((x.inner(0, 2) - 4f64.cos()).abs() < 1e-15 && x.masses()[0] == 0.5);
/// ```
pub fn on_circle(gaps: &[f64], sizes: &[usize]) -> Start {
    let (mut x, mut angle) = (Vec::with_capacity(2 * sizes.len()), 0.0f64);
    for q in 0..sizes.len() {
        x.extend([angle.cos(), angle.sin()]);
        angle += gaps.get(q).copied().unwrap_or_default();
    }
    clusters(2, x, sizes)
}

/// Two regular polygons (or antipodal pairs) in orthogonal planes, each with clusters of one size.
fn two_polygons(n: usize, d: usize) -> Vec<Start> {
    let mut out = Vec::new();
    for tokens in 2..=n / 2 {
        let divisors = |m: usize| (2..=m).filter(move |k| m.is_multiple_of(*k));
        for (j, k) in divisors(tokens).flat_map(|j| divisors(n - tokens).map(move |k| (j, k))) {
            let corner = |plane: usize, q: usize, m: usize| {
                let angle = TAU * q as f64 / m as f64;
                let mut row = vec![0.0; d];
                (row[plane], row[plane + 1]) = (angle.cos(), angle.sin());
                row
            };
            let rows = (0..j).map(|q| corner(0, q, j)).chain((0..k).map(|q| corner(2, q, k)));
            let sizes = [vec![tokens / j; j], vec![(n - tokens) / k; k]].concat();
            out.push(clusters(d, rows.flatten().collect(), &sizes));
        }
    }
    out
}

/// Random clusters: a random composition of n; positions uniform on the sphere, uniform on a great
/// circle, or a jittered polygon.
pub fn random_clusters(n: usize, d: usize, stream: &mut Stream) -> Start {
    let k = 2 + stream.index((n - 1).min(12));
    let mut sizes = vec![1; k];
    for _ in k..n {
        sizes[stream.index(k)] += 1;
    }
    if stream.index(2) == 0 {
        // Symmetric saddles have clusters of equal size.
        sizes = equal_sizes(n, k);
    }
    let planar = stream.index(3);
    let mut x = vec![0.0; k * d];
    for (q, row) in x.chunks_exact_mut(d).enumerate() {
        match planar {
            0 => {
                let angle = TAU * (q as f64 + stream.uniform_in(-0.2, 0.2)) / k as f64;
                (row[0], row[1]) = (angle.cos(), angle.sin());
            }
            1 => stream.normals(&mut row[..2]),
            _ => stream.normals(row),
        }
        retract(row);
    }
    clusters(d, x, &sizes)
}

fn clusters(d: usize, x: Vec<f64>, sizes: &[usize]) -> Start {
    let n = sizes.iter().sum::<usize>() as f64;
    let masses = sizes.iter().map(|s| *s as f64 / n).collect();
    (Tokens::from_parts(d, x, masses), sizes.to_vec())
}

/// n tokens in k clusters, as equal as possible.
fn equal_sizes(n: usize, k: usize) -> Vec<usize> {
    (0..k).map(|q| n / k + usize::from(q < n % k)).collect()
}

fn copies_of_first_axis(rows: usize, d: usize) -> Vec<f64> {
    (0..rows * d).map(|c| if c % d == 0 { 1.0 } else { 0.0 }).collect()
}

fn antipodes(d: usize) -> Vec<f64> {
    let mut x = copies_of_first_axis(2, d);
    x[d] = -1.0;
    x
}

fn cross_polytope(j: usize, d: usize) -> Vec<f64> {
    let mut x = vec![0.0; 2 * j * d];
    for k in 0..j {
        x[2 * k * d + k] = 1.0;
        x[(2 * k + 1) * d + k] = -1.0;
    }
    x
}

/// A regular polygon in the plane of the first two axes, rotated by the angle `turn`.
fn polygon(sizes: &[usize], d: usize, turn: f64) -> Start {
    let mut x = vec![0.0; sizes.len() * d];
    for (q, row) in x.chunks_exact_mut(d).enumerate() {
        let angle = turn + TAU * q as f64 / sizes.len() as f64;
        (row[0], row[1]) = (angle.cos(), angle.sin());
    }
    clusters(d, x, sizes)
}

/// Numbers of tokens per vertex of polygons with at least three vertices, one representative of
/// each class under rotation and reflection.
#[doc(hidden)]
pub fn polygons(n: usize) -> Vec<Vec<usize>> {
    if n > MAX_TOKENS_ALL_PARTITIONS {
        return (3..=MAX_TOKENS_ALL_PARTITIONS).map(|k| equal_sizes(n, k)).collect();
    }
    let mut out = Vec::new();
    for k in 3..=n {
        for partition in partitions(n, k) {
            let mut arrangement = partition;
            arrangement.sort_unstable();
            loop {
                if is_canonical(&arrangement) {
                    out.push(arrangement.clone());
                }
                if !next_permutation(&mut arrangement) {
                    break;
                }
            }
        }
    }
    out
}

/// True if no rotation or reflection makes the arrangement lexicographically smaller.
fn is_canonical(a: &[usize]) -> bool {
    let k = a.len();
    let smaller = |at: &dyn Fn(usize) -> usize| {
        (0..k).map(|q| a[at(q)].cmp(&a[q])).find(|o| o.is_ne()).is_some_and(|o| o.is_lt())
    };
    (0..k).all(|s| !smaller(&|q| (q + s) % k) && !smaller(&|q| (k + s - q) % k))
}

/// Replaces the arrangement by the next one in lexicographic order (equal parts are identical);
/// false after the last.
fn next_permutation(a: &mut [usize]) -> bool {
    let Some(k) = (1..a.len()).rev().find(|&k| a[k - 1] < a[k]) else { return false };
    let swap = (k..a.len()).rev().find(|&q| a[q] > a[k - 1]).unwrap_or(k);
    a.swap(k - 1, swap);
    a[k..].reverse();
    true
}

/// Partitions of n into k parts, each in descending order.
fn partitions(n: usize, k: usize) -> Vec<Vec<usize>> {
    fn extend(
        left: usize,
        parts: usize,
        largest: usize,
        head: &mut Vec<usize>,
        out: &mut Vec<Vec<usize>>,
    ) {
        if parts == 0 {
            if left == 0 {
                out.push(head.clone());
            }
            return;
        }
        for part in (1..=largest.min(left)).rev() {
            head.push(part);
            extend(left - part, parts - 1, part, head, out);
            head.pop();
        }
    }
    let mut out = Vec::new();
    extend(n, k, n, &mut Vec::new(), &mut out);
    out
}

/// Number of clusters of a ring, and number of tokens per cluster.
type Ring = (usize, usize);

/// Configurations of two to four rings about the third axis. A ring of one cluster is a pole and
/// comes first or last.
fn rings(n: usize, d: usize) -> Vec<Start> {
    let max_count = if n > MAX_TOKENS_ALL_PARTITIONS { RINGS.1 } else { RINGS.0 };
    let mut out = Vec::new();
    for m in 2..=4 {
        let mut sequences = Vec::new();
        ring_sequences(n, m, &mut Vec::new(), n > MAX_TOKENS_ALL_PARTITIONS, &mut sequences);
        for rings in sequences {
            // The clusters of adjacent rings of equal counts are aligned or staggered.
            let choices: Vec<usize> =
                (1..m).filter(|&k| rings[k].0 > 1 && rings[k].0 == rings[k - 1].0).collect();
            for choice in 0..1usize << choices.len() {
                if out.len() == max_count {
                    return out;
                }
                let between: Vec<usize> = choices
                    .iter()
                    .enumerate()
                    .filter(|(b, _)| choice >> b & 1 == 1)
                    .map(|(_, k)| *k)
                    .collect();
                out.push(ring_start(&rings, &between, d));
            }
        }
    }
    out
}

/// All sequences of m rings with `left` tokens, up to reversal; with `single_tokens` every cluster
/// is a single token.
fn ring_sequences(
    left: usize,
    m: usize,
    head: &mut Vec<Ring>,
    single_tokens: bool,
    out: &mut Vec<Vec<Ring>>,
) {
    if m == 0 {
        if left == 0 && !head.iter().rev().lt(head.iter()) {
            out.push(head.clone());
        }
        return;
    }
    for tokens in 1..=left {
        for count in (1..=tokens).filter(|c| tokens % c == 0) {
            let inside = !head.is_empty() && m > 1;
            if (count == 1 && inside) || (single_tokens && count < tokens) {
                continue;
            }
            head.push((count, tokens / count));
            ring_sequences(left - tokens, m - 1, head, single_tokens, out);
            head.pop();
        }
    }
}

fn ring_start(rings: &[Ring], between: &[usize], d: usize) -> Start {
    let m = rings.len();
    let (mut x, mut sizes, mut turn) = (Vec::new(), Vec::new(), 0.0);
    for (k, (count, size)) in rings.iter().enumerate() {
        let height = match (count, k) {
            (1, 0) => 1.0,
            (1, _) => -1.0,
            _ => 1.0 - (2 * k + 1) as f64 / m as f64,
        };
        if between.contains(&k) {
            turn += PI / *count as f64;
        }
        let radius = (1.0f64 - height * height).max(0.0).sqrt();
        for q in 0..*count {
            let angle = turn + TAU * q as f64 / *count as f64;
            let mut row = vec![0.0; d];
            (row[0], row[1], row[2]) = (radius * angle.cos(), radius * angle.sin(), height);
            x.extend(row);
            sizes.push(*size);
        }
    }
    clusters(d, x, &sizes)
}
