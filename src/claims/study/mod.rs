//! Studies: computations behind figures. They yield tables; each study is one file with a
//! [`Study`].
//!
//! An experiment is a grid of runs described by a TOML file. A study is a computation that does not
//! fit an experiment: a search, a scan with a statistic of its own, a comparison with several laws.
//! Studies take seconds and have fixed seeds.

use crate::error::{Error, Result, format_number};
use crate::flow::Table;
use std::ops::{Deref, DerefMut};

/// Named tables of one study.
pub type Tables = Vec<(String, LabelledTable)>;

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

/// A parameter of a study or figure: a number or a list of numbers.
#[derive(Debug)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Default; several numbers for a list.
    pub default: &'static [f64],
    /// Smallest and largest value.
    pub range: (f64, f64),
    /// True if values are whole numbers.
    pub whole: bool,
    /// Description.
    pub what: &'static str,
}

impl Parameter {
    /// A whole number.
    pub const fn count(
        name: &'static str,
        default: &'static [f64],
        range: (f64, f64),
        what: &'static str,
    ) -> Self {
        Self { name, default, range, whole: true, what }
    }

    /// A number.
    pub const fn real(
        name: &'static str,
        default: &'static [f64],
        range: (f64, f64),
        what: &'static str,
    ) -> Self {
        Self { name, default, range, whole: false, what }
    }

    /// True if it takes a list.
    pub fn is_list(&self) -> bool {
        self.default.len() > 1
    }

    /// Parses a value: a number, or numbers separated by commas.
    ///
    /// **Errors** a text that is not a number, a number out of range, a list for a single
    /// parameter.
    pub fn read(&self, text: &str) -> Result<Vec<f64>> {
        let (low, high) = self.range;
        let form = match (self.is_list(), self.whole) {
            (true, true) => "whole numbers",
            (true, false) => "numbers",
            (false, true) => "a whole number",
            (false, false) => "a number",
        };
        let expected = |near: f64| {
            format!(
                "{form} from {} to {}, the nearest is {}",
                format_number(low),
                format_number(high),
                format_number(near)
            )
        };
        let values: Vec<&str> = text.split(',').map(str::trim).collect();
        if values.len() > 1 && !self.is_list() {
            return Err(Error::parameter(
                self.name,
                text,
                format!("one value, {form} from {} to {}", format_number(low), format_number(high)),
            ));
        }
        let one = |t: &str| {
            let v = t.parse::<f64>().ok().filter(|v| v.is_finite());
            let v = v.ok_or_else(|| {
                Error::parameter(
                    self.name,
                    t,
                    format!("{form} from {} to {}", format_number(low), format_number(high)),
                )
            })?;
            let near = if self.whole { v.round().clamp(low, high) } else { v.clamp(low, high) };
            if (v - near).abs() > 0.0 {
                Err(Error::parameter(self.name, t, expected(near)))
            } else {
                Ok(v)
            }
        };
        values.into_iter().map(one).collect()
    }
}

/// Values of parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Vec<(&'static str, Vec<f64>)>);

impl Values {
    /// The defaults.
    pub fn defaults<'a>(parameters: impl IntoIterator<Item = &'a Parameter>) -> Self {
        Self(parameters.into_iter().map(|p| (p.name, p.default.to_vec())).collect())
    }

    /// Sets a value.
    ///
    /// **Errors** an unknown name; a value that [`Parameter::read`] refuses.
    pub fn set(&mut self, parameters: &[&'static Parameter], name: &str, text: &str) -> Result<()> {
        let found = parameters.iter().find(|p| p.name == name);
        let found = found
            .ok_or_else(|| Error::unknown("parameter", name, parameters.iter().map(|p| p.name)))?;
        let read = found.read(text)?;
        self.0.iter_mut().filter(|v| v.0 == name).for_each(|v| v.1.clone_from(&read));
        Ok(())
    }

    /// The values of a list.
    ///
    /// **Errors** an unknown name.
    pub fn list(&self, name: &str) -> Result<&[f64]> {
        let found = self.0.iter().find(|v| v.0 == name);
        found
            .map(|v| v.1.as_slice())
            .ok_or_else(|| Error::unknown("parameter", name, self.0.iter().map(|v| v.0)))
    }

    /// The value of a single parameter.
    ///
    /// **Errors** an unknown name.
    pub fn one(&self, name: &str) -> Result<f64> {
        Ok(self.list(name)?[0])
    }

    /// The value of a single parameter as a whole number.
    ///
    /// **Errors** an unknown name.
    pub fn count(&self, name: &str) -> Result<usize> {
        Ok(self.one(name)? as usize)
    }

    /// One line per parameter, for records.
    pub fn text(&self) -> String {
        self.0.iter().map(|(name, v)| format!("{name} = {v:?}\n")).collect()
    }
}

