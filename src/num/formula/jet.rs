//! Values with their first two derivatives, by the rules of differentiation.

use crate::number::Number;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::str::FromStr;

/// A value and its first two derivatives with respect to s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jet<N> {
    /// The value.
    pub value: N,
    /// The first derivative.
    pub first: N,
    /// The second derivative.
    pub second: N,
}

impl<N: Number> Jet<N> {
    /// A number that does not depend on s.
    pub fn constant(value: N) -> Self {
        Self { value, ..Self::default() }
    }

    /// The variable s itself.
    pub fn variable(value: N) -> Self {
        Self { value, first: N::exact(1.0), second: N::exact(0.0) }
    }

    /// `f(self)` from the value of f and its first two derivatives there.
    fn chain(self, value: N, first: N, second: N) -> Self {
        Self {
            value,
            first: first * self.first,
            second: second * self.first.square() + first * self.second,
        }
    }

    fn is_constant(self) -> bool {
        self.first.is_zero() && self.second.is_zero()
    }

    /// `e^self`.
    pub fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e, e)
    }

    /// The natural logarithm.
    pub fn ln(self) -> Self {
        let inverse = N::exact(1.0) / self.value;
        self.chain(self.value.ln(), inverse, -inverse.square())
    }

    /// The square root.
    pub fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        let first = N::exact(0.5) / root;
        self.chain(root, first, -(N::exact(0.5) * first / self.value))
    }

    /// The sine.
    pub fn sin(self) -> Self {
        let (sin, cos) = self.value.sin_cos();
        self.chain(sin, cos, -sin)
    }

    /// The cosine.
    pub fn cos(self) -> Self {
        let (sin, cos) = self.value.sin_cos();
        self.chain(cos, -sin, -cos)
    }

    /// The tangent.
    pub fn tan(self) -> Self {
        self.sin() / self.cos()
    }

    /// The hyperbolic sine.
    pub fn sinh(self) -> Self {
        let (up, down) = (self.value.exp(), (-self.value).exp());
        let half = N::exact(0.5);
        let (sinh, cosh) = (half * (up - down), half * (up + down));
        self.chain(sinh, cosh, sinh)
    }

    /// The hyperbolic cosine.
    pub fn cosh(self) -> Self {
        let (up, down) = (self.value.exp(), (-self.value).exp());
        let half = N::exact(0.5);
        let (sinh, cosh) = (half * (up - down), half * (up + down));
        self.chain(cosh, sinh, cosh)
    }

    /// The hyperbolic tangent: `(1 - e)/(1 + e)` with `e = e^{-2x}` for positive x, so that nothing
    /// overflows; `1 - 2/(e^{2x} + 1)` where intervals do not decide the sign.
    pub fn tanh(self) -> Self {
        let (one, two) = (N::exact(1.0), N::exact(2.0));
        let positive = self.value.step();
        let (tanh, first) = if positive == one || positive.is_zero() {
            let sign = if positive == one { one } else { -one };
            let e = (-(two * sign * self.value)).exp();
            (sign * (one - e) / (one + e), N::exact(4.0) * e / (one + e).square())
        } else {
            let tanh = one - two / ((two * self.value).exp() + one);
            (tanh, one - tanh.square())
        };
        self.chain(tanh, first, -(two * tanh * first))
    }

    /// `max(self, 0)`. Where intervals do not decide the sign, the first derivative is between 0
    /// and 1, and the second may be anything.
    pub fn relu(self) -> Self {
        self.kinked(self.value.step())
    }

    /// The absolute value. Where intervals do not decide the sign, the first derivative is between
    /// -1 and 1, and the second may be anything.
    pub fn abs(self) -> Self {
        self.kinked(N::exact(2.0) * self.value.step() - N::exact(1.0))
    }

    /// `slope * self` with a slope that is constant on both sides of 0.
    fn kinked(self, slope: N) -> Self {
        let value = slope * self.value;
        if self.is_constant() || slope.is_zero() {
            return Self::constant(value);
        }
        self.chain(value, slope, self.value.slope_of_step())
    }

    /// The power. An integer exponent without s allows any base; else the base must be positive
    /// (NaN, or the whole line for intervals, if it is not).
    pub fn pow(self, exponent: Self) -> Self {
        if !exponent.is_constant() {
            return (exponent * self.ln()).exp();
        }
        let (x, b) = (self.value, exponent.value);
        let one = N::exact(1.0);
        if let Some(k) = b.integer() {
            let derivative = |order: i32| {
                let factor = (0..order).fold(1.0, |f, i| f * f64::from(k - i));
                // The derivatives of a polynomial end: no 0 * infinity at 0.
                if k >= 0 && order > k {
                    N::exact(0.0)
                } else {
                    N::exact(factor) * x.power(k - order)
                }
            };
            return self.chain(derivative(0), derivative(1), derivative(2));
        }
        if x.is_zero() {
            // A power at 0, without the logarithm.
            let at = |exponent: f64| {
                N::exact(match () {
                    () if exponent > 0.0 => 0.0,
                    () if exponent < 0.0 => f64::INFINITY,
                    () => 1.0,
                })
            };
            let sign = |shift: f64| {
                let positive = (b - N::exact(shift)).step();
                if positive == one { 1.0 } else { -1.0 }
            };
            return self.chain(at(sign(0.0)), b * at(sign(1.0)), b * (b - one) * at(sign(2.0)));
        }
        let power = (b * x.ln()).exp();
        let first = b * power / x;
        self.chain(power, first, (b - one) * first / x)
    }
}

impl<N: Number> FromStr for Jet<N> {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        N::decimal(text).map(Self::constant).ok_or_else(|| format!("`{text}` is not a number"))
    }
}

/// Derivatives of numbers are exactly 0, also in the results: a sum or product of zeros would be
/// rounded outwards.
impl<N: Number> Add for Jet<N> {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        match (self.is_constant(), b.is_constant()) {
            (true, _) => return Self { value: self.value + b.value, ..b },
            (_, true) => return Self { value: self.value + b.value, ..self },
            _ => {}
        }
        Self {
            value: self.value + b.value,
            first: self.first + b.first,
            second: self.second + b.second,
        }
    }
}

impl<N: Number> Neg for Jet<N> {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, first: -self.first, second: -self.second }
    }
}

impl<N: Number> Sub for Jet<N> {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + (-b)
    }
}

impl<N: Number> Mul for Jet<N> {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        let scaled = |by: N, of: Self| Self {
            value: by * of.value,
            first: by * of.first,
            second: by * of.second,
        };
        match (self.is_constant(), b.is_constant()) {
            (true, _) => return scaled(self.value, b),
            (_, true) => return scaled(b.value, self),
            _ => {}
        }
        Self {
            value: self.value * b.value,
            first: self.first * b.value + self.value * b.first,
            second: self.second * b.value
                + N::exact(2.0) * (self.first * b.first)
                + self.value * b.second,
        }
    }
}

impl<N: Number> Div for Jet<N> {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        // q = a/b: a' = q' b + q b', a'' = q'' b + 2 q' b' + q b''.
        let value = self.value / b.value;
        let first = (self.first - value * b.first) / b.value;
        let second = (self.second - N::exact(2.0) * (first * b.first) - value * b.second) / b.value;
        Self { value, first, second }
    }
}
