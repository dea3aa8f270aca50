//! Rows whose error bound exceeds the accuracy.

/// Rows whose error bound exceeds the accuracy: they are recomputed exactly.
#[derive(Default)]
pub struct FlaggedRows {
    /// Indices, ascending after the evaluation.
    pub rows: Vec<usize>,
    more: Vec<usize>,
}

impl FlaggedRows {
    /// Two lists, for two threads that evaluate the first and the second half of the rows. Call
    /// [`FlaggedRows::merge_lists`] afterwards.
    pub fn two_lists(&mut self) -> (&mut Vec<usize>, &mut Vec<usize>) {
        self.more.clear();
        (&mut self.rows, &mut self.more)
    }

    /// Appends the second list to the first.
    pub fn merge_lists(&mut self) {
        self.rows.append(&mut self.more);
    }
}
