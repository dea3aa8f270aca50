//! Branch and bound: a tree of boxes of Gram matrices in which every leaf has a reason.

use super::cell::{Cell, GRID, Groups, Row, System, Values, grid_down};
use super::point::Point;
use crate::box_search::{
    self, Monitor, Problem, Region, TreeNode, branch, middle_of_beta, relative_width,
};
use crate::landscape::Report;
use crate::num::interval::Interval;

/// A node of a tree, in the order of a walk that visits a node before its children. Numbers are
/// those of tokens, or of entries.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// Two children: an entry below and above its middle.
    Split(usize),
    /// One child: two tokens coincide.
    Joined(usize, usize),
    /// One child: Newton's method leaves this box.
    Shrunk(Vec<(i64, i64)>),
    /// There are no Gram matrices.
    Open,
    /// The tokens lie in a half space of the sum of some of them.
    HalfSpace(u32),
    /// The force on a token along another one is not 0.
    Force(usize, usize),
    /// Two tokens cannot be in equilibrium unless they coincide, and they do not.
    Quotient(usize, usize),
    /// The matrix is negative along a vector.
    Negative(Vec<i32>),
    /// Newton's method leaves nothing.
    Empty,
    /// At most one zero, and it is this one.
    Zero(usize),
    /// Two children: beta below and above this.
    Beta(f64),
    /// The derivative is regular.
    Regular,
    /// Nothing was proved.
    Undecided,
}

/// A tree of boxes. Its regions are the intervals of beta of undecided boxes: disjoint, in order.
pub(super) type Tree = box_search::Tree<Node>;

impl TreeNode for Node {
    type Cell = Cell;
    type Zero = Point;
    type Region = (f64, f64);
    const LISTED: usize = 20;
    const UNDECIDED: Self = Self::Undecided;

    fn zero(&mut self) -> Option<&mut usize> {
        match self {
            Node::Zero(id) => Some(id),
            _ => None,
        }
    }
}

impl Region<Cell> for (f64, f64) {
    fn of(cell: &Cell) -> Self {
        cell.beta
    }

    /// Adds an interval to a union of disjoint intervals in order.
    fn unite(all: &mut Vec<Self>, (mut low, mut high): Self) {
        all.retain(|own| {
            let meets = own.0 <= high && low <= own.1;
            if meets {
                (low, high) = (low.min(own.0), high.max(own.1));
            }
            !meets
        });
        let at = all.partition_point(|own| own.1 < low);
        all.insert(at, (low, high));
    }
}

/// What a tree proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// All zeros at one beta.
    Zeros,
    /// The zeros are graphs over an interval of beta.
    Regular,
}

impl Goal {
    /// Width of entries below which a box is left undecided. Over an interval of beta the number of
    /// narrow boxes near a bifurcation grows fast with the number of tokens.
    fn smallest(self, n: usize) -> f64 {
        match self {
            Self::Zeros => 1e-7,
            Self::Regular if n <= 3 => 1e-5,
            Self::Regular => 3e-3,
        }
    }
}

/// Relative width of an interval of beta below which a box is left undecided.
const NARROW: f64 = 1e-3;

/// Relative width of an interval of beta above which no test is tried.
const COARSE: f64 = 0.4;

/// Distance from a box at which a zero may explain it.
const NEAR: f64 = 0.01;

/// A search, its progress, and whether it was stopped.
pub(super) struct Search<'a> {
    pub(super) system: &'a System,
    pub(super) goal: Goal,
    /// Whether the nodes of the tree are kept, for a certificate.
    pub(super) keep: bool,
    monitor: Monitor<'a>,
}

/// Whether an enclosure excludes 0 with a margin for the rounding of another program.
fn excludes_zero(v: Interval) -> bool {
    v.mig() > 1e-12 * v.mag()
}

/// Beta is split if its relative width exceeds half of the largest width of an entry. Measured for
/// n = 4 and beta in [1, 4]: 29 000 boxes, and 1 400 000 with the factor 1 / 4.
const BETA_SHARE: f64 = 2.0;

impl<'a> Search<'a> {
    pub(super) fn new(system: &'a System, goal: Goal, keep: bool, report: Report<'a>) -> Self {
        Self { system, goal, keep, monitor: Monitor::new(report) }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.monitor.is_stopped()
    }

    /// The tree of all Gram matrices. The result does not depend on the number of threads.
    pub(super) fn run(&self) -> Tree {
        branch(self, self.system.root(), (0, 1), 1.0)
    }

    fn force(&self, groups: &Groups, values: &Values) -> Option<(usize, usize)> {
        let pairs = (0..groups.k).flat_map(|i| (0..groups.k).map(move |k| (i, k)));
        pairs
            .filter(|(i, k)| i != k)
            .find(|(i, k)| excludes_zero(self.system.force(groups, values, *i, *k)))
            .map(|(i, k)| (groups.first[i], groups.first[k]))
    }

    fn quotient(&self, groups: &Groups, values: &Values) -> Option<(usize, usize)> {
        let pairs = (0..groups.k).flat_map(|i| (i + 1..groups.k).map(move |j| (i, j)));
        pairs
            .filter(|(i, j)| excludes_zero(self.system.quotient(groups, values, *i, *j)))
            .map(|(i, j)| (groups.first[i], groups.first[j]))
            .next()
    }

