//! The columns of a report: meaning, theorem, and the hypothesis of it that a trained model
//! violates.

use crate::cli::data;
use serde::Deserialize;
use std::sync::LazyLock;

/// A column of a report.
#[derive(Deserialize)]
pub struct ReportColumn {
    pub column: String,
    pub meaning: String,
    pub theorem: String,
    /// The hypothesis of the theorem that the model violates.
    pub violated: String,
}

const TEXT: &str = include_str!("../data/report_columns.toml");

/// Columns of `layers.csv` after the layer.
pub static LAYERS: LazyLock<Vec<ReportColumn>> = LazyLock::new(|| data::entries(TEXT, "layers"));

/// Numbers of the page that are in no table.
pub static PAGE: LazyLock<Vec<ReportColumn>> = LazyLock::new(|| data::entries(TEXT, "page"));

/// Columns of `heads.csv` after the layer and the head.
pub static HEADS: LazyLock<Vec<ReportColumn>> = LazyLock::new(|| data::entries(TEXT, "heads"));
