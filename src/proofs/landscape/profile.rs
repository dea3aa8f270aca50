//! Ranges of the pull `u(t) = phi(cos d) sin d` and of the weight `w(t) = u'` of any interaction
//! phi, where `d = 2 pi t` and t is a distance in turns.
//!
//! [0, 1/2] is divided into [`CELLS`] cells. On each, u is a polynomial of degree [`DEGREE`] in the
//! distance x from the middle, in radians, plus an error. Its coefficients are the middles of
//! enclosures of the Taylor coefficients of u there, by interval arithmetic with the formula of phi
//! at the Taylor series of the cosine. The error has four parts: the radii of the coefficients, the
//! remainder (an enclosure of the next coefficient on the whole cell), the rounding of x, and that
//! of Horner's rule. The weight is the derivative, with the same parts.
//!
//! A cell in which an enclosure of u' excludes 0 has a monotone u, likewise for w. So a range comes
//! from the values at the ends and from the ranges of the other cells between them.

use crate::attention::interaction::Interaction;
use crate::error::{Error, Result};
use crate::num::formula::{Compiled, Kinks, Taylor};
use crate::num::interval::Interval;
use crate::num::number::Number;

/// Number of cells of half a turn.
const CELLS: usize = 2048;

/// Degree of the polynomials.
const DEGREE: usize = 8;

/// Largest number of cells in which u or w turns: beyond it, phi is taken as constant somewhere.
const MOST_TURNS: usize = 400;

/// Bound of the relative rounding errors in the value of a polynomial, in units of the sum of the
/// absolute terms: Horner's rule has 16 operations, and x has the relative error 3 U.
const ROUNDING: f64 = 50.0 * f64::EPSILON;

/// The polynomials on a cell.
#[derive(Clone, Copy, Debug)]
struct Piece {
    u: [f64; DEGREE + 1],
    w: [f64; DEGREE + 1],
    errors: (f64, f64),
}

/// A cell in which a function may turn, with its range there.
#[derive(Clone, Copy, Debug)]
struct Turn {
    cell: usize,
    range: Interval,
}

/// An interaction with the ranges of its pull and weight.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    interaction: Interaction,
    pieces: Vec<Piece>,
    /// Where the pull and where the weight may turn.
    turns: (Vec<Turn>, Vec<Turn>),
    /// phi(1).
    own: Interval,
    /// The upper bound of the gaps of Lemma 1: phi is positive up to the rest of a turn.
    longest: f64,
}

impl PartialEq for Profile {
    fn eq(&self, other: &Self) -> bool {
        self.interaction.formula() == other.interaction.formula()
    }
}

/// The Taylor coefficients of `phi(cos d) sin d` about the distances of an interval.
fn pull(phi: &Compiled<Taylor>, d: Interval) -> Result<Taylor> {
    let (sin, cos) = Number::sin_cos(Taylor::variable(d));
    Ok(phi.at(cos)?.value * sin)
}

/// A sum of terms with powers of an interval.
fn polynomial(terms: impl DoubleEndedIterator<Item = Interval>, x: Interval) -> Interval {
    terms.rev().fold(Interval::ZERO, |s, c| s * x + c)
}

/// The middles of coefficients, the error of the polynomial for `|x| <= h`, and its range.
fn piece(coefficients: &[Interval], next: Interval, h: f64) -> ([f64; DEGREE + 1], f64, Interval) {
    let middles: [f64; DEGREE + 1] = std::array::from_fn(|k| coefficients[k].mid());
    let radius = Interval::exact(h);
    let radii = coefficients.iter().map(|c| Interval::exact(c.radius()));
    let sizes = middles.iter().map(|c| Interval::exact(c.abs()));
    let rest = polynomial(std::iter::repeat_n(Interval::ZERO, DEGREE + 1).chain([next]), radius);
    let error = polynomial(radii, radius)
        + Interval::exact(rest.mag())
        + Interval::exact(ROUNDING) * polynomial(sizes, radius);
    let range = polynomial(coefficients.iter().copied(), Interval::symmetric(h))
        + Interval::symmetric(rest.mag());
    // The verifier rounds otherwise.
    (middles, error.hi(), range + Interval::symmetric(1e-12 * range.mag()))
}

