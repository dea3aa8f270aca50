//! Number types: doubles, double-doubles and intervals, behind one trait for formulas and series.

use crate::dd::Dd;
use crate::interval::Interval;
use std::f64::consts::LN_2;
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number type of formulas. A result that does not exist (the logarithm of a negative number) is
/// NaN, or the whole line for intervals.
pub trait Number:
    Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// This double, without error.
    fn exact(x: f64) -> Self;
    /// A decimal number; an interval contains it.
    fn decimal(text: &str) -> Option<Self>;
    /// `pi`.
    fn pi() -> Self;
    /// `e^x`.
    fn exp(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// 1 for positive numbers, 0 for negative ones, and in between at 0.
    fn step(self) -> Self;
    /// The derivative of [`step`](Self::step): 0 where the sign is certain; for an interval that
    /// may contain 0 the whole line, because a second derivative across a kink has no bound.
    fn slope_of_step(self) -> Self {
        Self::exact(0.0)
    }
    /// The integer that it is, if it is one of at most 1024 in absolute value.
    fn integer(self) -> Option<i32>;
    /// True if it is 0 without error.
    fn is_zero(self) -> bool {
        self == Self::exact(0.0)
    }
    /// `x^2`, which is nonnegative for intervals too.
    fn square(self) -> Self {
        self * self
    }

    /// The power with an integer exponent, by repeated squaring.
    fn power(self, exponent: i32) -> Self {
        let mut out = Self::exact(1.0);
        let mut k = exponent.unsigned_abs();
        let mut base = self;
        while k > 0 {
            if k & 1 == 1 {
                out = out * base;
            }
            k >>= 1;
            if k > 0 {
                base = base.square();
            }
        }
        if exponent < 0 { Self::exact(1.0) / out } else { out }
    }
}

/// The integer that a double is.
fn integer(x: f64) -> Option<i32> {
    (x.abs() <= 1024.0 && x.trunc().to_bits() == x.to_bits()).then_some(x as i32)
}

