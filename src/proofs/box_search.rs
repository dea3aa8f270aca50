//! What searches that halve boxes have in common: the tree of boxes, the order in which threads
//! visit them, the share of one machine, progress, and how a search is stopped.

use crate::num::interval::check_fp_environment;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of boxes between two reports.
const REPORT_EVERY: u64 = 128;

/// A share of the work is counted in units of `2^-60`.
const UNIT: f64 = (1u64 << 60) as f64;

/// What a search reports, and how it is stopped.
pub(crate) struct Monitor<'a> {
    /// Called now and then with the share of the volume that is decided and the number of boxes;
    /// the search stops if it returns false.
    report: &'a (dyn Fn(f64, u64) -> bool + Sync),
    /// Share in units.
    decided: AtomicU64,
    boxes: AtomicU64,
    stopped: AtomicBool,
}

impl<'a> Monitor<'a> {
    pub(crate) fn new(report: &'a (dyn Fn(f64, u64) -> bool + Sync)) -> Self {
        Self {
            report,
            decided: AtomicU64::new(0),
            boxes: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Counts one box of a chain, and asks whether to stop.
    pub(crate) fn step(&self) -> bool {
        self.add(0.0, 1);
        self.is_stopped()
    }

    /// Asks whether to stop, with the share and the boxes of a search that is not added yet.
    pub(crate) fn ask_beyond(&self, share: f64, boxes: u64) -> bool {
        let share = share + self.decided.load(Ordering::Relaxed) as f64 / UNIT;
        if !(self.report)(share, boxes + self.boxes.load(Ordering::Relaxed)) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.is_stopped()
    }

    /// Reports that a share of the work is decided, in this number of boxes.
    pub(crate) fn add(&self, share: f64, boxes: u64) {
        let units = (share * UNIT) as u64;
        let decided = self.decided.fetch_add(units, Ordering::Relaxed) + units;
        let boxes = self.boxes.fetch_add(boxes, Ordering::Relaxed) + boxes;
        if !(self.report)(decided as f64 / UNIT, boxes) {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }
}

/// What a leaf or a split of a tree says.
pub(crate) trait TreeNode: Send + Sized {
    /// A box.
    type Cell: Copy + Send + Sync;
    /// A zero that leaves name.
    type Zero: Send;
    /// A part of space that contains undecided boxes.
    type Region: Region<Self::Cell>;
    /// Number of undecided boxes that are listed.
    const LISTED: usize;
    /// The node of a box that is left undecided.
    const UNDECIDED: Self;

    /// The number of the zero that a leaf names.
    fn zero(&mut self) -> Option<&mut usize>;
}

/// A part of space that contains undecided boxes.
pub(crate) trait Region<C>: Send + Sized {
    /// The region of one box.
    fn of(cell: &C) -> Self;
    /// Adds a region to a union of regions.
    fn unite(all: &mut Vec<Self>, new: Self);
}

/// A tree of boxes.
pub(crate) struct Tree<N: TreeNode> {
    /// The nodes in the order of a walk that visits a node before its children, if they are kept.
    pub(crate) nodes: Vec<N>,
    /// The zeros that leaves name.
    pub(crate) zeros: Vec<N::Zero>,
    /// The first undecided boxes.
    pub(crate) undecided: Vec<N::Cell>,
    /// Number of undecided boxes.
    pub(crate) undecided_count: u64,
    /// Regions that contain all undecided boxes.
    pub(crate) regions: Vec<N::Region>,
    /// Number of boxes that were visited.
    pub(crate) boxes: u64,
}

impl<N: TreeNode> Default for Tree<N> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            zeros: Vec::new(),
            undecided: Vec::new(),
            undecided_count: 0,
            regions: Vec::new(),
            boxes: 0,
        }
    }
}

impl<N: TreeNode> Tree<N> {
    /// Adds a node, if nodes are kept.
    pub(crate) fn leaf(&mut self, node: N, keep: bool) {
        if keep {
            self.nodes.push(node);
        }
    }

    /// Leaves a box undecided.
    pub(crate) fn give_up(&mut self, cell: &N::Cell, keep: bool) {
        self.leaf(N::UNDECIDED, keep);
        self.undecided_count += 1;
        N::Region::unite(&mut self.regions, N::Region::of(cell));
        if self.undecided.len() < N::LISTED {
            self.undecided.push(*cell);
        }
    }

