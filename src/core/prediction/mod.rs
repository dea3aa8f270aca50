//! The closed forms of [`crate::theory`] as a registry: parameters, results and source of each.
//!
//! The command line and Python take their arguments, help and errors from this description.
//!
//! ```
//! let wendel = metastable::prediction::find("wendel")?;
//! assert_eq!(wendel.evaluate(&[("n", "4"), ("d", "2")])?["probability"], 0.5);
//! # Ok::<(), metastable::Error>(())
//! ```

mod interaction;
mod other_models;
mod plain_attention;

use crate::attention::{RowWeights, TimeScale};
use crate::error::{Error, PREDICTION, Result, format_number};
use serde_json::Value;
use std::str::FromStr;

/// The kind of value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A number.
    Real,
    /// Numbers separated by commas.
    List,
    /// A name.
    Word,
    /// A switch: `true` or absent.
    Switch,
}

/// A parameter of a prediction.
#[derive(Debug)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: Kind,
    /// Smallest and largest number.
    pub bounds: (f64, f64),
    /// The value where none is given.
    pub default: Option<&'static str>,
    /// True when a value must be given, unless another parameter excludes or replaces this one.
    pub required: bool,
    /// Parameters that must not be given together with it.
    pub excludes: &'static [&'static str],
    /// Parameters that need not be given together with it.
    pub replaces: &'static [&'static str],
    /// Its meaning.
    pub summary: &'static str,
}

/// The largest double below 1: the bound of a parameter that must be less than 1.
const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

impl Parameter {
    /// The name as an identifier, which errors state.
    fn key(&self) -> String {
        self.name.replace('-', "_")
    }

    /// The bounds in words; empty where every value is allowed.
    fn interval(&self) -> String {
        match self.bounds {
            (f64::MIN, f64::MAX) => String::new(),
            (f64::MIN_POSITIVE, f64::MAX) => "above 0".to_owned(),
            (f64::MIN_POSITIVE, BELOW_ONE) => "in (0, 1)".to_owned(),
            (f64::MIN_POSITIVE, high) => format!("in (0, {}]", format_number(high)),
            (low, f64::MAX) => format!("at least {}", format_number(low)),
            (low, high) => format!("in [{}, {}]", format_number(low), format_number(high)),
        }
    }

    /// The summary with the bounds.
    pub fn help(&self) -> String {
        [self.summary, &self.interval()].join(", ").trim_end_matches(", ").to_owned()
    }

    fn check(&self, text: &str) -> Result<()> {
        let inside = |v: f64| (self.bounds.0..=self.bounds.1).contains(&v);
        let wrong = |t: &&str| match self.kind {
            Kind::Integer => !t.parse::<i64>().is_ok_and(|v| inside(v as f64)),
            Kind::Real | Kind::List => !t.trim().parse().is_ok_and(inside),
            Kind::Word => false,
            Kind::Switch => *t != "true",
        };
        let values: Vec<&str> =
            if self.kind == Kind::List { text.split(',').collect() } else { vec![text] };
        let kind = match self.kind {
            Kind::Integer => "a whole number",
            Kind::Switch => "true",
            _ => "a number",
        };
        let expected = format!("{kind} {}", self.interval());
        values
            .into_iter()
            .find(wrong)
            .map_or(Ok(()), |t| Err(Error::parameter(self.key(), t, expected.trim_end())))
    }
}

