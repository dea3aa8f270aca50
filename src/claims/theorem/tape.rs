//! The draws of a trial as typed data. A search varies them, shrinking removes and rounds them, and
//! a file repeats them.

use super::domain::MASS_RANGE;
use crate::num::stream::Stream;
use crate::sphere::{geometry::retract, law::Law};
use serde::{Deserialize, Serialize};

/// One draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Draw {
    /// Tokens as rows of unit length.
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
    /// A number in an interval.
    Number {
        /// Lower end.
        lo: f64,
        /// Upper end.
        hi: f64,
        /// The number.
        value: f64,
    },
    /// An index in `0..below`.
    Index {
        /// The number of choices.
        below: usize,
        /// The index.
        value: usize,
    },
    /// Standard normal numbers.
    Normals {
        /// The numbers.
        values: Vec<f64>,
    },
    /// A random seed, which a search does not vary.
    Seed {
        /// The seed.
        value: u64,
    },
}

/// All draws of a trial, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tape(pub Vec<Draw>);

impl Tape {
    /// The numbers that a local search may vary: coordinates of tokens whose law has a density,
    /// logarithms of masses, positions in [0, 1] of numbers in their intervals, normal numbers.
    pub fn numbers(&self) -> Vec<f64> {
        let mut out = Vec::new();
        for draw in &self.0 {
            match draw {
                Draw::Tokens { law, x, .. } if is_movable(law) => out.extend_from_slice(x),
                Draw::Masses { masses } => out.extend(masses.iter().map(|m| m.ln())),
                Draw::Number { lo, hi, value } if hi > lo => out.push((value - lo) / (hi - lo)),
                Draw::Normals { values } => out.extend_from_slice(values),
                _ => {}
            }
        }
        out
    }

    /// The tape with these numbers, clamped to their ranges; `None` if tokens leave the support of
    /// their law.
    pub fn with_numbers(&self, numbers: &[f64]) -> Option<Self> {
        let mut rest = numbers;
        let mut take = |count: usize| -> Option<&[f64]> {
            let (head, tail) = rest.split_at_checked(count)?;
            rest = tail;
            head.iter().all(|v| v.is_finite()).then_some(head)
        };
        let mut out = self.clone();
        for draw in &mut out.0 {
            match draw {
                Draw::Tokens { law, d, x } if is_movable(law) => {
                    let moved = take(x.len())?;
                    x.copy_from_slice(moved);
                    if !x.chunks_exact_mut(*d).all(retract)
                        || !Law::parse(law).is_ok_and(|l| l.supports(*d, x))
                    {
                        return None;
                    }
                }
                Draw::Masses { masses } => {
                    let logs = take(masses.len())?;
                    masses
                        .iter_mut()
                        .zip(logs)
                        .for_each(|(m, l)| *m = l.exp().clamp(MASS_RANGE.0, MASS_RANGE.1));
                }
                Draw::Number { lo, hi, value } if *hi > *lo => {
                    *value = (*lo + take(1)?[0] * (*hi - *lo)).clamp(*lo, *hi)
                }
                Draw::Normals { values } => {
                    let moved = take(values.len())?;
                    values.copy_from_slice(moved);
                }
                _ => {}
            }
        }
        Some(out)
    }

    /// The tape without token i, in every set of tokens or masses that has this index.
    pub fn without_token(&self, i: usize) -> Self {
        let mut out = self.clone();
        for draw in &mut out.0 {
            match draw {
                Draw::Tokens { d, x, .. } if x.len() > (i + 1).max(2) * *d => {
                    drop(x.drain(i * *d..(i + 1) * *d))
                }
                Draw::Masses { masses } if masses.len() > (i + 1).max(2) => drop(masses.remove(i)),
                _ => {}
            }
        }
        out
    }

    /// The tape in a smaller dimension: keeps the first `to` of `from` coordinates of all tokens,
    /// and of normal numbers that form rows of length `from`.
    pub fn with_dimension(&self, from: usize, to: usize) -> Self {
        let cut = |x: &[f64]| -> Vec<f64> {
            x.chunks_exact(from).flat_map(|row| row[..to].to_vec()).collect()
        };
        let mut out = self.clone();
        for draw in &mut out.0 {
            match draw {
                Draw::Tokens { d, x, .. } if *d == from => {
                    *x = cut(x);
                    *d = to;
                }
                Draw::Normals { values } if values.len().is_multiple_of(from) => {
                    *values = cut(values)
                }
                _ => {}
            }
        }
        out
    }

    /// The tape with every number changed by a relative -eps, 0 or eps.
    pub fn jittered(&self, stream: &mut Stream) -> Self {
        let numbers: Vec<f64> = self
            .numbers()
            .iter()
            .map(|v| v * (1.0 + f64::EPSILON * (stream.index(3) as f64 - 1.0)))
            .collect();
        self.with_numbers(&numbers).unwrap_or_else(|| self.clone())
    }

    /// The tape with all numbers rounded to this many digits; `None` if tokens leave the support of
    /// their law.
    pub fn rounded(&self, digits: i32) -> Option<Self> {
        let scale = 10f64.powi(digits);
        let round = |v: &mut f64| *v = (*v * scale).round() / scale;
        let mut out = self.clone();
        for draw in &mut out.0 {
            match draw {
                Draw::Tokens { law, d, x } if is_movable(law) => {
                    x.iter_mut().for_each(round);
                    if !x.chunks_exact_mut(*d).all(retract)
                        || !Law::parse(law).is_ok_and(|l| l.supports(*d, x))
                    {
                        return None;
                    }
                }
                Draw::Masses { masses } => masses.iter_mut().for_each(|m| {
                    round(m);
                    *m = m.clamp(MASS_RANGE.0, MASS_RANGE.1);
                }),
                Draw::Number { lo, hi, value } => {
                    *value = round_to_digits(*value, digits.max(1)).clamp(*lo, *hi);
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

/// Rounds to this many significant digits.
pub(super) fn round_to_digits(value: f64, digits: i32) -> f64 {
    format!("{value:.*e}", digits.max(1) as usize - 1).parse().unwrap_or(value)
}

/// True if the law has a density: only then are the tokens varied.
fn is_movable(law: &str) -> bool {
    Law::parse(law).is_ok_and(|l| l.has_density())
}
