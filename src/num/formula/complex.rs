//! Complex numbers in interval arithmetic, with their absolute values.

use crate::interval::Interval;
use crate::number::Number;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// All complex numbers whose parts lie in two intervals and whose absolute value in a third one.
/// The absolute value keeps what the parts lose: numbers far from 0 in any direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Complex {
    re: Interval,
    im: Interval,
    abs: Interval,
    /// The parts of a logarithm that is analytic wherever the number is: that of exponentials and
    /// of their products, which the cut of the principal value does not cross.
    log: Option<[Interval; 2]>,
}

impl Complex {
    const WHOLE: Self =
        Self { re: Interval::WHOLE, im: Interval::WHOLE, abs: Interval::WHOLE, log: None };

    /// The numbers with these parts.
    pub fn new(re: Interval, im: Interval) -> Self {
        Self::within(re, im, Interval::new(0.0, f64::INFINITY))
    }

    /// The numbers with these parts, of which the absolute value is known to lie in an interval.
    fn within(re: Interval, im: Interval, abs: Interval) -> Self {
        let low = re.mig().hypot(im.mig()).next_down().next_down().max(abs.lo()).max(0.0);
        let high = re.mag().hypot(im.mag()).next_up().next_up().min(abs.hi());
        if low.is_nan() || high.is_nan() || low > high {
            return Self::WHOLE;
        }
        let part = |v: Interval| Interval::new(v.lo().max(-high), v.hi().min(high));
        Self { re: part(re), im: part(im), abs: Interval::new(low, high), log: None }
    }

    /// All numbers of an absolute value.
    fn ring(abs: Interval) -> Self {
        let all = Interval::symmetric(abs.hi());
        Self::within(all, all, abs)
    }

    /// A bound of the absolute values; infinite if a function has no bound, as at a pole or on the
    /// cut of a logarithm.
    pub fn bound(self) -> f64 {
        let bound = self.abs.hi();
        if bound.is_nan() { f64::INFINITY } else { bound }
    }

    /// The same numbers, whose logarithm is a sum or difference of those of two factors.
    fn with_log(self, a: Self, b: Self, join: fn(Interval, Interval) -> Interval) -> Self {
        if a.log.is_none() && b.log.is_none() {
            return self;
        }
        let log = a.known_log().zip(b.known_log());
        Self { log: log.map(|(a, b)| [join(a[0], b[0]), join(a[1], b[1])]), ..self }
    }

    /// The logarithm of an exponential, or of a positive number.
    fn known_log(self) -> Option<[Interval; 2]> {
        let constant = self.im == Interval::ZERO && self.re.is_positive();
        self.log.or_else(|| constant.then(|| [Number::ln(self.re), Interval::ZERO]))
    }

    /// Whether 0 and the negative numbers are excluded.
    fn is_off_the_cut(self) -> bool {
        self.re.is_positive() || !self.im.contains(0.0)
    }

    fn real(v: Interval) -> Self {
        let high = v.mag();
        Self { re: v, im: Interval::ZERO, abs: Interval::new(v.mig(), high), log: None }
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        // Zeros stay exact: derivatives of constants are zeros.
        if self.is_zero() {
            return b;
        }
        if b.is_zero() {
            return self;
        }
        let (least, most) = (self.abs - b.abs, self.abs + b.abs);
        let low = least.lo().max((-least).lo()).max(0.0);
        let abs = Interval::new(low.min(most.hi()), most.hi());
        Self::within(self.re + b.re, self.im + b.im, abs)
    }
}

impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im, abs: self.abs, log: None }
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + (-b)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        if self.is_zero() || b.is_zero() {
            return Self::default();
        }
        let abs = self.abs * b.abs;
        let (re, im) = (self.re * b.re - self.im * b.im, self.re * b.im + self.im * b.re);
        Self::within(re, im, abs).with_log(self, b, |a, b| a + b)
    }
}

impl Div for Complex {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        if !b.abs.is_positive() {
            return Self::WHOLE;
        }
        let abs = self.abs / b.abs;
        let square = b.abs.sqr();
        let (re, im) = (self.re * b.re + self.im * b.im, self.im * b.re - self.re * b.im);
        let quotient = if square.is_finite() {
            Self::within(re / square, im / square, abs)
        } else {
            Self::ring(abs)
        };
        quotient.with_log(self, b, |a, b| a - b)
    }
}

