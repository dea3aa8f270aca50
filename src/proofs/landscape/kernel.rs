//! Ranges of the pull `u(t) = e^{beta (cos d - 1)} sin d` and of the weight
//! `w(t) = u' = e^{beta (cos d - 1)} (cos d - beta sin^2 d)`, where `d = 2 pi t` and t is a
//! distance in turns.
//!
//! A range over an interval of t and an interval of beta comes from the values at the ends and from
//! the extrema inside, so it is as narrow as the errors of the values allow.
//!
//! **Errors of values** `U = 2^-53` is the unit roundoff. Sines and cosines are taken from a table
//! at `t = j / 256` and from Taylor polynomials in `x = 2 pi (t - j / 256)`, `|x| <= 0.0123`. The
//! difference is exact because t is a multiple of `2^-48`; the rounding of `2 pi` and of the
//! product changes x by at most `4 U |x| < 6e-18`. The remainders are below `x^7 / 5040 < 1e-17`.
//! The table is within [`TABLE`] of the exact values: its construction encloses them by intervals.
//! With the rounding of the last sum, values are within `1.02 TABLE + 2 U < 1.1e-15`, less than
//! [`TRIG`].
//!
//! The exponential uses `x = k ln 2 / 64 + r`, `|r| < 0.0055`. The upper part of `ln 2 / 64` has 32
//! digits, so its product with `|k| < 2^20` and the difference from x are exact. The remainder of
//! degree 5 is below `r^6 / 720 < 4e-17`, rounding in the polynomial changes it by less than
//! `4 U |r|`, the table of `2^(j/64)` has a relative error of at most [`TABLE`], and scaling by a
//! power of two is exact. The relative error is below `TABLE + 4 U < 2e-15`: `EXP`.
//!
//! The argument `beta (c - 1)` inherits `|beta| TRIG` from c and `3 U |beta (c - 1)|` from
//! rounding. So the exponential e has a relative error below `rho = 3e-15 (1 + |beta|)`, which is
//! at most 4e-13 because `|beta| <= 128`. Products then give
//! `|error of u| <= 1.01 e (rho s + 2 TRIG)`, and
//! `|error of w| <= 1.01 e (rho |p| + 4e-15 (1 + |beta|))` for `p = c - beta s^2`.

use super::family::Family;
use super::profile::Profile;
use crate::num::interval::Interval;
use std::sync::{Arc, OnceLock};

/// Bound of the errors of the tables, checked when they are made.
const TABLE: f64 = 8e-16;

/// Bound of the error of a sine or cosine.
pub(super) const TRIG: f64 = 1.5e-15;

/// Bound of the relative error of the exponential, part of rho.
#[cfg(test)]
const EXP: f64 = 2e-15;

/// Margin of the position of an extremum: its computed cosine is within 1e-14 of the exact one.
const PLACE: f64 = 1e-13;

/// Largest `|beta|`. The kernel is then above `e^-256`, so no product of three underflows.
pub(super) const MAX_BETA: f64 = 100.0;

/// Cosines and sines at `j / 256` turns for `j = 0..=128`, and `2^(j/64)` for `j = -32..32`.
struct Tables {
    circle: [(f64, f64); 129],
    powers: [f64; 64],
}

/// `sum_k x^k / k!` from the terms with `k = first, first + step, ...`, divided by `x^first`, by
/// Horner's rule; signs alternate if `step` is 2. For `|x| < 1` the terms beyond 40 are below 1e-40
/// of the result, less than the last rounding.
fn taylor(x: Interval, first: i32, step: i32) -> Interval {
    let (one, factor) = (Interval::exact(1.0), if step == 2 { -x.sqr() } else { x });
    let mut sum = one;
    let mut k = first + 20 * step;
    while k > first {
        let divisor = if step == 2 { k * (k - 1) } else { k };
        sum = one + sum * (factor / Interval::exact(f64::from(divisor)));
        k -= step;
    }
    sum
}

