//! Certificates of the number of modes on the line and on the circle: pieces on which the
//! derivative of the estimate has a sign or is monotone.
//!
//! Bounds come from the sum over all samples, so a reader needs nothing of the search. The file has
//! the kernel, the samples, the ends of the pieces in ascending order, and a letter for each piece:
//!
//! | letter | meaning |
//! |---|---|
//! | `P`, `N` | the derivative is positive, or negative |
//! | `R`, `F` | the second derivative is positive, or negative |
//!
//! **Lemma** An estimate that is analytic and not constant has a strict local maximum in a maximal
//! run of pieces F if and only if the derivative is positive at the left and negative at the right
//! end of the run; it has none elsewhere. *Proof* On the run the derivative falls strictly. On the
//! other pieces it rises or has a sign, and at an end between a piece R and a run it is negative
//! before a zero of a left end, and positive behind one of a right end. QED
//!
//! On the line the pieces reach over all samples: before the first the derivative is positive,
//! behind the last it is negative. On the circle they cover more than a turn. The first piece has a
//! sign, and what comes after a whole turn lies in it.

use crate::attention::interaction::Interaction;
use crate::dyadic::{dyadic, numbers};
use crate::num::formula::{Compiled, Series};
use crate::num::interval::Interval;
use crate::num::number::Number;

/// The first line of a certificate.
pub const KIND: &str = "metastable-modes 1";

/// Most terms of the sums, samples times evaluations: some seconds; fewer for interactions.
const MOST: (usize, usize) = (20_000_000, 400_000);

/// Largest angle in radians whose sine the verifier bounds sharply.
const LARGEST_ANGLE: f64 = 1e5;

/// By how much a sign must be certain, in units of the sum of the sizes of terms.
const MARGIN: f64 = 1e-12;

/// Widths below this part of the range are not halved.
const NARROWEST: f64 = 1e-13;

/// The kernel of an estimate, and where its samples are.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Estimate<'a> {
    /// `e^{-beta x^2 / 2}` on the line.
    Gauss(f64),
    /// `e^{beta cos}` on the circle.
    Exponential(f64),
    /// `phi(cos)` on the circle.
    Interaction(&'a Interaction),
}

/// The proved behaviour of the derivative on a piece.
#[derive(Clone, Copy, PartialEq)]
enum Letter {
    P,
    N,
    R,
    F,
}

fn exact(v: f64) -> Interval {
    Interval::exact(v)
}

/// The pieces of a certificate, while they are found.
struct Pieces<'a> {
    estimate: &'a Estimate<'a>,
    phi: Option<Compiled<Series<3>>>,
    samples: &'a [f64],
    cuts: Vec<f64>,
    letters: Vec<Letter>,
    /// Terms that may still be summed.
    left: usize,
}

impl Pieces<'_> {
    /// Enclosures of the derivative and of the second one, up to a positive factor, and a margin:
    /// the verifier rounds otherwise. `None` beyond the largest number of terms.
    fn derivatives(&mut self, x: Interval) -> Option<(Interval, Interval, f64)> {
        self.left = self.left.checked_sub(self.samples.len())?;
        let (mut sum, mut size) = ((Interval::ZERO, Interval::ZERO), 0.0);
        for sample in self.samples {
            let d = x - exact(*sample);
            let term = match self.estimate {
                Estimate::Gauss(beta) => {
                    let square = exact(*beta) * d.sqr();
                    let e = (exact(-0.5) * square).exp();
                    (-(d * e), (square - exact(1.0)) * e)
                }
                Estimate::Exponential(beta) => {
                    let (sin, cos) = Number::sin_cos(d);
                    let e = (exact(*beta) * (cos - exact(1.0))).exp();
                    (-(sin * e), (exact(*beta) * sin.sqr() - cos) * e)
                }
                Estimate::Interaction(_) => {
                    let cos = Number::sin_cos(Series::<3>::variable(d)).1;
                    let c = self.phi.as_ref()?.at(cos).ok()?.value.0;
                    (c[1], exact(2.0) * c[2])
                }
            };
            sum = (sum.0 + term.0, sum.1 + term.1);
            size += term.0.mag() + term.1.mag();
        }
        Some((sum.0, sum.1, MARGIN * size))
    }

    /// Halves a piece until all of it has letters; `None` if that does not end.
    fn find(&mut self, (a, b): (f64, f64), narrowest: f64) -> Option<()> {
        let middle = 0.5 * (a + b);
        let (on, at) = (self.derivatives(Interval::new(a, b))?, self.derivatives(exact(middle))?);
        let mean = at.0 + on.1 * (Interval::new(a, b) - exact(middle));
        let letter = match () {
            () if mean.lo() > at.2 => Letter::P,
            () if mean.hi() < -at.2 => Letter::N,
            () if on.1.lo() > on.2 => Letter::R,
            () if on.1.hi() < -on.2 => Letter::F,
            () if b - a < narrowest || !(a < middle && middle < b) => return None,
            () => {
                self.find((a, middle), narrowest)?;
                return self.find((middle, b), narrowest);
            }
        };
        self.cuts.push(b);
        self.letters.push(letter);
        Some(())
    }

    /// Whether the sign of the derivative is certain at an end of a run.
    fn has_sign(&mut self, x: f64) -> Option<bool> {
        let (found, _, margin) = self.derivatives(exact(x))?;
        (found.mig() > margin).then(|| found.is_positive())
    }

    /// The number of modes by the lemma.
    fn count(&mut self) -> Option<usize> {
        let (mut count, mut x) = (0, 0);
        while x < self.letters.len() {
            if self.letters[x] != Letter::F {
                x += 1;
                continue;
            }
            let start = x;
            while x < self.letters.len() && self.letters[x] == Letter::F {
                x += 1;
            }
            let left = match start.checked_sub(1).map(|s| self.letters[s]) {
                Some(Letter::P) => true,
                Some(Letter::N) => false,
                _ => self.has_sign(self.cuts[start])?,
            };
            let right = match self.letters.get(x) {
                Some(Letter::P) => true,
                Some(Letter::N) => false,
                _ => self.has_sign(self.cuts[x])?,
            };
            count += usize::from(left && !right);
        }
        Some(count)
    }
}

