//! Laws of masses: how much each token weighs. A law is a [`MassFamily`] in `families.rs` and its place in [`ALL`].
//!
//! A specification is `name`, `name:VALUE` where the law has one parameter, or `name:key=value`.

use crate::error::{Error, Result, in_range};
use crate::num::stream::Stream;

mod families;

/// A registered law of masses.
pub struct MassFamily {
    /// Name in experiments and on the command line.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Parameters: key, default, smallest and largest value, meaning.
    pub keys: &'static [(&'static str, f64, f64, f64, &'static str)],
    /// True when the masses are drawn from a random stream.
    pub random: bool,
    /// Positive weights of n tokens, proportional to their masses; the values are those of `keys`, in order.
    pub weights: fn(values: &[f64], n: usize, stream: &mut Stream) -> Vec<f64>,
}

/// All laws of masses, by name.
pub static ALL: &[&MassFamily] = &[&families::DIRICHLET, &families::ONE_HEAVY, &families::POWER, &families::UNIFORM];

/// A law of masses with its parameters.
#[derive(Clone)]
pub struct MassLaw {
    family: &'static MassFamily,
    values: Vec<f64>,
}

impl MassLaw {
    /// Reads a specification such as `power:0.5`; `None` for what does not begin with the name of a law.
    ///
    /// **Errors** an unknown key, a value that is no number or out of range.
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
        let mut values: Vec<f64> = family.keys.iter().map(|k| k.1).collect();
        for word in rest.split(',').filter(|w| !w.trim().is_empty()) {
            // A law with one parameter needs no name for it.
            let (key, value) = match (word.split_once('='), family.keys) {
                (Some((key, value)), _) => (key.trim(), value.trim()),
                (None, [(key, ..)]) => (*key, word.trim()),
                (None, _) => (word.trim(), ""),
            };
            let known = family.keys.iter().position(|k| k.0 == key);
            let slot = known.ok_or_else(|| Error::unknown("parameter of masses", key, family.keys.iter().map(|k| k.0)))?;
            let (_, _, low, high, _) = family.keys[slot];
            let name = format!("{}:{key}", family.name);
            let number = value.parse::<f64>().map_err(|_| Error::parameter(&name, value, "a number"))?;
            values[slot] = in_range(&name, number, low, high)?;
        }
        Ok(Self { family, values })
    }

    /// The specification with every parameter written out.
    pub fn spec(&self) -> String {
        let pairs: Vec<String> = self.family.keys.iter().zip(&self.values).map(|(k, v)| format!("{}={v}", k.0)).collect();
        if pairs.is_empty() { self.family.name.into() } else { format!("{}:{}", self.family.name, pairs.join(",")) }
    }

    /// True when the masses are drawn from a random stream.
    pub fn is_random(&self) -> bool {
        self.family.random
    }

    /// Positive weights of n tokens, proportional to their masses.
    pub fn weights(&self, n: usize, stream: &mut Stream) -> Vec<f64> {
        (self.family.weights)(&self.values, n, stream)
    }
}

/// The laws with their parameters in one line, for people: `uniform, power:S, ...`.
pub fn forms() -> String {
    let form = |f: &&MassFamily| f.keys.iter().map(|k| k.0.to_uppercase()).fold(f.name.to_owned(), |text, key| format!("{text}:{key}"));
    ALL.iter().map(form).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(spec: &str, n: usize) -> Vec<f64> {
        let law = MassLaw::parse(spec).expect("a law").expect("valid");
        law.weights(n, &mut Stream::new(3, &["masses"]))
    }

    #[test]
    fn powers_are_the_nearest_numbers() {
        // 1/i and 1/i^2 are quotients, which a processor rounds correctly (i^2 is exact).
        for (k, (one, two)) in weights("power", 2000).into_iter().zip(weights("power:s=2", 2000)).enumerate() {
            let i = (k + 1) as f64;
            assert_eq!((one.to_bits(), two.to_bits()), ((1.0 / i).to_bits(), (1.0 / (i * i)).to_bits()), "{i}");
        }
        // The nearest number to the root of a half.
        assert_eq!(weights("power:0.5", 2)[1].to_bits(), std::f64::consts::FRAC_1_SQRT_2.to_bits());
        assert!(weights("power:0", 5).iter().all(|m| m.to_bits() == 1f64.to_bits()), "equal masses");
    }

    #[test]
    fn one_token_has_its_share() {
        let m = weights("one-heavy:0.75", 5);
        let total: f64 = m.iter().sum();
        // Five sums of numbers of size 1: five roundings.
        assert!((m[0] / total - 0.75).abs() < 5.0 * f64::EPSILON && m[1..].iter().all(|v| v.to_bits() == m[1].to_bits()), "{m:?}");
        assert_eq!(weights("one-heavy", 1).len(), 1);
    }

    #[test]
    fn drawn_masses_have_the_moments_of_their_law() {
        // Masses of Dirichlet(a, .., a): mean 1/n, variance (n - 1) / (n^2 (n a + 1)).
        for a in [0.3f64, 1.0, 4.0] {
            let (n, runs) = (4, 20_000u32);
            let law = MassLaw::parse(&format!("dirichlet:{a}")).expect("a law").expect("valid");
            let mut stream = Stream::new(5, &["moments"]);
            let (mut mean, mut square) = (0.0, 0.0);
            for _ in 0..runs {
                let w = law.weights(n, &mut stream);
                let first = w[0] / w.iter().sum::<f64>();
                assert!(w.iter().all(|v| *v > 0.0 && v.is_finite()));
                mean += first / f64::from(runs);
                square += (first - 0.25) * (first - 0.25) / f64::from(runs);
            }
            let variance = 3.0 / (16.0 * (4.0 * a + 1.0));
            // Five standard errors: of the mean, and of the variance, whose own variance is below that of (m - 1/4)^2 <= 9/16.
            let error = 5.0 / f64::from(runs).sqrt();
            assert!((mean - 0.25).abs() < error * variance.sqrt(), "a = {a}: mean {mean}");
            assert!((square - variance).abs() < error * (0.5625 * variance).sqrt(), "a = {a}: variance {square}, expected {variance}");
        }
    }

    #[test]
    fn wrong_words_are_answered() {
        for (spec, expected) in [
            ("power:two", "power:s: found two, expected a number"),
            ("power:-1", "power:s: found -1, expected a number in [0, 20]"),
            ("power:exponent=2", "unknown parameter of masses `exponent`"),
            ("uniform:3", "unknown parameter of masses `3`"),
            ("dirichlet:0", "dirichlet:a: found 0"),
        ] {
            let said = MassLaw::parse(spec).expect("a law").map(|_| ()).expect_err("wrong").to_string();
            assert!(said.contains(expected), "{spec}: {said}");
        }
        assert_eq!(forms(), "dirichlet:A, one-heavy:SHARE, power:S, uniform");
    }
}
