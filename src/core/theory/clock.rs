//! The clock of equiangular tokens in double-doubles: the time `T(y) = int dy / y'` and its inverse.
//!
//! On a plateau of length e^beta gamma leaves 0 and reaches 1 within times far below the rounding of a double: forward integration in f64 loses the
//! jump, and so does a quadrature in f64. `T` is known here to about 1e-26 of itself (exponents round to 1e-28, times beta), 1e-10 of the spacing of doubles:
//! gamma is right at every double t.

use crate::num::dd::Dd;
use crate::num::quadrature::gauss_legendre_dd;
use crate::num::roots::bracketed_root;
use std::sync::OnceLock;

/// `1/y' = e^unit (front e^{beta (v - shift) - unit} + rest e^{-unit}) / (2 size)`, `v = e^{-y} = 1 - gamma`, `size = (n-1) gamma + 1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub beta: f64,
    /// 1 where the kernel is `e^{beta G}`, 0 where it is `e^{beta (G-1)}` or a softmax.
    pub shift: f64,
    pub n: f64,
    pub front: Dd,
    pub rest: f64,
    /// Log of the unit of times: 0 unless they lie beyond f64.
    unit: f64,
}

/// Where gamma is 1 to rounding: from here on y grows at a constant rate.
const DEEP: f64 = 40.0;

/// Largest change of an exponent over a panel; with the width of a panel below the distance to the pole (size = 0) the rule errs by less than that.
const BEND: f64 = 8.0;

impl Clock {
    /// A clock for starts from `gamma = start`.
    pub fn new(beta: f64, shift: f64, n: f64, front: Dd, rest: f64, start: f64) -> Self {
        let exponent = beta * (1.0 - start - shift);
        Self { beta, shift, n, front, rest, unit: (exponent - 600.0).max(0.0).floor() }
    }

    /// `y = -log(1 - gamma)` by one Newton step from the rounded one.
    fn depth_of(gamma: f64) -> Dd {
        let rounded = Dd::from(-(-gamma).ln_1p());
        let v = (-rounded).exp();
        rounded + (v + Dd::from(gamma) - Dd::from(1.0)) / v
    }

    fn size(&self, v: Dd) -> Dd {
        Dd::from(self.n - 1.0) * (Dd::from(1.0) - v) + Dd::from(1.0)
    }

    /// `dT/dy` in units of `e^unit`.
    fn pace(&self, y: Dd) -> Dd {
        let v = (-y).exp();
        let kernel = (Dd::from(self.beta) * (v - Dd::from(self.shift)) - Dd::from(self.unit)).exp();
        let rest = Dd::from(self.rest) * if self.unit > 0.0 { Dd::from(-self.unit).exp() } else { Dd::from(1.0) };
        (self.front * kernel + rest) / (self.size(v) + self.size(v))
    }

    /// The width of a panel from y on.
    fn width(&self, y: Dd) -> f64 {
        let v = (-y).exp();
        let slope = self.beta.abs() * v.to_f64();
        let bend = BEND / slope;
        // A kernel below e^-100 beside the rest may bend as it likes.
        let idle = self.rest > 0.0 && self.beta < 0.0 && slope > 100.0;
        let bend = if idle { bend.max((slope / 100.0).ln()) } else { bend };
        // The size is a concave function of y with slope n at the pole: the pole is at least size / n away.
        bend.min(self.size(v).to_f64() / self.n)
    }

    /// `T(y + h) - T(y)` in units of `e^unit`; infinite beyond f64.
    fn panel(&self, y: Dd, h: Dd) -> Dd {
        static RULE: OnceLock<Vec<(Dd, Dd)>> = OnceLock::new();
        let half = h * Dd::from(0.5);
        let mut sum = Dd::default();
        for (x, w) in RULE.get_or_init(|| gauss_legendre_dd(20)) {
            sum = sum + *w * self.pace(y + half + half * *x);
        }
        let value = sum * half;
        if value.to_f64().is_finite() { value } else { Dd::from(f64::INFINITY) }
    }

    /// The time from `gamma = from` to `gamma = to`; infinite beyond f64.
    pub fn time(&self, from: f64, to: f64) -> f64 {
        let (mut y, end, mut total) = (Self::depth_of(from), Self::depth_of(to), Dd::default());
        // Beyond e^800 whatever the levels.
        if self.unit > 200.0 {
            return f64::INFINITY;
        }
        while total.to_f64().is_finite() {
            let (h, left) = (self.width(y), end - y);
            if left.to_f64() <= h {
                total = total + self.panel(y, left);
                break;
            }
            (total, y) = (total + self.panel(y, Dd::from(h)), y + Dd::from(h));
        }
        if self.unit > 0.0 { total.to_f64() * self.unit.exp() } else { total.to_f64() }
    }

    /// `y(t)` from `gamma(0) = start`.
    pub fn depth(&self, start: f64, t: f64) -> f64 {
        let (mut y, mut total) = (Self::depth_of(start), Dd::default());
        let t = if self.unit > 0.0 { Dd::from(t) * Dd::from(-self.unit).exp() } else { Dd::from(t) };
        while y.to_f64() < DEEP {
            let h = self.width(y);
            let value = self.panel(y, Dd::from(h));
            if !value.to_f64().is_finite() || total + value >= t {
                let ahead = |s: f64| match (total + self.panel(y, Dd::from(s)) - t).to_f64() {
                    gap if gap.is_finite() => gap,
                    _ => f64::MAX,
                };
                return (y + Dd::from(bracketed_root(ahead, 0.0, h, 0.0).unwrap_or(0.0))).to_f64();
            }
            (total, y) = (total + value, y + Dd::from(h));
        }
        (y + (t - total) / self.pace(y)).to_f64()
    }
}
