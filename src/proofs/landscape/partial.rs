//! Certificates of proofs that were interrupted, or of which this machine did a share: they are
//! read again, joined, and continued.

use super::cell::{Cell, GRID, MAX_TOKENS, Row};
use super::node::{KIND, Node};
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// The trees of a certificate, also an unfinished one, in which undecided boxes are marked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partial {
    header: String,
    trees: BTreeMap<String, Branches>,
}

/// The nodes of a tree and the boxes of its zeros.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Branches {
    pub(super) nodes: Vec<Node>,
    pub(super) zeros: Vec<Row<(f64, f64)>>,
}

/// The multiple of `2^-48` that its digits give.
fn units(word: &str) -> Option<i64> {
    if word == "z" {
        return Some(GRID as i64);
    }
    let short = word.len() <= 12 && word.bytes().all(|b| b.is_ascii_hexdigit());
    i64::from_str_radix(&format!("{word:0<12}"), 16).ok().filter(|_| short)
}

/// The pairs of bounds that words give.
fn bounds(words: &[&str], k: usize) -> Option<Vec<(i64, i64)>> {
    let all: Option<Vec<i64>> = words.iter().map(|w| units(w)).collect();
    let pairs: Vec<(i64, i64)> = all?.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    (words.len() == 2 * k && pairs.iter().all(|p| p.0 <= p.1)).then_some(pairs)
}

/// A node of a tree of k clusters.
fn node(words: &[&str], k: usize) -> Option<Node> {
    let index = |x: usize, below: usize| words.get(x)?.parse().ok().filter(|v| *v < below);
    Some(match *words.first()? {
        "G" => Node::Gap(index(1, k)?, units(words.get(2)?)?),
        "B" => Node::Beta(words.get(1)?.parse().ok().filter(|b: &f64| b.is_finite())?),
        "K" => Node::Shrunk(bounds(&words[1..], k)?),
        "E" => Node::Open,
        "Y" => Node::Image,
        "F" => Node::Force(index(1, k)?, index(2, k)?),
        "Q" => Node::Quotient(index(1, k)?),
        "A" => {
            let numbers: Vec<i32> =
                words.get(2..)?.iter().map(|w| w.parse().ok()).collect::<Option<_>>()?;
            let (own, rest) = numbers.split_first().filter(|(_, rest)| rest.len() == k)?;
            let quotient = if words[1] == "-" { None } else { Some((index(1, k)?, *own)) };
            Node::Balance((quotient, rest.to_vec()))
        }
        "N" => Node::Empty,
        "U" => Node::Unique(index(1, usize::MAX)?),
        "R" => Node::Regular,
        "C" => Node::Cut(index(1, k)?, index(2, k)?),
        "V" => Node::Vector(words[1..].iter().map(|w| w.parse().ok()).collect::<Option<_>>()?),
        "X" => Node::Undecided,
        _ => return None,
    })
}

impl Node {
    /// Number of nodes that follow it as its children.
    fn children(&self) -> usize {
        match self {
            Self::Gap(..) | Self::Beta(_) => 2,
            Self::Shrunk(_) => 1,
            _ => 0,
        }
    }
}

/// The end of the subtree that begins at a node.
fn end(nodes: &[Node], start: usize) -> usize {
    let (mut at, mut missing) = (start, 1);
    while missing > 0 && at < nodes.len() {
        missing = missing - 1 + nodes[at].children();
        at += 1;
    }
    at
}

impl Branches {
    /// Whether every inner node has its children.
    fn is_whole(&self) -> bool {
        let ids =
            self.nodes.iter().all(|n| !matches!(n, Node::Unique(id) if *id >= self.zeros.len()));
        let missing =
            self.nodes.iter().try_fold(1usize, |m, n| Some(m.checked_sub(1)? + n.children()));
        ids && missing == Some(0) && end(&self.nodes, 0) == self.nodes.len()
    }

    /// The tree in which undecided boxes of one are replaced by what the other decided.
    fn join(self, other: Self) -> Self {
        let (mut out, offset) = (Vec::with_capacity(self.nodes.len()), self.zeros.len());
        let mine = self.nodes;
        let renamed = |n: &Node| match n {
            Node::Unique(id) => Node::Unique(id + offset),
            other => other.clone(),
        };
        let theirs: Vec<Node> = other.nodes.iter().map(renamed).collect();
        let (mut i, mut j) = (0, 0);
        while i < mine.len() && j < theirs.len() {
            if matches!(mine[i], Node::Undecided) {
                let next = end(&theirs, j);
                out.extend_from_slice(&theirs[j..next]);
                (i, j) = (i + 1, next);
            } else if mine[i] == theirs[j] && mine[i].children() > 0 {
                out.push(mine[i].clone());
                (i, j) = (i + 1, j + 1);
            } else {
                let next = end(&mine, i);
                out.extend_from_slice(&mine[i..next]);
                (i, j) = (next, end(&theirs, j));
            }
        }
        Self { nodes: out, zeros: [self.zeros, other.zeros].concat() }
    }
}

