//! The texts that were given for parameters, and how they are read.

use super::error::{Error, Result};
use super::parameter::{Kind, Parameter};
use super::value::Value;

/// The texts that were given, by the name of the parameter, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Given(Vec<(String, Vec<String>)>);

/// A struct of typed parameters; [`parameters!`](crate::parameters) implements it.
pub trait Parameters: Sized {
    /// The table of all parameters.
    fn table() -> Vec<Parameter>;

    /// Reads the parameters of the table in their order; problems are added to the faults.
    #[doc(hidden)]
    fn read(
        given: &Given,
        table: &mut std::slice::Iter<'_, Parameter>,
        faults: &mut Vec<Error>,
    ) -> Option<Self>;

    /// Reads all parameters.
    ///
    /// **Errors** all problems together: unknown names, missing values, values of another form or
    /// out of their range, parameters that exclude or need others.
    fn of(given: &Given) -> Result<Self> {
        let table = Self::table();
        let given = &given.clone().renamed(&table);
        let mut faults = given.faults(&table);
        let read = Self::read(given, &mut table.iter(), &mut faults);
        match (read, faults.len()) {
            (Some(all), 0) => Ok(all),
            (_, 1) => Err(faults.remove(0)),
            _ => Err(Error::Many(faults)),
        }
    }
}

impl Given {
    /// Given texts, one for each name.
    pub fn of(texts: &[(&str, &str)]) -> Self {
        let mut given = Self::default();
        texts.iter().for_each(|(name, text)| given.add(name, text));
        given
    }

    /// Adds a text for a name.
    pub fn add(&mut self, name: &str, text: &str) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, all)) => all.push(text.to_owned()),
            None => self.0.push((name.to_owned(), vec![text.to_owned()])),
        }
    }

    /// With the names of the table in the place of other names of the same parameters.
    #[must_use]
    #[doc(hidden)]
    pub fn renamed(self, table: &[Parameter]) -> Self {
        let mut renamed = Self::default();
        for (name, texts) in self.0 {
            let own = table.iter().find(|p| p.also().contains(&name.as_str()));
            let name = own.map_or(name.as_str(), |p| p.name);
            texts.iter().for_each(|text| renamed.add(name, text));
        }
        renamed
    }

    /// The texts of a name.
    pub fn texts(&self, name: &str) -> &[String] {
        self.0.iter().find(|(known, _)| known == name).map_or(&[], |(_, texts)| texts)
    }

    /// Whether something is given for a name; a switch that is `false` is not given.
    pub fn has(&self, name: &str) -> bool {
        self.texts(name).iter().any(|text| text != "false")
    }

    /// All names with their texts.
    #[doc(hidden)]
    pub fn all(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(name, texts)| (name.as_str(), texts.as_slice()))
    }

    /// The value of a parameter; a problem is added to the faults.
    #[doc(hidden)]
    pub fn value<T: Value>(&self, parameter: &Parameter, faults: &mut Vec<Error>) -> Option<T> {
        let texts = self.texts(parameter.name);
        let read = match (texts, parameter.default()) {
            ([], Some(text)) => T::read(parameter, &text),
            ([], None) => return T::absent(),
            ([..], _) => T::read_all(parameter, texts),
        };
        read.map_err(|e| faults.push(e)).ok()
    }

    /// **Errors** all problems of texts for the parameters of a table that has no struct.
    #[doc(hidden)]
    pub fn checked(&self, table: &[Parameter]) -> Result<()> {
        let mut faults = self.faults(table);
        for p in table {
            match self.texts(p.name) {
                [] => {}
                [text] => faults.extend(p.read(text).err()),
                all => faults.push(Error::parameter(p.name, all.join(" and "), "one value")),
            }
        }
        match faults.len() {
            0 => Ok(()),
            1 => Err(faults.remove(0)),
            _ => Err(Error::Many(faults)),
        }
    }

    /// What is wrong apart from single values: unknown names, missing parameters, parameters that
    /// exclude or need others.
    #[doc(hidden)]
    pub fn faults(&self, table: &[Parameter]) -> Vec<Error> {
        let mut faults = Vec::new();
        for (name, _) in &self.0 {
            if table.iter().all(|p| p.name != name) {
                let known = table.iter().filter(|p| !p.is_hidden()).map(|p| p.name);
                faults.push(Error::unknown("parameter", name, known));
            }
        }
        let flag = |name: &str| format!("--{}", name.replace('_', "-"));
        let known = |names: &'static [&'static str]| {
            names.iter().filter(|name| table.iter().any(|p| p.name == **name && !p.is_hidden()))
        };
        for p in table {
            if !self.has(p.name) {
                if p.required && !p.unless().iter().any(|other| self.has(other)) {
                    let others: String =
                        known(p.unless()).map(|name| format!(", or {}", flag(name))).collect();
                    let expected = format!("{}{others}", p.expected());
                    faults.push(Error::parameter(p.name, "nothing", expected));
                }
                continue;
            }
            if let Some(other) = p.excludes().iter().find(|other| self.has(other)) {
                let found = format!("{} together with {}", flag(p.name), flag(other));
                faults.push(Error::parameter(p.name, found, "one of them"));
            }
            if !p.needs().is_empty() && !p.needs().iter().any(|other| self.has(other)) {
                let others: Vec<String> = p.needs().iter().map(|name| flag(name)).collect();
                let found = format!("{} alone", flag(p.name));
                let expected = format!("it together with {}", others.join(" or "));
                faults.push(Error::parameter(p.name, found, expected));
            }
            if p.kind == Kind::Switch && self.texts(p.name).len() > 1 {
                faults.push(Error::parameter(p.name, "it twice", "it once"));
            }
        }
        faults
    }
}
