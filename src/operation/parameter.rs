//! The description of a parameter.

use super::error::{Error, Result, format_number};

/// The kind of value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Real,
    /// Numbers: a list or a range.
    Numbers,
    /// A number or an interval A..B.
    Span,
    /// A name.
    Name,
    /// Any text.
    Text,
    /// The path of a file or a folder.
    File,
    /// A switch: given or absent.
    Switch,
}

/// The value where none is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// There is none: a value must be given, or its absence means something.
    None,
    /// As text.
    Text(&'static str),
    /// One number, or a list of several.
    Numbers(&'static [f64]),
}

/// The limits of a parameter: what its values may be, and what it needs or excludes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    low: f64,
    high: f64,
    /// Whether the ends belong to the range.
    closed: (bool, bool),
    default: Default,
    unless: &'static [&'static str],
    needs: &'static [&'static str],
    excludes: &'static [&'static str],
    also: &'static [&'static str],
    separator: Option<char>,
    bare: Option<&'static str>,
    form: &'static str,
    group: &'static str,
    positional: bool,
    hidden: bool,
    check: Option<fn(&str) -> Result<()>>,
}

/// A parameter of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name: letters, digits and `_`.
    pub name: &'static str,
    /// Its meaning, one or a few sentences.
    pub what: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Whether a value must be given, unless another parameter takes its place.
    pub required: bool,
    /// Whether it may be given several times.
    pub many: bool,
    /// What its values may be.
    pub limits: Limits,
}

/// No limits.
pub const fn any() -> Limits {
    Limits {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        closed: (false, false),
        default: Default::None,
        unless: &[],
        needs: &[],
        excludes: &[],
        also: &[],
        separator: None,
        bare: None,
        form: "",
        group: "",
        positional: false,
        hidden: false,
        check: None,
    }
}

/// Numbers in `[low, high]`.
pub const fn within(low: f64, high: f64) -> Limits {
    Limits { low, high, closed: (true, true), ..any() }
}

/// Numbers of at least `low`.
pub const fn at_least(low: f64) -> Limits {
    Limits { low, closed: (true, false), ..any() }
}

/// Numbers in `(low, high]`; without an upper end for an infinite `high`.
pub const fn above(low: f64, high: f64) -> Limits {
    Limits { low, high, closed: (false, high < f64::INFINITY), ..any() }
}

/// Numbers in `(low, high)`.
pub const fn below(low: f64, high: f64) -> Limits {
    Limits { low, high, ..any() }
}

/// Texts that pass a check, whose error is reported.
pub const fn checked(check: fn(&str) -> Result<()>) -> Limits {
    Limits { check: Some(check), ..any() }
}

/// A value that must be given unless one of these parameters is.
pub const fn one_of(others: &'static [&'static str]) -> Limits {
    Limits { unless: others, ..any() }
}

impl Limits {
    /// With a default.
    #[must_use]
    pub const fn or(self, default: &'static str) -> Self {
        Self { default: Default::Text(default), ..self }
    }

    /// With a default of one or several numbers.
    #[must_use]
    pub const fn or_numbers(self, default: &'static [f64]) -> Self {
        Self { default: Default::Numbers(default), ..self }
    }

    /// It must be given unless one of these parameters is.
    #[must_use]
    pub const fn unless(self, others: &'static [&'static str]) -> Self {
        Self { unless: others, ..self }
    }

    /// It is allowed only together with one of these parameters.
    #[must_use]
    pub const fn needs(self, others: &'static [&'static str]) -> Self {
        Self { needs: others, ..self }
    }

    /// It is refused together with any of these parameters.
    #[must_use]
    pub const fn excludes(self, others: &'static [&'static str]) -> Self {
        Self { excludes: others, ..self }
    }

    /// Other names that are understood, too.
    #[must_use]
    pub const fn also(self, names: &'static [&'static str]) -> Self {
        Self { also: names, ..self }
    }

    /// Values of a list are separated by commas.
    #[must_use]
    pub const fn separated(self) -> Self {
        Self { separator: Some(','), ..self }
    }

    /// At the command line the flag without a value stands for this one.
    #[must_use]
    pub const fn alone(self, value: &'static str) -> Self {
        Self { bare: Some(value), ..self }
    }

    /// The form of a value in help, such as `k/K`.
    #[must_use]
    pub const fn form(self, form: &'static str) -> Self {
        Self { form, ..self }
    }

    /// The heading of its help.
    #[must_use]
    pub const fn group(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    /// At the command line it is a word without a flag.
    #[must_use]
    pub const fn positional(self) -> Self {
        Self { positional: true, ..self }
    }

    /// It is not shown in help.
    #[must_use]
    pub const fn hidden(self) -> Self {
        Self { hidden: true, ..self }
    }

    /// Its text must pass this check.
    #[must_use]
    pub const fn check(self, check: fn(&str) -> Result<()>) -> Self {
        Self { check: Some(check), ..self }
    }

    /// Whether there is a default.
    pub(crate) const fn has_default(&self) -> bool {
        !matches!(self.default, Default::None)
    }

    /// Whether another parameter may take its place.
    pub(crate) const fn is_replaceable(&self) -> bool {
        !self.unless.is_empty()
    }
}