/// The middle of an enclosure, which must be narrow: [`TABLE`] times a size.
fn entry(v: Interval, size: f64) -> f64 {
    assert!(v.radius() <= TABLE * size, "a table entry is enclosed by {v:?}");
    v.mid()
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut circle = [(1.0, 0.0); 129];
        for j in 1..=32u32 {
            let x = Interval::PI * Interval::exact(f64::from(j) / 128.0);
            let (c, s) = (entry(taylor(x, 0, 2), 1.0), entry(x * taylor(x, 1, 2), 1.0));
            let j = j as usize;
            (circle[j], circle[64 - j]) = ((c, s), (s, c));
        }
        circle[64] = (0.0, 1.0);
        for j in 65..=128 {
            let (c, s) = circle[128 - j];
            circle[j] = (-c, s);
        }
        // ln 2 = HIGH + LOW as in `exp` below.
        let ln2 = Interval::exact(HIGH) + Interval::new(LOW.next_down(), LOW.next_up());
        let power = |j: usize| {
            let y = ln2 * Interval::exact((j as f64 - 32.0) / 64.0);
            let v = taylor(y, 0, 1);
            entry(v, v.mig())
        };
        Tables { circle, powers: std::array::from_fn(power) }
    })
}

/// `ln 2` to 32 digits, and the rest, enclosed by its neighbours.
const HIGH: f64 = 0.693_147_180_369_123_8;
const LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Cosine and sine of a distance in turns, each within [`TRIG`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    pub(super) c: f64,
    pub(super) s: f64,
}

/// The direction at distance 1/2.
pub(super) const OPPOSITE: Direction = Direction { c: -1.0, s: 0.0 };

/// Cosine and sine at t, a multiple of `2^-48` in [0, 1/2].
#[inline]
pub(super) fn direction(t: f64) -> Direction {
    let j = (t * 256.0 + 0.5) as usize;
    let x = std::f64::consts::TAU * (t - j as f64 / 256.0);
    let (cos, sin) = tables().circle[j.min(128)];
    let q = x * x;
    let less = q * (-0.5 + q * (1.0 / 24.0 - q / 720.0));
    let small = x + x * q * (-1.0 / 6.0 + q / 120.0);
    let (c, s) = (cos + (cos * less - sin * small), sin + (sin * less + cos * small));
    Direction { c: c.clamp(-1.0, 1.0), s: s.clamp(0.0, 1.0) }
}

/// `e^x` for `|x| <= 700`, with relative error at most [`EXP`].
#[inline]
pub(super) fn exp(x: f64) -> f64 {
    // Adding and subtracting 1.5 2^52 rounds to a whole number.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let k = (x * (64.0 / std::f64::consts::LN_2) + SHIFT) - SHIFT;
    let r = (x - k * (HIGH / 64.0)) - k * (LOW / 64.0);
    let p = r + r * r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r / 120.0)));
    let k = k as i64 + 32;
    let power = tables().powers[(k & 63) as usize];
    // -1022 < k / 64 < 1023.
    (power + power * p) * f64::from_bits((((k >> 6) + 1023) as u64) << 52)
}

/// One inverse temperature with the extrema of u and w over all distances.
#[derive(Clone, Copy, Debug)]
struct Temperature {
    beta: f64,
    rho: f64,
    /// Cosine of the distance with the largest u, and a bound of that u.
    top: (f64, f64),
    /// Cosine of the extremum of w, if it lies in (-1, 1), and bounds of that w. The extremum is a
    /// minimum for positive beta and a maximum for negative beta.
    turn: Option<(f64, f64, f64)>,
}

/// No temperature, for other interactions.
const NONE: Temperature = Temperature { beta: 0.0, rho: 0.0, top: (0.0, 0.0), turn: None };

impl Temperature {
    fn new(beta: f64) -> Self {
        let (b, rho) = (beta, 3e-15 * (1.0 + beta.abs()));
        // beta (1 - c^2) = c at the largest u.
        let c = 2.0 * b / (1.0 + (1.0 + 4.0 * b * b).sqrt());
        let largest = exp(b * (c - 1.0)) * ((1.0 - c) * (1.0 + c)).sqrt();
        let mut new = Self { beta, rho, top: (c, largest * (1.0 + 1e-11)), turn: None };
        // w' = e^{beta (c - 1)} (beta^2 c^2 + 3 beta c + 1 - beta^2) as a function of c has at most
        // one root in (-1, 1), and none for |beta| < 1/3.
        if b.abs() > 0.33 {
            let c = 2.0 * (b * b - 1.0) / (b * (3.0 + (5.0 + 4.0 * b * b).sqrt()));
            if c > -1.0 - 1e-9 && c < 1.0 + 1e-9 {
                let e = exp(b * (c - 1.0));
                let (value, size) = (e * (c - b * (1.0 - c * c)), 1.0 + b.abs());
                let error = 2e-14 * size * size * e;
                new.turn = Some((c, value - error, value + error));
            }
        }
        new
    }

