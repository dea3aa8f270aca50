//! Branch and bound over gaps and beta: every box has a reason why the critical points in it are
//! regular, so that they are graphs over beta.

use super::super::cell::{Arrangement, Cell, Row, grid_down};
use super::super::kernel::Law;
use super::blow_up::is_regular_in_charts;
use super::fold::Fold;
use super::order_parameter;
use crate::box_search::{self, Monitor, Problem, Region, TreeNode, branch, relative_width};
use std::sync::atomic::{AtomicU64, Ordering};

/// The tree of one stratum; only its undecided boxes are kept.
pub(super) type Cover = box_search::Tree<Closed>;

/// A node that is not kept.
pub(super) struct Closed;

impl TreeNode for Closed {
    type Cell = Cell;
    type Zero = ();
    type Region = ();
    const LISTED: usize = 4000;
    const UNDECIDED: Self = Self;

    fn zero(&mut self) -> Option<&mut usize> {
        None
    }
}

/// Undecided boxes have no regions.
impl Region<Cell> for () {
    fn of(_: &Cell) -> Self {}

    fn unite(_: &mut Vec<Self>, (): Self) {}
}

/// Number of undecided boxes after which a cover is not finished.
const HOPELESS: u64 = 4000;

/// Widths of gaps, in turns, and of beta, relative, below which a box is left undecided.
const TOLERANCE: (f64, f64) = (2e-5, 1e-6);

/// Width of gaps, in turns, from which the coordinates of pairs are tried.
const NARROW: f64 = 0.01;

/// Width of gaps, in turns, below which order parameters are tried.
const ORDERED: f64 = 0.02;

/// The cover of one stratum.
pub(super) struct Covering<'a> {
    pub(super) arrangement: &'a Arrangement,
    pub(super) monitor: &'a Monitor<'a>,
    /// Boxes around folds, in which all critical points are known.
    folds: &'a [&'a Fold],
    /// Number of undecided boxes of all threads.
    undecided: AtomicU64,
}

/// What happens to a box.
enum Verdict {
    Decided,
    Undecided,
    Split(Box<[Cell; 2]>),
}