impl Parameter {
    /// A parameter with a kind of its own.
    pub const fn new(name: &'static str, kind: Kind, limits: Limits, what: &'static str) -> Self {
        let required = matches!(limits.default, Default::None) && !matches!(kind, Kind::Switch);
        Self { name, what, kind, required, many: false, limits }
    }

    /// A whole number, or a list of them where the default has several numbers.
    #[doc(hidden)]
    pub const fn count(
        name: &'static str,
        default: &'static [f64],
        (low, high): (f64, f64),
        what: &'static str,
    ) -> Self {
        let limits = within(low, high).or_numbers(default);
        Self { many: default.len() > 1, ..Self::new(name, Kind::Whole, limits, what) }
    }

    /// A number, or a list of them where the default has several numbers.
    #[doc(hidden)]
    pub const fn real(
        name: &'static str,
        default: &'static [f64],
        range: (f64, f64),
        what: &'static str,
    ) -> Self {
        Self { kind: Kind::Real, ..Self::count(name, default, range, what) }
    }

    /// The numbers of the default.
    #[doc(hidden)]
    pub const fn default_numbers(&self) -> &'static [f64] {
        match self.limits.default {
            Default::Numbers(all) => all,
            Default::None | Default::Text(_) => &[],
        }
    }

    /// With a default.
    #[must_use]
    #[doc(hidden)]
    pub const fn or(self, default: &'static str) -> Self {
        Self { required: false, limits: self.limits.or(default), ..self }
    }

    /// It need not be given.
    #[must_use]
    #[doc(hidden)]
    pub const fn optional(self) -> Self {
        Self { required: false, ..self }
    }

    /// The smallest and the largest number.
    #[doc(hidden)]
    pub const fn bounds(&self) -> (f64, f64) {
        (self.limits.low, self.limits.high)
    }

    /// The default as text.
    ///
    /// ```
    /// use metastable::operation::any;
    /// assert_eq!(any().or_numbers(&[1.0, 2.5]).parameter::<f64>("x", "").default().unwrap(), "1,2.5");
    /// ```
    #[doc(hidden)]
    pub fn default(&self) -> Option<String> {
        match self.limits.default {
            Default::None => None,
            Default::Text(text) => Some(text.to_owned()),
            Default::Numbers(all) => {
                Some(all.iter().map(|v| format_number(*v)).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// The default as a number, if it is one.
    #[doc(hidden)]
    pub fn default_number(&self) -> Option<f64> {
        self.default()?.parse().ok()
    }

    /// Parameters of which one suffices in the place of this one.
    #[doc(hidden)]
    pub const fn unless(&self) -> &'static [&'static str] {
        self.limits.unless
    }

    /// Parameters of which one must be given with this one.
    #[doc(hidden)]
    pub const fn needs(&self) -> &'static [&'static str] {
        self.limits.needs
    }

    /// Parameters that must not be given with this one.
    #[doc(hidden)]
    pub const fn excludes(&self) -> &'static [&'static str] {
        self.limits.excludes
    }

    /// Other names that are understood, too.
    #[doc(hidden)]
    pub const fn also(&self) -> &'static [&'static str] {
        self.limits.also
    }

    /// The heading of its help; empty for none.
    #[doc(hidden)]
    pub const fn group(&self) -> &'static str {
        self.limits.group
    }

    /// Whether it is a word without a flag.
    #[doc(hidden)]
    pub const fn is_positional(&self) -> bool {
        self.limits.positional
    }

    /// Whether help leaves it out.
    #[doc(hidden)]
    pub const fn is_hidden(&self) -> bool {
        self.limits.hidden
    }

    /// The value of the flag without one.
    #[doc(hidden)]
    pub const fn alone(&self) -> Option<&'static str> {
        self.limits.bare
    }

    /// The separator of the values in one text.
    #[doc(hidden)]
    pub const fn separator(&self) -> Option<char> {
        self.limits.separator
    }

    /// The form of a value in help.
    #[doc(hidden)]
    pub fn form(&self) -> &'static str {
        match (self.limits.form, self.kind) {
            ("", Kind::Whole | Kind::Real) => "NUMBER",
            ("", Kind::Numbers) => "NUMBERS",
            ("", Kind::Span) => "B|A..B",
            ("", Kind::Name) => "NAME",
            ("", Kind::Text) => "TEXT",
            ("", Kind::File) => "FILE",
            ("", Kind::Switch) => "",
            (form, _) => form,
        }
    }

    /// The range in words; empty where every value is allowed.
    #[doc(hidden)]
    pub fn interval(&self) -> String {
        let Limits { low, high, closed, .. } = self.limits;
        let (a, b) = (format_number(low), format_number(high));
        match (low > f64::NEG_INFINITY, high < f64::INFINITY) {
            (false, false) => String::new(),
            (true, false) if closed.0 => format!("of at least {a}"),
            (true, false) => format!("above {a}"),
            (false, true) => format!("of at most {b}"),
            (true, true) => {
                let ends = (if closed.0 { '[' } else { '(' }, if closed.1 { ']' } else { ')' });
                format!("in {}{a}, {b}{}", ends.0, ends.1)
            }
        }
    }

    /// What is expected, for errors.
    #[doc(hidden)]
    pub fn expected(&self) -> String {
        let kind = match self.kind {
            Kind::Whole => "a whole number",
            Kind::Real => "a number",
            Kind::Numbers => "numbers",
            Kind::Span => "a number or an interval a..b, each",
            Kind::Name => "a name",
            Kind::Text => "a text",
            Kind::File => "a file",
            Kind::Switch => "true",
        };
        let form = if self.limits.form.is_empty() {
            String::new()
        } else {
            format!(" ({})", self.limits.form)
        };
        match self.kind {
            Kind::Span if self.interval().is_empty() => "a number or an interval a..b".to_owned(),
            Kind::Whole | Kind::Real | Kind::Numbers | Kind::Span => {
                format!("{kind} {}", self.interval()).trim_end().to_owned()
            }
            Kind::Name | Kind::Text | Kind::File => format!("{kind}{form}"),
            Kind::Switch => kind.to_owned(),
        }
    }

    /// The meaning with range and default, for help.
    #[doc(hidden)]
    pub fn help(&self) -> String {
        let (what, interval) = (self.what.trim_end_matches('.'), self.interval());
        let range = if interval.is_empty() || what.contains(&interval) {
            String::new()
        } else {
            format!(", {interval}")
        };
        let default = self.default().filter(|_| !what.contains("efault"));
        let default = default.map_or(String::new(), |text| format!(" [default: {text}]"));
        format!("{what}{range}{default}")
    }

    /// Whether a number is in the range.
    #[doc(hidden)]
    pub fn holds(&self, v: f64) -> bool {
        let Limits { low, high, closed, .. } = self.limits;
        let above = if closed.0 { v >= low } else { v > low };
        let below = if closed.1 { v <= high } else { v < high };
        above && below
    }

    /// The error for a value that is none of those expected.
    #[doc(hidden)]
    pub fn refuse(&self, found: &str) -> Error {
        let found = if found.is_empty() { "an empty text" } else { found };
        Error::parameter(self.name, found, self.expected())
    }

    /// **Errors** a text that its own check refuses.
    pub(crate) fn check(&self, text: &str) -> Result<()> {
        let named = |e| match e {
            Error::Parameter { found, expected, .. } => {
                Error::parameter(self.name, found, expected)
            }
            other => other,
        };
        self.limits.check.map_or(Ok(()), |check| check(text).map_err(named))
    }
}
