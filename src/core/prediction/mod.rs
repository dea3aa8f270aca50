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
mod noise;
mod other_models;
mod plain_attention;

use crate::attention::{RowWeights, TimeScale};
use crate::error::{Error, PREDICTION, Result, format_number};
use crate::operation::{Given, Kind, Limits, Parameter, above, any, at_least, range, within};
use serde_json::Value;
use std::str::FromStr;

/// Checked values of parameters, as text.
struct Values(Vec<(&'static str, String)>);

impl Values {
    fn read(parameters: &'static [Parameter], given: &Given) -> Result<Self> {
        given.checked(parameters)?;
        let text = |p: &Parameter| given.texts(p.name).first().cloned().or_else(|| p.default());
        let values = parameters.iter().filter_map(|p| Some((p.name, text(p)?.trim().to_owned())));
        Ok(Self(values.collect()))
    }

    fn get<T: FromStr>(&self, name: &str) -> Result<T> {
        let value = self.0.iter().find(|v| v.0 == name).and_then(|v| v.1.parse().ok());
        value.ok_or_else(|| Error::parameter(name, "nothing", "a value"))
    }

    fn list(&self, name: &str) -> Vec<f64> {
        self.get(name).map_or(Vec::new(), |t: String| range::reals(&t).unwrap_or_default())
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
        let lists = self.parameters.iter().filter(|p| p.kind == Kind::Numbers).map(|p| p.name);
        results.chain(lists).collect()
    }

    /// Evaluates it for these parameters: an object of results, with the parameters that its lists
    /// belong to.
    ///
    /// **Errors** an unknown name; a missing value or one out of bounds; a result beyond f64.
    pub fn evaluate(&self, given: &[(&str, &str)]) -> Result<Value> {
        self.answer(&Given::of(given))
    }

    /// The same for texts from a front end.
    ///
    /// **Errors** as [`Prediction::evaluate`].
    pub fn answer(&self, given: &Given) -> Result<Value> {
        let given = given.clone().renamed(self.parameters);
        let answer = (self.run)(&Values::read(self.parameters, &given)?)?;
        if let ([scale, ..], true) =
            (given.texts(TIME_SCALE.name), answer["normalisation"].is_null())
        {
            return Err(Error::parameter(
                TIME_SCALE.name,
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
static TABLES: [&[Prediction]; 3] = [&plain_attention::ALL, &noise::ALL, &other_models::ALL];

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

/// A range without the ends that only stand for infinity or for a number above 0.
const fn range_of(low: f64, high: f64) -> Limits {
    match (low.to_bits() == f64::MIN_POSITIVE.to_bits(), high.to_bits() == f64::MAX.to_bits()) {
        (true, true) => above(0.0, f64::INFINITY),
        (true, false) => above(0.0, high),
        (false, true) => at_least(low),
        (false, false) => within(low, high),
    }
}

const fn real(name: &'static str, low: f64, high: f64, what: &'static str) -> Parameter {
    Parameter::new(name, Kind::Real, range_of(low, high), what)
}

const fn integer(name: &'static str, low: f64, high: f64, what: &'static str) -> Parameter {
    Parameter::new(name, Kind::Whole, range_of(low, high), what)
}

const fn list(name: &'static str, low: f64, high: f64, what: &'static str) -> Parameter {
    Parameter::new(name, Kind::Numbers, range_of(low, high), what)
}

const fn word(name: &'static str, what: &'static str) -> Parameter {
    Parameter::new(name, Kind::Name, any(), what)
}

/// A number with an older name.
const fn renamed(
    name: &'static str,
    before: &'static [&'static str],
    (low, high): (f64, f64),
    what: &'static str,
) -> Parameter {
    Parameter::new(name, Kind::Real, range_of(low, high).also(before), what)
}

const fn switch(
    name: &'static str,
    excludes: &'static [&'static str],
    what: &'static str,
) -> Parameter {
    Parameter::new(name, Kind::Switch, any().excludes(excludes).hidden(), what)
}

const fn n(low: f64, high: f64) -> Parameter {
    integer("n", low, high, "Number of tokens")
}

const fn d(low: f64, high: f64) -> Parameter {
    integer("d", low, high, "Ambient dimension: tokens live on S^(d-1)")
}

const fn beta(low: f64, high: f64) -> Parameter {
    let limits = range_of(low, high).unless(&["interaction"]);
    Parameter::new("beta", Kind::Real, limits, "Inverse temperature")
}

const SA: Parameter = word("dynamics", "sa or usa").or("sa");
const TIME_SCALE: Parameter =
    word("time_scale", "Time normalisation of USA: u1 (default), u2, u3 or u4").optional();
const NORMALISATION: Quantity = quantity(
    "normalisation",
    (0.0, 0.0, true),
    "time normalisation of USA; null for other dynamics",
);
