//! Laws of initial tokens. A law is a [`LawFamily`] in `random.rs` or `configurations.rs`,
//! registered in [`ALL`]. It is specified by `name` or `name:key=value,key=value`.

use super::Tokens;
use crate::error::{Error, Result};
use crate::num::{key_values::KeyValues, stream::Stream};
use crate::operation::{Kind, Parameter, within};

mod configurations;
mod random;

/// A parameter of a law: name, default, smallest and largest value, meaning.
pub(crate) const fn key(
    name: &'static str,
    default: &'static [f64],
    (low, high): (f64, f64),
    what: &'static str,
) -> Parameter {
    Parameter::new(name, Kind::Real, within(low, high).or_numbers(default), what)
}

/// A registered family of laws.
pub struct LawFamily {
    /// Name in experiments and on the command line.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Parameters.
    pub keys: &'static [Parameter],
    /// The support of the law.
    pub support: Support,
    /// Draws n tokens of `S^{d-1}`; the values are those of `keys`, in order.
    pub sample: fn(values: &[f64], n: usize, d: usize, stream: &mut Stream) -> Result<Tokens>,
}

/// The support of a law: where a search for counterexamples may move tokens.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Support {
    /// The whole sphere.
    Sphere,
    /// Rows that pass this test (values of the keys, row).
    Rows(fn(&[f64], &[f64]) -> bool),
    /// A null set: tokens stay where they were drawn.
    Fixed,
}

/// All laws, by name.
pub static ALL: &[&LawFamily] = &[
    &random::CAP,
    &random::CLUSTERS,
    &configurations::EQUIANGULAR,
    &random::HEMISPHERE,
    &random::MIXTURE,
    &configurations::ORTHONORMAL,
    &configurations::POLYGON,
    &configurations::SIMPLEX,
    &random::UNIFORM,
];

/// Finds a law.
///
/// **Errors** an unknown name; the error suggests the nearest known one.
pub fn find(name: &str) -> Result<&'static LawFamily> {
    ALL.iter()
        .copied()
        .find(|e| e.name == name)
        .ok_or_else(|| Error::unknown("law", name, ALL.iter().map(|e| e.name)))
}

/// Values of the parameters of a law, in the order of its keys; `kind` names a key in errors.
///
/// **Errors** an unknown key, a key twice, a value that is not a number or out of range.
pub(crate) fn parameters(
    kind: &'static str,
    keys: &[Parameter],
    text: KeyValues<'_>,
) -> Result<Vec<f64>> {
    let names: Vec<&str> = keys.iter().map(|k| k.name).collect();
    let found = text.with_keys(kind, &names)?;
    keys.iter()
        .map(|key| {
            let (low, high) = key.bounds();
            Ok(found.number_in(key.name, low, high)?.or(key.default_number()).unwrap_or_default())
        })
        .collect()
}

/// A law with its parameters.
#[derive(Clone)]
pub struct Law {
    entry: &'static LawFamily,
    values: Vec<f64>,
}

impl Law {
    /// Parses a specification such as `cap:radius=0.3`.
    ///
    /// **Errors** an unknown law or key (with the nearest known one), a value out of range.
    ///
    /// ```
    /// use metastable::{num::stream::Stream, sphere::law::Law};
    /// let x = Law::parse("equiangular:rho=0.5").unwrap().sample(3, 4, &mut Stream::new(0, &[])).unwrap();
    /// assert!((x.inner(0, 2) - 0.5).abs() < 1e-15);
    /// ```
    pub fn parse(spec: &str) -> Result<Self> {
        let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
        let entry = find(name.trim())?;
        let values = parameters("law parameter", entry.keys, KeyValues::parse(entry.name, rest))?;
        Ok(Self { entry, values })
    }

    /// The canonical specification with all parameters.
    pub fn spec(&self) -> String {
        let pairs: Vec<String> = self
            .entry
            .keys
            .iter()
            .zip(&self.values)
            .map(|(k, v)| format!("{}={v}", k.name))
            .collect();
        if pairs.is_empty() {
            self.entry.name.into()
        } else {
            format!("{}:{}", self.entry.name, pairs.join(","))
        }
    }

    /// True if the law has a density, so that tokens near a draw are possible draws too.
    pub fn has_density(&self) -> bool {
        !matches!(self.entry.support, Support::Fixed)
    }

    /// True if the law has a density and every row lies in its support.
    pub fn supports(&self, d: usize, x: &[f64]) -> bool {
        match self.entry.support {
            Support::Sphere => true,
            Support::Rows(test) => x.chunks_exact(d).all(|row| test(&self.values, row)),
            Support::Fixed => false,
        }
    }

    /// Draws n tokens of `S^{d-1}` from the stream.
    ///
    /// **Errors** `n = 0`, `d < 2`, or a law that does not exist in that dimension.
    pub fn sample(&self, n: usize, d: usize, stream: &mut Stream) -> Result<Tokens> {
        if n == 0 {
            return Err(Error::parameter("n", n, "at least one token"));
        }
        if d < 2 {
            return Err(Error::parameter("d", d, "an ambient dimension of at least 2"));
        }
        if n.checked_mul(d).is_none_or(|size| size > 1 << 27) {
            return Err(Error::parameter(
                "n * d",
                format!("{n} * {d}"),
                "at most 2^27 coordinates",
            ));
        }
        (self.entry.sample)(&self.values, n, d, stream)
    }
}

/// Unit vectors `normalise(centre_i + sigma z_i)` with standard normal `z_i`.
fn perturbed(
    d: usize,
    centres: &[Vec<f64>],
    n: usize,
    sigma: f64,
    stream: &mut Stream,
) -> Result<Tokens> {
    let mut x = Vec::with_capacity(n * d);
    for i in 0..n {
        x.extend(centres[i % centres.len()].iter().map(|c| c + sigma * stream.normal()));
    }
    Tokens::normalised(d, x)
}

/// k independent uniform centres.
fn random_centres(k: usize, d: usize, stream: &mut Stream) -> Result<Vec<Vec<f64>>> {
    let mut x = vec![0.0; k * d];
    stream.normals(&mut x);
    Ok(Tokens::normalised(d, x)?.rows().map(<[f64]>::to_vec).collect())
}
