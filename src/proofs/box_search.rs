//! What searches that halve boxes have in common: progress, how they are stopped, and the order in
//! which one thread visits boxes.

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

/// The result of a search in a box.
pub(crate) trait BoxTree: Default {
    /// A box.
    type Cell;
    /// Number of boxes that were visited.
    fn boxes(&self) -> u64;
    /// Leaves a box undecided; its node is kept if `keep`.
    fn give_up(&mut self, cell: &Self::Cell, keep: bool);
}

/// The tree of a box, depth first. `visit` decides a box or returns its two parts.
pub(crate) fn depth_first<T: BoxTree>(
    monitor: &Monitor,
    (cell, share): (T::Cell, f64),
    keep: bool,
    visit: impl Fn(T::Cell, &mut T) -> Option<(T::Cell, T::Cell)>,
) -> T {
    let (mut tree, mut stack) = (T::default(), vec![(cell, share)]);
    let (mut decided, mut reported) = (0.0, 0);
    // The way of rounding belongs to the thread.
    let stops = check_fp_environment().is_err();
    while let Some((cell, share)) = stack.pop() {
        if stops || monitor.is_stopped() {
            tree.give_up(&cell, keep);
            continue;
        }
        match visit(cell, &mut tree) {
            Some((a, b)) => stack.extend([(b, 0.5 * share), (a, 0.5 * share)]),
            None => decided += share,
        }
        if tree.boxes() - reported >= REPORT_EVERY {
            monitor.add(decided, tree.boxes() - reported);
            (decided, reported) = (0.0, tree.boxes());
        }
    }
    monitor.add(decided, tree.boxes() - reported);
    tree
}