/// A part of a study. Its tables depend on its own parameters only.
pub struct Part {
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The computation.
    pub run: fn(&Values) -> Result<Tables>,
}

impl Part {
    /// The study that it is a part of.
    pub fn study(&self) -> Option<&'static Study> {
        ALL.iter().copied().find(|s| s.parts.iter().any(|p| std::ptr::eq(*p, self)))
    }
}

/// A registered study.
pub struct Study {
    /// Name on the command line.
    pub name: &'static str,
    /// What it computes.
    pub title: &'static str,
    /// Paper and section.
    pub citation: &'static str,
    /// Its parts.
    pub parts: &'static [&'static Part],
}

impl Study {
    /// Tables of all parts at the default parameters.
    pub fn run(&self) -> Result<Tables> {
        self.run_with(&[])
    }

    /// Tables of all parts with other values for some parameters. A value goes to every part that
    /// has a parameter of this name.
    ///
    /// **Errors** an unknown name; a value that [`Parameter::read`] refuses.
    pub fn run_with(&self, changes: &[(&str, String)]) -> Result<Tables> {
        let known: Vec<&Parameter> = self.parts.iter().flat_map(|p| p.parameters).collect();
        if let Some((name, _)) =
            changes.iter().find(|(name, _)| known.iter().all(|p| p.name != *name))
        {
            if known.is_empty() {
                return Err(Error::parameter(
                    "parameters",
                    name,
                    format!("none: `{}` has none", self.name),
                ));
            }
            return Err(Error::unknown("parameter", name, known.iter().map(|p| p.name)));
        }
        // All values are read before anything runs.
        let given = |part: &Part| {
            let parameters: Vec<&'static Parameter> = part.parameters.iter().collect();
            let mut values = Values::defaults(part.parameters);
            let own = changes.iter().filter(|(name, _)| parameters.iter().any(|p| p.name == *name));
            own.into_iter().try_for_each(|(name, text)| values.set(&parameters, name, text))?;
            Ok(values)
        };
        let values: Vec<Values> = self.parts.iter().map(|p| given(p)).collect::<Result<_>>()?;
        let all: Vec<Tables> =
            self.parts.iter().zip(&values).map(|(p, v)| (p.run)(v)).collect::<Result<_>>()?;
        Ok(all.into_iter().flatten().collect())
    }
}

/// All studies, by name.
pub static ALL: &[&Study] = include!(concat!(env!("OUT_DIR"), "/studies.rs"));

/// Finds a study. **Errors** unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<&'static Study> {
    ALL.iter()
        .copied()
        .find(|e| e.name == name)
        .ok_or_else(|| Error::unknown("study", name, ALL.iter().map(|e| e.name)))
}

/// An empty table with these columns.
fn table(columns: &[&str]) -> LabelledTable {
    LabelledTable::new(columns)
}

pub mod bifurcations;
pub mod bipartite_ends;
pub mod causal_centres;
pub mod cluster_count;
pub mod flow_maps;
pub mod gaussian_closure;
pub mod hardmax_cells;
pub mod interaction_phases;
pub mod iterated_block;
pub mod landscape_tour;
pub mod long_context;
pub mod measure_convergence;
pub mod measure_view;
pub mod merging_times;
pub mod mixing_matrices;
pub mod mode_count;
pub mod noise_orders;
pub mod noisy_branches;
pub mod normalisation_bands;
pub mod normalisation_schemes;
pub mod perceptron_atoms;
pub mod positions;
pub mod proved_starts;
pub mod published_patterns;
pub mod random_values;
pub mod rank_collapse;
pub mod rescaled_tokens;
pub mod seed_sheet;
pub mod staircase;