    /// The kernel, the pull with its error, and the weight with its error.
    #[inline]
    fn at(&self, d: Direction) -> (f64, f64, f64, f64) {
        let e = exp(self.beta * (d.c - 1.0));
        let p = d.c - self.beta * d.s * d.s;
        let error = 4e-15 * (1.0 + self.beta.abs());
        (
            e * d.s,
            1.01 * e * (self.rho * d.s + 2.0 * TRIG),
            e * p,
            1.01 * e * (self.rho * p.abs() + error),
        )
    }
}

/// Ranges of u and w over an interval of beta, or those of another interaction.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    low: Temperature,
    high: Temperature,
    point: bool,
    other: Other,
}

/// An interaction that is not the exponential.
#[derive(Clone, Debug)]
enum Other {
    None,
    Profile(Arc<Profile>),
    /// For all values of its parameter in an interval.
    Family(Arc<Family>, Interval),
}

/// What attracts the tokens, and what depends on the parameter in the place of beta.
#[derive(Clone, Debug, Default)]
pub(super) enum Law {
    /// `e^{beta cos}`; the parameter is beta.
    #[default]
    Exponential,
    /// `e^{beta cos}` at one beta; masses depend on the parameter.
    Fixed(f64),
    /// Another interaction, without a parameter.
    Profile(Arc<Profile>),
    /// An interaction with a parameter; if it has none, masses depend on the parameter.
    Family(Arc<Family>),
}

impl Law {
    /// The ranges for all values of the parameter in an interval.
    #[inline]
    pub(super) fn kernel(&self, parameter: (f64, f64)) -> Kernel {
        match self {
            Self::Exponential => Kernel::new(parameter),
            Self::Fixed(beta) => Kernel::new((*beta, *beta)),
            Self::Profile(profile) => Kernel::of(Other::Profile(profile.clone())),
            Self::Family(family) if family.is_largest(parameter) => {
                Kernel::of(Other::Profile(family.largest().clone()))
            }
            Self::Family(family) => {
                let parameter = Interval::new(parameter.0, parameter.1);
                Kernel::of(Other::Family(family.clone(), parameter))
            }
        }
    }

    /// The profile of an interaction other than the exponential, at the largest parameter.
    pub(super) fn profile(&self) -> Option<&Profile> {
        match self {
            Self::Exponential | Self::Fixed(_) => None,
            Self::Profile(profile) => Some(profile),
            Self::Family(family) => Some(family.largest()),
        }
    }

    /// The beta of an exponential for all values of the parameter in an interval.
    pub(super) fn beta(&self, parameter: Interval) -> Option<Interval> {
        match self {
            Self::Exponential => Some(parameter),
            Self::Fixed(beta) => Some(Interval::exact(*beta)),
            Self::Profile(_) | Self::Family(_) => None,
        }
    }

    /// The largest gap of a critical point with several clusters, by Lemma 1.
    pub(super) fn longest_gap(&self) -> f64 {
        self.profile().map_or(0.5, Profile::longest)
    }
}

impl PartialEq for Law {
    fn eq(&self, other: &Self) -> bool {
        let same = std::mem::discriminant(self) == std::mem::discriminant(other);
        same && self.profile() == other.profile()
            && self.beta(Interval::ZERO) == other.beta(Interval::ZERO)
    }
}

/// Ranges of the pull and of the weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranges {
    pub(super) u: Interval,
    pub(super) w: Interval,
}

impl Kernel {
    /// For all beta in an interval. `|beta| <= 128`.
    pub(super) fn new((low, high): (f64, f64)) -> Self {
        let point = low.to_bits() == high.to_bits();
        let low = Temperature::new(low);
        let high = if point { low } else { Temperature::new(high) };
        Self { low, high, point, other: Other::None }
    }

