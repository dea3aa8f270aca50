//! Types of parameters.

use super::error::{Error, Result, format_number};
use super::parameter::{Kind, Limits, Parameter};
use super::path::decoded;
use super::range;
use std::path::PathBuf;

/// A type of parameter.
pub trait Value: Sized {
    /// The kind of value.
    const KIND: Kind;
    /// Whether a value must be given where there is no default.
    const REQUIRED: bool = true;
    /// Whether it may be given several times.
    const MANY: bool = false;

    /// Reads one text. **Errors** another form, a number out of the range.
    fn read(parameter: &Parameter, text: &str) -> Result<Self>;

    /// Reads all texts that are given. **Errors** several texts for one value.
    fn read_all(parameter: &Parameter, texts: &[String]) -> Result<Self> {
        match texts {
            [text] => Self::read(parameter, text),
            [] => Err(Error::parameter(parameter.name, "nothing", parameter.expected())),
            all => Err(Error::parameter(parameter.name, all.join(" and "), "one value")),
        }
    }

    /// The value where nothing is given, if that means something.
    fn absent() -> Option<Self> {
        None
    }
}

macro_rules! whole {
    ($($t:ty),*) => {$(
        impl Value for $t {
            const KIND: Kind = Kind::Whole;
            fn read(parameter: &Parameter, text: &str) -> Result<Self> {
                let value = text.trim().parse::<i128>().ok();
                let fits = value.filter(|v| parameter.holds(*v as f64));
                fits.and_then(|v| Self::try_from(v).ok()).ok_or_else(|| parameter.refuse(text))
            }
        }
    )*};
}

whole!(u16, u32, u64, usize, i64);

/// A finite number in the range of a parameter.
fn real(parameter: &Parameter, text: &str) -> Result<f64> {
    let value = text.trim().parse::<f64>().ok().filter(|v| v.is_finite() && parameter.holds(*v));
    // Negative zero would print and hash differently from zero.
    value.map(|v| if v == 0.0 { 0.0 } else { v }).ok_or_else(|| parameter.refuse(text))
}

impl Value for f64 {
    const KIND: Kind = Kind::Real;
    fn read(parameter: &Parameter, text: &str) -> Result<Self> {
        let value = real(parameter, text)?;
        parameter.check(text)?;
        Ok(value)
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Switch;
    const REQUIRED: bool = false;
    fn read(parameter: &Parameter, text: &str) -> Result<Self> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(Error::parameter(parameter.name, other, "true or false")),
        }
    }
    fn absent() -> Option<Self> {
        Some(false)
    }
}

impl Value for String {
    const KIND: Kind = Kind::Text;
    fn read(parameter: &Parameter, text: &str) -> Result<Self> {
        parameter.check(text)?;
        Ok(text.to_owned())
    }
}

impl Value for PathBuf {
    const KIND: Kind = Kind::File;
    fn read(parameter: &Parameter, text: &str) -> Result<Self> {
        if text.is_empty() { Err(parameter.refuse(text)) } else { Ok(decoded(text)) }
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    const REQUIRED: bool = false;
    const MANY: bool = T::MANY;
    fn read(parameter: &Parameter, text: &str) -> Result<Self> {
        T::read(parameter, text).map(Some)
    }
    fn read_all(parameter: &Parameter, texts: &[String]) -> Result<Self> {
        T::read_all(parameter, texts).map(Some)
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Value> Value for Vec<T> {
    const KIND: Kind = T::KIND;
    const REQUIRED: bool = false;
    const MANY: bool = true;
    fn read(parameter: &Parameter, text: &str) -> Result<Self> {
        match parameter.separator() {
            Some(c) => text.split(c).map(|item| T::read(parameter, item.trim())).collect(),
            None => T::read(parameter, text).map(|one| vec![one]),
        }
    }
    fn read_all(parameter: &Parameter, texts: &[String]) -> Result<Self> {
        let all = texts.iter().map(|text| Self::read(parameter, text));
        all.collect::<Result<Vec<_>>>().map(|lists| lists.into_iter().flatten().collect())
    }
    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

/// Numbers in the grammar of [`range::reals`]: `1,2,4`, `1..10`, `0.5..8:log5`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers(pub Vec<f64>);

impl Value for Numbers {
    const KIND: Kind = Kind::Numbers;
    fn read(parameter: &Parameter, text: &str) -> Result<Self> {
        let all = range::reals(text).map_err(|e| range::named(e, parameter.name))?;
        match all.iter().find(|v| !parameter.holds(**v)) {
            Some(v) => Err(parameter.refuse(&format_number(*v))),
            None => Ok(Self(all)),
        }
    }
}

/// A number B, or all numbers of an interval A..B.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The text that was given.
    pub text: String,
}

impl Span {
    /// Both ends.
    pub const fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Whether it was written as an interval.
    pub fn is_interval(&self) -> bool {
        self.text.contains("..")
    }
}

impl Value for Span {
    const KIND: Kind = Kind::Span;
    fn read(parameter: &Parameter, text: &str) -> Result<Self> {
        let (low, high) = match text.contains("..") {
            true => range::interval(text).map_err(|_| parameter.refuse(text))?,
            false => real(parameter, text).map(|v| (v, v))?,
        };
        if !parameter.holds(low) || !parameter.holds(high) {
            return Err(parameter.refuse(text));
        }
        Ok(Self { low, high, text: text.to_owned() })
    }
}

impl Limits {
    /// The parameter of this type with this name and meaning.
    pub fn parameter<T: Value>(self, name: &'static str, what: &'static str) -> Parameter {
        Parameter {
            name: name.strip_prefix("r#").unwrap_or(name),
            what: what.trim_start(),
            kind: T::KIND,
            required: T::REQUIRED && !self.has_default() || self.is_replaceable(),
            many: T::MANY,
            limits: self,
        }
    }
}

impl Parameter {
    /// **Errors** a text of another form or out of the range.
    #[doc(hidden)]
    pub fn read(&self, text: &str) -> Result<()> {
        match self.kind {
            Kind::Whole => i64::read(self, text).map(drop),
            Kind::Real => f64::read(self, text).map(drop),
            Kind::Numbers => Numbers::read(self, text).map(drop),
            Kind::Span => Span::read(self, text).map(drop),
            Kind::Switch => bool::read(self, text).map(drop),
            Kind::Name | Kind::Text | Kind::File => self.check(text),
        }
    }

    /// Reads a number, or numbers separated by commas where it is a list.
    ///
    /// **Errors** another form, a number out of the range, a list for a single number.
    ///
    /// ```
    /// use metastable::operation::Parameter;
    /// let n = Parameter::count("n", &[5.0], (3.0, 7.0), "tokens");
    /// assert_eq!(n.numbers("4").unwrap(), [4.0]);
    /// let e = n.numbers("9").unwrap_err().to_string();
    /// assert_eq!(e, "n: found 9, expected a whole number in [3, 7]");
    /// ```
    #[doc(hidden)]
    pub fn numbers(&self, text: &str) -> Result<Vec<f64>> {
        let is_list = self.many || self.kind == Kind::Numbers;
        let texts: Vec<&str> = if is_list { text.split(',').collect() } else { vec![text] };
        let one = |text: &str| {
            self.read(text)?;
            text.trim().parse().map_err(|_| self.refuse(text))
        };
        texts.into_iter().map(one).collect()
    }
}
