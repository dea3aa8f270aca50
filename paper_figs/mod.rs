//! The figures, one file each: what data they need, and a pure function from data to a picture. A figure never runs a solver.

use crate::draw::Picture;
use crate::error::Result;
use crate::flow::hidden::Comparison;
use crate::lab::{Cell, cell::Tables};

pub mod circle_snapshots;
pub mod gamma_curve;
pub mod inner_products;
pub mod layer_energy;
pub mod metastability;
pub mod phase_diagram;
pub mod regime_chart;
pub mod saddle_kernel;
pub mod timeline;

/// Results of one experiment: its cells in grid order.
pub type Results = Vec<(Cell, Tables)>;

/// What a figure may look at.
#[derive(Default)]
pub struct Inputs {
    /// Results of the experiments it asked for, in order.
    pub results: Vec<Results>,
    /// Hidden states of a model compared with SA, when it asked for them.
    pub hidden: Option<Comparison>,
}

/// A registered figure.
pub struct Entry {
    /// Name on the command line and of its files.
    pub name: &'static str,
    /// Title in the gallery.
    pub title: &'static str,
    /// Experiments it needs, by name.
    pub experiments: &'static [&'static str],
    /// The same for `--full`; empty if there is no larger version.
    pub full: &'static [&'static str],
    /// True when it shows hidden states of a model.
    pub hidden: bool,
    /// Part of the quick check (its data take seconds).
    pub quick: bool,
    /// The drawing.
    pub draw: fn(&Inputs) -> Result<Picture>,
}

/// All figures, by name.
pub static ALL: &[&Entry] = include!(concat!(env!("OUT_DIR"), "/figures.rs"));

/// Pairs of two columns of a table.
fn series(table: &crate::flow::Table, x: &str, y: &str) -> Vec<(f64, f64)> {
    table.column(x).into_iter().zip(table.column(y)).collect()
}