    /// Whether a box with a regular derivative has a reason: the only zero nearby is proved, or the
    /// matrices are not those of vectors.
    fn explain(&self, cell: &Cell, groups: &Groups, values: &Values, tree: &mut Tree) -> bool {
        let system = self.system;
        let Some(gram) = system.approximate(cell, groups) else {
            return false;
        };
        let near = |t: usize| cell.g[t].0 - NEAR <= gram[t] && gram[t] <= cell.g[t].1 + NEAR;
        if !(0..system.pairs).all(near) {
            return false;
        }
        if let Some(point) = system.prove(&gram, cell.beta.0) {
            let mut hull = *cell;
            for (g, p) in hull.g.iter_mut().zip(&point.place.g) {
                *g = (g.0.min(p.0), g.1.max(p.1));
            }
            if system.is_regular(&hull) {
                tree.leaf(Node::Zero(tree.zeros.len()), self.keep);
                tree.zeros.push(point);
                return true;
            }
            return false;
        }
        self.is_negative(groups, values, tree)
    }

    /// Whether the matrices of a box are not those of vectors.
    fn is_negative(&self, groups: &Groups, values: &Values, tree: &mut Tree) -> bool {
        let Some(along) = self.system.indefinite(groups, values) else {
            return false;
        };
        let mut v: Row<i32> = [0; super::cell::MAX_TOKENS];
        (0..groups.k).for_each(|x| v[groups.first[x]] = along[x]);
        tree.leaf(Node::Negative(v[..self.system.n].to_vec()), self.keep);
        true
    }

    /// Splits the widest entry or beta, or leaves the box undecided.
    fn split(&self, mut cell: Cell, groups: &Groups, tree: &mut Tree) -> Option<(Cell, Cell)> {
        let width = |t: usize| cell.g[t].1 - cell.g[t].0;
        let widest = self.system.places(groups).max_by(|a, b| width(*a).total_cmp(&width(*b)));
        let (smallest, relative) = (self.goal.smallest(self.system.n), relative_width(cell.beta));
        let most = widest.map_or(0.0, width);
        if relative > NARROW && (most < smallest || BETA_SHARE * relative > most) {
            return Some(self.split_beta(cell, tree));
        }
        let Some(t) = widest.filter(|_| most >= smallest) else {
            tree.give_up(&cell, self.keep);
            return None;
        };
        tree.leaf(Node::Split(t), self.keep);
        let middle = grid_down(0.5 * (cell.g[t].0 + cell.g[t].1));
        let mut above = cell;
        (cell.g[t].1, above.g[t].0) = (middle, middle);
        Some((cell, above))
    }

    fn split_beta(&self, mut cell: Cell, tree: &mut Tree) -> (Cell, Cell) {
        let middle = middle_of_beta(cell.beta);
        tree.leaf(Node::Beta(middle), self.keep);
        let mut above = cell;
        (cell.beta.1, above.beta.0) = (middle, middle);
        (cell, above)
    }
}

impl Problem for Search<'_> {
    type Node = Node;
    const PARALLEL_DEPTH: u32 = 12;

    fn monitor(&self) -> &Monitor<'_> {
        &self.monitor
    }

    fn keep(&self) -> bool {
        self.keep
    }

    fn visit(&self, mut cell: Cell, tree: &mut Tree) -> Option<(Cell, Cell)> {
        loop {
            if !self.system.close(&mut cell) {
                tree.leaf(Node::Open, self.keep);
                return None;
            }
            let groups = self.system.groups(&cell);
            if let Some(set) = self.system.half_space(&cell, &groups) {
                tree.leaf(Node::HalfSpace(set), self.keep);
                return None;
            }
            if relative_width(cell.beta) > COARSE {
                return Some(self.split_beta(cell, tree));
            }
            let values = self.system.values(&cell, &groups);
            if let Some((i, k)) = self.force(&groups, &values) {
                tree.leaf(Node::Force(i, k), self.keep);
                return None;
            }
            if let Some((i, j)) = self.quotient(&groups, &values) {
                let g = &mut cell.g[self.system.place[i][j]];
                if g.1 < 1.0 {
                    tree.leaf(Node::Quotient(i, j), self.keep);
                    return None;
                }
                g.0 = 1.0;
                tree.leaf(Node::Joined(i, j), self.keep);
                continue;
            }
            if self.goal == Goal::Regular && self.is_negative(&groups, &values, tree) {
                return None;
            }
            let mut shrunk = cell;
            let step = self.system.newton(&mut shrunk, &groups, &values);
            if step.empty {
                tree.leaf(Node::Empty, self.keep);
                return None;
            }
            if self.goal == Goal::Regular && step.regular {
                tree.leaf(Node::Regular, self.keep);
                return None;
            }
            if step.regular && self.explain(&cell, &groups, &values, tree) {
                return None;
            }
            let width =
                |c: &Cell| self.system.places(&groups).map(|t| c.g[t].1 - c.g[t].0).sum::<f64>();
            let gain = width(&shrunk) / width(&cell);
            if gain < 0.9 {
                if self.keep {
                    let whole = |g: &(f64, f64)| ((g.0 * GRID) as i64, (g.1 * GRID) as i64);
                    let bounds = shrunk.g[..self.system.pairs].iter().map(whole).collect();
                    tree.leaf(Node::Shrunk(bounds), true);
                }
                cell = shrunk;
                if gain < 0.7 {
                    continue;
                }
                if !self.system.close(&mut cell) {
                    tree.leaf(Node::Open, self.keep);
                    return None;
                }
            }
            return self.split(cell, &self.system.groups(&cell), tree);
        }
    }
}
