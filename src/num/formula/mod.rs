//! Formulas of one variable s, read from text: values and derivatives over doubles, double-doubles
//! and intervals.

mod complex;
mod jet;
mod kinks;
mod names;
mod nodes;
mod operators;
mod sign;
mod taylor;
mod text;

pub use crate::number::Number;
#[doc(hidden)]
pub use jet::Jet;
#[doc(hidden)]
pub use kinks::Differentiable;
pub use kinks::Kinks;
#[doc(hidden)]
pub use sign::Sign;
#[doc(hidden)]
pub use taylor::{DEGREE as TAYLOR_DEGREE, Series, Taylor};

use crate::error::{Error, Result};
use exmex::{Express, FlatEx};
use names::{FUNCTIONS, VARIABLE};
use operators::{Literals, Operators};
use std::collections::BTreeMap;

/// A formula of s with named parameters, such as `exp(beta*s) + 0.3*s^3`.
///
/// Operations are `+ - * / ^`; functions are `exp`, `ln`, `sqrt`, `sin`, `cos`, `tan`, `sinh`,
/// `cosh`, `tanh`, `abs` and `relu`; `pi` is a constant. A minus sign binds as in print: `-s^2` is
/// `-(s^2)`. Values and the first two derivatives are exact up to the rounding of each operation,
/// by the rules of differentiation (no differences).
///
/// ```
/// use metastable::num::formula::Formula;
/// let f = Formula::parse("exp(beta*s) + 0.3*s^3", &[("beta", 2.0)])?;
/// let at = f.compile::<f64>()?.at(0.5)?;
/// let e = 1f64.exp();
/// assert!((at.value - (e + 0.0375)).abs() < 1e-15);
/// assert!((at.first - (2.0 * e + 0.225)).abs() < 2e-15);
/// assert!((at.second - (4.0 * e + 0.9)).abs() < 4e-15);
/// # Ok::<(), metastable::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    text: String,
    read: String,
    parameters: BTreeMap<String, f64>,
    /// The coefficients of a Chebyshev sum on [-1, 1], which has no text of operations.
    series: Option<Vec<f64>>,
}

/// A formula over one number type.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Compiled<N: Number>(Rule<N>);

/// A formula of s and of one parameter p over one number type.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct WithParameter<N: Number> {
    compiled: Compiled<N>,
    /// The place of p in the arguments, if it occurs.
    place: Option<usize>,
}

/// How a formula is evaluated.
#[derive(Clone, Debug)]
enum Rule<N: Number> {
    Tree {
        tree: Box<FlatEx<Jet<N>, Operators<N>, Literals>>,
        /// The variables in the order of the tree; the place of s is filled at each evaluation.
        arguments: Vec<Jet<N>>,
        variable: Option<usize>,
    },
    /// Coefficients of `T_0, T_1, ...`.
    Series(Vec<Jet<N>>),
}

impl Formula {
    /// Reads a formula. Parameters that do not occur are ignored.
    ///
    /// **Errors** an empty text, a syntax error, a name that is neither s nor a parameter, a
    /// function nor a constant (the nearest known one is part of the error); a parameter whose name
    /// is none, means something else, or comes twice.
    pub fn parse(text: &str, parameters: &[(&str, f64)]) -> Result<Self> {
        for (x, (name, _)) in parameters.iter().enumerate() {
            check_name(name)?;
            if parameters[..x].iter().any(|p| p.0 == *name) {
                return Err(Error::parameter(
                    "formula",
                    format!("{name} twice"),
                    "each parameter once",
                ));
            }
        }
        let read = text::with_explicit_signs(text, parameters)?;
        let formula = Self {
            text: text.trim().to_owned(),
            read,
            parameters: parameters.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect(),
            series: None,
        };
        formula.compile::<f64>()?;
        Ok(formula)
    }

    /// The Chebyshev sum `sum_k c_k T_k(s)`, evaluated by Clenshaw's recurrence.
    ///
    /// ```
    /// use metastable::num::formula::Formula;
    /// // T_2(s) = 2 s^2 - 1
    /// let at = Formula::chebyshev(vec![0.0, 0.0, 1.0]).compile::<f64>()?.at(0.5)?;
    /// assert_eq!((at.value, at.first, at.second), (-0.5, 2.0, 4.0));
    /// # Ok::<(), metastable::Error>(())
    /// ```
    #[must_use]
    pub fn chebyshev(coefficients: Vec<f64>) -> Self {
        let (text, read) = (format!("a Chebyshev sum of {} terms", coefficients.len()), "0".into());
        Self { text, read, parameters: BTreeMap::new(), series: Some(coefficients) }
    }

