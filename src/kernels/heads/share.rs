//! Pieces of work over threads: every piece writes its own part of a buffer, so that bytes depend on no thread.

use crate::num::threads::both;

/// A piece of work and where its results begin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece {
    /// What it is.
    pub kind: Kind,
    /// Of which head.
    pub head: usize,
    /// First vector and number of vectors of rows.
    pub group: (usize, usize),
    /// Where it begins in the buffer.
    pub at: usize,
    /// Where it begins in the second buffer.
    pub beside: usize,
}

/// What a piece computes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Kind {
    /// Rows of tokens in slabs.
    #[default]
    Queries,
    /// Rows of sources.
    Keys,
    /// Columns of values.
    Values,
}

/// Runs all pieces, side by side where threads are allowed; `out` and `beside` begin with the first piece's part.
pub(super) fn each<A: Send, B: Send>(
    pieces: &[Piece],
    out: &mut [A],
    beside: &mut [B],
    parallel: bool,
    work: &(impl Fn(&Piece, &mut [A], &mut [B]) + Sync),
) {
    match pieces {
        [] => {}
        [one] => work(one, out, beside),
        _ => {
            let (first, second) = pieces.split_at(pieces.len() / 2);
            let (a, b) = out.split_at_mut(second[0].at - first[0].at);
            let (c, d) = beside.split_at_mut(second[0].beside - first[0].beside);
            both(parallel, || each(first, a, c, parallel, work), || each(second, b, d, parallel, work));
        }
    }
}
