//! Studies: computations behind figures. They yield tables. A study and its figure are one file of
//! `paper_figs`, with a `STUDY` and an `ENTRY`.
//!
//! An experiment is a grid of runs described by a TOML file. A study is a computation that does not
//! fit an experiment: a search, a scan with a statistic of its own, a comparison with several laws.
//! Studies take seconds and have fixed seeds.

use crate::error::{Error, Result};
use crate::lab::LabelledTable;
pub use metastable_operation::Parameter;

/// Named tables of one study.
pub type Tables = Vec<(String, LabelledTable)>;

/// Values of parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Vec<(&'static str, Vec<f64>)>);

impl Values {
    /// The defaults.
    pub fn defaults<'a>(parameters: impl IntoIterator<Item = &'a Parameter>) -> Self {
        Self(parameters.into_iter().map(|p| (p.name, p.default_numbers().to_vec())).collect())
    }

    /// Sets a value.
    ///
    /// **Errors** an unknown name; a value that [`Parameter::numbers`] refuses.
    pub fn set(&mut self, parameters: &[&'static Parameter], name: &str, text: &str) -> Result<()> {
        let found = parameters.iter().find(|p| p.name == name);
        let found = found
            .ok_or_else(|| Error::unknown("parameter", name, parameters.iter().map(|p| p.name)))?;
        let read = found.numbers(text)?;
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
    /// **Errors** an unknown name; a value that [`Parameter::numbers`] refuses.
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
pub(crate) fn table(columns: &[&str]) -> LabelledTable {
    LabelledTable::new(columns)
}