    /// Appends a tree; its zeros get new numbers.
    pub(crate) fn append(&mut self, mut other: Self) {
        let offset = self.zeros.len();
        if offset > 0 {
            for id in other.nodes.iter_mut().filter_map(N::zero) {
                *id += offset;
            }
        }
        self.nodes.append(&mut other.nodes);
        self.zeros.append(&mut other.zeros);
        self.undecided_count += other.undecided_count;
        for region in other.regions {
            N::Region::unite(&mut self.regions, region);
        }
        let free = N::LISTED.saturating_sub(self.undecided.len());
        self.undecided.extend(other.undecided.into_iter().take(free));
        self.boxes += other.boxes;
    }
}

/// The boxes of a search.
pub(crate) type CellOf<P> = <<P as Problem>::Node as TreeNode>::Cell;

/// A search that halves boxes until each has a reason.
pub(crate) trait Problem: Sync + Sized {
    /// What its trees are made of.
    type Node: TreeNode;
    /// Depth to which the two children of a node may run at the same time.
    const PARALLEL_DEPTH: u32;

    /// Its progress.
    fn monitor(&self) -> &Monitor<'_>;

    /// Whether the nodes of the tree are kept, for a certificate.
    fn keep(&self) -> bool;

    /// The share of the boxes at the depth of threads that is searched: `(k, K)` is the k-th of K.
    fn shard(&self) -> (u32, u32) {
        (0, 1)
    }

    /// Whether a thread leaves the rest of its boxes undecided.
    fn is_over(&self) -> bool {
        self.monitor().is_stopped()
    }

    /// Decides a box, or returns its two parts.
    fn visit(
        &self,
        cell: CellOf<Self>,
        tree: &mut Tree<Self::Node>,
    ) -> Option<(CellOf<Self>, CellOf<Self>)>;
}

/// The tree of a box at a depth below the root: near the root, both children at the same time.
/// `path` has the choices on the way to the box as binary digits after a 1. The result does not
/// depend on the number of threads.
pub(crate) fn branch<P: Problem>(
    problem: &P,
    cell: CellOf<P>,
    (depth, path): (u32, u64),
    share: f64,
) -> Tree<P::Node> {
    let mut tree = Tree::<P::Node>::default();
    if depth >= P::PARALLEL_DEPTH {
        let (own, all) = problem.shard();
        if u64::from(own) == path % u64::from(all) {
            return grow(problem, cell, share);
        }
        tree.give_up(&cell, problem.keep());
        return tree;
    }
    // The way of rounding belongs to the thread.
    if problem.monitor().is_stopped() || check_fp_environment().is_err() {
        tree.give_up(&cell, problem.keep());
        return tree;
    }
    tree.boxes += 1;
    if let Some((a, b)) = problem.visit(cell, &mut tree) {
        let (one, two) = rayon::join(
            || branch(problem, a, (depth + 1, 2 * path), 0.5 * share),
            || branch(problem, b, (depth + 1, 2 * path + 1), 0.5 * share),
        );
        tree.append(one);
        tree.append(two);
    } else {
        problem.monitor().add(share, tree.boxes);
    }
    tree
}

/// The tree of a box, depth first.
fn grow<P: Problem>(problem: &P, cell: CellOf<P>, share: f64) -> Tree<P::Node> {
    let mut tree = Tree::<P::Node>::default();
    let mut stack = vec![(cell, share)];
    let (mut decided, mut reported) = (0.0, 0);
    // The way of rounding belongs to the thread.
    let stops = check_fp_environment().is_err();
    while let Some((cell, share)) = stack.pop() {
        if stops || problem.is_over() {
            tree.give_up(&cell, problem.keep());
            continue;
        }
        tree.boxes += 1;
        match problem.visit(cell, &mut tree) {
            Some((a, b)) => stack.extend([(b, 0.5 * share), (a, 0.5 * share)]),
            None => decided += share,
        }
        if tree.boxes - reported >= REPORT_EVERY {
            problem.monitor().add(decided, tree.boxes - reported);
            (decided, reported) = (0.0, tree.boxes);
        }
    }
    problem.monitor().add(decided, tree.boxes - reported);
    tree
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