/// A certificate of a proved number of modes, which the verifier reads; `None` if its sums over all
/// samples would take more than some seconds (2e7 terms, 4e5 for an interaction), do not decide the
/// number, or angles exceed 1e5.
///
/// **Cost** samples times pieces.
///
/// ```
/// use metastable::proofs::modes::{Estimate, KIND, certificate, line};
/// let samples = [0.0, 0.5, 3.0];
/// let count = line(&samples, 4.0)?.count()?;
/// let text = certificate(&Estimate::Gauss(4.0), &samples, count).unwrap();
/// assert!(count == 2 && text.starts_with(KIND));
/// assert!(certificate(&Estimate::Gauss(4.0), &samples, 3).is_none());
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn certificate(estimate: &Estimate, samples: &[f64], modes: usize) -> Option<String> {
    let phi = match estimate {
        Estimate::Interaction(phi) if phi.formula().is_series() => return None,
        Estimate::Interaction(phi) => Some(phi.formula().compile().ok()?),
        _ => None,
    };
    let left = if phi.is_some() { MOST.1 } else { MOST.0 };
    let (low, high) =
        samples.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| (l.min(*s), h.max(*s)));
    let circle = !matches!(estimate, Estimate::Gauss(_));
    if circle && low.abs().max(high.abs()) > LARGEST_ANGLE || !(high - low).is_finite() {
        return None;
    }
    let mut pieces = Pieces { estimate, phi, samples, cuts: Vec::new(), letters: Vec::new(), left };
    let steepness = match estimate {
        Estimate::Gauss(beta) | Estimate::Exponential(beta) => beta.sqrt().max(1.0),
        Estimate::Interaction(_) => 1.0,
    };
    if circle {
        // A start at which the derivative has a sign, from some places around the circle.
        let turn = std::f64::consts::TAU;
        let start = (0..64).map(|k| turn * (f64::from(k) + 0.37) / 64.0);
        let start = start.into_iter().find(|x| pieces.has_sign(*x).is_some())?;
        // The end is a little more than a turn beyond, in the first piece again.
        let mut reach = 1e-3 / steepness;
        let first = loop {
            let before = pieces.letters.len();
            pieces.cuts = vec![start];
            pieces.find((start, start + reach), reach)?;
            if pieces.letters.len() == before + 1
                && matches!(pieces.letters[0], Letter::P | Letter::N)
            {
                break start + reach;
            }
            pieces.letters.clear();
            reach *= 0.25;
            if reach < 1e-12 {
                return None;
            }
        };
        let end = start + turn + 0.5 * reach;
        pieces.find((first, end), NARROWEST * turn)?;
    } else {
        pieces.cuts = vec![low];
        if low < high {
            pieces.find((low, high), NARROWEST * (high - low).max(1.0 / steepness))?;
        }
    }
    let found = if low < high || circle { pieces.count()? } else { 1 };
    if found != modes {
        return None;
    }
    let letters: String = pieces
        .letters
        .iter()
        .map(|l| match l {
            Letter::P => 'P',
            Letter::N => 'N',
            Letter::R => 'R',
            Letter::F => 'F',
        })
        .collect();
    let law = match estimate {
        Estimate::Gauss(beta) => format!("gauss {}\n", dyadic(*beta)),
        Estimate::Exponential(beta) => format!("exponential {}\n", dyadic(*beta)),
        Estimate::Interaction(phi) => {
            let formula = phi.formula();
            let text = formula.text().split_whitespace().collect::<Vec<_>>().join(" ");
            let own = formula.occurring_parameters();
            let parameters = own.iter().map(|(k, v)| format!("parameter {k} {}\n", dyadic(*v)));
            format!("interaction {text}\n{}", parameters.collect::<String>())
        }
    };
    Some(format!(
        "{KIND}\n{law}samples {}\ncuts {}\npieces {}\nmodes {modes}\nend\n",
        numbers(samples),
        numbers(&pieces.cuts),
        if letters.is_empty() { "-" } else { &letters },
    ))
}
