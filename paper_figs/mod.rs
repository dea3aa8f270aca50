//! The figures, one file each: the data that a figure needs, and a pure function from data to a
//! picture. A figure never runs a solver.

use crate::draw::{Axis, Panel, Picture};
use crate::error::Result;
use crate::flow::sa_fit::SaFit;
use crate::lab::{Cell, cell::CellTables};
use crate::study;

pub mod bifurcation_diagram;
pub mod bipartite_ends;
pub mod causal_centres;
pub mod circle_snapshots;
pub mod cluster_count;
pub mod connections;
pub mod energy_landscapes;
pub mod entropy;
pub mod gamma_curve;
pub mod gaussian_closure;
pub mod growth_rates;
pub mod hardmax_cells;
pub mod hessian_spectrum;
pub mod inner_products;
pub mod iterated_block;
pub mod landscape_atlas;
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
pub mod synchronisation_phases;
pub mod timeline;

/// Results of one experiment: its cells in grid order.
pub type Results = Vec<(Cell, CellTables)>;

/// The data of a figure.
#[derive(Default)]
pub struct Inputs {
    /// Results of its experiments, in order.
    pub results: Vec<Results>,
    /// Tables of its study.
    pub tables: study::Tables,
    /// Values of its parameters.
    pub values: study::Values,
    /// The command that wrote the tables, if they were read from a folder of another command.
    pub source_command: Option<String>,
    /// Hidden states of a model compared with SA, if it needs them.
    pub hidden: Option<SaFit>,
}

impl Inputs {
    /// A table of the study.
    ///
    /// **Errors** an unknown name.
    pub fn table(&self, name: &str) -> Result<&crate::lab::LabelledTable> {
        let known = self.tables.iter().map(|(n, _)| n.as_str());
        self.tables
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, t)| t)
            .ok_or_else(|| crate::Error::unknown("table", name, known))
    }
}

/// The cells of an experiment that a figure can show.
pub struct CellSelection {
    /// Largest number of cells.
    pub max_cells: usize,
    /// The dimension, if the figure works for one only.
    pub d: Option<usize>,
    /// Columns that their tables must have.
    pub columns: &'static [&'static str],
}

impl CellSelection {
    /// **Errors** results that the figure cannot show completely; `flag` names them.
    pub fn check(&self, flag: &str, cells: &[(Cell, CellTables)]) -> Result<()> {
        let wrong =
            |found: String, expected: String| Err(crate::Error::parameter(flag, found, expected));
        if cells.is_empty() || cells.len() > self.max_cells {
            let expected = if self.max_cells == 1 {
                "one cell (--cell ID)".into()
            } else {
                format!("from 1 to {} cells", self.max_cells)
            };
            return wrong(format!("{} cells", cells.len()), format!("{expected} in this figure"));
        }
        for (cell, tables) in cells {
            if let Some(d) = self.d.filter(|d| *d != cell.d) {
                return wrong(format!("d = {}", cell.d), format!("d = {d} in this figure"));
            }
            let lacks =
                self.columns.iter().find(|c| !tables.table.columns.iter().any(|have| have == *c));
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

/// A reference to a figure of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FigureReference {
    /// The figure with this number.
    Figure(u32),
    /// A figure with unknown number: its place as far as it is known.
    Unnumbered(&'static str),
}

impl std::fmt::Display for FigureReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Figure(number) => write!(f, "figure {number}"),
            Self::Unnumbered(place) => f.write_str(place),
        }
    }
}

/// A published figure that a figure of this folder redraws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedFigure {
    /// arXiv number of the paper.
    pub paper: &'static str,
    /// The figure.
    pub place: FigureReference,
    /// What it shows.
    pub shows: &'static str,
    /// How the figure here differs; empty if no difference is known.
    pub differs: &'static str,
}

/// A registered figure.
pub struct PaperFigure {
    /// Name on the command line and of its files.
    pub name: &'static str,
    /// Title in the gallery.
    pub title: &'static str,
    /// The published figures that it redraws; empty if no paper has it.
    pub redraws: &'static [PublishedFigure],
    /// Experiments it needs, by name.
    pub experiments: &'static [&'static str],
    /// Experiments for `--published`, the grid of the paper; empty if it has no such version.
    pub published: &'static [&'static str],
    /// The cells that it can show, from its own or a user's experiment.
    pub cells: Option<CellSelection>,
    /// The study whose tables it draws.
    pub study: Option<&'static study::Part>,
    /// Parameters besides those of the study: keys of its experiments, or settings of the drawing.
    pub parameters: &'static [study::Parameter],
    /// True if it needs hidden states of a model.
    pub needs_hidden_states: bool,
    /// True if it is part of the quick check (its data take seconds).
    pub quick: bool,
    /// The drawing.
    pub draw: fn(&Inputs) -> Result<Picture>,
}

