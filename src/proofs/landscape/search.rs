//! Branch and bound: a tree of boxes in which every leaf has a reason.

use super::cell::{Arrangement, Cell, GRID, Row, grid_down};
use super::newton::Zero;
use super::node::Node;
use super::partial::{Branches, below};
pub(super) use crate::box_search::Monitor;
use crate::box_search::{self, Problem, TreeNode, branch, middle_of_beta, relative_width};
use rayon::prelude::*;

/// What a tree proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// All zeros at one beta.
    Zeros,
    /// The zeros are graphs over an interval of beta.
    Regular,
    /// Every critical point has a direction of ascent.
    Ascent,
}

/// A tree in one stratum.
pub(super) type Tree = box_search::Tree<Node>;

impl TreeNode for Node {
    type Cell = Cell;
    type Zero = Zero;
    type Region = Region;
    const LISTED: usize = 200;
    const UNDECIDED: Self = Self::Undecided;

    fn zero(&mut self) -> Option<&mut usize> {
        match self {
            Self::Unique(id) => Some(id),
            _ => None,
        }
    }
}

/// The hull of undecided boxes that touch one another, and their number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) hull: Cell,
    pub(super) boxes: u64,
}

/// Number of regions of a tree. Further boxes enlarge the last one.
const REGIONS: usize = 50;

/// Distance in turns up to which boxes belong to one region.
const TOUCHING: f64 = 1e-5;

impl box_search::Region<Cell> for Region {
    fn of(cell: &Cell) -> Self {
        Self { hull: *cell, boxes: 1 }
    }

    /// Adds a region to others that it does not touch after that.
    fn unite(all: &mut Vec<Self>, mut new: Self) {
        let mut x = 0;
        while x < all.len() {
            if all[x].touches(&new) {
                new = new.join(&all.swap_remove(x));
                // The hull is larger, so earlier regions may touch it.
                x = 0;
            } else {
                x += 1;
            }
        }
        let full = all.len() >= REGIONS;
        match all.last_mut().filter(|_| full) {
            Some(last) => *last = last.join(&new),
            None => all.push(new),
        }
    }
}

impl Region {
    fn touches(&self, other: &Self) -> bool {
        let gaps = self.hull.gaps.iter().zip(&other.hull.gaps);
        gaps.into_iter().all(|(a, b)| a.0 <= b.1 + TOUCHING && b.0 <= a.1 + TOUCHING)
    }

    fn join(&self, other: &Self) -> Self {
        let hull = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let gap = |x: usize| hull(self.hull.gaps[x], other.hull.gaps[x]);
        let beta = hull(self.hull.beta, other.hull.beta);
        let hull = Cell { gaps: std::array::from_fn(gap), beta };
        Self { hull, boxes: self.boxes + other.boxes }
    }
}

/// A search in one stratum.
pub(super) struct Search<'a> {
    pub(super) arrangement: &'a Arrangement,
    pub(super) goal: Goal,
    /// Width of gaps, in turns, below which a box is left undecided.
    pub(super) tolerance: f64,
    /// Whether the nodes of the tree are kept, for a certificate.
    pub(super) keep: bool,
    pub(super) monitor: &'a Monitor<'a>,
    /// The share of the boxes at the depth of threads that is searched: `(k, K)` is the k-th of K.
    pub(super) shard: (u32, u32),
}

/// What happens to a box.
#[allow(clippy::large_enum_variant, reason = "it lives for a moment, on the stack")]
enum Verdict {
    Leaf(Node),
    Undecided,
    Split([Cell; 2]),
}