impl Number for f64 {
    fn exact(x: f64) -> Self {
        x
    }
    fn decimal(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn pi() -> Self {
        std::f64::consts::PI
    }
    fn exp(self) -> Self {
        Self::exp(self)
    }
    fn ln(self) -> Self {
        if self < 0.0 { Self::NAN } else { Self::ln(self) }
    }
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
    fn sin_cos(self) -> (Self, Self) {
        Self::sin_cos(self)
    }
    fn step(self) -> Self {
        if self.is_nan() {
            self
        } else if self > 0.0 {
            1.0
        } else if self < 0.0 {
            0.0
        } else {
            0.5
        }
    }
    fn integer(self) -> Option<i32> {
        integer(self)
    }
}

/// `pi` as the sum of two doubles, with an error below 1e-32.
const PI: (f64, f64) = (std::f64::consts::PI, 1.224_646_799_147_353_2e-16);

impl Number for Dd {
    fn exact(x: f64) -> Self {
        Self::from(x)
    }
    /// Digits one by one, then a power of ten: relative error below 1e-28 for at most 300 digits
    /// and exponents within +-300.
    fn decimal(text: &str) -> Option<Self> {
        text.parse::<f64>().ok()?;
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let ten = Self::from(10.0);
        let all = whole.bytes().chain(fraction.bytes());
        let value = all.fold(Self::default(), |v, b| v * ten + Self::from(f64::from(b - b'0')));
        let shift =
            exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let scale = ten.power(shift.abs());
        Some(if shift < 0 { value / scale } else { value * scale })
    }
    fn pi() -> Self {
        Self::from(PI.0) + Self::from(PI.1)
    }
    fn exp(self) -> Self {
        Self::exp(self)
    }
    /// A correction of the logarithm of the double: relative error below 1e-28.
    fn ln(self) -> Self {
        let x = self.to_f64();
        if !(x > 0.0 && x.is_finite()) {
            return Self::from(if x < 0.0 { f64::NAN } else { x.ln() });
        }
        // log x = y + log(1 + t) for y near log x; t is at most some 1e-13, and t^4 below rounding.
        let y = Self::from(x.ln());
        let t = self * (-y).exp() - Self::from(1.0);
        let (half, third) = (Self::from(0.5), Self::from(1.0 / 3.0));
        y + t * (Self::from(1.0) - t * (half - t * third))
    }
    fn sqrt(self) -> Self {
        if self.to_f64() < 0.0 { Self::from(f64::NAN) } else { Self::sqrt(self) }
    }
    /// Reduction to `|r| <= pi/4`, a Taylor sum: absolute error below 1e-29 for `|x| <= 1000`, and
    /// below `1e-31 |x|` up to 1e9; NaN beyond.
    fn sin_cos(self) -> (Self, Self) {
        let turns = (self.to_f64() / std::f64::consts::FRAC_PI_2).round();
        if turns.is_nan() || turns.abs() > 1e9 {
            return (Self::from(f64::NAN), Self::from(f64::NAN));
        }
        let r = self - Self::pi() * Self::from(0.5 * turns);
        let square = r * r;
        let (mut sin, mut cos, mut term) = (Self::default(), Self::default(), Self::from(1.0));
        // (pi/4)^30 / 30! < 1e-35.
        for k in (0..30).step_by(2) {
            cos = cos + term;
            let odd = term * r / Self::from(f64::from(k + 1));
            sin = sin + odd;
            term = -(term * square) / Self::from(f64::from((k + 1) * (k + 2)));
        }
        match (turns as i64).rem_euclid(4) {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        }
    }
    fn step(self) -> Self {
        Self::from(self.to_f64().step())
    }
    fn integer(self) -> Option<i32> {
        let (hi, lo) = self.parts();
        if lo.abs() > 0.0 { None } else { integer(hi) }
    }
}

impl Number for Interval {
    fn exact(x: f64) -> Self {
        Self::exact(x)
    }
    /// The neighbours of the nearest double, or an integer below 2^53 itself.
    fn decimal(text: &str) -> Option<Self> {
        let near: f64 = text.parse().ok()?;
        let is_integer = text.bytes().all(|b| b.is_ascii_digit()) && near < 9_007_199_254_740_992.0;
        Some(if is_integer {
            Self::exact(near)
        } else {
            Self::new(near.next_down(), near.next_up())
        })
    }
    fn pi() -> Self {
        Self::PI
    }
    fn exp(self) -> Self {
        Self::exp(self)
    }
    /// Enclosed by checking the exponential of candidates. The whole line if 0 or a negative number
    /// is inside.
    fn ln(self) -> Self {
        if !self.is_positive() || !self.is_finite() {
            return Self::new(f64::NEG_INFINITY, f64::INFINITY);
        }
        // `exp` of the lower candidate is below x, that of the upper one above.
        let bound = |x: f64, sign: f64| {
            let mut width = 4.0 * f64::EPSILON * (1.0 + x.ln().abs());
            for _ in 0..40 {
                let candidate = x.ln() + sign * width;
                let image = Self::exact(candidate).exp();
                if sign < 0.0 && image.hi() <= x || sign > 0.0 && image.lo() >= x {
                    return candidate;
                }
                width *= 2.0;
            }
            sign * f64::INFINITY
        };
        // The exponential of smaller logarithms is no normal number: 2^512 is taken out.
        let scaled = |x: f64, sign: f64| {
            if x >= 1e-290 {
                return Self::exact(bound(x, sign));
            }
            let ln2 = Self::new(LN_2.next_down(), LN_2.next_up());
            let power = f64::from_bits((512 + 1023) << 52);
            Self::exact(bound(x * power, sign)) - Self::exact(512.0) * ln2
        };
        Self::new(scaled(self.lo(), -1.0).lo(), scaled(self.hi(), 1.0).hi())
    }
    fn sqrt(self) -> Self {
        if self.lo() < 0.0 {
            return Self::new(f64::NEG_INFINITY, f64::INFINITY);
        }
        Self::sqrt(self)
    }
    /// Whole turns are subtracted with an enclosure of pi.
    fn sin_cos(self) -> (Self, Self) {
        let turns = (self.mid() / std::f64::consts::TAU).round();
        if turns == 0.0 || turns.abs() > 1e9 {
            return Self::sin_cos(self);
        }
        Self::sin_cos(self - Self::exact(2.0 * turns) * <Self as Number>::pi())
    }
    fn step(self) -> Self {
        if self.is_positive() {
            Self::exact(1.0)
        } else if self.is_negative() {
            Self::exact(0.0)
        } else {
            Self::new(0.0, 1.0)
        }
    }
    fn slope_of_step(self) -> Self {
        if self.contains(0.0) { Self::WHOLE } else { Self::ZERO }
    }
    fn integer(self) -> Option<i32> {
        if self.lo().to_bits() == self.hi().to_bits() { integer(self.lo()) } else { None }
    }
    fn square(self) -> Self {
        self.sqr()
    }
}