/// The arc tangent: candidates are checked by their sine and cosine.
fn atan(t: Interval) -> Interval {
    let bound = |t: f64, sign: f64| {
        let mut width = 4.0 * f64::EPSILON;
        for _ in 0..20 {
            let candidate = t.atan() + sign * width;
            let (sin, cos) = Interval::exact(candidate).sin_cos();
            let tan = sin / cos;
            if cos.is_positive() && (sign > 0.0 && tan.lo() >= t || sign < 0.0 && tan.hi() <= t) {
                return candidate;
            }
            width *= 4.0;
        }
        sign * 0.5 * std::f64::consts::PI.next_up()
    };
    Interval::new(bound(t.lo(), -1.0), bound(t.hi(), 1.0))
}

impl Number for Complex {
    fn exact(x: f64) -> Self {
        Self::real(Interval::exact(x))
    }
    fn decimal(text: &str) -> Option<Self> {
        Interval::decimal(text).map(Self::real)
    }
    fn pi() -> Self {
        Self::real(Interval::pi())
    }
    fn exp(self) -> Self {
        let abs = self.re.exp();
        let (sin, cos) = Number::sin_cos(self.im);
        Self { log: Some([self.re, self.im]), ..Self::within(abs * cos, abs * sin, abs) }
    }
    /// The logarithm of exponentials; else the principal value.
    fn ln(self) -> Self {
        if let Some([re, im]) = self.log {
            return Self::new(re, im);
        }
        if !self.is_off_the_cut() {
            return Self::WHOLE;
        }
        let quarter = Interval::exact(0.5) * Interval::pi();
        let argument = if self.re.is_positive() {
            atan(self.im / self.re)
        } else if self.im.is_positive() {
            quarter - atan(self.re / self.im)
        } else {
            -quarter - atan(self.re / self.im)
        };
        Self::new(Number::ln(self.abs), argument)
    }
    fn sqrt(self) -> Self {
        if !self.is_off_the_cut() {
            return Self::WHOLE;
        }
        // The real part is the root of (|z| + re z) / 2.
        let half = Interval::exact(0.5);
        let square = half * (self.abs + self.re);
        let re = Interval::new(square.lo().max(0.0), square.hi().max(0.0)).sqrt();
        let abs = self.abs.sqrt();
        if re.is_positive() { Self::within(re, half * self.im / re, abs) } else { Self::ring(abs) }
    }
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = Number::sin_cos(self.re);
        let (up, down) = (self.im.exp(), (-self.im).exp());
        let half = Interval::exact(0.5);
        let (cosh, sinh) = (half * (up + down), half * (up - down));
        (Self::new(sin * cosh, cos * sinh), Self::new(cos * cosh, -(sin * sinh)))
    }
    /// Chooses between forms of one analytic function only: branches have no kinks.
    fn step(self) -> Self {
        Self::real(self.re.step())
    }
    fn is_zero(self) -> bool {
        self.re == Interval::ZERO && self.im == Interval::ZERO
    }
    fn integer(self) -> Option<i32> {
        if self.im == Interval::ZERO { Number::integer(self.re) } else { None }
    }
    fn square(self) -> Self {
        let twice = Interval::exact(2.0) * self.re * self.im;
        let square = Self::within(self.re.sqr() - self.im.sqr(), twice, self.abs.sqr());
        square.with_log(self, self, |a, b| a + b)
    }
}

#[cfg(test)]
mod tests {
    use super::Complex;
    use crate::fft::Complex64;
    use crate::interval::Interval;
    use crate::number::Number;
    use crate::stream::Stream;

    #[test]
    fn results_of_points_of_boxes_are_enclosed() {
        let mut s = Stream::new(11, &["complex"]);
        for _ in 0..3000 {
            let mut draw = || {
                let (at, width) = (3.0 * s.normal(), 0.3 * s.uniform());
                let inside = at + width * s.uniform();
                (Interval::new(at, at + width), inside)
            };
            let [a, b, c, d] = [draw(), draw(), draw(), draw()];
            let (x, y) = (Complex::new(a.0, b.0), Complex::new(c.0, d.0));
            let (p, q) = (Complex64::new(a.1, b.1), Complex64::new(c.1, d.1));
            for (found, wanted) in [
                (x + y, p + q),
                (x - y, p - q),
                (x * y, p * q),
                (x / y, p / q),
                (x.exp(), p.exp()),
                (x.ln(), p.ln()),
                (x.exp().ln(), p),
                (x.sqrt(), p.sqrt()),
                (x.sin_cos().0, p.sin()),
                (x.sin_cos().1, p.cos()),
                (x.square(), p * p),
            ] {
                let slack = 1e-12 * (1.0 + wanted.norm());
                let inside = |v: Interval, w: f64| v.lo() - slack <= w && w <= v.hi() + slack;
                assert!(
                    inside(found.re, wanted.re)
                        && inside(found.im, wanted.im)
                        && inside(found.abs, wanted.norm()),
                    "{x:?} {y:?} {found:?} {wanted}"
                );
            }
        }
    }
}