impl Search<'_> {
    /// The tree of a box. The result does not depend on the number of threads.
    pub(super) fn run(&self, beta: (f64, f64), share: f64) -> Tree {
        branch(self, self.root(beta), (0, 1), share)
    }

    fn root(&self, beta: (f64, f64)) -> Cell {
        let longest = self.arrangement.law.longest_gap();
        let gaps: Row<(f64, f64)> =
            std::array::from_fn(
                |x| if x < self.arrangement.k { (0.0, longest) } else { (0.0, 0.0) },
            );
        Cell { gaps, beta }
    }

    /// The tree of which an earlier run, or other machines, decided a part: only its undecided
    /// boxes are searched, and the nodes are those of one run.
    pub(super) fn resume(&self, earlier: &Branches, beta: (f64, f64), share: f64) -> Tree {
        let (k, mut tree) = (self.arrangement.k, Tree::default());
        let kernel = self.arrangement.law.kernel(beta);
        for alone in &earlier.zeros {
            match self.arrangement.enclose(alone, beta, &kernel) {
                Some(zero) => tree.zeros.push(zero),
                // A file that is not what a run wrote: everything is searched again.
                None => return self.run(beta, share),
            }
        }
        // Undecided boxes with their places in the tree, as `branch` numbers them.
        let (mut open, mut stack) = (Vec::new(), vec![(self.root(beta), 0, 1)]);
        for node in &earlier.nodes {
            let Some((mut cell, depth, path)) = stack.pop() else { break };
            if matches!(node, Node::Undecided) {
                open.push((cell, depth, path));
                continue;
            }
            cell.close(k);
            let children = below(node, cell);
            let one = children.len() < 2;
            for (x, child) in children.into_iter().enumerate() {
                stack.push(match () {
                    () if one || depth >= Self::PARALLEL_DEPTH => (child, depth, path),
                    // The second child comes first.
                    () => (child, depth + 1, 2 * path + 1 - x as u64),
                });
            }
        }
        let part = share / open.len().max(1) as f64;
        let search =
            |(cell, depth, path): (Cell, u32, u64)| branch(self, cell, (depth, path), part);
        let found: Vec<Tree> = open.into_par_iter().map(search).collect();
        if found.is_empty() {
            self.monitor.add(share, 0);
        }
        let mut found = found.into_iter();
        for node in &earlier.nodes {
            if matches!(node, Node::Undecided)
                && let Some(own) = found.next()
            {
                tree.append(own);
            } else {
                // A box that is shrunk has a second node.
                tree.boxes += u64::from(!matches!(node, Node::Shrunk(_)));
                tree.nodes.push(node.clone());
            }
        }
        tree
    }

    fn decide(&self, mut cell: Cell, tree: &mut Tree) -> Verdict {
        let (arrangement, k) = (self.arrangement, self.arrangement.k);
        let mut first = true;
        loop {
            if !cell.close(k) {
                return Verdict::Leaf(Node::Open);
            }
            if arrangement.is_image(&cell) {
                return Verdict::Leaf(Node::Image);
            }
            // Coarse in beta: ranges would be too wide for any test.
            if self.goal != Goal::Zeros && relative_width(cell.beta) > 0.4 {
                return self.split_beta(cell, tree);
            }
            let kernel = arrangement.law.kernel(cell.beta);
            let pairs = arrangement.pairs(&cell, &kernel);
            if let Some((a, b)) = arrangement.force(&pairs) {
                return Verdict::Leaf(Node::Force(a, b));
            }
            if self.goal == Goal::Ascent {
                if let Some((a, b)) = arrangement.cut(&pairs) {
                    return Verdict::Leaf(Node::Cut(a, b));
                }
                if let Some(v) = arrangement.displacement(&pairs) {
                    return Verdict::Leaf(Node::Vector(v[..k].to_vec()));
                }
                return self.split(cell, tree);
            }
            if let Some(p) = arrangement.quotient(&cell, &pairs, &kernel) {
                return Verdict::Leaf(Node::Quotient(p));
            }
            if let Some(found) = arrangement.balance(&cell, &pairs) {
                return Verdict::Leaf(Node::Balance(found));
            }
            if let Some(id) = tree.zeros.iter().position(|z| cell.is_within(&z.alone, k)) {
                return Verdict::Leaf(Node::Unique(id));
            }
            let mut shrunk = cell;
            let step = arrangement.newton(&mut shrunk, &pairs, &kernel);
            if step.empty {
                return Verdict::Leaf(Node::Empty);
            }
            if self.goal == Goal::Regular && step.regular {
                return Verdict::Leaf(Node::Regular);
            }
            let width = cell.widest(k).1;
            if self.goal == Goal::Zeros
                && (step.unique || step.regular && (first || width < 1e-5))
                && let Some(zero) = arrangement.isolate(&cell, &kernel)
            {
                tree.zeros.push(zero);
                return Verdict::Leaf(Node::Unique(tree.zeros.len() - 1));
            }
            first = false;
            let sum = |c: &Cell| c.gaps[..k].iter().map(|g| g.1 - g.0).sum::<f64>();
            let gain = sum(&shrunk) / sum(&cell);
            if gain < 0.95 {
                if self.keep {
                    let whole = |g: &(f64, f64)| ((g.0 * GRID) as i64, (g.1 * GRID) as i64);
                    tree.leaf(Node::Shrunk(shrunk.gaps[..k].iter().map(whole).collect()), true);
                }
                cell = shrunk;
                if gain < 0.7 {
                    continue;
                }
                if !cell.close(k) {
                    return Verdict::Leaf(Node::Open);
                }
            }
            return self.split(cell, tree);
        }
    }

    /// Splits the widest gap or beta, or leaves the box undecided.
    fn split(&self, cell: Cell, tree: &mut Tree) -> Verdict {
        let (r, width) = cell.widest(self.arrangement.k);
        let relative = relative_width(cell.beta);
        let narrow = match self.goal {
            Goal::Ascent => 1e-3,
            _ => 1e-7,
        };
        match () {
            () if width < self.tolerance && relative < narrow => Verdict::Undecided,
            () if relative > 0.0 && (0.25 * relative > width || width < self.tolerance) => {
                self.split_beta(cell, tree)
            }
            () => {
                let (low, high) = cell.gaps[r];
                let middle = grid_down(low + 0.5 * (high - low));
                tree.leaf(Node::Gap(r, (middle * GRID) as i64), self.keep);
                let (mut a, mut b) = (cell, cell);
                (a.gaps[r].1, b.gaps[r].0) = (middle, middle);
                Verdict::Split([a, b])
            }
        }
    }

    fn split_beta(&self, cell: Cell, tree: &mut Tree) -> Verdict {
        let middle = middle_of_beta(cell.beta);
        tree.leaf(Node::Beta(middle), self.keep);
        let (mut a, mut b) = (cell, cell);
        (a.beta.1, b.beta.0) = (middle, middle);
        Verdict::Split([a, b])
    }
}

impl Problem for Search<'_> {
    type Node = Node;
    const PARALLEL_DEPTH: u32 = 9;

    fn monitor(&self) -> &Monitor<'_> {
        self.monitor
    }

    fn keep(&self) -> bool {
        self.keep
    }

    fn shard(&self) -> (u32, u32) {
        self.shard
    }

    fn visit(&self, cell: Cell, tree: &mut Tree) -> Option<(Cell, Cell)> {
        match self.decide(cell, tree) {
            Verdict::Leaf(node) => tree.leaf(node, self.keep),
            Verdict::Undecided => tree.give_up(&cell, self.keep),
            Verdict::Split([a, b]) => return Some((a, b)),
        }
        None
    }
}
