//! Where a search for critical points starts: symmetric families, and random clusters.

use crate::num::stream::Stream;
use crate::sphere::{Tokens, geometry::retract, law::Law};
use std::f64::consts::{PI, TAU};

/// Clusters and the number of tokens of each.
pub type Start = (Tokens, Vec<usize>);

/// Above this number of tokens only clusters that are as equal as possible are taken: the number of partitions grows too fast.
const ALL_PARTITIONS: usize = 12;
/// Largest number of ring configurations of few and of many tokens; those of few rings come first.
const RINGS: (usize, usize) = (400, 32);

/// Symmetric configurations of n tokens on the sphere of R^d, near which critical points are known to lie: one cluster, two antipodal clusters,
/// polygons in a plane, simplices, cross-polytopes, and (d >= 3) rings of clusters about an axis: prisms, antiprisms, pyramids, bipyramids.
///
/// Of at most 12 tokens every way to divide them among the vertices is taken (up to 400 of rings), of more tokens the most equal one (polygons of up to
/// 12 vertices, 32 of rings).
///
/// ```
/// use metastable::landscape::starts::families;
/// // Four tokens on S^2: the regular tetrahedron is among them.
/// let regular = |x: &metastable::sphere::Tokens| (0..4).all(|i| (0..i).all(|j| (x.inner(i, j) + 1.0 / 3.0).abs() < 1e-15));
/// assert!(families(4, 3).iter().any(|(x, sizes)| sizes.len() == 4 && regular(x)));
/// ```
pub fn families(n: usize, d: usize) -> Vec<Start> {
    let mut out = vec![clusters(d, pole_first(1, d), &[n])];
    out.extend((1..=n / 2).map(|k| clusters(d, antipodes(d), &[n - k, k])));
    out.extend(polygons(n).into_iter().map(|sizes| polygon(&sizes, d, 0.0)));
    for k in 4..=n.min(d + 1) {
        let divided = if n <= ALL_PARTITIONS { partitions(n, k) } else { vec![equal(n, k)] };
        let Ok(x) = Law::parse("simplex").and_then(|l| l.sample(k, d, &mut Stream::new(0, &["simplex"]))) else { continue };
        out.extend(divided.iter().map(|sizes| clusters(d, x.coordinates().to_vec(), sizes)));
    }
    for j in 3..=d.min(n / 2) {
        out.push(clusters(d, cross_polytope(j, d), &equal(n, 2 * j)));
    }
    if d >= 3 {
        out.extend(rings(n, d));
    }
    out
}

/// Random clusters: a random composition of n, positions uniform on the sphere, on a great circle, or a jittered polygon.
pub fn random_clusters(n: usize, d: usize, stream: &mut Stream) -> Start {
    let k = 2 + stream.index((n - 1).min(12));
    let mut sizes = vec![1; k];
    for _ in k..n {
        sizes[stream.index(k)] += 1;
    }
    if stream.index(2) == 0 {
        // Symmetric saddles have clusters of one size.
        sizes = equal(n, k);
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
fn equal(n: usize, k: usize) -> Vec<usize> {
    (0..k).map(|q| n / k + usize::from(q < n % k)).collect()
}

fn pole_first(rows: usize, d: usize) -> Vec<f64> {
    (0..rows * d).map(|c| if c % d == 0 { 1.0 } else { 0.0 }).collect()
}

fn antipodes(d: usize) -> Vec<f64> {
    let mut x = pole_first(2, d);
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

/// A regular polygon in the plane of the first two axes, turned by an angle.
fn polygon(sizes: &[usize], d: usize, turn: f64) -> Start {
    let mut x = vec![0.0; sizes.len() * d];
    for (q, row) in x.chunks_exact_mut(d).enumerate() {
        let angle = turn + TAU * q as f64 / sizes.len() as f64;
        (row[0], row[1]) = (angle.cos(), angle.sin());
    }
    clusters(d, x, sizes)
}

/// Tokens per vertex of polygons with at least three vertices, one of each class under rotation and reflection.
#[doc(hidden)]
pub fn polygons(n: usize) -> Vec<Vec<usize>> {
    if n > ALL_PARTITIONS {
        return (3..=ALL_PARTITIONS).map(|k| equal(n, k)).collect();
    }
    let mut out = Vec::new();
    for k in 3..=n {
        for partition in partitions(n, k) {
            let mut arrangement = partition;
            arrangement.sort_unstable();
            loop {
                if is_first_of_its_class(&arrangement) {
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

/// True of the arrangement that no rotation or reflection makes lexicographically smaller.
fn is_first_of_its_class(a: &[usize]) -> bool {
    let k = a.len();
    let smaller = |at: &dyn Fn(usize) -> usize| (0..k).map(|q| a[at(q)].cmp(&a[q])).find(|o| o.is_ne()).is_some_and(|o| o.is_lt());
    (0..k).all(|s| !smaller(&|q| (q + s) % k) && !smaller(&|q| (k + s - q) % k))
}

/// The next arrangement in lexicographic order, equal parts not told apart; false after the last.
fn next_permutation(a: &mut [usize]) -> bool {
    let Some(k) = (1..a.len()).rev().find(|&k| a[k - 1] < a[k]) else { return false };
    let swap = (k..a.len()).rev().find(|&q| a[q] > a[k - 1]).unwrap_or(k);
    a.swap(k - 1, swap);
    a[k..].reverse();
    true
}

/// Partitions of n into k parts, descending.
fn partitions(n: usize, k: usize) -> Vec<Vec<usize>> {
    fn extend(left: usize, parts: usize, largest: usize, head: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
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

/// Clusters of one ring, and the tokens of each of them.
type Ring = (usize, usize);

/// Two to four rings about the third axis; a ring of one cluster is a pole and stands at an end.
fn rings(n: usize, d: usize) -> Vec<Start> {
    let most = if n > ALL_PARTITIONS { RINGS.1 } else { RINGS.0 };
    let mut out = Vec::new();
    for m in 2..=4 {
        let mut sequences = Vec::new();
        sequence(n, m, &mut Vec::new(), n > ALL_PARTITIONS, &mut sequences);
        for rings in sequences {
            // Rings of equal counts stand above each other or between each other.
            let choices: Vec<usize> = (1..m).filter(|&k| rings[k].0 > 1 && rings[k].0 == rings[k - 1].0).collect();
            for choice in 0..1usize << choices.len() {
                if out.len() == most {
                    return out;
                }
                let between: Vec<usize> = choices.iter().enumerate().filter(|(b, _)| choice >> b & 1 == 1).map(|(_, k)| *k).collect();
                out.push(placed(&rings, &between, d));
            }
        }
    }
    out
}

/// All sequences of m rings with n tokens, up to reversal; with `singly`, of rings whose clusters are single tokens.
fn sequence(left: usize, m: usize, head: &mut Vec<Ring>, singly: bool, out: &mut Vec<Vec<Ring>>) {
    if m == 0 {
        if left == 0 && !head.iter().rev().lt(head.iter()) {
            out.push(head.clone());
        }
        return;
    }
    for tokens in 1..=left {
        for count in (1..=tokens).filter(|c| tokens % c == 0) {
            let inside = !head.is_empty() && m > 1;
            if (count == 1 && inside) || (singly && count < tokens) {
                continue;
            }
            head.push((count, tokens / count));
            sequence(left - tokens, m - 1, head, singly, out);
            head.pop();
        }
    }
}

fn placed(rings: &[Ring], between: &[usize], d: usize) -> Start {
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
