//! Interval arithmetic with outward rounding: every operation returns an interval that contains all
//! exact results for operands in its inputs.
//!
//! Sums, products, quotients and square roots of f64 are correctly rounded, so one ulp on each side
//! is enough. `exp`, `sin` and `cos` are Taylor sums in interval arithmetic plus their remainders,
//! so no result relies on a mathematical library. Numbers enter through [`Interval::exact`]. An
//! undefined operation (0/0, infinity minus infinity) returns the whole line.
//!
//! **Assumptions** IEEE 754 doubles, rounded once to nearest, with subnormals. A processor that
//! flushes subnormals to zero would break enclosures of tiny numbers. [`check_fp_environment`]
//! tests this; every prover and every check of a proof calls it first, on its own thread, because
//! the flag belongs to the thread. 32-bit x86 without SSE2 computes in 80-bit x87 registers and is
//! refused at compile time.

use crate::error::{Error, Result};
use crate::vector;
use std::hint::black_box;
use std::ops::{Add, Div, Mul, Neg, Sub};

#[cfg(all(target_arch = "x86", not(target_feature = "sse2")))]
compile_error!(
    "x87 registers round twice: interval arithmetic needs SSE2 (build for i686 with target-feature=+sse2, or for x86_64)"
);

/// Checks that sums and products on this thread are rounded once, to nearest, and keep subnormals,
/// as proofs require.
///
/// **Cost** six operations.
/// **Errors** [`Error::Arithmetic`] with the fault that was found.
///
/// ```
/// assert!(metastable::num::interval::check_fp_environment().is_ok());
/// ```
#[inline]
pub fn check_fp_environment() -> Result<()> {
    // black_box makes the processor compute, not the compiler.
    probe_arithmetic(
        |a, b| black_box(black_box(a) + black_box(b)),
        |a, b| black_box(black_box(a) * black_box(b)),
    )
}

/// [`check_fp_environment`] with given operations.
fn probe_arithmetic(
    sum: impl Fn(f64, f64) -> f64,
    product: impl Fn(f64, f64) -> f64,
) -> Result<()> {
    let least = f64::from_bits(1);
    let normal = f64::MIN_POSITIVE;
    let is = |found: f64, wanted: f64| found.to_bits() == wanted.to_bits();
    let half = f64::from_bits(1 << 51);
    let fault = if !(is(product(normal, 0.5), half) && is(sum(1.5 * normal, -normal), half)) {
        "subnormal results are flushed to zero"
    } else if !(is(sum(least, least), f64::from_bits(2))
        && is(product(least, power_of_two(60)), power_of_two(-1014)))
    {
        "subnormal operands are read as zero"
    } else if !(is(sum(1.0, power_of_two(-54)), 1.0) && is(sum(1.0, -power_of_two(-55)), 1.0)) {
        "results are not rounded to nearest"
    } else if !is(sum(1.0, power_of_two(-53) * (1.0 + power_of_two(-17))), 1.0 + f64::EPSILON) {
        // Just above the midpoint of two doubles; rounding first to 64 and then to 53 bits gives 1.
        "results are rounded twice"
    } else {
        return Ok(());
    };
    Err(Error::Arithmetic { fault })
}

/// `2^k` for `-1022 <= k <= 1023`, exactly, from its bits. (The standard library does not specify
/// the precision of powers.)
const fn power_of_two(k: i32) -> f64 {
    assert!(k >= -1022 && k <= 1023);
    f64::from_bits(((k + 1023) as u64) << 52)
}

/// The closed interval `[lo, hi]`.
///
/// ```
/// use metastable::num::interval::Interval;
/// let tenth = Interval::exact(1.0) / Interval::exact(10.0);
/// let one = (0..10).fold(Interval::exact(0.0), |s, _| s + tenth);
/// assert!(one.contains(1.0) && one.width() < 4e-15);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    lo: f64,
    hi: f64,
}

impl Interval {
    /// The number 0.
    pub const ZERO: Self = Self { lo: 0.0, hi: 0.0 };

