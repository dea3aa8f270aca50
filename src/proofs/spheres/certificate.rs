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
//! | `X` | undecided: such a certificate is refused |
//!
//! A point is a line `point c ..` with the cluster of every token, `base b ..` with the independent
//! clusters in order, and three lists of doubles as bits in hexadecimal digits: `at` the
//! coordinates of the clusters row by row, `pull` the multipliers, `radii` those of Krawczyk's test
//! for the unknowns cluster by cluster (free coordinates, multiplier). `signs a b` are its
//! directions of ascent, and `copies m` is its multiplicity.

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

/// The certificate of a complete tree.
pub(super) fn text(masses: &[u32], beta: f64, all: &Orbits, tree: &Tree) -> String {
    let mut out = format!("{KIND}\nmasses {}\nbeta {beta:?}\n", words(masses));
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
    for node in &tree.nodes {
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
            Node::Undecided => writeln!(out, "X"),
        };
    }
    out.push_str("end\n");
    out
}
