//! The figures, one file each: what data they need, and a pure function from data to a picture. A figure never runs a solver.

use crate::draw::Picture;
use crate::error::Result;
use crate::flow::hidden::Comparison;
use crate::lab::{Cell, cell::CellTables};
use crate::study;

pub mod bipartite_ends;
pub mod causal_centres;
pub mod circle_snapshots;
pub mod cluster_count;
pub mod connections;
pub mod entropy;
pub mod gamma_curve;
pub mod gaussian_closure;
pub mod growth_rates;
pub mod hardmax_cells;
pub mod hessian_spectrum;
pub mod inner_products;
pub mod iterated_block;
pub mod layer_energy;
pub mod layer_entropy;
pub mod long_context;
pub mod lyapunov_spectra;
pub mod mean_field;
pub mod measure_convergence;
pub mod merge_tree;
pub mod merging_times;
pub mod metastability;
pub mod mixing_matrices;
pub mod mode_count;
pub mod noise_orders;
pub mod noisy_bifurcation;
pub mod normalisation;
pub mod normalisation_bands;
pub mod perceptron_atoms;
pub mod phase_diagram;
pub mod positions;
pub mod proved_starts;
pub mod published_patterns;
pub mod random_values;
pub mod rank_collapse;
pub mod regime_chart;
pub mod rescaled_tokens;
pub mod saddle_gallery;
pub mod saddle_kernel;
pub mod seed_sheet;
pub mod space_time;
pub mod staircase;
pub mod timeline;

/// Results of one experiment: its cells in grid order.
pub type Results = Vec<(Cell, CellTables)>;

/// What a figure may look at.
#[derive(Default)]
pub struct Inputs {
    /// Results of the experiments it asked for, in order.
    pub results: Vec<Results>,
    /// Tables of the study it asked for.
    pub tables: study::Tables,
    /// Given of its parameters.
    pub values: study::Given,
    /// Hidden states of a model compared with SA, when it asked for them.
    pub hidden: Option<Comparison>,
}

impl Inputs {
    /// A table of the study. **Errors** a name that the study does not have.
    pub fn table(&self, name: &str) -> Result<&crate::flow::Table> {
        let known = self.tables.iter().map(|(n, _)| n.as_str());
        self.tables.iter().find(|(n, _)| n == name).map(|(_, t)| t).ok_or_else(|| crate::Error::unknown("table", name, known))
    }
}

/// What a figure shows of the cells of an experiment.
pub struct CellsShown {
    /// Most cells.
    pub most: usize,
    /// The dimension it is made for.
    pub d: Option<usize>,
    /// Columns of their tables.
    pub columns: &'static [&'static str],
}

impl CellsShown {
    /// **Errors** results that the figure could not show whole, named by `flag`.
    pub fn check(&self, flag: &str, cells: &[(Cell, CellTables)]) -> Result<()> {
        let wrong = |found: String, expected: String| Err(crate::Error::parameter(flag, found, expected));
        if cells.is_empty() || cells.len() > self.most {
            let expected = if self.most == 1 { "one cell (--cell ID)".into() } else { format!("from 1 to {} cells", self.most) };
            return wrong(format!("{} cells", cells.len()), format!("{expected} in this figure"));
        }
        for (cell, tables) in cells {
            if let Some(d) = self.d.filter(|d| *d != cell.d) {
                return wrong(format!("d = {}", cell.d), format!("d = {d} in this figure"));
            }
            let lacks = self.columns.iter().find(|c| !tables.table.columns.iter().any(|have| have == *c));
            if let Some(column) = lacks {
                return wrong(
                    format!("columns {}", tables.table.columns.join(", ")),
                    format!("a column {column} (an observable that was recorded)"),
                );
            }
        }
        Ok(())
    }
}

/// A registered figure.
pub struct PaperFigure {
    /// Name on the command line and of its files.
    pub name: &'static str,
    /// Title in the gallery.
    pub title: &'static str,
    /// Experiments it needs, by name.
    pub experiments: &'static [&'static str],
    /// The same for `--full`; empty if there is no larger version.
    pub full: &'static [&'static str],
    /// What it shows of cells, its own or a user's.
    pub cells: Option<CellsShown>,
    /// The study whose tables it draws.
    pub study: Option<&'static study::Part>,
    /// What can be asked of it besides the study: of its experiments, by their keys, or of the drawing.
    pub parameters: &'static [study::Parameter],
    /// True when it shows hidden states of a model.
    pub hidden: bool,
    /// Part of the quick check (its data take seconds).
    pub quick: bool,
    /// The drawing.
    pub draw: fn(&Inputs) -> Result<Picture>,
}

impl PaperFigure {
    /// Everything that can be asked of it.
    pub fn asked(&self) -> Vec<&'static study::Parameter> {
        self.parameters.iter().chain(self.study.map_or(&[][..], |s| s.parameters)).collect()
    }
}

/// All figures, by name.
pub static ALL: &[&PaperFigure] = include!(concat!(env!("OUT_DIR"), "/figures.rs"));

/// Rows of a table whose column has this value.
fn only(table: &crate::flow::Table, column: &str, value: f64) -> crate::flow::Table {
    let keep = table.column(column).iter().map(|v| (v - value).abs() <= 1e-12 * value.abs()).collect::<Vec<_>>();
    let rows = table.rows.iter().zip(keep).filter(|(_, k)| *k).map(|(r, _)| r.clone()).collect();
    crate::flow::Table { columns: table.columns.clone(), rows }
}

/// Distinct values of a column, in order of appearance.
fn distinct(table: &crate::flow::Table, column: &str) -> Vec<f64> {
    let mut out: Vec<f64> = Vec::new();
    for v in table.column(column) {
        if !out.iter().any(|o| o.to_bits() == v.to_bits()) {
            out.push(v);
        }
    }
    out
}

/// Pairs of two columns of a table.
fn series(table: &crate::flow::Table, x: &str, y: &str) -> Vec<(f64, f64)> {
    table.column(x).into_iter().zip(table.column(y)).collect()
}
