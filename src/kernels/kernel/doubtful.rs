//! Rows that an algorithm does not vouch for.

/// Rows that an algorithm does not vouch for.
#[derive(Default)]
pub struct Doubtful {
    /// Their indices, ascending once all are noted.
    pub rows: Vec<usize>,
    more: Vec<usize>,
}

impl Doubtful {
    /// Lists for the first and the second half of the rows, for two threads; [`Doubtful::join`] makes one of them.
    pub fn halves(&mut self) -> (&mut Vec<usize>, &mut Vec<usize>) {
        self.more.clear();
        (&mut self.rows, &mut self.more)
    }

    /// Appends the second list to the first.
    pub fn join(&mut self) {
        self.rows.append(&mut self.more);
    }
}
