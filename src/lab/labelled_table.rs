//! Tables with columns of numbers and columns of words.

use crate::flow::Table;
use std::ops::{Deref, DerefMut};

/// A table with columns of numbers and columns of words (labels). In `numbers` a word is its index
/// in the list of words of its column. NPY files hold these numbers, CSV files the words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelledTable {
    /// All columns as numbers.
    pub numbers: Table,
    /// The columns of words, each with its list of words.
    labels: Vec<(String, Vec<String>)>,
}

impl LabelledTable {
    /// An empty table with these columns.
    pub fn new(columns: &[&str]) -> Self {
        Table { columns: columns.iter().map(ToString::to_string).collect(), rows: Vec::new() }
            .into()
    }

    /// Declares a column of words: the number k stands for the k-th word.
    #[must_use]
    pub fn with_labels<W: ToString>(
        mut self,
        column: &str,
        words: impl IntoIterator<Item = W>,
    ) -> Self {
        self.labels.push((column.to_owned(), words.into_iter().map(|w| w.to_string()).collect()));
        self
    }

    /// The list of words of a column; `None` for a column of numbers.
    pub fn words(&self, column: &str) -> Option<&[String]> {
        self.labels.iter().find(|(name, _)| name == column).map(|(_, words)| words.as_slice())
    }

    /// The word in every row of a column; empty for a column of numbers.
    pub fn labels(&self, column: &str) -> Vec<&str> {
        let Some(words) = self.words(column) else { return Vec::new() };
        self.column(column)
            .into_iter()
            .map(|v| words.get(v as usize).map_or("unknown", String::as_str))
            .collect()
    }

    /// The rows with this word in a column.
    #[must_use]
    pub fn only(&self, column: &str, label: &str) -> Self {
        let keep = self.labels(column).into_iter().map(|l| l == label);
        let rows = self
            .rows
            .iter()
            .zip(keep)
            .filter(|(_, keep)| *keep)
            .map(|(row, _)| row.clone())
            .collect();
        Self { numbers: Table { columns: self.columns.clone(), rows }, labels: self.labels.clone() }
    }

    /// The words behind the numbers, one line per column: `dynamics: 0 = sa, 1 = usa`.
    pub fn legend(&self) -> Vec<String> {
        let words = |words: &[String]| {
            words
                .iter()
                .enumerate()
                .map(|(k, w)| format!("{k} = {w}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        self.labels.iter().map(|(column, all)| format!("{column}: {}", words(all))).collect()
    }
}

impl From<Table> for LabelledTable {
    fn from(numbers: Table) -> Self {
        Self { numbers, labels: Vec::new() }
    }
}

impl Deref for LabelledTable {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.numbers
    }
}

impl DerefMut for LabelledTable {
    fn deref_mut(&mut self) -> &mut Table {
        &mut self.numbers
    }
}