impl PaperFigure {
    /// Defaults of the optional fields.
    const EMPTY: Self = Self {
        name: "",
        title: "",
        redraws: &[],
        experiments: &[],
        published: &[],
        cells: None,
        study: None,
        parameters: &[],
        needs_hidden_states: false,
        quick: false,
        draw: |_| {
            Ok(Picture { panels: Vec::new(), columns: 1, aspect: 1.0, caption: String::new() })
        },
    };

    /// All parameters of the figure and its study.
    pub fn all_parameters(&self) -> Vec<&'static study::Parameter> {
        self.parameters.iter().chain(self.study.map_or(&[][..], |s| s.parameters)).collect()
    }
}

/// All figures, by name.
pub static ALL: &[&PaperFigure] = include!(concat!(env!("OUT_DIR"), "/figures.rs"));

/// The dynamics of a cell as text: `SA`, `USA with norm pre`, `SA in layers of step 0.1`.
fn dynamics_text(cell: &Cell) -> String {
    let name =
        if cell.dynamics.len() < 4 { cell.dynamics.to_uppercase() } else { cell.dynamics.clone() };
    let model = if cell.model.is_empty() { String::new() } else { format!(" with {}", cell.model) };
    match cell.eta() {
        Ok(f64::INFINITY) => format!("{name}{model} by mean shift"),
        Ok(eta) if eta > 0.0 => format!("{name}{model} in layers of step {eta}"),
        _ => format!("{name}{model}"),
    }
}

/// The tokens of a cell as text: `32 uniform tokens`, or `5 tokens` for explicit ones.
fn tokens(cell: &Cell) -> String {
    if cell.init.is_empty() {
        format!("{} tokens", cell.n)
    } else {
        format!("{} {} tokens", cell.n, cell.init)
    }
}

/// The rows of the first run, and a note for the caption if there are several runs.
fn first_run(table: &crate::flow::Table) -> (crate::flow::Table, String) {
    let runs = distinct(table, "realisation");
    let note =
        if runs.len() > 1 { format!(" (the first of {} runs)", runs.len()) } else { String::new() };
    (runs.first().map_or_else(|| table.clone(), |first| only(table, "realisation", *first)), note)
}

/// The quantity whose logarithm is the column `log_energy`.
const ENERGY: &str = "the energy sum_ij m_i m_j e^(beta (G_ij - 1)) of tokens of masses m (1 at \
    one cluster)";

/// The axis of an energy.
fn energy_axis(table: &crate::flow::Table) -> Axis {
    let top = span(table.column("log_energy"), (0.0, 0.0)).1.exp();
    Axis::linear("energy", 0.0, 1.05 * top.max(1.0))
}

/// A list of numbers as text: `2, 6 and 9`; of a long list the first and the last.
fn join_numbers(values: &[f64]) -> String {
    let shown: Vec<String> = values.iter().map(|v| crate::error::format_number(*v)).collect();
    match shown.as_slice() {
        [] => "none".into(),
        [one] => one.clone(),
        [first, .., last] if shown.len() > 12 => {
            format!("{} values from {first} to {last}", shown.len())
        }
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    }
}

/// The smallest and the largest finite value; `otherwise` if there is none.
fn span(values: impl IntoIterator<Item = f64>, otherwise: (f64, f64)) -> (f64, f64) {
    let found = values.into_iter().filter(|v| v.is_finite());
    let (low, high) =
        found.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low <= high { (low, high) } else { otherwise }
}

/// The rows with this value in a column.
fn only(table: &crate::flow::Table, column: &str, value: f64) -> crate::flow::Table {
    let keep = table
        .column(column)
        .iter()
        .map(|v| (v - value).abs() <= 1e-12 * value.abs())
        .collect::<Vec<_>>();
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

/// The distinct values of a column, each with its rows.
fn groups(table: &crate::flow::Table, column: &str) -> Vec<(f64, crate::flow::Table)> {
    distinct(table, column).into_iter().map(|v| (v, only(table, column, v))).collect()
}

/// One panel for each distinct value of a column, from the value and its rows.
///
/// **Errors** those of the panels.
fn panel_per_group(
    table: &crate::flow::Table,
    column: &str,
    mut panel: impl FnMut(f64, &crate::flow::Table) -> Result<Panel>,
) -> Result<Vec<Panel>> {
    groups(table, column).iter().map(|(value, rows)| panel(*value, rows)).collect()
}

/// The rows of a table, from each the numbers in these columns.
///
/// **Errors** a column that the table does not have.
fn columns<const N: usize>(table: &crate::flow::Table, names: [&str; N]) -> Result<Vec<[f64; N]>> {
    let position = |name: &str| {
        let known = table.columns.iter().map(String::as_str);
        table
            .columns
            .iter()
            .position(|c| c == name)
            .ok_or_else(|| crate::Error::unknown("column", name, known))
    };
    let places = names.into_iter().map(position).collect::<Result<Vec<usize>>>()?;
    Ok(table.rows.iter().map(|row| std::array::from_fn(|k| row[places[k]])).collect())
}

/// The pairs of values in two columns.
fn series(table: &crate::flow::Table, x: &str, y: &str) -> Vec<(f64, f64)> {
    table.column(x).into_iter().zip(table.column(y)).collect()
}
