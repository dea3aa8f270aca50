//! Taylor coefficients of formulas in interval arithmetic.

use crate::interval::Interval;
use crate::number::Number;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The degree of the last coefficient of [`Taylor`].
pub const DEGREE: usize = 12;

/// Enclosures of the first N Taylor coefficients `f^(k)/k!` at the points of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series<const N: usize>(pub [Interval; N]);

/// Enclosures of the Taylor coefficients of degree 0 to 12.
pub type Taylor = Series<{ DEGREE + 1 }>;

impl<const N: usize> Default for Series<N> {
    fn default() -> Self {
        Self([Interval::default(); N])
    }
}

impl<const N: usize> Series<N> {
    /// The variable at the points of an interval.
    pub fn variable(at: Interval) -> Self {
        let mut out = Self::constant(at);
        out.0[1] = Interval::exact(1.0);
        out
    }

    /// A number that does not depend on the variable.
    pub fn constant(value: Interval) -> Self {
        let mut out = [Interval::default(); N];
        out[0] = value;
        Self(out)
    }

    /// The same value, with coefficients of which nothing is known.
    fn without_bounds(mut self) -> Self {
        self.0[1..].fill(Interval::WHOLE);
        self
    }

    /// Coefficient by coefficient, each from the earlier ones.
    fn by_recursion(first: Interval, next: impl Fn(&[Interval], usize) -> Interval) -> Self {
        let mut out = Self::constant(first);
        for k in 1..N {
            out.0[k] = next(&out.0, k);
        }
        out
    }

    /// `q = a/b` from `a = q b`.
    fn quotient(self, b: Self) -> Self {
        Self::by_recursion(self.0[0] / b.0[0], |q, k| {
            let known = (1..=k).fold(Interval::default(), |s, j| s + product(b.0[j], q[k - j]));
            (self.0[k] - known) / b.0[0]
        })
    }

    /// `(1/k) sum_{j=1}^{k} j a_j b_{k-j}`, as in `(b)' = a' b`.
    fn chained(&self, b: &[Interval], k: usize) -> Interval {
        let terms =
            (1..=k).map(|j| product(Interval::exact(j as f64), product(self.0[j], b[k - j])));
        terms.fold(Interval::default(), |s, t| s + t) / Interval::exact(k as f64)
    }
}

impl<const N: usize> Add for Series<N> {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] + b.0[k]))
    }
}

impl<const N: usize> Neg for Series<N> {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.map(|c| -c))
    }
}

impl<const N: usize> Sub for Series<N> {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] - b.0[k]))
    }
}

impl<const N: usize> Mul for Series<N> {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        Self(std::array::from_fn(|k| {
            (0..=k).fold(Interval::default(), |s, j| s + product(self.0[j], b.0[k - j]))
        }))
    }
}

/// A product in which 0 stays 0: most coefficients of a formula's parts are.
fn product(a: Interval, b: Interval) -> Interval {
    let zero = Interval::default();
    if a == zero || b == zero { zero } else { a * b }
}

#[allow(clippy::suspicious_arithmetic_impl, reason = "the recursion of a quotient of series")]
impl<const N: usize> Div for Series<N> {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        self.quotient(b)
    }
}

impl<const N: usize> Number for Series<N> {
    fn exact(x: f64) -> Self {
        Self::constant(Interval::exact(x))
    }
    fn decimal(text: &str) -> Option<Self> {
        Interval::decimal(text).map(Self::constant)
    }
    fn pi() -> Self {
        Self::constant(Interval::pi())
    }
    fn exp(self) -> Self {
        Self::by_recursion(self.0[0].exp(), |e, k| self.chained(e, k))
    }
    fn ln(self) -> Self {
        // a l' = a'.
        Self::by_recursion(Number::ln(self.0[0]), |l, k| {
            let terms = (1..k).map(|j| Interval::exact(j as f64) * product(l[j], self.0[k - j]));
            let known = terms.fold(Interval::default(), |s, t| s + t) / Interval::exact(k as f64);
            (self.0[k] - known) / self.0[0]
        })
    }
    fn sqrt(self) -> Self {
        Self::by_recursion(Number::sqrt(self.0[0]), |r, k| {
            let known = (1..k).fold(Interval::default(), |s, j| s + product(r[j], r[k - j]));
            (self.0[k] - known) / (Interval::exact(2.0) * r[0])
        })
    }
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = Number::sin_cos(self.0[0]);
        let (mut s, mut c) = (Self::constant(sin), Self::constant(cos));
        for k in 1..N {
            let (ds, dc) = (self.chained(&c.0, k), -self.chained(&s.0, k));
            (s.0[k], c.0[k]) = (ds, dc);
        }
        (s, c)
    }
    fn step(self) -> Self {
        // Constant where the sign is certain. Else the value is between 0 and 1, and its
        // derivatives have no bounds: a Taylor sum does not hold across a kink.
        let step = Self::constant(self.0[0].step());
        let constant = self.0[1..].iter().all(|c| *c == Interval::ZERO);
        if constant || !self.0[0].contains(0.0) { step } else { step.without_bounds() }
    }
    fn slope_of_step(self) -> Self {
        if self.0[0].contains(0.0) {
            Self::constant(Interval::WHOLE).without_bounds()
        } else {
            Self::default()
        }
    }
    fn integer(self) -> Option<i32> {
        if self.0[1..].iter().all(|c| *c == Interval::default()) {
            Number::integer(self.0[0])
        } else {
            None
        }
    }
}
