//! Terms that `explain` defines: the table of verdicts, outcomes of runs, masks, laws of matrices,
//! time normalisations.

use super::data;
use serde::Deserialize;
use std::sync::LazyLock;

/// A term and its meaning.
#[derive(Deserialize)]
pub struct Term {
    pub name: String,
    pub meaning: String,
}

/// All terms.
pub static TERMS: LazyLock<Vec<Term>> =
    LazyLock::new(|| data::entries(include_str!("data/terms.toml"), "term"));

/// The meaning of a term; case is ignored.
pub fn meaning(word: &str) -> Option<&'static str> {
    TERMS.iter().find(|term| term.name.eq_ignore_ascii_case(word)).map(|term| &*term.meaning)
}