    /// The whole line: contains every number.
    pub const WHOLE: Self = Self { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    /// Contains pi: the double is below it, by less than 1.3e-16.
    ///
    /// ```
    /// use metastable::num::interval::Interval;
    /// // Neighbours at a distance of two eps; the sine of pi is 0.
    /// let (pi, eps) = (Interval::PI, f64::EPSILON);
    /// assert!(pi.width() <= 2.0 * eps * (1.0 + eps) && pi.sin_cos().0.contains(0.0));
    /// ```
    pub const PI: Self = Self { lo: std::f64::consts::PI, hi: std::f64::consts::PI.next_up() };

    /// Contains two pi, a full turn. The product of [`Self::PI`] and 2 has a rounding more.
    ///
    /// ```
    /// use metastable::num::interval::Interval;
    /// let (turn, twice) = (Interval::TURN, Interval::PI * Interval::exact(2.0));
    /// assert!(twice.lo() <= turn.lo() && turn.hi() <= twice.hi());
    /// assert!(turn.lo() == 2.0 * std::f64::consts::PI && turn.width() < 8.0 * f64::EPSILON);
    /// ```
    pub const TURN: Self = Self { lo: std::f64::consts::TAU, hi: std::f64::consts::TAU.next_up() };

    /// The number itself, without error. NaN gives the whole line.
    #[inline]
    pub fn exact(x: f64) -> Self {
        if x.is_nan() { Interval::WHOLE } else { Self { lo: x, hi: x } }
    }

    /// From two bounds in order, otherwise the whole line.
    #[inline]
    pub fn new(lo: f64, hi: f64) -> Self {
        if lo <= hi { Self { lo, hi } } else { Interval::WHOLE }
    }

    /// `[-r, r]`.
    #[inline]
    pub fn symmetric(r: f64) -> Self {
        Self::new(-r.abs(), r.abs())
    }

    /// One ulp wider on each side: contains what exact arithmetic would have returned.
    #[inline]
    fn outward(lo: f64, hi: f64) -> Self {
        if lo.is_nan() || hi.is_nan() {
            Interval::WHOLE
        } else {
            Self { lo: lo.next_down(), hi: hi.next_up() }
        }
    }

    /// Division by a positive number.
    #[inline]
    fn divided_by(self, by: f64) -> Self {
        Self::outward(self.lo / by, self.hi / by)
    }

    /// Lower bound.
    #[inline]
    pub fn lo(self) -> f64 {
        self.lo
    }

    /// Upper bound.
    #[inline]
    pub fn hi(self) -> f64 {
        self.hi
    }

    /// A point inside, near the middle; for an unbounded interval its point nearest to 0.
    #[inline]
    pub fn mid(self) -> f64 {
        let m = 0.5 * self.lo + 0.5 * self.hi;
        // Halving a subnormal may leave the interval, hence the clamp.
        if m.is_finite() { m } else { 0.0 }.clamp(self.lo, self.hi)
    }

    /// Upper bound of the distance of its numbers from [`mid`](Self::mid). Half the width is not
    /// enough: the middle of two adjacent doubles is one of them.
    #[inline]
    pub fn radius(self) -> f64 {
        let middle = self.mid();
        (self.hi - middle).max(middle - self.lo).next_up()
    }

    /// Upper bound of the width.
    #[inline]
    pub fn width(self) -> f64 {
        (self.hi - self.lo).next_up()
    }

    /// Largest absolute value.
    #[inline]
    pub fn mag(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// Smallest absolute value.
    #[inline]
    pub fn mig(self) -> f64 {
        if self.contains(0.0) { 0.0 } else { self.lo.abs().min(self.hi.abs()) }
    }

    /// True if `x` lies inside.
    #[inline]
    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// True if this interval lies in the interior of `other`.
    #[inline]
    pub fn inside(self, other: Self) -> bool {
        other.lo < self.lo && self.hi < other.hi
    }

    /// True if every element is positive.
    #[inline]
    pub fn is_positive(self) -> bool {
        self.lo > 0.0
    }

    /// True if every element is negative.
    #[inline]
    pub fn is_negative(self) -> bool {
        self.hi < 0.0
    }

    /// True if both bounds are finite.
    #[inline]
    pub fn is_finite(self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }

    #[inline]
    fn hull(all: [f64; 4]) -> Self {
        if all.iter().any(|v| v.is_nan()) {
            return Interval::WHOLE;
        }
        Self::outward(all.iter().copied().fold(f64::INFINITY, f64::min), vector::max(&all))
    }

    /// The square, nonnegative.
    #[inline]
    pub fn sqr(self) -> Self {
        let (low, high) = (self.mig(), self.mag());
        let square = Self::outward(low * low, high * high);
        Self { lo: square.lo.max(0.0), hi: square.hi }
    }

    /// The square root of the nonnegative part; the whole line if that is empty.
    #[inline]
    pub fn sqrt(self) -> Self {
        if self.hi < 0.0 {
            return Interval::WHOLE;
        }
        let root = Self::outward(self.lo.max(0.0).sqrt(), self.hi.sqrt());
        Self { lo: root.lo.max(0.0), hi: root.hi }
    }

    /// `e^x`.
    #[inline]
    pub fn exp(self) -> Self {
        let low = exp_point(self.lo);
        let high = if self.lo.to_bits() == self.hi.to_bits() { low } else { exp_point(self.hi) };
        Self::new(low.lo, high.hi)
    }

    /// `(sin x, cos x)` for `|x| <= 4`; `[-1, 1]` beyond.
    #[inline]
    pub fn sin_cos(self) -> (Self, Self) {
        let unit = Self::new(-1.0, 1.0);
        if self.mag() > 4.0 {
            return (unit, unit);
        }
        // Taylor sum at the middle, then the mean value theorem for the rest of the interval.
        let half = Self::symmetric(self.radius());
        let x = Self::exact(self.mid());
        let square = x.sqr();
        let (mut sin, mut cos, mut term) = (Self::exact(0.0), Self::exact(0.0), Self::exact(1.0));
        // 4^48 / 48! < 1e-32 bounds both alternating remainders.
        for k in (0..48).step_by(2) {
            cos = cos + term;
            let odd = (term * x) / Self::exact(f64::from(k + 1));
            sin = sin + odd;
            term = -(term * square) / Self::exact(f64::from((k + 1) * (k + 2)));
        }
        let rest = Self::symmetric(1e-30) + half;
        ((sin + rest).clamp(unit), (cos + rest).clamp(unit))
    }

    /// `sin(x) / x` for `|x| <= 4`; `[-1, 1]` beyond.
    ///
    /// ```
    /// use metastable::num::interval::Interval;
    /// let near = Interval::exact(0.5).sinc();
    /// assert!(near.contains(0.5f64.sin() / 0.5) && near.width() < 1e-14);
    /// ```
    #[inline]
    pub fn sinc(self) -> Self {
        let unit = Self::new(-1.0, 1.0);
        if self.mag() > 4.0 {
            return unit;
        }
        // Taylor sum at the middle; the derivative is at most 1/2.
        let half = Self::symmetric(self.radius()) * Self::exact(0.5);
        let square = Self::exact(self.mid()).sqr();
        let (mut sum, mut term) = (Self::ZERO, Self::exact(1.0));
        // 4^48 / 49! < 1e-33 bounds the alternating remainder.
        for k in (1..48).step_by(2) {
            sum = sum + term;
            term = -(term * square) / Self::exact(f64::from((k + 1) * (k + 2)));
        }
        (sum + Self::symmetric(1e-30) + half).clamp(unit)
    }

    /// The part inside `bounds`, for values that are known to lie there.
    #[inline]
    fn clamp(self, bounds: Self) -> Self {
        Self::new(self.lo.max(bounds.lo), self.hi.min(bounds.hi))
    }
}

/// `e^x` of a number: `x = k ln 2 + r`, Taylor sum in r with remainder, scaled by a power of two.
fn exp_point(x: f64) -> Interval {
    if x > 709.0 {
        // e^709 = 8.218e307, and e^709.7 is still below f64::MAX.
        return Interval { lo: 8.2e307, hi: f64::INFINITY };
    }
    if x < -700.0 {
        return Interval { lo: 0.0, hi: 1e-304 };
    }
    // ln 2 = HIGH + LOW. HIGH has 32 bits, so k HIGH is exact, and so is x - k HIGH (both are
    // multiples of ulp(x), and the difference is below 1/2). LOW is enclosed by its neighbours.
    const HIGH: f64 = 0.693_147_180_369_123_8;
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    let k = (x / std::f64::consts::LN_2).round();
    let r = Interval::exact(x - k * HIGH)
        - Interval::exact(k) * Interval::new(LOW.next_down(), LOW.next_up());
    let (mut term, mut sum) = (Interval::exact(1.0), Interval::exact(1.0));
    for i in 1..=20 {
        term = (term * r).divided_by(f64::from(i));
        sum = sum + term;
    }
    // |r| < 0.36: the remainder is below 0.36^21/21! < 1e-28.
    sum = sum + Interval::symmetric(1e-28);
    // -1010 <= k <= 1023.
    sum * Interval::exact(power_of_two(k as i32))
}

impl Add for Interval {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        Self::outward(self.lo + b.lo, self.hi + b.hi)
    }
}

impl Neg for Interval {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

impl Sub for Interval {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        self + (-b)
    }
}

impl Mul for Interval {
    type Output = Self;
    #[inline]
    fn mul(self, b: Self) -> Self {
        let zero = Self { lo: 0.0, hi: 0.0 };
        if (self == zero && b.is_finite()) || (b == zero && self.is_finite()) {
            return zero;
        }
        Self::hull([self.lo * b.lo, self.lo * b.hi, self.hi * b.lo, self.hi * b.hi])
    }
}

/// The quotient; the whole line if the divisor contains 0.
impl Div for Interval {
    type Output = Self;
    #[inline]
    fn div(self, by: Self) -> Self {
        if by.contains(0.0) {
            return Interval::WHOLE;
        }
        Self::hull([self.lo / by.lo, self.lo / by.hi, self.hi / by.lo, self.hi / by.hi])
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Interval, Result, check_fp_environment, power_of_two, probe_arithmetic};

