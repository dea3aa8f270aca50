//! Laws of masses. A law is a [`MassFamily`] in `families.rs`, registered in [`ALL`].
//!
//! It is specified by `name`, by `name:key=value`, or by `name:VALUE` if the law has one parameter.

use crate::error::Result;
use crate::law::parameters;
use crate::num::{key_values::KeyValues, stream::Stream};
use crate::operation::Parameter;

mod families;

/// A registered family of laws of masses.
pub struct MassFamily {
    /// Name in experiments and on the command line.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Parameters.
    pub keys: &'static [Parameter],
    /// True if the masses are drawn from a random stream.
    pub random: bool,
    /// Positive weights of n tokens, proportional to their masses; the values are those of `keys`,
    /// in order.
    pub weights: fn(values: &[f64], n: usize, stream: &mut Stream) -> Vec<f64>,
}

/// All laws of masses, by name.
pub static ALL: &[&MassFamily] =
    &[&families::DIRICHLET, &families::ONE_HEAVY, &families::POWER, &families::UNIFORM];

/// A law of masses with its parameters.
#[derive(Clone)]
pub struct MassLaw {
    family: &'static MassFamily,
    values: Vec<f64>,
}

impl MassLaw {
    /// Reads a specification such as `power:0.5`; `None` if it does not begin with the name of a
    /// law.
    ///
    /// **Errors** an unknown key, a value that is not a number or out of range.
    ///
    /// ```
    /// use metastable::{num::stream::Stream, sphere::mass_law::MassLaw};
    /// let law = MassLaw::parse("power:2").unwrap().unwrap();
    /// assert_eq!(law.spec(), "power:s=2");
    /// assert_eq!(law.weights(4, &mut Stream::new(1, &[])), [1.0, 0.25, 1.0 / 9.0, 0.0625]);
    /// assert!(MassLaw::parse("masses.csv").is_none() && MassLaw::parse("power:s=-1").unwrap().is_err());
    /// ```
    pub fn parse(spec: &str) -> Option<Result<Self>> {
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        let family = ALL.iter().copied().find(|f| f.name == name.trim())?;
        Some(Self::read(family, rest))
    }

    fn read(family: &'static MassFamily, rest: &str) -> Result<Self> {
        let text = KeyValues::parse(family.name, rest);
        let text = match family.keys {
            // The key may be omitted if there is only one.
            [key] => text.with_default_key(key.name),
            _ => text,
        };
        Ok(Self { family, values: parameters("parameter of masses", family.keys, text)? })
    }

    /// The canonical specification with all parameters.
    pub fn spec(&self) -> String {
        let pairs: Vec<String> = self
            .family
            .keys
            .iter()
            .zip(&self.values)
            .map(|(k, v)| format!("{}={v}", k.name))
            .collect();
        if pairs.is_empty() {
            self.family.name.into()
        } else {
            format!("{}:{}", self.family.name, pairs.join(","))
        }
    }

    /// True if the masses are drawn from a random stream.
    pub fn is_random(&self) -> bool {
        self.family.random
    }

    /// Positive weights of n tokens, proportional to their masses.
    pub fn weights(&self, n: usize, stream: &mut Stream) -> Vec<f64> {
        (self.family.weights)(&self.values, n, stream)
    }
}

/// The forms of all specifications in one line, for help and errors: `uniform, power:S, ...`.
pub fn usage() -> String {
    let form = |f: &&MassFamily| {
        f.keys
            .iter()
            .map(|k| k.name.to_uppercase())
            .fold(f.name.to_owned(), |text, key| format!("{text}:{key}"))
    };
    ALL.iter().map(form).collect::<Vec<_>>().join(", ")
}
