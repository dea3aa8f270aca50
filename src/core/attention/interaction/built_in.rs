//! The interactions with a name: formulas with default parameters.

use crate::attention::kernel::Closed;
use crate::error::{Error, Result};
use crate::num::chebyshev_series::MAX_TERMS;
use crate::num::formula::Formula;
use crate::num::key_values::KeyValues;
use crate::operation::{Kind, Parameter, within};

/// An interaction with a name.
pub struct BuiltIn {
    /// Name on the command line: `exp` in `exp:beta=4`.
    pub name: &'static str,
    /// `phi(s)` as a formula of s and the parameters.
    pub formula: &'static str,
    /// `W(0)` as a formula of the parameters; the energy of the papers fixes it.
    pub potential_at_zero: &'static str,
    /// The parameters.
    pub parameters: &'static [Parameter],
    /// One line for lists.
    pub summary: &'static str,
}

const fn parameter(name: &'static str, default: &'static str, low: f64, high: f64) -> Parameter {
    Parameter::new(name, Kind::Real, within(low, high), "").or(default)
}

/// All named interactions. A polynomial is written by its coefficients: `polynomial:1,0,2` is
/// `1 + 2 s^2`.
pub static ALL: [BuiltIn; 9] = [
    BuiltIn {
        name: "cosh",
        formula: "cosh(k*s)",
        potential_at_zero: "0",
        parameters: &[parameter("k", "1", -300.0, 300.0)],
        summary: "cosh(k s): even, so x and -x attract alike",
    },
    BuiltIn {
        name: "exp",
        formula: "exp(beta*s)",
        potential_at_zero: "1/beta",
        parameters: &[parameter("beta", "1", -300.0, 300.0)],
        summary: "e^{beta s}: softmax and USA attention (arXiv:2312.10794)",
    },
    BuiltIn {
        name: "gauss",
        formula: "exp(k*s - k)",
        potential_at_zero: "exp(-k)/k",
        parameters: &[parameter("k", "1", -300.0, 300.0)],
        summary: "e^{-k |x-y|^2 / 2}: a Gaussian of the chord, e^{-k} times `exp`",
    },
    BuiltIn {
        name: "inverse",
        formula: "1/(1 + c - s)",
        potential_at_zero: "0",
        parameters: &[parameter("c", "0.1", 1e-4, 1e6)],
        summary: "1 / (1 + c - s): the force of a softened logarithmic potential",
    },
    BuiltIn {
        name: "log",
        formula: "ln((2 + c)/(1 + c - s))",
        potential_at_zero: "0",
        parameters: &[parameter("c", "0.1", 1e-4, 1e6)],
        summary: "ln((2 + c) / (1 + c - s)): 0 at opposite tokens",
    },
    BuiltIn {
        name: "power",
        formula: "s^p",
        potential_at_zero: "0",
        parameters: &[parameter("p", "1", 0.0, 64.0)],
        summary: "s^p with a whole number p; p = 1 is linear attention",
    },
    BuiltIn {
        name: "relu",
        formula: "relu(s)^p",
        potential_at_zero: "0",
        parameters: &[parameter("p", "1", 0.0, 64.0)],
        summary: "max(s, 0)^p: no force between tokens beyond a right angle",
    },
    BuiltIn {
        name: "sigmoid",
        formula: "1/(1 + exp(-k*s))",
        potential_at_zero: "0",
        parameters: &[parameter("k", "1", -300.0, 300.0)],
        summary: "1 / (1 + e^{-k s}): sigmoid attention",
    },
    BuiltIn {
        name: "softplus",
        formula: "ln(1 + exp(k*s))/k",
        potential_at_zero: "0",
        parameters: &[parameter("k", "1", 1e-3, 300.0)],
        summary: "ln(1 + e^{k s}) / k: a smooth relu",
    },
];

/// The name of polynomials by coefficients.
pub const POLYNOMIAL: &str = "polynomial";

/// The name of Chebyshev sums by coefficients: `chebyshev:0,0,1` is `T_2(s) = 2 s^2 - 1`.
pub const CHEBYSHEV: &str = "chebyshev";

/// A formula with the value of W at 0, and the form that keeps small values accurate.
pub struct Definition {
    pub formula: Formula,
    pub potential_at_zero: f64,
    pub form: Option<Form>,
}