    #[test]
    fn the_ends_of_the_exponential_are_enclosed() {
        for x in [709.0, 709.1, 709.7, 709.9, 800.0, -699.9, -700.1, -745.0, -1000.0] {
            let found = Interval::exact(x).exp();
            // The library's value has an error of one ulp; infinity stands for larger values.
            assert!(
                found.lo() <= x.exp() * (1.0 + 1e-15) && x.exp() * (1.0 - 1e-15) <= found.hi(),
                "{x} {found:?}"
            );
        }
    }

    #[test]
    fn powers_of_two_are_exact() {
        for k in -1022..=1023 {
            // Doubling and halving are exact.
            let counted = (0..k).fold(1.0, |p, _| 2.0 * p) * (k..0).fold(1.0, |p, _| 0.5 * p);
            assert_eq!(power_of_two(k).to_bits(), f64::to_bits(counted), "{k}");
        }
    }

    #[test]
    fn a_middle_lies_inside() {
        let least = f64::from_bits(1);
        let adjacent = Interval::new(1.0f64.next_down(), 1.0);
        for v in [
            Interval::exact(least),
            Interval::new(least, 2.0 * least),
            adjacent,
            Interval::new(f64::MAX, f64::INFINITY),
            Interval::WHOLE,
        ] {
            assert!(v.contains(v.mid()) && v.mid().is_finite(), "{v:?}");
        }
    }

