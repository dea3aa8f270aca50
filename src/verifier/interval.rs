//! Intervals of doubles, rounded outwards after every operation.

use std::hint::black_box;
use std::ops::{Add, Div, Mul, Sub};

/// All numbers between two doubles.
#[derive(Clone, Copy, Debug)]
pub(super) struct F(pub(super) f64, pub(super) f64);

/// Confirms on this thread that sums and products are rounded once, to nearest, and that subnormal
/// numbers are kept, both as results and as operands.
pub(super) fn check_rounding() -> Result<(), String> {
    let (tiny, least) = (black_box(f64::MIN_POSITIVE), black_box(f64::from_bits(1)));
    let (one, half) = (black_box(1.0f64), black_box(f64::EPSILON / 2.0));
    let is = |found: f64, bits: u64| found.to_bits() == bits;
    let up = one.next_up().to_bits();
    let power = |k: i64| f64::from_bits(((k + 1023) as u64) << 52);
    let fine = is(tiny * black_box(0.5), 1 << 51)
        && is(black_box(1.5) * tiny - tiny, 1 << 51)
        && is(least + least, 2)
        && is(least * black_box(power(60)), power(-1014).to_bits())
        && is(one + half / 2.0, one.to_bits())
        && is(one - half / 4.0, one.to_bits())
        && is(one + half, one.to_bits())
        // Just above the midpoint: rounding first to 64 and then to 53 bits would give 1.
        && is(one + black_box(half * (1.0 + power(-17))), up);
    if fine { Ok(()) } else { Err("the processor's arithmetic is not IEEE".into()) }
}

/// One double outwards; an interval that is not a number becomes the whole line.
fn outward(low: f64, high: f64) -> F {
    if low.is_nan() || high.is_nan() {
        return F(f64::NEG_INFINITY, f64::INFINITY);
    }
    F(low.next_down(), high.next_up())
}

fn hull(all: [f64; 4]) -> F {
    if all.iter().any(|v| v.is_nan()) {
        return F(f64::NEG_INFINITY, f64::INFINITY);
    }
    outward(
        all.iter().copied().fold(f64::INFINITY, f64::min),
        all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    )
}

impl F {
    /// A double without error.
    pub(super) fn int(v: f64) -> Self {
        F(v, v)
    }
    /// The nearest double is below pi by less than one unit of its last digit.
    pub(super) fn pi() -> Self {
        F(std::f64::consts::PI, std::f64::consts::PI.next_up())
    }
    /// True if all numbers have the same sign and none is 0.
    pub(super) fn has_sign(&self) -> bool {
        self.0 > 0.0 || self.1 < 0.0
    }
    pub(super) fn mid(&self) -> f64 {
        0.5 * self.0 + 0.5 * self.1
    }
    pub(super) fn mag(&self) -> f64 {
        self.0.abs().max(self.1.abs())
    }
    /// The common part; `None` if there is none.
    pub(super) fn meet(&self, other: &F) -> Option<F> {
        let both = F(self.0.max(other.0), self.1.min(other.1));
        (both.0 <= both.1).then_some(both)
    }
    pub(super) fn join(&self, other: &F) -> F {
        F(self.0.min(other.0), self.1.max(other.1))
    }
    /// The root of the nonnegative part.
    pub(super) fn sqrt(&self) -> F {
        F(self.0.max(0.0).sqrt().next_down().max(0.0), self.1.max(0.0).sqrt().next_up())
    }
    /// The square.
    pub(super) fn sqr(&self) -> F {
        let least = if self.has_sign() { self.0.abs().min(self.1.abs()) } else { 0.0 };
        F((least * least).next_down().max(0.0), (self.mag() * self.mag()).next_up())
    }
    /// The exponential of numbers in [-600, 600]: at each end, `x = k ln 2 + r`, and the Taylor sum
    /// of degree 16 with `|r| < 0.36`, whose remainder is below `0.36^17 / 17! < 1e-22`.
    pub(super) fn exp(&self) -> F {
        let end = |x: f64| {
            let k = (x / std::f64::consts::LN_2).round();
            // ln 2 lies between the first 32 digits plus a number and the next double of it.
            let (first, rest) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
            let r = F::int(x)
                - F::int(k) * F::int(first)
                - F::int(k) * F(f64::next_down(rest), f64::next_up(rest));
            let one = F::int(1.0);
            let sum = (1..=16).rev().fold(one, |s, j| one + s * r / F::int(f64::from(j)));
            let sum = sum + F(-1e-22, 1e-22);
            sum * F::int(f64::from_bits(((k as i64 + 1023) as u64) << 52))
        };
        if self.0 < -600.0 || self.1 > 600.0 {
            return F(0.0, f64::INFINITY);
        }
        F(end(self.0).0.max(0.0), end(self.1).1)
    }
}

impl Add for F {
    type Output = F;
    fn add(self, o: F) -> F {
        outward(self.0 + o.0, self.1 + o.1)
    }
}
impl Sub for F {
    type Output = F;
    fn sub(self, o: F) -> F {
        outward(self.0 - o.1, self.1 - o.0)
    }
}
impl Mul for F {
    type Output = F;
    fn mul(self, o: F) -> F {
        hull([self.0 * o.0, self.0 * o.1, self.1 * o.0, self.1 * o.1])
    }
}
impl Div for F {
    type Output = F;
    fn div(self, o: F) -> F {
        if !o.has_sign() {
            return F(f64::NEG_INFINITY, f64::INFINITY);
        }
        hull([self.0 / o.0, self.0 / o.1, self.1 / o.0, self.1 / o.1])
    }
}
