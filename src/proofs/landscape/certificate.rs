//! Certificates as text: the tree of every stratum with one reason a leaf.
//!
//! A number of turns is written as the hexadecimal digits of its fraction, without trailing zeros:
//! `4` is 1/4, and `z` is a whole turn. One line a node, in the order of a walk that visits a node
//! before its children:
//!
//! | line | meaning |
//! |---|---|
//! | `G r t` | two children: gap r below and above t |
//! | `B b` | two children: beta below and above b |
//! | `K l h l h ..` | one child: Newton's method leaves these gaps |
//! | `E` | no gaps have the sum 1 |
//! | `Y` | a symmetry maps the box to one that is lexicographically larger |
//! | `F a b` | the force on the clusters a to b is not 0 |
//! | `Q r` | the clusters of gap r cannot both be in equilibrium unless the gap is 0 |
//! | `A p a a ..` | the quotient of gap p (or `-`) and forces, times a, do not add up to 0 |
//! | `N` | Newton's method leaves nothing |
//! | `U i` | the box lies in that of zero i, where there is only one |
//! | `R` | the derivative is regular on the box |
//! | `C a b` | moving the clusters a to b increases the energy at second order |
//! | `V v ..` | moving the clusters along v increases the energy at second order |
//! | `X` | undecided: such a certificate is refused |

use super::kernel::Law;
use super::node::{KIND, Node};
use super::search::Tree;
use super::strata::Members;
use std::fmt::Write;

/// The digits of a fraction.
fn turns(t: i64) -> String {
    if t == super::cell::GRID as i64 {
        return "z".into();
    }
    let digits = format!("{t:012x}");
    let short = digits.trim_end_matches('0');
    if short.is_empty() { "0".into() } else { short.into() }
}

/// The digits of a fraction that is given as a number.
fn turns_of(t: f64) -> String {
    turns((t * super::cell::GRID) as i64)
}

/// The masses of clusters: `1,1 1`.
pub(super) fn cluster_words(clusters: &[Members]) -> String {
    let words = |c: &Members| c.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    clusters.iter().map(words).collect::<Vec<_>>().join(" ")
}

/// The header: what is proved, for which masses, and which beta or interaction. With an
/// interaction, `gaps` is the largest gap of Lemma 1.
pub(super) fn header(kind: &str, masses: (&[u32], &[u32]), beta: (f64, f64), law: &Law) -> String {
    let words = |m: &[u32]| m.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let mut text = format!("{KIND}\nkind {kind}\nmasses {}\n", words(masses.0));
    if masses.0 != masses.1 {
        let _ = writeln!(text, "upper {}", words(masses.1));
    }
    let Some(profile) = law.profile() else {
        let _ = writeln!(text, "beta {:?} {:?}", beta.0, beta.1);
        return text;
    };
    let (formula, parameters) = profile.formula();
    let _ = writeln!(text, "interaction {formula}");
    for (name, value) in parameters {
        let _ = writeln!(text, "parameter {name} {value:?}");
    }
    let _ = writeln!(text, "gaps {}", turns_of(profile.longest()));
    text
}

/// A zero: the gap that the others determine, and the box.
pub(super) fn zero(out: &mut String, alone: &[(f64, f64)]) {
    let width = |g: &(f64, f64)| g.1 - g.0;
    let r = (0..alone.len()).max_by(|a, b| width(&alone[*a]).total_cmp(&width(&alone[*b])));
    let _ = write!(out, "zero {}", r.unwrap_or(0));
    for g in alone {
        let _ = write!(out, " {} {}", turns_of(g.0), turns_of(g.1));
    }
    out.push('\n');
}

/// A tree with its zeros.
pub(super) fn tree(out: &mut String, goal: &str, clusters: &[Members], tree: &Tree) {
    let _ = writeln!(out, "tree {goal} {}", cluster_words(clusters));
    for z in &tree.zeros {
        zero(out, &z.alone[..clusters.len()]);
    }
    for node in &tree.nodes {
        let _ = match node {
            Node::Gap(r, t) => writeln!(out, "G {r} {}", turns(*t)),
            Node::Beta(b) => writeln!(out, "B {b:?}"),
            Node::Shrunk(gaps) => {
                out.push('K');
                for (l, h) in gaps {
                    let _ = write!(out, " {} {}", turns(*l), turns(*h));
                }
                writeln!(out)
            }
            Node::Open => writeln!(out, "E"),
            Node::Image => writeln!(out, "Y"),
            Node::Force(a, b) => writeln!(out, "F {a} {b}"),
            Node::Quotient(p) => writeln!(out, "Q {p}"),
            Node::Balance((quotient, numbers)) => {
                let _ = match quotient {
                    Some((p, own)) => write!(out, "A {p} {own}"),
                    None => write!(out, "A - 0"),
                };
                for a in numbers {
                    let _ = write!(out, " {a}");
                }
                writeln!(out)
            }
            Node::Empty => writeln!(out, "N"),
            Node::Unique(id) => writeln!(out, "U {id}"),
            Node::Regular => writeln!(out, "R"),
            Node::Cut(a, b) => writeln!(out, "C {a} {b}"),
            Node::Vector(v) => {
                out.push('V');
                for x in v {
                    let _ = write!(out, " {x}");
                }
                writeln!(out)
            }
            Node::Undecided => writeln!(out, "X"),
        };
    }
}
