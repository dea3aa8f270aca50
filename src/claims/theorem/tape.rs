//! What a trial drew, as typed data: a search moves it, a minimiser shortens and rounds it, a file repeats it.

use super::domain::MASS_RANGE;
use crate::num::stream::Stream;
use crate::sphere::{geometry::retract, law::Law};
use serde::{Deserialize, Serialize};

/// One thing that was drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Draw {
    /// Rows of unit length.
    Tokens {
        /// Their law.
        law: String,
        /// Ambient dimension.
        d: usize,
        /// Coordinates by rows.
        x: Vec<f64>,
    },
    /// Masses before normalisation.
    Masses {
        /// One per token.
        masses: Vec<f64>,
    },
    /// A number of an interval.
    Number {
        /// Lower end.
        lo: f64,
        /// Upper end.
        hi: f64,
        /// The number.
        value: f64,
    },
    /// One of `0..below`.
    Index {
        /// How many there are.
        below: usize,
        /// Which.
        value: usize,
    },
    /// Standard normals.
    Normals {
        /// The numbers.
        values: Vec<f64>,
    },
    /// A seed of something that is not moved.
    Seed {
        /// The seed.
        value: u64,
    },
}

/// Everything a trial drew, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tape(pub Vec<Draw>);

impl Tape {
    /// The numbers a local search may move: coordinates of tokens whose law has a density, logarithms of masses, numbers by their place in
    /// their interval, normals.
    pub fn numbers(&self) -> Vec<f64> {
        let mut out = Vec::new();
        for draw in &self.0 {
            match draw {
                Draw::Tokens { law, x, .. } if moves(law) => out.extend_from_slice(x),
                Draw::Masses { masses } => out.extend(masses.iter().map(|m| m.ln())),
                Draw::Number { lo, hi, value } if hi > lo => out.push((value - lo) / (hi - lo)),
                Draw::Normals { values } => out.extend_from_slice(values),
                _ => {}
            }
        }
        out
    }

    /// The tape with these numbers instead, brought back into their ranges; `None` where tokens leave the support of their law.
    pub fn with_numbers(&self, numbers: &[f64]) -> Option<Self> {
        let mut left = numbers;
        let mut take = |count: usize| -> Option<&[f64]> {
            let (head, tail) = left.split_at_checked(count)?;
            left = tail;
            head.iter().all(|v| v.is_finite()).then_some(head)
        };
        let mut out = self.clone();
        for draw in &mut out.0 {
            match draw {
                Draw::Tokens { law, d, x } if moves(law) => {
                    let moved = take(x.len())?;
                    x.copy_from_slice(moved);
                    if !x.chunks_exact_mut(*d).all(retract) || !Law::parse(law).is_ok_and(|l| l.supports(*d, x)) {
                        return None;
                    }
                }
                Draw::Masses { masses } => {
                    let logs = take(masses.len())?;
                    masses.iter_mut().zip(logs).for_each(|(m, l)| *m = l.exp().clamp(MASS_RANGE.0, MASS_RANGE.1));
                }
                Draw::Number { lo, hi, value } if *hi > *lo => *value = (*lo + take(1)?[0] * (*hi - *lo)).clamp(*lo, *hi),
                Draw::Normals { values } => {
                    let moved = take(values.len())?;
                    values.copy_from_slice(moved);
                }
                _ => {}
            }
        }
        Some(out)
    }

    /// The tape without the token of index i, in every set of tokens and masses that has one of that index.
    pub fn without(&self, i: usize) -> Self {
        let mut out = self.clone();
        for draw in &mut out.0 {
            match draw {
                Draw::Tokens { d, x, .. } if x.len() > (i + 1).max(2) * *d => drop(x.drain(i * *d..(i + 1) * *d)),
                Draw::Masses { masses } if masses.len() > (i + 1).max(2) => drop(masses.remove(i)),
                _ => {}
            }
        }
        out
    }

    /// The tape in a smaller dimension: the first coordinates of tokens, and of normals that come in rows of d.
    pub fn narrowed(&self, from: usize, to: usize) -> Self {
        let cut = |x: &[f64]| -> Vec<f64> { x.chunks_exact(from).flat_map(|row| row[..to].to_vec()).collect() };
        let mut out = self.clone();
        for draw in &mut out.0 {
            match draw {
                Draw::Tokens { d, x, .. } if *d == from => {
                    *x = cut(x);
                    *d = to;
                }
                Draw::Normals { values } if values.len().is_multiple_of(from) => *values = cut(values),
                _ => {}
            }
        }
        out
    }

    /// Every number moved by at most an ulp of its size: what rounding alone may change.
    pub fn jittered(&self, stream: &mut Stream) -> Self {
        let numbers: Vec<f64> = self.numbers().iter().map(|v| v * (1.0 + f64::EPSILON * (stream.index(3) as f64 - 1.0))).collect();
        self.with_numbers(&numbers).unwrap_or_else(|| self.clone())
    }

    /// Tokens, masses, numbers and normals rounded to this many digits; `None` where tokens leave the support of their law.
    pub fn rounded(&self, digits: i32) -> Option<Self> {
        let scale = 10f64.powi(digits);
        let round = |v: &mut f64| *v = (*v * scale).round() / scale;
        let mut out = self.clone();
        for draw in &mut out.0 {
            match draw {
                Draw::Tokens { law, d, x } if moves(law) => {
                    x.iter_mut().for_each(round);
                    if !x.chunks_exact_mut(*d).all(retract) || !Law::parse(law).is_ok_and(|l| l.supports(*d, x)) {
                        return None;
                    }
                }
                Draw::Masses { masses } => masses.iter_mut().for_each(|m| {
                    round(m);
                    *m = m.clamp(MASS_RANGE.0, MASS_RANGE.1);
                }),
                Draw::Number { lo, hi, value } => {
                    *value = rounded_to(*value, digits.max(1)).clamp(*lo, *hi);
                }
                Draw::Normals { values } => values.iter_mut().for_each(round),
                _ => {}
            }
        }
        Some(out)
    }

    /// The tape with all masses equal.
    pub fn with_equal_masses(&self) -> Self {
        let mut out = self.clone();
        for draw in &mut out.0 {
            if let Draw::Masses { masses } = draw {
                masses.fill(1.0);
            }
        }
        out
    }
}

/// A number to this many significant digits.
pub(super) fn rounded_to(value: f64, digits: i32) -> f64 {
    format!("{value:.*e}", digits.max(1) as usize - 1).parse().unwrap_or(value)
}

/// Tokens of a law without a density keep their places.
fn moves(law: &str) -> bool {
    Law::parse(law).is_ok_and(|l| l.has_density())
}
