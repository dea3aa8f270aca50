//! Double-double numbers: an unevaluated sum of two `f64`, about 32 digits. Used for time over
//! hundreds of orders of magnitude, and to confirm results in a higher precision.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `hi + lo` with `|lo| <= ulp(hi)/2`; relative error of one operation below `2^-102`. Results
/// beyond the largest double are infinite, as those of doubles.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Dd {
    hi: f64,
    lo: f64,
}

impl Dd {
    /// The two parts of the sum; the second is below the rounding error of the first.
    #[inline]
    pub fn parts(self) -> (f64, f64) {
        (self.hi, self.lo)
    }
}

/// `1/k!` for k from 11 to 1.
const INVERSE_FACTORIALS: [(f64, f64); 11] = [
    (2.505_210_838_544_172e-8, -1.448_814_070_935_912e-24),
    (2.755_731_922_398_589e-7, 2.376_771_462_225_029_7e-23),
    (2.755_731_922_398_589_3e-6, -1.858_393_274_046_472e-22),
    (2.480_158_730_158_73e-5, 2.151_194_786_677_588_2e-23),
    (1.984_126_984_126_984e-4, 1.720_955_829_342_070_5e-22),
    (1.388_888_888_888_889e-3, -5.300_543_954_373_577e-20),
    (8.333_333_333_333_333e-3, 1.156_482_317_317_871_4e-19),
    (4.166_666_666_666_666_4e-2, 2.312_964_634_635_742_7e-18),
    (1.666_666_666_666_666_6e-1, 9.251_858_538_542_97e-18),
    (0.5, 0.0),
    (1.0, 0.0),
];

/// `a + b` and its exact rounding error (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let bb = s - a;
    (s, (a - (s - bb)) + (b - bb))
}

impl Dd {
    /// The rounded value.
    #[inline]
    pub fn to_f64(self) -> f64 {
        self.hi + self.lo
    }

    /// Square root: one Newton step from the `f64` root; zero gives zero.
    #[inline]
    pub fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Self::from(self.hi.sqrt());
        }
        let root = Self::from(self.hi.sqrt());
        root + (self - root * root) / (root + root)
    }

    /// `e^self`: reduction to `|r| <= ln 2 / 512`, a Taylor sum, and repeated squaring. Relative
    /// error below `1e-28` for `|self| <= 700`; zero below `-745`.
    #[inline]
    pub fn exp(self) -> Self {
        const LN2: Dd = Dd { hi: std::f64::consts::LN_2, lo: 2.319_046_813_846_299_6e-17 };
        if self.hi < -745.0 {
            return Self::default();
        }
        if self.hi > 709.7 {
            return Self::from(self.hi.exp());
        }
        let k = (self.hi / std::f64::consts::LN_2).round();
        let r = (self - LN2 * Self::from(k)) / Self::from(256.0);
        let mut sum = Self::default();
        for (hi, lo) in INVERSE_FACTORIALS {
            sum = (sum + Self { hi, lo }) * r;
        }
        // Squaring e^r - 1 loses no digits: (1+s)^2 - 1 = 2s + s^2.
        for _ in 0..8 {
            sum = sum + sum + sum * sum;
        }
        let result = sum + Self::from(1.0);
        let half = (k / 2.0).trunc();
        let scale = |x: f64| x * 2f64.powf(half) * 2f64.powf(k - half);
        Self { hi: scale(result.hi), lo: scale(result.lo) }
    }
}

impl From<f64> for Dd {
    #[inline]
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Add for Dd {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        let (s, e) = two_sum(self.hi, b.hi);
        if !s.is_finite() {
            return Self::from(s);
        }
        let (t, f) = two_sum(self.lo, b.lo);
        let (s, e) = two_sum(s, e + t);
        let (hi, lo) = two_sum(s, e + f);
        Self { hi, lo }
    }
}

impl Neg for Dd {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for Dd {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        self + (-b)
    }
}

impl Mul for Dd {
    type Output = Self;
    #[inline]
    fn mul(self, b: Self) -> Self {
        let p = self.hi * b.hi;
        if !p.is_finite() {
            return Self::from(p);
        }
        let e = self.hi.mul_add(b.hi, -p) + (self.hi * b.lo + self.lo * b.hi);
        let (hi, lo) = two_sum(p, e);
        Self { hi, lo }
    }
}

impl Div for Dd {
    type Output = Self;
    #[inline]
    fn div(self, b: Self) -> Self {
        let q = self.hi / b.hi;
        if !q.is_finite() || !b.hi.is_finite() {
            return Self::from(q);
        }
        let r = self - b * Self::from(q);
        let q2 = r.hi / b.hi;
        let r = r - b * Self::from(q2);
        let (hi, lo) = two_sum(q, q2);
        Self { hi, lo } + Self::from(r.hi / b.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::Dd;

    #[test]
    fn thirty_digits() {
        let third = Dd::from(1.0) / Dd::from(3.0);
        let back = third * Dd::from(3.0) - Dd::from(1.0);
        assert!(back.to_f64().abs() < 1e-31);
        let e = Dd::from(1.0).exp();
        // e - fl(e) = 1.4456468917292502e-16
        assert!(
            ((e - Dd::from(std::f64::consts::E)).to_f64() - 1.445_646_891_729_250_2e-16).abs()
                < 1e-30
        );
        let (one, huge) = (Dd::from(1.0), Dd::from(2000.0).exp());
        assert!((one / (one + huge)).to_f64().abs() == 0.0);
        assert!((huge * huge - one).to_f64().is_infinite());
        let root = Dd::from(2.0).sqrt();
        assert!((root * root - Dd::from(2.0)).to_f64().abs() < 1e-30);
    }
}
