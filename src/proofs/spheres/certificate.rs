//! Certificates as text: the tree with one reason a leaf.
//!
//! After the header come the critical points, then one line a node, in the order of a walk that
//! visits a node before its children. Tokens and entries are counted from 0; entries are
//! `g_01, g_02, ..., g_12, ...`. Before a node is read, its box is shrunk by the rules of Lemmas 1
//! and 2, which give the same result on every processor.
//!
//! | line | meaning |
//! |---|---|
//! | `S t` | two children: entry t below and above its middle, a multiple of `2^-40` rounded down |
//! | `J i j` | one child: tokens i and j coincide |
//! | `K l h l h ..` | one child: Newton's method leaves these bounds, in units of `2^-40` |
//! | `E` | there are no Gram matrices |
//! | `H s` | the bits of s are tokens; all lie in a half space of their sum |
//! | `F i k` | the force on token i along token k is not 0 |
//! | `Q i j` | tokens i and j cannot both be in equilibrium unless they coincide, and they do not |
//! | `P v ..` | the matrix is negative along v |
//! | `N` | Newton's method leaves nothing |
//! | `Z z p ..` | there is at most one zero, the image of point z under the permutation p |
//! | `B b` | two children: beta below and above b |
//! | `R` | the derivative is regular for all beta of the box |
//! | `X` | undecided: such a certificate is refused |
//!
//! A point is a line `point c ..` with the cluster of every token, `base b ..` with the independent
//! clusters in order, and three lists of doubles as bits in hexadecimal digits: `at` the
//! coordinates of the clusters row by row, `pull` the multipliers, `radii` those of Krawczyk's test
//! for the unknowns cluster by cluster (free coordinates, multiplier). `signs a b` are its
//! directions of ascent, and `copies m` is its multiplicity.
//!
//! The line `beta b` may have an interval. Then the points and the first tree are those of its
//! middle. A second tree follows, without leaves `Z`, whose boxes have beta as a further dimension.
//! A line `average d` in the place of points and trees refers to Lemma 8.

use super::orbits::Orbits;
use super::search::{Node, Tree};
use std::fmt::Write;

/// The first line of a certificate.
pub const KIND: &str = "metastable-spheres 1";

fn bits(key: &str, values: impl Iterator<Item = f64>) -> String {
    values.fold(key.to_owned(), |line, v| line + &format!(" {:x}", v.to_bits()))
}

fn words<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|v| v.to_string()).collect::<Vec<_>>().join(" ")
}

/// The kind of the certificate and what is given.
pub(super) fn header(masses: &[u32], (low, high): (f64, f64)) -> String {
    let beta = if low < high { format!("{low:?} {high:?}") } else { format!("{low:?}") };
    format!("{KIND}\nmasses {}\nbeta {beta}\n", words(masses))
}

/// The certificate of a benign landscape in `R^d` by Lemma 8.
pub(super) fn average(masses: &[u32], beta: (f64, f64), d: usize) -> String {
    header(masses, beta) + &format!("average {d}\nend\n")
}

/// The certificate of complete trees.
pub(super) fn text(masses: &[u32], beta: (f64, f64), all: &Orbits, trees: &[Tree]) -> String {
    let mut out = header(masses, beta);
    for (point, orbit) in all.points.iter().zip(&all.orbits) {
        let lines = [
            format!("point {}", words(&point.cluster)),
            format!("base {}", words(&point.base)),
            bits("at", point.centre.iter().flatten().copied()),
            bits("pull", point.multipliers.iter().copied()),
            bits("radii", point.radii.iter().copied()),
            format!("signs {}", words(point.inside.iter().chain(&point.outside))),
            format!("copies {}", orbit.multiplicity),
        ];
        out.push_str(&lines.join("\n"));
        out.push('\n');
    }
    for node in trees.iter().flat_map(|tree| &tree.nodes) {
        let _ = match node {
            Node::Split(t) => writeln!(out, "S {t}"),
            Node::Joined(i, j) => writeln!(out, "J {i} {j}"),
            Node::Shrunk(bounds) => {
                writeln!(out, "K {}", words(bounds.iter().flat_map(|b| [b.0, b.1])))
            }
            Node::Open => writeln!(out, "E"),
            Node::HalfSpace(set) => writeln!(out, "H {set}"),
            Node::Force(i, k) => writeln!(out, "F {i} {k}"),
            Node::Quotient(i, j) => writeln!(out, "Q {i} {j}"),
            Node::Negative(v) => writeln!(out, "P {}", words(v)),
            Node::Empty => writeln!(out, "N"),
            Node::Zero(id) => {
                let (orbit, p) = all.of[*id];
                writeln!(out, "Z {orbit} {}", words(&p[..masses.len()]))
            }
            Node::Beta(b) => writeln!(out, "B {b:?}"),
            Node::Regular => writeln!(out, "R"),
            Node::Undecided => writeln!(out, "X"),
        };
    }
    out.push_str("end\n");
    out
}