    /// True for a Chebyshev sum.
    pub fn is_series(&self) -> bool {
        self.series.is_some()
    }

    /// The coefficients of a Chebyshev sum.
    pub fn series_coefficients(&self) -> Option<&[f64]> {
        self.series.as_deref()
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parameters by name.
    pub fn parameters(&self) -> &BTreeMap<String, f64> {
        &self.parameters
    }

    /// The parameters that occur in the formula, in the order of their names.
    ///
    /// ```
    /// use metastable::num::formula::Formula;
    /// let f = Formula::parse("exp(k*s)", &[("beta", 2.0), ("k", 3.0)])?;
    /// assert_eq!(f.occurring_parameters(), [("k", 3.0)]);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn occurring_parameters(&self) -> Vec<(&str, f64)> {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = self.read.split(|c: char| !letter(c));
        let occurs = |name: &str| words.clone().any(|w| w == name);
        let all = self.parameters.iter().filter(|(name, _)| occurs(name));
        all.map(|(name, value)| (name.as_str(), *value)).collect()
    }

    /// The same formula, without parameters that do not occur in it.
    #[must_use]
    pub fn without_other_parameters(mut self) -> Self {
        let own = self.occurring_parameters().into_iter();
        self.parameters = own.map(|(name, value)| (name.to_owned(), value)).collect();
        self
    }

    /// The arguments of these functions as formulas.
    fn arguments_of(&self, functions: &[&str]) -> Vec<Self> {
        let text = &self.read;
        let argument = |name: &str, k: usize| {
            let from = k + name.len() + 1;
            self.part(&text[from..from + text::closing(&text[from..])])
        };
        let all = functions.iter().map(|name| text::calls(text, name).map(|k| argument(name, k)));
        all.flatten().collect()
    }

    /// A part of the text with the same parameters.
    fn part(&self, text: &str) -> Self {
        let parameters = self.parameters.clone();
        Self { text: text.to_owned(), read: text.to_owned(), parameters, series: None }
    }

    /// The error about a name without a value: that of another name if it looks like a typing
    /// error, else how to give it a value.
    fn no_name(&self, name: &str) -> Error {
        let known = [VARIABLE, "pi"].into_iter().chain(FUNCTIONS);
        let known = known.chain(self.parameters.keys().map(String::as_str));
        let error = Error::unknown("name in the formula", name, known);
        let own = |near: &str| self.parameters.keys().any(|own| own == near);
        // Any two names of one letter are near to each other.
        let typing_error = |near: &str| near.len() > 1 && (name != "beta" || own(near));
        if name.len() > 1 && error.nearest().is_some_and(typing_error) {
            return error;
        }
        let text = &self.text;
        let expected = match name {
            "x" | "t" | "S" => "s, the name of the variable".to_owned(),
            "e" | "E" => "exp(s) for a power of e".to_owned(),
            "beta" => format!("--beta, or its value after a semicolon: `{text}; beta=1`"),
            _ => format!("its value after a semicolon: `{text}; {name}=1`"),
        };
        Error::parameter(
            "formula",
            format!("the name `{name}` without a value in `{text}`"),
            expected,
        )
    }

    /// The formula over another number type.
    ///
    /// **Errors** as [`Formula::parse`].
    pub fn compile<N: Number>(&self) -> Result<Compiled<N>> {
        if let Some(series) = &self.series {
            let constants = series.iter().map(|c| Jet::constant(N::exact(*c)));
            return Ok(Compiled(Rule::Series(constants.collect())));
        }
        let tree = FlatEx::<Jet<N>, Operators<N>, Literals>::parse(&self.read).map_err(|_| {
            // The text was checked before: its parser has no complaint that a user could read.
            let expected = "a formula of s, such as exp(4*s) + s^3";
            Error::parameter("formula", format!("`{}`", self.text), expected)
        })?;
        let mut arguments = Vec::new();
        let mut variable = None;
        for (k, name) in tree.var_names().iter().enumerate() {
            if name == VARIABLE {
                variable = Some(k);
                arguments.push(Jet::default());
            } else if let Some(value) = self.parameters.get(name) {
                arguments.push(Jet::constant(N::exact(*value)));
            } else {
                return Err(self.no_name(name));
            }
        }
        Ok(Compiled(Rule::Tree { tree: Box::new(tree), arguments, variable }))
    }
}