impl<'a> Covering<'a> {
    pub(super) fn new(
        arrangement: &'a Arrangement,
        folds: &'a [&'a Fold],
        monitor: &'a Monitor<'a>,
    ) -> Self {
        Self { arrangement, monitor, folds, undecided: AtomicU64::new(0) }
    }

    /// The cover for all beta in an interval. It does not depend on the number of threads.
    pub(super) fn run(&self, beta: (f64, f64), share: f64) -> Cover {
        let gaps: Row<(f64, f64)> =
            std::array::from_fn(|x| if x < self.arrangement.k { (0.0, 0.5) } else { (0.0, 0.0) });
        branch(self, Cell { gaps, beta }, (0, 1), share)
    }

    fn decide(&self, mut cell: Cell) -> Verdict {
        let (arrangement, k) = (self.arrangement, self.arrangement.k);
        loop {
            if !cell.close(k) || arrangement.is_image(&cell) {
                return Verdict::Decided;
            }
            // Coarse in beta: ranges would be too wide for any test.
            if relative_width(cell.beta) > 0.4 {
                return split_beta(cell);
            }
            let kernel = arrangement.law.kernel(cell.beta);
            let bounded = arrangement.at(cell.beta);
            let pairs = bounded.pairs(&cell, &kernel);
            if bounded.force(&pairs).is_some()
                || bounded.quotient(&cell, &pairs, &kernel).is_some()
                || bounded.balance(&cell, &pairs).is_some()
            {
                return Verdict::Decided;
            }
            let mut shrunk = cell;
            let step = bounded.newton(&mut shrunk, &pairs, &kernel);
            if step.empty || step.regular {
                return Verdict::Decided;
            }
            if self.has_order_parameters(&cell) {
                for level in levels(k, cell.beta.1) {
                    let part = order_parameter::undecided_part(arrangement, level, &shrunk, &pairs);
                    match part {
                        Some(part) => shrunk = part,
                        None => return Verdict::Decided,
                    }
                    if !shrunk.close(k) {
                        return Verdict::Decided;
                    }
                }
            }
            if self.folds.iter().any(|f| f.covers(arrangement, &cell.gaps[..k], cell.beta)) {
                return Verdict::Decided;
            }
            // Near a fold, only a combination of the equations tells. The test is slow, and rarely
            // decides wide boxes.
            if cell.widest(k).1 < NARROW
                && is_regular_in_charts(arrangement, &cell, !self.folds.is_empty())
            {
                return Verdict::Decided;
            }
            let sum = |c: &Cell| c.gaps[..k].iter().map(|g| g.1 - g.0).sum::<f64>();
            let gain = sum(&shrunk) / sum(&cell);
            if gain < 0.95 {
                cell = shrunk;
                if gain < 0.7 {
                    continue;
                }
                if !cell.close(k) {
                    return Verdict::Decided;
                }
            }
            return self.split(cell);
        }
    }

    /// Whether the test with order parameters is made: it costs ten times as much as the others.
    fn has_order_parameters(&self, cell: &Cell) -> bool {
        matches!(self.arrangement.law, Law::Exponential)
            && cell.beta.1 <= order_parameter::MOST
            && cell.widest(self.arrangement.k).1 < ORDERED
    }

    /// Splits the widest gap or beta, or leaves the box undecided.
    fn split(&self, cell: Cell) -> Verdict {
        let (r, width) = cell.widest(self.arrangement.k);
        let relative = relative_width(cell.beta);
        match () {
            () if width < TOLERANCE.0 && relative < TOLERANCE.1 => Verdict::Undecided,
            () if 0.25 * relative > width || width < TOLERANCE.0 => split_beta(cell),
            () => {
                let (low, high) = cell.gaps[r];
                let middle = grid_down(low + 0.5 * (high - low));
                let (mut a, mut b) = (cell, cell);
                (a.gaps[r].1, b.gaps[r].0) = (middle, middle);
                Verdict::Split(Box::new([a, b]))
            }
        }
    }
}

/// The levels of order parameters that are tried for k clusters. Level L has 2 L numbers, and k
/// clusters have `k - 1` gaps. Low levels decide few boxes of larger beta.
fn levels(k: usize, beta: f64) -> std::ops::RangeInclusive<usize> {
    let most = ((k - 1) / 2).clamp(1, 3);
    let least = if beta < 0.1 { 1 } else { most };
    least..=most
}

fn split_beta(cell: Cell) -> Verdict {
    let (low, high) = cell.beta;
    let middle = if low > 0.05 { (low * high).sqrt() } else { 0.5 * (low + high) };
    if middle <= low || middle >= high {
        return Verdict::Undecided;
    }
    let (mut a, mut b) = (cell, cell);
    (a.beta.1, b.beta.0) = (middle, middle);
    Verdict::Split(Box::new([a, b]))
}

impl Problem for Covering<'_> {
    type Node = Closed;
    const PARALLEL_DEPTH: u32 = 10;

    fn monitor(&self) -> &Monitor<'_> {
        self.monitor
    }

    fn keep(&self) -> bool {
        false
    }

    fn is_over(&self) -> bool {
        self.monitor.is_stopped() || self.undecided.load(Ordering::Relaxed) > HOPELESS
    }

    fn visit(&self, cell: Cell, cover: &mut Cover) -> Option<(Cell, Cell)> {
        match self.decide(cell) {
            Verdict::Decided => {}
            Verdict::Undecided => {
                self.undecided.fetch_add(1, Ordering::Relaxed);
                cover.give_up(&cell, false);
            }
            Verdict::Split(parts) => {
                let [a, b] = *parts;
                return Some((a, b));
            }
        }
        None
    }
}