/// A form that keeps small values relatively accurate, as a function of s.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// A function of s.
    Whole(Closed),
    /// A function of s where s is positive, and 0 elsewhere.
    Positive(Closed),
    /// `1 / (1 + c - s)`
    Inverse {
        /// c.
        c: f64,
    },
}

/// The form of a named interaction with these parameters.
fn form(name: &str, parameters: &[(&str, f64)]) -> Option<Form> {
    let v = parameters.first()?.1;
    let power = || (v >= 1.0 && v.fract() == 0.0).then_some(Closed::Power { p: v as u32 });
    match name {
        "cosh" => Some(Form::Whole(Closed::Cosh { k: v })),
        "inverse" => Some(Form::Inverse { c: v }),
        "power" => power().map(Form::Whole),
        "relu" => power().map(Form::Positive),
        "sigmoid" => Some(Form::Whole(Closed::Sigmoid { k: v })),
        "softplus" => Some(Form::Whole(Closed::Softplus { k: v })),
        _ => None,
    }
}

/// The definition of `name:key=value,...`; `None` if the text is a formula.
///
/// **Errors** an unknown name before a colon, an unknown parameter, a parameter out of range.
pub fn find(text: &str) -> Result<Option<Definition>> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let name = name.trim();
    if name == POLYNOMIAL {
        return polynomial(rest).map(Some);
    }
    if name == CHEBYSHEV {
        let formula = Formula::chebyshev(coefficients(name, rest, MAX_TERMS)?);
        return Ok(Some(Definition { formula, potential_at_zero: 0.0, form: None }));
    }
    let Some(entry) = ALL.iter().find(|e| e.name == name) else {
        let names = ALL.iter().map(|e| e.name).chain([POLYNOMIAL, CHEBYSHEV]);
        return if text.contains(':') {
            Err(Error::unknown("interaction", name, names))
        } else {
            Ok(None)
        };
    };
    let keys: Vec<&str> = entry.parameters.iter().map(|p| p.name).collect();
    let given =
        KeyValues::parse("interaction", rest).with_keys("parameter of the interaction", &keys)?;
    let mut parameters = Vec::new();
    for p in entry.parameters {
        let (low, high) = p.bounds();
        let value = given.number_in(p.name, low, high)?.or(p.default_number()).unwrap_or_default();
        parameters.push((p.name, value));
    }
    let zero = Formula::parse(entry.potential_at_zero, &parameters)?;
    let potential = zero.compile::<f64>()?.at(0.0)?.value;
    Ok(Some(Definition {
        formula: Formula::parse(entry.formula, &parameters)?,
        // beta = 0: the constant of the energy is infinite.
        potential_at_zero: if potential.is_finite() { potential } else { 0.0 },
        form: form(entry.name, &parameters),
    }))
}

/// `c_0 + c_1 s + c_2 s^2 + ...` from `c_0,c_1,c_2`.
fn polynomial(text: &str) -> Result<Definition> {
    let coefficients = coefficients(POLYNOMIAL, text, 65)?;
    let names: Vec<String> = (0..coefficients.len()).map(|k| format!("c{k}")).collect();
    let parameters: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(coefficients).collect();
    let terms: Vec<String> = (0..names.len()).map(|k| format!("c{k}*s^{k}")).collect();
    let formula = Formula::parse(&terms.join(" + "), &parameters)?;
    Ok(Definition { formula, potential_at_zero: 0.0, form: None })
}

/// Finite numbers that are separated by commas.
///
/// **Errors** a word that is no finite number, more than `most` numbers.
fn coefficients(name: &str, text: &str, most: usize) -> Result<Vec<f64>> {
    let wrong = |found: String, expected: String| {
        Err(Error::parameter(format!("interaction {name}"), found, expected))
    };
    let mut out = Vec::new();
    for part in text.split(',').map(str::trim) {
        match part.parse::<f64>().ok().filter(|c| c.is_finite()) {
            Some(value) => out.push(value),
            None => return wrong(part.to_owned(), "numbers, such as 1,0,2".into()),
        }
    }
    if out.len() > most {
        return wrong(format!("{} coefficients", out.len()), format!("at most {most}"));
    }
    Ok(out)
}