impl Formula {
    /// The formula as a function of s and of one of its parameters; it may not depend on it.
    ///
    /// **Errors** as [`Formula::parse`].
    ///
    /// ```
    /// use metastable::num::formula::Formula;
    /// let f = Formula::parse("exp(b*s)", &[("b", 0.0)])?;
    /// let at = f.with_parameter::<f64>("b")?.at(0.5, 2.0)?;
    /// // The derivative by b is s e^{b s}.
    /// assert!((at.value - 1f64.exp()).abs() < 1e-15);
    /// assert!((at.first - 0.5 * 1f64.exp()).abs() < 1e-15);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn with_parameter<N: Number>(&self, name: &str) -> Result<WithParameter<N>> {
        let compiled = self.compile()?;
        let place = match &compiled.0 {
            Rule::Tree { tree, .. } => tree.var_names().iter().position(|own| own == name),
            Rule::Series(_) => None,
        };
        Ok(WithParameter { compiled, place })
    }
}

impl<N: Number> WithParameter<N> {
    /// Whether the parameter occurs in the formula.
    pub fn occurs(&self) -> bool {
        self.place.is_some()
    }

    /// The value at s and p, and its first two derivatives with respect to p.
    ///
    /// **Errors** an evaluation that the parser's tree refuses; results that are not finite are no
    /// errors here.
    pub fn at(&self, s: N, p: N) -> Result<Jet<N>> {
        let Rule::Tree { tree, arguments, variable } = &self.compiled.0 else {
            return Ok(Jet::constant(self.compiled.at(s)?.value));
        };
        let mut arguments = arguments.clone();
        if let Some(k) = variable {
            arguments[*k] = Jet::constant(s);
        }
        if let Some(k) = self.place {
            arguments[k] = Jet::variable(p);
        }
        tree.eval(&arguments).map_err(|e| Error::Numerical { what: e.msg().to_owned() })
    }
}

/// **Errors** a name of a parameter that is no identifier or means something else: with a parameter
/// called `2` the number 2 would change.
fn check_name(name: &str) -> Result<()> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fixed = name == VARIABLE || name == "pi" || FUNCTIONS.contains(&name);
    if starts && name.chars().all(letter) && !fixed {
        return Ok(());
    }
    let expected = "letters, digits and _ after a letter, and not s, pi or a function";
    Err(Error::parameter("formula", format!("the parameter `{name}`"), expected))
}

/// A Chebyshev sum.
fn clenshaw<N: Number>(coefficients: &[Jet<N>], s: Jet<N>) -> Jet<N> {
    let (mut a, mut b) = (Jet::default(), Jet::default());
    let twice = s + s;
    for c in coefficients.iter().skip(1).rev() {
        (a, b) = (*c + twice * a - b, a);
    }
    coefficients.first().copied().unwrap_or_default() + s * a - b
}

impl<N: Number> Compiled<N> {
    /// Value and derivatives with respect to s.
    ///
    /// **Errors** an evaluation that the parser's tree refuses; results that are not finite are no
    /// errors here.
    pub fn at(&self, s: N) -> Result<Jet<N>> {
        match &self.0 {
            Rule::Tree { tree, arguments, variable } => {
                let mut arguments = arguments.clone();
                if let Some(k) = variable {
                    arguments[*k] = Jet::variable(s);
                }
                tree.eval(&arguments).map_err(|e| Error::Numerical { what: e.msg().to_owned() })
            }
            Rule::Series(coefficients) => Ok(clenshaw(coefficients, Jet::variable(s))),
        }
    }

    /// The value alone: a third of the cost, or less.
    ///
    /// **Errors** as [`Compiled::at`].
    pub fn value(&self, s: N) -> Result<N> {
        let s = Jet::constant(s);
        let jet = match &self.0 {
            Rule::Tree { tree, arguments, variable } => {
                let mut arguments = arguments.clone();
                if let Some(k) = variable {
                    arguments[*k] = s;
                }
                tree.eval(&arguments).map_err(|e| Error::Numerical { what: e.msg().to_owned() })?
            }
            Rule::Series(coefficients) => clenshaw(coefficients, s),
        };
        Ok(jet.value)
    }
}

#[cfg(test)]
mod tests;
