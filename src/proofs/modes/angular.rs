//! Proved bounds of the distance between `phi(cos t)` and its cosine series, in the derivatives
//! with respect to t.
//!
//! On a box of angles both functions are Taylor sums of degree 11 about the middle, whose
//! coefficients, and the next one on the whole box, are enclosed in interval arithmetic. The
//! coefficient of degree l of the series grows like the degree K to the power l, so boxes have a
//! length of the order of 1/K. In s they would be shorter by another factor K.

use crate::error::{Error, Result};
use crate::num::formula::{Formula, TAYLOR_DEGREE as DEGREE, Taylor};
use crate::num::interval::Interval;
use crate::num::number::Number;

/// A box is halved until its remainder is below this part of the largest coefficient.
const TARGET: f64 = 1e-16;

/// Largest number of boxes.
const MAX_BOXES: usize = 40_000;

fn real(x: f64) -> Interval {
    Interval::exact(x)
}

/// The series `sum_k c_k cos k t`.
struct Cosines<'a>(&'a [f64]);

impl Cosines<'_> {
    /// The Taylor coefficients of degree below [`DEGREE`] at t.
    fn coefficients(&self, t: f64) -> [Interval; DEGREE] {
        let mut out = [Interval::default(); DEGREE];
        for (k, c) in self.0.iter().enumerate() {
            let degree = real(k as f64);
            let (sin, cos) = Number::sin_cos(degree * real(t));
            let mut factor = real(*c);
            for (l, out) in out.iter_mut().enumerate() {
                let part = match l % 4 {
                    0 => cos,
                    1 => -sin,
                    2 => -cos,
                    _ => sin,
                };
                *out = *out + factor * part;
                factor = factor * degree / real((l + 1) as f64);
            }
        }
        out
    }

    /// A bound of derivative l, divided by l!.
    fn bound(&self, l: usize) -> Interval {
        let term = |(k, c): (usize, &f64)| {
            let degree = real(k as f64);
            (1..=l).fold(real(c.abs()), |p, i| p * degree / real(i as f64))
        };
        self.0.iter().enumerate().map(term).fold(Interval::default(), |s, t| s + t)
    }
}

/// Bounds of the first and second derivative of `f(cos t) - sum_k c_k cos k t` for all t.
///
/// **Accuracy** widths of intervals: about 1e-14 of `sum_k k^j |c_k|`, j = 1, 2. **Cost** 12 K
/// interval operations for each of some K boxes. **Errors** a formula without finite enclosures,
/// more than 40000 boxes.
pub(super) fn distances(f: &Formula, coefficients: &[f64]) -> Result<[f64; 2]> {
    let (f, series) = (f.compile::<Taylor>()?, Cosines(coefficients));
    let largest = real(series.bound(DEGREE).hi());
    let sizes = [1, 2].map(|j| TARGET * series.bound(j).hi());
    let mut worst = [0.0f64; 2];
    // Both functions are even and have the period 2 pi.
    let mut boxes = vec![(0.0, std::f64::consts::PI.next_up())];
    for _ in 0..MAX_BOXES {
        let Some((a, b)) = boxes.pop() else { return Ok(worst) };
        let middle = 0.5 * (a + b);
        let radius = real((real(b) - real(middle)).hi().max((real(middle) - real(a)).hi()));
        let at = |t: Interval| f.at(Taylor::variable(t).sin_cos().1).map(|at| at.value.0);
        let (near, wide) = (at(real(middle))?, at(Interval::new(a, b))?);
        let known = series.coefficients(middle);
        let gap = |l: usize| match known.get(l) {
            Some(own) => real((near[l] - *own).mag()),
            None => real(wide[l].mag()) + largest,
        };
        let mut bounds = [(0.0, 0.0); 2];
        for (j, bound) in (1..=2).zip(&mut bounds) {
            // Coefficient l of derivative j is l!/(l - j)! times that of degree l.
            let term = |l: usize, power: Interval| {
                gap(l) * real((l + 1 - j..=l).map(|i| i as f64).product()) * power
            };
            let (mut sum, mut power) = (Interval::default(), real(1.0));
            for l in j..DEGREE {
                sum = sum + term(l, power);
                power = power * radius;
            }
            *bound = (sum.hi(), term(DEGREE, power).hi());
        }
        let is_small = |((point, rest), size): (&(f64, f64), &f64)| {
            *rest <= size.max(0.1 * point) && point.is_finite()
        };
        // On longer boxes Taylor sums are far above their values.
        let is_short = (b - a) * coefficients.len() as f64 <= 1.0;
        if is_short && bounds.iter().zip(&sizes).all(is_small) {
            for (worst, (point, rest)) in worst.iter_mut().zip(bounds) {
                *worst = worst.max((real(point) + real(rest)).hi());
            }
            continue;
        }
        if b - a < 1e-9 {
            break;
        }
        boxes.extend([(middle, b), (a, middle)]);
    }
    let what = "no proof of the distance between the interaction and its series".into();
    Err(Error::Numerical { what })
}

#[cfg(test)]
mod tests {
    use super::distances;
    use crate::attention::interaction::Interaction;

    #[test]
    fn bounds_hold_and_are_sharp() {
        for (text, most) in [
            ("exp(4*s)", 1e-12),
            ("s^3", 1e-12),
            ("1/(1.01 - s)", 1e-9),
            ("exp(400*s - 400)", 1e-11),
            ("cos(9*s) + s^3", 1e-12),
        ] {
            let phi = Interaction::parse(text, &[]).expect("an interaction");
            let mut c = phi.series()[0].coefficients();
            let size: f64 = c.iter().enumerate().map(|(k, c)| (k * k) as f64 * c.abs()).sum();
            let own = distances(phi.formula(), &c).expect("a proof");
            assert!(own.iter().all(|d| *d < most * (1.0 + size)), "{text}: {own:?} {size:e}");
            // A series with another term is at the distance of this term: 2 |sin 2t|, 4 |cos 2t|.
            c[2] += 1e-3 * size;
            let [first, second] = distances(phi.formula(), &c).expect("a proof");
            assert!((2e-3 * size..3.2e-3 * size).contains(&first), "{text}: {first:e}");
            assert!((4e-3 * size..6.4e-3 * size).contains(&second), "{text}: {second:e}");
        }
    }
}
