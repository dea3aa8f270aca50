//! The figures, one file each: what data they need, and a pure function from data to a picture. A figure never runs a solver.

use crate::draw::{Axis, Picture};
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
    /// The command that wrote the tables, where it did not run the study.
    pub made_by: Option<String>,
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

/// Which figure of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PrintedPlace {
    /// The figure with this number.
    Figure(u32),
    /// A figure whose number was not read: what is known of its place.
    Unnumbered(&'static str),
}

impl std::fmt::Display for PrintedPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Figure(number) => write!(f, "figure {number}"),
            Self::Unnumbered(place) => f.write_str(place),
        }
    }
}

/// A figure of a paper that a figure of this folder redraws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedFigure {
    /// Number of the paper at arXiv.
    pub paper: &'static str,
    /// Which figure of the paper.
    pub place: PrintedPlace,
    /// What it shows.
    pub shows: &'static str,
    /// What is different here; empty where nothing is known to be.
    pub differs: &'static str,
}

/// A registered figure.
pub struct PaperFigure {
    /// Name on the command line and of its files.
    pub name: &'static str,
    /// Title in the gallery.
    pub title: &'static str,
    /// The printed figures that it redraws; none where no paper has it.
    pub redraws: &'static [PrintedFigure],
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
    /// What most figures leave out.
    const EMPTY: Self = Self {
        name: "",
        title: "",
        redraws: &[],
        experiments: &[],
        full: &[],
        cells: None,
        study: None,
        parameters: &[],
        hidden: false,
        quick: false,
        draw: |_| Ok(Picture { panels: Vec::new(), columns: 1, aspect: 1.0, caption: String::new() }),
    };

    /// Everything that can be asked of it.
    pub fn asked(&self) -> Vec<&'static study::Parameter> {
        self.parameters.iter().chain(self.study.map_or(&[][..], |s| s.parameters)).collect()
    }
}

/// All figures, by name.
pub static ALL: &[&PaperFigure] = include!(concat!(env!("OUT_DIR"), "/figures.rs"));

/// What moved the tokens of a cell: `SA`, `USA with norm pre`, `SA in layers of step 0.1`.
fn motion(cell: &Cell) -> String {
    let name = if cell.dynamics.len() < 4 { cell.dynamics.to_uppercase() } else { cell.dynamics.clone() };
    let model = if cell.model.is_empty() { String::new() } else { format!(" with {}", cell.model) };
    match cell.eta() {
        Ok(f64::INFINITY) => format!("{name}{model} by mean shift"),
        Ok(eta) if eta > 0.0 => format!("{name}{model} in layers of step {eta}"),
        _ => format!("{name}{model}"),
    }
}

/// The tokens of a cell: `32 uniform tokens`, `5 tokens` where they were given.
fn tokens(cell: &Cell) -> String {
    if cell.init.is_empty() { format!("{} tokens", cell.n) } else { format!("{} {} tokens", cell.n, cell.init) }
}

/// The first run of a table of several, and what to say of it then.
fn first_run(table: &crate::flow::Table) -> (crate::flow::Table, String) {
    let runs = distinct(table, "realisation");
    let note = if runs.len() > 1 { format!(" (the first of {} runs)", runs.len()) } else { String::new() };
    (runs.first().map_or_else(|| table.clone(), |first| only(table, "realisation", *first)), note)
}

/// What the column `log_energy` is the logarithm of.
const ENERGY: &str = "the energy sum_ij m_i m_j e^(beta (G_ij - 1)) of tokens of masses m (1 at one cluster)";

/// The axis of an energy.
fn energy_axis(table: &crate::flow::Table) -> Axis {
    let top = span(table.column("log_energy"), (0.0, 0.0)).1.exp();
    Axis::linear("energy", 0.0, 1.05 * top.max(1.0))
}

/// Numbers as they are read: `2, 6 and 9`; of many the first and the last.
fn listed(values: &[f64]) -> String {
    let shown: Vec<String> = values.iter().map(|v| crate::error::show(*v)).collect();
    match shown.as_slice() {
        [] => "none".into(),
        [one] => one.clone(),
        [first, .., last] if shown.len() > 12 => format!("{} values from {first} to {last}", shown.len()),
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    }
}

/// The range of what is drawn: the smallest and the largest finite value, or these where there is none.
fn span(values: impl IntoIterator<Item = f64>, otherwise: (f64, f64)) -> (f64, f64) {
    let found = values.into_iter().filter(|v| v.is_finite());
    let (low, high) = found.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low <= high { (low, high) } else { otherwise }
}

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

/// The distinct values of a column with their rows.
fn groups(table: &crate::flow::Table, column: &str) -> Vec<(f64, crate::flow::Table)> {
    distinct(table, column).into_iter().map(|v| (v, only(table, column, v))).collect()
}

/// Pairs of two columns of a table.
fn series(table: &crate::flow::Table, x: &str, y: &str) -> Vec<(f64, f64)> {
    table.column(x).into_iter().zip(table.column(y)).collect()
}
