//! Walks over trees in the order in which a node stands before its children. Subtrees are
//! independent, so threads share them.

use crate::interval::check_rounding;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Called now and then with the part of the work that is done; the check ends if it returns false.
pub(super) type Watch<'a> = &'a (dyn Fn(f64) -> bool + Sync);

/// Number of nodes between two calls of the watch.
const REPORT_EVERY: usize = 256;

/// Number of subtrees for every thread: they differ in size.
const PARTS: usize = 32;

/// What is done of a file, for its watch.
pub(super) struct Progress<'a> {
    watch: Watch<'a>,
    done: AtomicUsize,
    all: usize,
    stopped: AtomicBool,
}

impl<'a> Progress<'a> {
    /// For a file of this many lines.
    pub(super) fn new(watch: Watch<'a>, all: usize) -> Self {
        Self { watch, done: AtomicUsize::new(0), all: all.max(1), stopped: AtomicBool::new(false) }
    }

    /// Adds lines. **Errors** an interruption.
    fn add(&self, lines: usize) -> Result<(), String> {
        let done = self.done.fetch_add(lines, Ordering::Relaxed) + lines;
        if !(self.watch)((done as f64 / self.all as f64).min(1.0)) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        if self.stopped.load(Ordering::Relaxed) { Err(INTERRUPTED.into()) } else { Ok(()) }
    }
}

/// The error of a check that its watch ended.
pub const INTERRUPTED: &str = "interrupted";

/// Number of nodes of every subtree, from the numbers of children; `None` if they are no tree.
fn sizes(children: &[usize]) -> Option<Vec<usize>> {
    let mut sizes = vec![1; children.len()];
    for x in (0..children.len()).rev() {
        let mut next = x + 1;
        for _ in 0..children[x] {
            next += sizes.get(next)?;
        }
        sizes[x] = next - x;
    }
    (sizes.first() == Some(&children.len())).then_some(sizes)
}

/// Visits all nodes of a tree, given the number of children of each. A visit returns the cells of
/// the children, the first one last. Every thread has a state of its own.
///
/// **Errors** that of the first node with one; a number of cells that is not that of the children.
pub(super) fn walk<C: Send, S: Default>(
    root: C,
    children: &[usize],
    visit: impl Fn(&mut S, usize, C) -> Result<Vec<C>, String> + Sync,
    progress: &Progress,
) -> Result<(), String> {
    let sizes = sizes(children).ok_or("a tree without all its branches")?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let below = |state: &mut S, x: usize, cell: C| -> Result<Vec<(usize, C)>, String> {
        let cells = visit(state, x, cell)?;
        if cells.len() != children[x] {
            return Err("a node with another number of children".into());
        }
        let mut next = x + 1;
        let place = |cell| {
            let own = next;
            next += sizes[own];
            (own, cell)
        };
        Ok(cells.into_iter().rev().map(place).collect())
    };
    // Large subtrees are opened until there are enough for all threads.
    let large = (children.len() / (PARTS * threads)).max(64);
    let (mut parts, mut open, mut state) = (vec![], vec![(0, root)], S::default());
    while let Some((x, cell)) = open.pop() {
        if sizes[x] <= large {
            parts.push((x, cell));
        } else {
            open.extend(below(&mut state, x, cell)?);
        }
    }
    let first = Mutex::new(None::<(usize, String)>);
    let parts = Mutex::new(parts);
    let fail = |x: usize, why: String| {
        if let Ok(mut first) = first.lock()
            && first.as_ref().is_none_or(|f| x < f.0)
        {
            *first = Some((x, why));
        }
    };
    let work = || {
        let mut state = S::default();
        if let Err(why) = check_rounding() {
            return fail(0, why);
        }
        loop {
            let part = parts.lock().ok().and_then(|mut p| p.pop());
            let Some((start, cell)) = part else { return };
            // What comes after an error does not matter.
            let late = |f: &(usize, String)| f.0 < start;
            if first.lock().is_ok_and(|f| f.as_ref().is_some_and(late)) {
                continue;
            }
            let (mut stack, mut count) = (vec![(start, cell)], 0);
            while let Some((x, cell)) = stack.pop() {
                count += 1;
                let watched =
                    if count % REPORT_EVERY == 0 { progress.add(REPORT_EVERY) } else { Ok(()) };
                match watched.and_then(|()| below(&mut state, x, cell)) {
                    Ok(mut found) => {
                        found.reverse();
                        stack.extend(found);
                    }
                    Err(why) => return fail(x, why),
                }
            }
            if let Err(why) = progress.add(count % REPORT_EVERY) {
                return fail(start, why);
            }
        }
    };
    if threads == 1 || children.len() < 1000 {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
    }
    let found = first.into_inner().map_err(|_| "a thread of the check ended early")?;
    found.map_or(Ok(()), |(_, why)| Err(why))
}
