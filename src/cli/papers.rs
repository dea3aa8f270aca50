//! The papers that are cited.

use super::data;
use crate::theorem;
use serde::Deserialize;
use std::sync::LazyLock;

/// A paper.
#[derive(Deserialize)]
pub struct Paper {
    /// arXiv number.
    pub id: String,
    /// Authors; empty if not read.
    pub authors: String,
    /// Title; empty if not read.
    pub title: String,
}

/// All papers that are cited, by number.
pub static ALL: LazyLock<Vec<Paper>> =
    LazyLock::new(|| data::entries(include_str!("data/papers.toml"), "paper"));

/// A paper by its number, with or without `arXiv:`.
pub fn find(name: &str) -> Option<&'static Paper> {
    let number = name.trim_start_matches("arXiv:");
    ALL.iter().find(|p| number == p.id)
}

impl Paper {
    /// The claims that cite it.
    pub fn claims(&self) -> impl Iterator<Item = &'static theorem::Claim> {
        theorem::ALL.iter().copied().filter(|c| c.source.contains(&self.id))
    }

    /// Authors and title.
    pub fn summary(&self) -> String {
        let title = if self.title.is_empty() { "title not read" } else { &self.title };
        [&self.authors, title].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join(": ")
    }
}