impl Profile {
    /// The ranges of an interaction.
    ///
    /// **Errors** a kink, or a place where phi or a derivative has no finite bound.
    pub(super) fn new(interaction: &Interaction) -> Result<Self> {
        refuse_kinks(interaction)?;
        let text = interaction.formula().text();
        let phi = interaction.formula().compile::<Taylor>()?;
        let cells = CELLS as f64;
        // The cells and their halves are dyadic.
        let at = |t: f64| <Interval as Number>::pi() * Interval::exact(t / cells);
        let h = at(0.5).hi();
        let (mut pieces, mut turns) = (Vec::with_capacity(CELLS), (vec![], vec![]));
        let mut positive = 0;
        for cell in 0..CELLS {
            let left = cell as f64;
            let ends = Interval::new(at(left).lo().max(0.0), at(left + 1.0).hi());
            let (near, wide) = (pull(&phi, at(left + 0.5))?, pull(&phi, ends)?);
            if !wide.0.iter().all(|c| c.is_finite()) {
                return Err(no_bound(interaction, ends));
            }
            let derived = |of: &Taylor, k: usize| of.0[k + 1] * Interval::exact(k as f64 + 1.0);
            let slopes: Vec<Interval> = (0..=DEGREE).map(|k| derived(&near, k)).collect();
            let (u, error_u, range_u) = piece(&near.0[..=DEGREE], wide.0[DEGREE + 1], h);
            let (w, error_w, range_w) = piece(&slopes, derived(&wide, DEGREE + 1), h);
            pieces.push(Piece { u, w, errors: (error_u, error_w) });
            if wide.0[1].contains(0.0) {
                turns.0.push(Turn { cell, range: range_u });
            }
            if wide.0[2].contains(0.0) {
                turns.1.push(Turn { cell, range: range_w });
            }
            let value = phi.at(Taylor::variable(Number::sin_cos(ends).1))?.value.0[0];
            if positive == cell && value.is_positive() {
                positive += 1;
            }
        }
        if turns.0.len().max(turns.1.len()) > MOST_TURNS {
            let expected = "a function that is nowhere constant or linear by pieces, whose pulls \
                            have isolated extrema";
            return Err(Error::parameter("interaction", format!("`{text}`"), expected));
        }
        let own = phi.at(Taylor::variable(Interval::exact(1.0)))?.value.0[0];
        let longest = 1.0 - 0.5 * positive as f64 / cells;
        Ok(Self { interaction: interaction.clone(), pieces, turns, own, longest })
    }

    /// The interaction.
    pub(super) fn interaction(&self) -> &Interaction {
        &self.interaction
    }

    /// The text of the formula in one line, and the parameters that occur in it.
    pub(super) fn formula(&self) -> (String, Vec<(&str, f64)>) {
        let formula = self.interaction.formula();
        let text = formula.text().split_whitespace().collect::<Vec<_>>().join(" ");
        let used = formula.occurring_parameters();
        (text, used)
    }

    /// phi(1).
    pub(super) fn own(&self) -> Interval {
        self.own
    }

    /// The upper bound of gaps: 1/2 if phi is positive.
    pub(super) fn longest(&self) -> f64 {
        self.longest
    }

    /// The cell of a distance in [0, 1/2], and the distance from its middle in radians.
    #[inline]
    fn place(&self, t: f64) -> (usize, f64) {
        let scaled = t * (2 * CELLS) as f64;
        let cell = (scaled as usize).min(CELLS - 1);
        // Exact: all are multiples of 2^-48 turns.
        let x = t - (cell as f64 + 0.5) / (2 * CELLS) as f64;
        (cell, x * std::f64::consts::TAU)
    }

    /// Pull and weight at a distance in [0, 1/2], each with its error.
    #[inline]
    fn at(&self, t: f64) -> (usize, Interval, Interval) {
        let (cell, x) = self.place(t);
        let piece = &self.pieces[cell];
        let value = |c: &[f64; DEGREE + 1]| c.iter().rev().fold(0.0, |s, c| s * x + c);
        let around = |v: f64, e: f64| Interval::new((v - e).next_down(), (v + e).next_up());
        let u = around(value(&piece.u), piece.errors.0);
        // The pull of coincident and of opposite tokens is 0.
        let u = if t <= 0.0 || t >= 0.5 { Interval::ZERO } else { u };
        (cell, u, around(value(&piece.w), piece.errors.1))
    }

    /// Ranges of pull and weight over distances in [0, 1/2].
    #[inline]
    fn half(&self, lo: f64, hi: f64) -> (Interval, Interval) {
        let (first, u, w) = self.at(lo);
        if hi <= lo {
            return (u, w);
        }
        let (last, other_u, other_w) = self.at(hi);
        let between = |turns: &[Turn], start: Interval| {
            let inside = turns.iter().filter(|t| first <= t.cell && t.cell <= last);
            inside.fold(start, |s, t| hull(s, t.range))
        };
        (between(&self.turns.0, hull(u, other_u)), between(&self.turns.1, hull(w, other_w)))
    }

    /// Ranges of pull and weight over distances in [0, 1].
    #[inline]
    pub(super) fn ranges(&self, lo: f64, hi: f64) -> (Interval, Interval) {
        if hi <= 0.5 {
            return self.half(lo, hi);
        }
        let (u, w) = self.half(1.0 - hi, (1.0 - lo).min(0.5));
        if lo >= 0.5 {
            return (-u, w);
        }
        let before = self.half(lo, 0.5);
        (hull(before.0, -u), hull(before.1, w))
    }