    #[test]
    fn processors_that_break_enclosures_are_noticed() {
        assert!(check_fp_environment().is_ok());
        let flush = |v: f64| if v.is_subnormal() { 0.0 } else { v };
        let fault = |e: Result<()>| match e {
            Err(Error::Arithmetic { fault }) => fault,
            _ => "none",
        };
        let (add, multiply) = (|a: f64, b: f64| a + b, |a: f64, b: f64| a * b);
        let results = "subnormal results are flushed to zero";
        assert_eq!(fault(probe_arithmetic(add, |a, b| flush(a * b))), results);
        assert_eq!(fault(probe_arithmetic(|a, b| flush(a + b), multiply)), results);
        let operands = "subnormal operands are read as zero";
        assert_eq!(fault(probe_arithmetic(|a, b| flush(a) + flush(b), multiply)), operands);
        assert_eq!(fault(probe_arithmetic(add, |a, b| flush(a) * flush(b))), operands);
        // Round up and down by the error of the sum; round twice: 1 + 2^-53 (1 + 2^-17) needs more
        // than 64 bits.
        let remainder = |a: f64, b: f64| b - ((a + b) - a);
        let up = |a: f64, b: f64| if remainder(a, b) > 0.0 { (a + b).next_up() } else { a + b };
        let down = |a: f64, b: f64| if remainder(a, b) < 0.0 { (a + b).next_down() } else { a + b };
        let twice = |a: f64, b: f64| {
            if b > power_of_two(-53) && b < 1.01 * power_of_two(-53) { a } else { a + b }
        };
        let nearest = "results are not rounded to nearest";
        assert_eq!(fault(probe_arithmetic(up, multiply)), nearest);
        assert_eq!(fault(probe_arithmetic(down, multiply)), nearest);
        assert_eq!(fault(probe_arithmetic(twice, multiply)), "results are rounded twice");
    }

    #[test]
    fn comparisons_are_strict() {
        let (unit, right) = (Interval::symmetric(1.0), Interval::new(0.0, 1.0));
        assert!(
            !right.is_positive()
                && !(-right).is_negative()
                && Interval::exact(1e-300).is_positive()
                && Interval::exact(-1e-300).is_negative()
        );
        assert!(
            !unit.inside(unit)
                && !right.inside(unit)
                && !(-right).inside(unit)
                && Interval::symmetric(1.0f64.next_down()).inside(unit)
        );
        assert_eq!(unit, Interval::new(-1.0, 1.0));
        let size = |lo: f64, hi: f64| {
            (Interval::new(lo, hi).mag().to_bits(), Interval::new(lo, hi).mig().to_bits())
        };
        assert_eq!(
            (size(-3.0, 1.0), size(1.0, 3.0)),
            ((3f64.to_bits(), 0), (3f64.to_bits(), 1f64.to_bits()))
        );
    }

    #[test]
    fn what_has_no_meaning_is_the_whole_line() {
        let zero = Interval::exact(0.0);
        for v in [
            zero / zero,
            zero * Interval::WHOLE,
            Interval::WHOLE * zero,
            Interval::exact(f64::NAN),
            Interval::new(1.0, 0.0),
            Interval::exact(f64::INFINITY) - Interval::exact(f64::INFINITY),
        ] {
            assert!(v.contains(1e308) && v.contains(-1e308));
        }
    }
}
