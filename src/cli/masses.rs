//! `--masses`: a file, a list, or a law.

use crate::error::{Error, Result};
use crate::lab::{arrays, range};
use crate::sphere::mass_law::{self, MassLaw};
use std::path::Path;

/// The masses of tokens.
pub enum Masses {
    /// A law, from which they are made for any number of tokens.
    Law(MassLaw),
    /// Their lower and upper bounds, which differ where an interval is given.
    Numbers(Vec<f64>, Vec<f64>),
}

impl Masses {
    /// Reads a text: the name of a file with one number per token, a list such as `1,1,2` or
    /// `1..1.2,1,1`, or a law.
    ///
    /// **Errors** a file that cannot be read, a wrong entry, a malformed law.
    pub fn read(text: &str) -> Result<Self> {
        if Path::new(text).exists() {
            let all = arrays::list(Path::new(text), None)?;
            return Ok(Self::Numbers(all.clone(), all));
        }
        if let Some(law) = MassLaw::parse(text) {
            return law.map(Self::Law);
        }
        let is_list = text.contains(',') || text.bytes().all(|b| b"0123456789.eE+-".contains(&b));
        if !is_list && (text.contains(['.', '/']) || text == "-") {
            let all = arrays::list(Path::new(text), None)?;
            return Ok(Self::Numbers(all.clone(), all));
        }
        let entries = text.split(',').map(|item| entry(item.trim(), text));
        let (low, high) = entries.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Self::Numbers(low, high))
    }

    /// Lower and upper bounds of the masses of n tokens.
    ///
    /// **Errors** another number of masses; a law that draws them.
    pub fn bounds(self, text: &str, n: Option<usize>) -> Result<(Vec<f64>, Vec<f64>)> {
        match (self, n) {
            (Self::Numbers(low, _), Some(n)) if low.len() != n => {
                let expected = format!("{}, the number of masses", low.len());
                Err(Error::parameter("n", n, expected))
            }
            (Self::Numbers(low, high), _) => Ok((low, high)),
            (Self::Law(law), Some(n)) if !law.is_random() => {
                // A huge number is refused by its value, before memory is needed.
                let mut unused = crate::num::stream::Stream::new(1, &[]);
                let all = law.weights(n.min(1000), &mut unused);
                Ok((all.clone(), all))
            }
            (Self::Law(_), None) => {
                Err(Error::parameter("n", "nothing", "--n with a law of masses"))
            }
            (Self::Law(_), _) => {
                let expected = "a file, a list, or a law without random numbers";
                Err(Error::parameter("masses", text, expected))
            }
        }
    }
}

/// An entry of a list: a number, or an interval.
fn entry(item: &str, text: &str) -> Result<(f64, f64)> {
    let (found, expected) = if item.contains("..") {
        (range::interval(item).ok(), "an interval a..b of numbers with a <= b".to_owned())
    } else {
        let number = item.parse().ok().filter(|v: &f64| v.is_finite());
        let usage = mass_law::usage();
        let expected = format!("a file, a list of numbers and intervals a..b, or a law: {usage}");
        (number.map(|value| (value, value)), expected)
    };
    let shown = if text.contains(',') { format!("`{item}` in {text}") } else { item.to_owned() };
    found.ok_or_else(|| Error::parameter("masses", shown, expected))
}