/// Checked values of parameters, as text.
struct Values(Vec<(&'static str, String)>);

impl Values {
    fn read(parameters: &'static [Parameter], texts: &[(&str, &str)]) -> Result<Self> {
        if let Some((name, _)) = texts.iter().find(|(n, _)| parameters.iter().all(|p| p.name != *n))
        {
            return Err(Error::unknown("parameter", name, parameters.iter().map(|p| p.name)));
        }
        let value =
            |p: &Parameter| texts.iter().find(|(name, _)| *name == p.name).map(|(_, text)| *text);
        let mut values = Vec::new();
        for p in parameters {
            let is_in = |names: fn(&Parameter) -> &'static [&'static str]| {
                let mut others = parameters.iter().filter(|other| value(other).is_some());
                others.any(|other| names(other).contains(&p.name))
            };
            let (excluded, replaced) = (is_in(|o| o.excludes), is_in(|o| o.replaces));
            match value(p).or(p.default) {
                Some(_) if excluded && p.default.is_none() => {
                    return Err(Error::parameter(
                        p.key(),
                        "it together with a parameter that excludes it",
                        "one of them",
                    ));
                }
                Some(text) => {
                    p.check(text).map(|()| values.push((p.name, text.trim().to_owned())))?
                }
                None if p.required && !replaced && !excluded => {
                    return Err(Error::parameter(p.key(), "nothing", p.help()));
                }
                None => {}
            }
        }
        Ok(Self(values))
    }

    fn get<T: FromStr>(&self, name: &str) -> Result<T> {
        let value = self.0.iter().find(|v| v.0 == name).and_then(|v| v.1.parse().ok());
        value.ok_or_else(|| Error::parameter(name, "nothing", "a value"))
    }

    fn list(&self, name: &str) -> Vec<f64> {
        self.get(name).map_or(Vec::new(), |t: String| {
            t.split(',').filter_map(|v| v.trim().parse().ok()).collect()
        })
    }

    /// The weights of SA or USA.
    fn weights(&self) -> Result<RowWeights> {
        RowWeights::parse(
            &self.get::<String>("dynamics")?,
            &[RowWeights::Softmax, RowWeights::Exponential],
        )
    }

    fn time_scale(&self) -> Result<TimeScale> {
        self.get(TIME_SCALE.name)
            .map_or(Ok(TimeScale::default()), |name: String| TimeScale::parse(&name))
    }
}

/// Bounds of the numbers of a result, and whether they may be null: the meaning says where.
type Bounds = (f64, f64, bool);

/// Any number.
const REAL: Bounds = (f64::MIN, f64::MAX, false);
const POSITIVE: Bounds = (0.0, f64::MAX, false);
const POSITIVE_OR_NULL: Bounds = (0.0, f64::MAX, true);
const SHARE: Bounds = (0.0, 1.0, false);
const COSINE: Bounds = (-1.0, 1.0, false);

/// How many digits of a result are right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// Its error is at most this share of it.
    Relative(f64),
    /// Its error is at most this number.
    Absolute(f64),
    /// The answer has its error under this key: one number for all entries or one for each. If the
    /// key is absent, the accuracy is [`Accuracy::CLOSED_FORM`].
    Key(&'static str),
    /// It bounds an error: its first digits are enough.
    ErrorBound,
}

impl Accuracy {
    /// That of a closed form.
    pub const CLOSED_FORM: Self = Self::Relative(1e-12);
}

/// A result of a prediction: a number, or lists of numbers.
#[derive(Debug)]
pub struct Quantity {
    /// Its key in the answer.
    pub key: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// Its accuracy.
    pub accuracy: Accuracy,
    /// True if it is a list with one entry for each row of the answer's table: each time, mode or
    /// value. Lists of parameters in the answer belong to the same rows.
    pub column: bool,
    bounds: Bounds,
}

const fn quantity(key: &'static str, bounds: Bounds, meaning: &'static str) -> Quantity {
    Quantity { key, meaning, accuracy: Accuracy::CLOSED_FORM, column: false, bounds }
}

impl Quantity {
    const fn accurate(self, accuracy: Accuracy) -> Self {
        Self { accuracy, ..self }
    }

    const fn column(self) -> Self {
        Self { column: true, ..self }
    }

    /// Checks every number of a result. **Errors** a number out of bounds; null where a number is
    /// due (JSON has no NaN and no infinity).
    pub fn check(&self, value: &Value) -> Result<()> {
        let (name, (low, high, optional)) = (self.key.replace('_', " "), self.bounds);
        match value {
            Value::Array(all) => all.iter().try_for_each(|v| self.check(v)),
            Value::Null if !optional => Err(Error::Beyond {
                quantity: format!("the prediction `{name}`"),
                hint: "use less extreme arguments".into(),
            }),
            _ => value.as_f64().filter(|v| !(low..=high).contains(v)).map_or(Ok(()), |v| {
                let bounds = format!("[{}, {}]", format_number(low), format_number(high));
                Err(Error::Numerical {
                    what: format!(
                        "the prediction `{name}` is {}, outside {bounds}: nothing is printed",
                        format_number(v)
                    ),
                })
            }),
        }
    }
}

/// A closed form or a reduced equation.
pub struct Prediction {
    /// Name.
    pub name: &'static str,
    /// Its results in one line.
    pub summary: &'static str,
    /// Where the formula comes from.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Its results; an answer lacks those that were not asked for.
    pub results: &'static [Quantity],
    run: fn(&Values) -> Result<Value>,
}

impl Prediction {
    /// The keys of the lists of an answer that form its table, row by row.
    ///
    /// ```
    /// let gamma = metastable::prediction::find("gamma")?;
    /// assert_eq!(gamma.columns(), ["gamma", "gamma_error", "times"]);
    /// assert!(metastable::prediction::find("wendel")?.columns().is_empty());
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn columns(&self) -> Vec<&'static str> {
        let results = self.results.iter().filter(|r| r.column).map(|r| r.key);
        let lists = self.parameters.iter().filter(|p| p.kind == Kind::List).map(|p| p.name);
        results.chain(lists).collect()
    }

    /// Evaluates it for these parameters: an object of results, with the parameters that its lists
    /// belong to.
    ///
    /// **Errors** an unknown name; a missing value or one out of bounds; a result beyond f64.
    pub fn evaluate(&self, given: &[(&str, &str)]) -> Result<Value> {
        let answer = (self.run)(&Values::read(self.parameters, given)?)?;
        if let (Some((name, scale)), true) =
            (given.iter().find(|g| g.0 == TIME_SCALE.name), answer["normalisation"].is_null())
        {
            return Err(Error::parameter(
                name.replace('-', "_"),
                scale,
                "none: only times of USA depend on it",
            ));
        }
        let results = self.results.iter().filter_map(|r| Some((r, answer.get(r.key)?)));
        results.into_iter().try_for_each(|(result, value)| result.check(value))?;
        Ok(answer)
    }
}