    /// Of an interaction.
    fn of(other: Other) -> Self {
        Self { low: NONE, high: NONE, point: true, other }
    }

    /// The weight of coincident tokens, `phi(1)`, if it is not 1.
    pub(super) fn own(&self) -> Option<Interval> {
        match &self.other {
            Other::None => None,
            Other::Profile(profile) => Some(profile.own()),
            Other::Family(family, parameter) => Some(family.own(*parameter).0),
        }
    }

    /// Ranges over t in `[lo, hi]`, multiples of `2^-48` in [0, 1].
    #[inline]
    pub(super) fn ranges(&self, lo: f64, hi: f64) -> Ranges {
        let other = match &self.other {
            Other::None => None,
            Other::Profile(profile) => Some(profile.ranges(lo, hi)),
            Other::Family(family, parameter) => Some(family.ranges(lo, hi, *parameter)),
        };
        if let Some((u, w)) = other {
            return Ranges { u, w };
        }
        if hi <= 0.5 {
            let near = direction(lo);
            return self.half(near, if hi > lo { direction(hi) } else { near });
        }
        if lo >= 0.5 {
            let near = direction(1.0 - hi);
            let other = self.half(near, if hi > lo { direction(1.0 - lo) } else { near });
            return Ranges { u: -other.u, w: other.w };
        }
        // u is odd about 1/2 and w is even.
        let (before, after) = (direction(lo), direction(1.0 - hi));
        let wide = if lo <= 1.0 - hi { before } else { after };
        Ranges {
            u: Interval::new(
                -self.half(after, OPPOSITE).u.hi(),
                self.half(before, OPPOSITE).u.hi(),
            ),
            w: self.half(wide, OPPOSITE).w,
        }
    }

    /// Range of u at one distance in [0, 1].
    #[inline]
    pub(super) fn pull(&self, t: f64) -> Interval {
        self.ranges(t, t).u
    }

    /// Pull and weight at one distance and the middle of beta, without errors.
    #[inline]
    pub(super) fn plain(&self, t: f64) -> (f64, f64) {
        match &self.other {
            Other::None => {}
            Other::Profile(profile) => return profile.plain(t),
            Other::Family(family, parameter) => return family.plain(t, parameter.mid()),
        }
        let (t, sign) = if t <= 0.5 { (t, 1.0) } else { (1.0 - t, -1.0) };
        let (d, beta) = (direction(t.clamp(0.0, 0.5)), 0.5 * (self.low.beta + self.high.beta));
        let e = exp(beta * (d.c - 1.0));
        (sign * e * d.s, e * (d.c - beta * d.s * d.s))
    }

    /// Ranges over distances in [0, 1/2] between a nearer and a farther direction.
    #[inline]
    fn half(&self, near: Direction, far: Direction) -> Ranges {
        let (from, to) = (far.c - PLACE, near.c + PLACE);
        let inside = |c: f64| from <= c && c <= to;
        // u rises to its maximum and falls, and decreases with beta.
        let (n0, f0) = (self.low.at(near), self.low.at(far));
        let mut top = (n0.0 + n0.1).max(f0.0 + f0.1);
        if inside(self.low.top.0) {
            top = top.max(self.low.top.1);
        }
        let mut low = (n0.2 - n0.3).min(f0.2 - f0.3);
        let mut high = (n0.2 + n0.3).max(f0.2 + f0.3);
        let mut turn = |t: &Temperature| {
            if let Some((c, below, above)) = t.turn
                && inside(c)
            {
                (low, high) = (low.min(below), high.max(above));
            }
        };
        turn(&self.low);
        if self.point {
            let bottom = (n0.0 - n0.1).min(f0.0 - f0.1).max(0.0);
            return Ranges { u: Interval::new(bottom, top), w: Interval::new(low, high) };
        }
        turn(&self.high);
        let (n1, f1) = (self.high.at(near), self.high.at(far));
        let bottom = (n1.0 - n1.1).min(f1.0 - f1.1).max(0.0);
        low = low.min(n1.2 - n1.3).min(f1.2 - f1.3);
        high = high.max(n1.2 + n1.3).max(f1.2 + f1.3);
        // As a function of beta, w has a minimum -(1 + c) e^{beta (c - 1)} where
        // 1 + 2 c = beta sin^2 d, and no maximum.
        let (a, b) = (self.low.beta, self.high.beta);
        let square = |d: Direction| 1.0 - d.c * d.c;
        let (s, t) = (square(near), square(far));
        let most = if from <= 0.0 && to >= 0.0 { 1.0 } else { s.max(t) };
        let least = s.min(t).max(0.0);
        let products = [a * most, a * least, b * most, b * least];
        let (smallest, largest) = (
            products.iter().copied().fold(f64::INFINITY, f64::min) - 1e-11,
            products.iter().copied().fold(f64::NEG_INFINITY, f64::max) + 1e-11,
        );
        if 1.0 + 2.0 * from <= largest && 1.0 + 2.0 * to >= smallest {
            // The exponent is largest at one of the four corners; it is at most 2 |beta|.
            let exponent = [a * (from - 1.0), a * (to - 1.0), b * (from - 1.0), b * (to - 1.0)];
            let largest = exponent.into_iter().fold(f64::NEG_INFINITY, f64::max);
            low = low.min(-(1.0 + to) * exp(largest) * (1.0 + 1e-12));
        }
        Ranges { u: Interval::new(bottom, top), w: Interval::new(low, high) }
    }
}

