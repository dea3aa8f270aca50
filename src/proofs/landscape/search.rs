//! Branch and bound: a tree of boxes in which every leaf has a reason.

use super::cell::{Arrangement, Cell, GRID, Row, grid_down};
use super::newton::Zero;
use super::node::Node;
use super::partial::{Branches, below};
pub(super) use crate::box_search::Monitor;
use crate::box_search::{BoxTree, depth_first};
use crate::num::interval::check_fp_environment;
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

/// A tree, the zeros that its leaves name, and the boxes without a reason.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) zeros: Vec<Zero>,
    pub(super) undecided: Vec<Cell>,
    /// Number of undecided boxes; only the first are listed.
    pub(super) undecided_count: u64,
    /// Regions that contain all undecided boxes.
    pub(super) regions: Vec<Region>,
    pub(super) boxes: u64,
}

/// The hull of undecided boxes that touch one another, and their number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) hull: Cell,
    pub(super) boxes: u64,
}

/// Number of undecided boxes that are listed.
const LISTED: usize = 200;

/// Number of regions of a tree. Further boxes enlarge the last one.
const REGIONS: usize = 50;

/// Distance in turns up to which boxes belong to one region.
const TOUCHING: f64 = 1e-5;

/// Adds a region to others that it does not touch after that.
fn unite(all: &mut Vec<Region>, mut new: Region) {
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

impl Tree {
    fn leaf(&mut self, node: Node, keep: bool) {
        if keep {
            self.nodes.push(node);
        }
    }

    /// Appends a tree; its zeros get new numbers.
    fn append(&mut self, mut other: Tree) {
        let offset = self.zeros.len();
        if offset > 0 {
            for node in &mut other.nodes {
                if let Node::Unique(id) = node {
                    *id += offset;
                }
            }
        }
        self.nodes.append(&mut other.nodes);
        self.zeros.append(&mut other.zeros);
        self.undecided_count += other.undecided_count;
        other.regions.into_iter().for_each(|region| unite(&mut self.regions, region));
        let free = LISTED.saturating_sub(self.undecided.len());
        self.undecided.extend(other.undecided.into_iter().take(free));
        self.boxes += other.boxes;
    }
}

impl BoxTree for Tree {
    type Cell = Cell;

    fn boxes(&self) -> u64 {
        self.boxes
    }

    fn give_up(&mut self, cell: &Cell, keep: bool) {
        self.leaf(Node::Undecided, keep);
        self.undecided_count += 1;
        unite(&mut self.regions, Region { hull: *cell, boxes: 1 });
        if self.undecided.len() < LISTED {
            self.undecided.push(*cell);
        }
    }
}

/// Depth to which the two children of a node may run at the same time.
const PARALLEL_DEPTH: u32 = 9;

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
        self.branch(self.root(beta), 0, 1, share)
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
                    () if one || depth >= PARALLEL_DEPTH => (child, depth, path),
                    // The second child comes first.
                    () => (child, depth + 1, 2 * path + 1 - x as u64),
                });
            }
        }
        let part = share / open.len().max(1) as f64;
        let search = |(cell, depth, path): (Cell, u32, u64)| self.branch(cell, depth, path, part);
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

    /// The tree of a box near the root: both children at the same time. `path` has the choices on
    /// the way to it as binary digits after a 1.
    fn branch(&self, cell: Cell, depth: u32, path: u64, share: f64) -> Tree {
        if depth >= PARALLEL_DEPTH {
            if u64::from(self.shard.0) == path % u64::from(self.shard.1) {
                return self.grow(cell, share);
            }
            let mut tree = Tree::default();
            tree.give_up(&cell, self.keep);
            return tree;
        }
        let mut tree = Tree::default();
        // The way of rounding belongs to the thread.
        if self.monitor.is_stopped() || check_fp_environment().is_err() {
            tree.give_up(&cell, self.keep);
            return tree;
        }
        if let Some((a, b)) = self.visit(cell, &mut tree) {
            let (one, two) = rayon::join(
                || self.branch(a, depth + 1, 2 * path, 0.5 * share),
                || self.branch(b, depth + 1, 2 * path + 1, 0.5 * share),
            );
            tree.append(one);
            tree.append(two);
        } else {
            self.monitor.add(share, tree.boxes);
        }
        tree
    }

    /// The tree of a box, depth first.
    fn grow(&self, cell: Cell, share: f64) -> Tree {
        depth_first(self.monitor, (cell, share), self.keep, |cell, tree| self.visit(cell, tree))
    }

    /// Decides a box, or returns its two parts.
    fn visit(&self, cell: Cell, tree: &mut Tree) -> Option<(Cell, Cell)> {
        tree.boxes += 1;
        match self.decide(cell, tree) {
            Verdict::Leaf(node) => tree.leaf(node, self.keep),
            Verdict::Undecided => tree.give_up(&cell, self.keep),
            Verdict::Split([a, b]) => return Some((a, b)),
        }
        None
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
                let bounds = |g: &(f64, f64)| ((g.0 * GRID) as i64, (g.1 * GRID) as i64);
                tree.leaf(Node::Shrunk(shrunk.gaps[..k].iter().map(bounds).collect()), self.keep);
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

/// Where an interval of beta is split. It has few digits, since the certificate has it.
pub(crate) fn middle_of_beta((low, high): (f64, f64)) -> f64 {
    let middle = if low > 0.05 { (low * high).sqrt() } else { 0.5 * (low + high) };
    let step = (high - low) / 64.0;
    let coarse = (middle / step).round() * step;
    if coarse > low && coarse < high { coarse } else { middle }
}

/// Width of an interval of beta, relative for `|beta| > 0.2`.
pub(crate) fn relative_width((low, high): (f64, f64)) -> f64 {
    (high - low) / (0.5 * (low + high)).abs().max(0.2)
}