impl Partial {
    /// Reads a certificate, whole or unfinished.
    ///
    /// **Errors** the line that is not understood; a tree without all its branches.
    ///
    /// ```
    /// use metastable::proofs::landscape::Partial;
    /// assert!(Partial::read("metastable-landscape 1\nkind benign\ntree ascent 1 1 1\nG 0 4\n").is_err());
    /// ```
    pub fn read(text: &str) -> Result<Self> {
        let wrong = |line: usize, what: &str| {
            let found = format!("line {}: {what}", line + 1);
            Error::parameter("certificate", found, "a certificate that `landscape --out` wrote")
        };
        if !text.starts_with(KIND) {
            return Err(wrong(0, "another file"));
        }
        let (mut out, mut current, mut k) = (Self::default(), None::<String>, 0);
        for (at, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let key = words.first().copied().unwrap_or_default();
            if matches!(key, "counts" | "end") {
                break;
            }
            if key == "tree" {
                k = words.len().saturating_sub(2);
                if !(2..=MAX_TOKENS).contains(&k) {
                    return Err(wrong(at, line));
                }
                current = Some(words[1..].join(" "));
                out.trees.insert(words[1..].join(" "), Branches::default());
                continue;
            }
            let Some(tree) = current.as_ref().and_then(|name| out.trees.get_mut(name)) else {
                out.header.push_str(line);
                out.header.push('\n');
                continue;
            };
            if key == "zero" {
                let found = bounds(words.get(2..).unwrap_or_default(), k);
                let mut alone = [(0.0, 0.0); MAX_TOKENS];
                for (a, g) in alone.iter_mut().zip(found.ok_or_else(|| wrong(at, line))?) {
                    *a = (g.0 as f64 / GRID, g.1 as f64 / GRID);
                }
                tree.zeros.push(alone);
            } else {
                tree.nodes.push(node(&words, k).ok_or_else(|| wrong(at, line))?);
            }
        }
        match out.trees.iter().find(|(_, tree)| !tree.is_whole()) {
            Some((name, _)) => Err(wrong(text.lines().count(), &format!("tree {name} is cut off"))),
            None => Ok(out),
        }
    }

    /// Joins what two machines, or two runs, decided of the same landscape.
    ///
    /// **Errors** certificates of different landscapes.
    pub fn join(mut self, other: Self) -> Result<Self> {
        if self.header.is_empty() {
            return Ok(other);
        }
        self.check(&other.header)?;
        for (name, tree) in other.trees {
            let mine = self.trees.remove(&name);
            self.trees.insert(name, mine.map_or(tree.clone(), |m| m.join(tree)));
        }
        Ok(self)
    }

    /// **Errors** a certificate of another landscape.
    pub(super) fn check(&self, header: &str) -> Result<()> {
        if self.header.is_empty() || self.header == header {
            return Ok(());
        }
        let differs = self.header.lines().zip(header.lines()).find(|(a, b)| a != b);
        let (found, expected) = differs.unwrap_or(("another number of lines", "the same header"));
        let expected = format!("`{expected}`, as in the landscape that is continued");
        Err(Error::parameter("certificate", format!("`{found}`"), expected))
    }

    /// The tree of a goal and of clusters.
    pub(super) fn tree(&self, goal: &str, clusters: &str) -> Option<&Branches> {
        self.trees.get(&format!("{goal} {clusters}"))
    }
}

/// The box below an inner node, or both boxes; the first one last.
pub(super) fn below(node: &Node, cell: Cell) -> Vec<Cell> {
    let (mut low, mut high) = (cell, cell);
    match node {
        Node::Gap(r, t) => {
            let t = *t as f64 / GRID;
            (low.gaps[*r].1, high.gaps[*r].0) = (t, t);
            vec![high, low]
        }
        Node::Beta(b) => {
            (low.beta.1, high.beta.0) = (*b, *b);
            vec![high, low]
        }
        Node::Shrunk(gaps) => {
            for (own, g) in low.gaps.iter_mut().zip(gaps) {
                *own = (g.0 as f64 / GRID, g.1 as f64 / GRID);
            }
            vec![low]
        }
        _ => vec![],
    }
}
