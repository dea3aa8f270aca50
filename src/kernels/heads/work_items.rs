//! Work items for threads. Every item writes its own part of a buffer, so results do not depend on
//! the number of threads.

use crate::num::threads::join_if;

/// A work item and the offsets of its results.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorkItem {
    /// What the item computes.
    pub kind: ItemKind,
    /// Index of the head.
    pub head: usize,
    /// First vector and number of vectors of rows (for values: first source and number of sources).
    pub group: (usize, usize),
    /// Offset in the main buffer.
    pub offset: usize,
    /// Offset in the side buffer.
    pub side_offset: usize,
}

/// What a work item computes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum ItemKind {
    /// Images of queries, in slabs.
    #[default]
    Queries,
    /// Images of keys, in slabs.
    Keys,
    /// Images of values, a block of sources.
    Values,
}

/// Runs all items, in parallel if allowed. `out` and `side` begin at the first item's offsets.
pub(super) fn for_each_item<A: Send, B: Send>(
    items: &[WorkItem],
    out: &mut [A],
    side: &mut [B],
    parallel: bool,
    work: &(impl Fn(&WorkItem, &mut [A], &mut [B]) + Sync),
) {
    match items {
        [] => {}
        [one] => work(one, out, side),
        _ => {
            let (first, second) = items.split_at(items.len() / 2);
            let (a, b) = out.split_at_mut(second[0].offset - first[0].offset);
            let (c, d) = side.split_at_mut(second[0].side_offset - first[0].side_offset);
            join_if(
                parallel,
                || for_each_item(first, a, c, parallel, work),
                || for_each_item(second, b, d, parallel, work),
            );
        }
    }
}