#[cfg(test)]
mod tests {
    use super::{EXP, Kernel, TRIG, direction, exp};
    use crate::num::dd::Dd;
    use crate::num::interval::Interval;
    use crate::num::stream::Stream;

    #[test]
    fn values_have_their_errors() {
        let mut s = Stream::new(1, &["landscape kernel"]);
        let two_pi = Interval::TURN;
        for k in 0..200_000 {
            let t = (s.uniform_in(0.0, 0.5) * 2f64.powi(48)).floor() / 2f64.powi(48);
            let t = if k % 7 == 0 { (t * 512.0).round() / 512.0 } else { t };
            let (sin, cos) = (two_pi * Interval::exact(t)).sin_cos();
            let d = direction(t);
            assert!(d.c + TRIG >= cos.lo() && d.c - TRIG <= cos.hi(), "{t} {d:?} {cos:?}");
            assert!(d.s + TRIG >= sin.lo() && d.s - TRIG <= sin.hi(), "{t} {d:?} {sin:?}");
            let x = s.uniform_in(-260.0, 40.0);
            let exact = Dd::from(x).exp();
            let error = ((Dd::from(exp(x)) - exact) / exact).to_f64().abs();
            assert!(error <= EXP, "{x} {error}");
        }
    }

    #[test]
    fn ranges_contain_values() {
        let mut s = Stream::new(2, &["landscape kernel"]);
        let grid = |t: f64| (t * 2f64.powi(48)).floor() / 2f64.powi(48);
        for k in 0..100_000 {
            let w = 10f64.powf(-4.0 * s.uniform_in(0.0, 1.0));
            let lo = grid((s.uniform_in(0.0, 1.0) * (1.0 + w) - w).max(0.0));
            let hi = grid((lo + w * s.uniform_in(0.0, 1.0)).min(1.0));
            let a = if k % 3 == 0 {
                s.uniform_in(-3.0, 0.5)
            } else {
                10f64.powf(s.uniform_in(-1.3, 1.7))
            };
            let b = if k % 2 == 0 { a } else { a + s.uniform_in(0.0, 0.3) * a.abs() };
            let found = Kernel::new((a, b)).ranges(lo, hi);
            for j in 0..6 {
                let t = [lo, hi, lo + (hi - lo) * s.uniform_in(0.0, 1.0)][j.min(2)];
                let beta = [a, b, a + (b - a) * s.uniform_in(0.0, 1.0)][(j + 1) % 3];
                let d = std::f64::consts::TAU * t;
                let (c, sin) = (d.cos(), d.sin());
                let e = (beta * (c - 1.0)).exp();
                let (u, w) = (e * sin, e * (c - beta * sin * sin));
                let slack = 1e-14 * e * (1.0 + beta.abs());
                assert!(found.u.lo() <= u + slack && u - slack <= found.u.hi());
                assert!(
                    found.w.lo() <= w + slack && w - slack <= found.w.hi(),
                    "[{lo}, {hi}] beta [{a}, {b}] at {t} {beta}: {w} not in {:?}",
                    found.w
                );
            }
        }
    }
}
