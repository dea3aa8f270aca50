//! Merge trees: who joined whom, and when.

use crate::flow::{Merge, Table};

/// A node: a token (time 0, no parts) or a cluster that formed at a located time.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// When it formed.
    pub t: f64,
    /// Its mass.
    pub mass: f64,
    /// Number of tokens.
    pub tokens: usize,
    /// The nodes it formed from.
    pub parts: Vec<usize>,
}

/// The forest of a run: nodes 0..n are the tokens, later ones the mergers in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Number of tokens.
    pub n: usize,
    /// All nodes.
    pub nodes: Vec<Node>,
    /// Nodes that are left at the end.
    pub roots: Vec<usize>,
}

impl Tree {
    /// The tree of a run's mergers (with located times and members), from tokens of these masses.
    pub fn new(masses: &[f64], merges: &[Merge]) -> Self {
        let n = masses.len();
        let mut nodes: Vec<Node> = masses.iter().map(|m| Node { t: 0.0, mass: *m, tokens: 1, parts: Vec::new() }).collect();
        let mut holder: Vec<usize> = (0..n).collect();
        for merge in merges {
            let mut parts: Vec<usize> = merge.members.iter().map(|&i| holder[i]).collect();
            parts.sort_unstable();
            parts.dedup();
            if parts.len() < 2 {
                continue;
            }
            nodes.push(Node { t: merge.t, mass: merge.mass, tokens: merge.members.len(), parts });
            merge.members.iter().for_each(|&i| holder[i] = nodes.len() - 1);
        }
        holder.sort_unstable();
        holder.dedup();
        Self { n, nodes, roots: holder }
    }

    /// Leaves in an order in which no branches cross: each cluster's tokens stand together.
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

    /// One row per merger: node, t, mass, tokens, and its first two parts (more parts join in further rows of the same time).
    pub fn table(&self) -> Table {
        let columns = ["node", "t", "mass", "tokens", "part_a", "part_b"].map(String::from).to_vec();
        let mut rows = Vec::new();
        for (k, node) in self.nodes.iter().enumerate().skip(self.n) {
            for part in &node.parts[1..] {
                rows.push(vec![k as f64, node.t, node.mass, node.tokens as f64, node.parts[0] as f64, *part as f64]);
            }
        }
        Table { columns, rows }
    }

    /// Newick form, branch lengths in `log10` of time (from 1e-6), for tree viewers.
    pub fn newick(&self) -> String {
        let height = |k: usize| self.nodes[k].t.max(1e-6).log10();
        let write = |k: usize, above: f64, inner: &str| {
            let name = if inner.is_empty() { format!("x{}", k + 1) } else { inner.to_owned() };
            format!("{name}:{:.6}", above - height(k))
        };
        // Children come before parents in the list, so one pass builds all strings.
        let mut text: Vec<String> = vec![String::new(); self.nodes.len()];
        for (k, node) in self.nodes.iter().enumerate() {
            if !node.parts.is_empty() {
                let parts: Vec<String> = node.parts.iter().map(|&p| write(p, height(k), &std::mem::take(&mut text[p]))).collect();
                text[k] = format!("({})", parts.join(","));
            }
        }
        let roots: Vec<String> =
            self.roots.iter().map(|&r| if text[r].is_empty() { format!("x{}", r + 1) } else { text[r].clone() }).collect();
        if roots.len() == 1 { format!("{};", roots[0]) } else { format!("({});", roots.join(",")) }
    }
}
