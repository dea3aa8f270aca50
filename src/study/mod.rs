//! Studies: computations that yield tables for figures and files, one file each with an [`Study`].
//!
//! An experiment is a grid of runs described by a TOML file; a study is what does not fit one: a search, a scan with its own statistic, a comparison
//! with several laws. Studies take seconds and have fixed seeds.

use crate::error::{Error, Result};
use crate::flow::Table;

/// Named tables of one study.
pub type Tables = Vec<(String, Table)>;

/// A registered study.
pub struct Study {
    /// Name on the command line.
    pub name: &'static str,
    /// What it computes.
    pub title: &'static str,
    /// Paper and section.
    pub citation: &'static str,
    /// The computation.
    pub run: fn() -> Result<Tables>,
}

/// All studies, by name.
pub static ALL: &[&Study] = include!(concat!(env!("OUT_DIR"), "/studies.rs"));

/// Finds a study. **Errors** unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<&'static Study> {
    ALL.iter().copied().find(|e| e.name == name).ok_or_else(|| Error::unknown("study", name, ALL.iter().map(|e| e.name)))
}

/// An empty table with these columns.
fn table(columns: &[&str]) -> Table {
    Table { columns: columns.iter().map(ToString::to_string).collect(), rows: Vec::new() }
}

pub mod causal_centres;
pub mod cluster_count;
pub mod hardmax_cells;
pub mod landscape_tour;
pub mod measure_convergence;
pub mod measure_view;
pub mod merging_times;
pub mod mode_count;
pub mod noisy_branches;
pub mod normalisation_bands;
pub mod normalisation_schemes;
pub mod published_patterns;
pub mod rescaled_tokens;
pub mod rows_beyond;
pub mod staircase;