    /// Pull and weight at a distance in [0, 1], without errors.
    #[inline]
    pub(super) fn plain(&self, t: f64) -> (f64, f64) {
        let (t, sign) = if t <= 0.5 { (t, 1.0) } else { (1.0 - t, -1.0) };
        let (cell, x) = self.place(t.clamp(0.0, 0.5));
        let piece = &self.pieces[cell];
        let value = |c: &[f64; DEGREE + 1]| c.iter().rev().fold(0.0, |s, c| s * x + c);
        (sign * value(&piece.u), value(&piece.w))
    }
}

#[inline]
fn hull(a: Interval, b: Interval) -> Interval {
    Interval::new(a.lo().min(b.lo()), a.hi().max(b.hi()))
}

/// **Errors** an argument of `abs` or `relu` that is not proved to have one sign on [-1, 1].
pub(crate) fn refuse_kinks(interaction: &Interaction) -> Result<()> {
    let text = interaction.formula().text();
    let found = match interaction.formula().enclosed_kinks(-1.0, 1.0)? {
        Kinks::None => return Ok(()),
        Kinks::At(places) => {
            let near: Vec<String> = places.iter().map(|p| format!("{:.6}", p.mid())).collect();
            format!("`{text}` with a kink at s = {}", near.join(", "))
        }
        Kinks::Undecided(s) => format!("`{text}`, perhaps with a kink near s = {s:.6}"),
    };
    let expected = "a function with two derivatives: a proof needs the weight u' of every pair";
    Err(Error::parameter("interaction", found, expected))
}

/// The error for a place without finite bounds.
fn no_bound(interaction: &Interaction, d: Interval) -> Error {
    let text = interaction.formula().text();
    let found = if d.lo() <= 0.0 {
        format!("`{text}`, which is not differentiable at s = 1, where tokens coincide")
    } else {
        format!("`{text}` without bounds of its derivatives near s = {:.3}", d.mid().cos())
    };
    Error::parameter("interaction", found, "a function that is analytic on [-1, 1]")
}

#[cfg(test)]
mod tests {
    use super::Profile;
    use crate::attention::interaction::Interaction;
    use crate::num::dd::Dd;
    use crate::num::stream::Stream;

    #[test]
    fn ranges_contain_values_and_are_sharp() {
        let mut s = Stream::new(3, &["profiles"]);
        for text in ["exp:beta=30", "s^3", "sigmoid:k=9", "1/(1.1 - s)", "sin(7*s) + s^2 - 0.3"] {
            let phi = Interaction::parse(text, &[]).expect("an interaction");
            let profile = Profile::new(&phi).expect("bounds");
            for k in 0..4000 {
                let grid = |t: f64| (t * 2f64.powi(48)).floor() / 2f64.powi(48);
                let width =
                    if k % 2 == 0 { 0.0 } else { 10f64.powf(-5.0 * s.uniform_in(0.0, 1.0)) };
                let lo = grid(s.uniform_in(0.0, 1.0));
                let hi = grid((lo + width).min(1.0));
                let (found_u, found_w) = profile.ranges(lo, hi);
                let t = lo + (hi - lo) * s.uniform_in(0.0, 1.0);
                // The angle has the error 1e-32; 1/2 and more are reflected by the sine itself.
                let d = Dd::from(t) * <Dd as crate::num::number::Number>::pi() * Dd::from(2.0);
                let (sin, cos) = crate::num::number::Number::sin_cos(d);
                let at = phi.at_exact(cos).expect("a value");
                let (u, w) = (at.value * sin, at.value * cos - at.first * sin * sin);
                let (u, w) = (u.to_f64(), w.to_f64());
                assert!(found_u.contains(u), "{text} {lo} {hi} {t} {u} {found_u:?}");
                assert!(found_w.contains(w), "{text} {lo} {hi} {t} {w} {found_w:?}");
                if hi <= lo {
                    let size = u.abs() + w.abs() + 1e-3 * phi.sizes().0;
                    assert!(found_u.width() < 1e-12 * size && found_w.width() < 1e-10 * size);
                }
            }
        }
    }

    #[test]
    fn functions_without_two_derivatives_are_refused() {
        for (text, why) in [
            ("relu:p=3", "two derivatives"),
            ("abs(s) + 2", "kink at s = 0"),
            ("2 - relu (s - 0.3) ", "kink at s = 0.3"),
            ("1 - 0.9*relu (1 - (7316.549*(s-0.895113010))^2)", "0.894976, 0.895250"),
            ("2 + 0*s*abs (s)", "kink at s = 0"),
        ] {
            let phi = Interaction::parse(text, &[]).expect("an interaction");
            let error = Profile::new(&phi).expect_err("refused").to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
