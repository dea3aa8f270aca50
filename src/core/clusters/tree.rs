//! Merge trees: which tokens and clusters merged, and when.

use crate::flow::{Merge, Table};

/// A node: a token (at time 0, without parts) or a cluster with its merge time.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Time at which it formed.
    pub t: f64,
    /// Its mass.
    pub mass: f64,
    /// Number of tokens.
    pub tokens: usize,
    /// Indices of the nodes that merged into it.
    pub parts: Vec<usize>,
}

/// The forest of a run: nodes 0..n are the tokens, later nodes the merges in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Number of tokens.
    pub n: usize,
    /// All nodes.
    pub nodes: Vec<Node>,
    /// Indices of the nodes left at the end.
    pub roots: Vec<usize>,
}

impl Tree {
    /// The tree of the merges of a run whose tokens have these masses.
    pub fn new(masses: &[f64], merges: &[Merge]) -> Self {
        let n = masses.len();
        let mut nodes: Vec<Node> = masses
            .iter()
            .map(|m| Node { t: 0.0, mass: *m, tokens: 1, parts: Vec::new() })
            .collect();
        let mut current_node: Vec<usize> = (0..n).collect();
        for merge in merges {
            let mut parts: Vec<usize> = merge.members.iter().map(|&i| current_node[i]).collect();
            parts.sort_unstable();
            parts.dedup();
            if parts.len() < 2 {
                continue;
            }
            nodes.push(Node { t: merge.t, mass: merge.mass, tokens: merge.members.len(), parts });
            merge.members.iter().for_each(|&i| current_node[i] = nodes.len() - 1);
        }
        current_node.sort_unstable();
        current_node.dedup();
        Self { n, nodes, roots: current_node }
    }

    /// The tokens in an order in which no branches cross: the tokens of each cluster are adjacent.
    pub fn order(&self) -> Vec<usize> {
        let mut out = Vec::with_capacity(self.n);
        let mut stack: Vec<usize> = self.roots.iter().rev().copied().collect();
        while let Some(k) = stack.pop() {
            if self.nodes[k].parts.is_empty() {
                out.push(k);
            }
            stack.extend(self.nodes[k].parts.iter().rev());
        }
        out
    }

    /// One row per merge: node, t, mass, tokens, and its first two parts; for more parts further
    /// rows with the same time.
    pub fn table(&self) -> Table {
        let columns =
            ["node", "t", "mass", "tokens", "part_a", "part_b"].map(String::from).to_vec();
        let mut rows = Vec::new();
        for (k, node) in self.nodes.iter().enumerate().skip(self.n) {
            for part in &node.parts[1..] {
                rows.push(vec![
                    k as f64,
                    node.t,
                    node.mass,
                    node.tokens as f64,
                    node.parts[0] as f64,
                    *part as f64,
                ]);
            }
        }
        Table { columns, rows }
    }

    /// Newick format for tree viewers; branch lengths in `log10` of time (from 1e-6).
    pub fn newick(&self) -> String {
        let height = |k: usize| self.nodes[k].t.max(1e-6).log10();
        let write = |k: usize, above: f64, inner: &str| {
            let name = if inner.is_empty() { format!("x{}", k + 1) } else { inner.to_owned() };
            format!("{name}:{:.6}", above - height(k))
        };
        // Parts come before their node in the list, so one pass builds all strings.
        let mut text: Vec<String> = vec![String::new(); self.nodes.len()];
        for (k, node) in self.nodes.iter().enumerate() {
            if !node.parts.is_empty() {
                let parts: Vec<String> = node
                    .parts
                    .iter()
                    .map(|&p| write(p, height(k), &std::mem::take(&mut text[p])))
                    .collect();
                text[k] = format!("({})", parts.join(","));
            }
        }
        let roots: Vec<String> = self
            .roots
            .iter()
            .map(|&r| if text[r].is_empty() { format!("x{}", r + 1) } else { text[r].clone() })
            .collect();
        if roots.len() == 1 { format!("{};", roots[0]) } else { format!("({});", roots.join(",")) }
    }
}