/// All predictions, by file.
static TABLES: [&[Prediction]; 2] = [&plain_attention::ALL, &other_models::ALL];

/// All predictions.
pub fn all() -> impl Iterator<Item = &'static Prediction> {
    TABLES.into_iter().flatten()
}

/// Finds a prediction. **Errors** an unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<&'static Prediction> {
    all()
        .find(|p| p.name == name)
        .ok_or_else(|| Error::unknown(PREDICTION, name, all().map(|p| p.name)))
}

// Parameters and results of several predictions.

const fn parameter(
    name: &'static str,
    kind: Kind,
    bounds: (f64, f64),
    summary: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind,
        bounds,
        default: None,
        required: true,
        excludes: &[],
        replaces: &[],
        summary,
    }
}

impl Parameter {
    const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), required: false, ..self }
    }

    const fn optional(self) -> Self {
        Self { required: false, ..self }
    }
}

const fn real(name: &'static str, low: f64, high: f64, summary: &'static str) -> Parameter {
    parameter(name, Kind::Real, (low, high), summary)
}

const fn integer(name: &'static str, low: f64, high: f64, summary: &'static str) -> Parameter {
    parameter(name, Kind::Integer, (low, high), summary)
}

const fn list(name: &'static str, low: f64, high: f64, summary: &'static str) -> Parameter {
    parameter(name, Kind::List, (low, high), summary)
}

const fn word(name: &'static str, summary: &'static str) -> Parameter {
    parameter(name, Kind::Word, (f64::MIN, f64::MAX), summary)
}

const fn switch(
    name: &'static str,
    excludes: &'static [&'static str],
    summary: &'static str,
) -> Parameter {
    Parameter { excludes, ..parameter(name, Kind::Switch, (f64::MIN, f64::MAX), summary) }
        .optional()
}

const fn n(low: f64, high: f64) -> Parameter {
    integer("n", low, high, "Number of tokens")
}

const fn d(low: f64, high: f64) -> Parameter {
    integer("d", low, high, "Ambient dimension: tokens live on S^(d-1)")
}

const fn beta(low: f64, high: f64) -> Parameter {
    real("beta", low, high, "Inverse temperature")
}

const SA: Parameter = word("dynamics", "sa or usa").or("sa");
const TIME_SCALE: Parameter =
    word("time-scale", "Time normalisation of USA: u1 (default), u2, u3 or u4").optional();
const NORMALISATION: Quantity = quantity(
    "normalisation",
    (0.0, 0.0, true),
    "time normalisation of USA; null for other dynamics",
);
