//! The time integral `T(y) = int dy / y'` of equiangular tokens and its inverse, in double-doubles.
//!
//! After a plateau of length e^beta, gamma jumps from 0 to 1 within a time far below the rounding
//! error of t as a double. Integration or quadrature in f64 cannot resolve the jump. In
//! double-doubles the relative error of T is about 1e-26 (exponents are rounded to 1e-28, times
//! beta), 1e-10 of the spacing of doubles, so gamma is accurate at every double t.

use crate::num::dd::Dd;
use crate::num::quadrature::gauss_legendre_dd;
use crate::num::roots::bracketed_root;
use std::sync::OnceLock;

/// `1/y' = e^u (a e^{beta (v - shift) - u} + c e^{-u}) / (2 size)` with `u = log_unit`,
/// `a = kernel_factor`, `c = constant_term`, `v = e^{-y} = 1 - gamma`, `size = (n-1) gamma + 1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EquiangularTime {
    pub beta: f64,
    /// 1 for the kernel `e^{beta G}`, 0 for `e^{beta (G-1)}` or softmax.
    pub shift: f64,
    pub n: f64,
    pub kernel_factor: Dd,
    pub constant_term: f64,
    /// Logarithm of the unit of time: 0 unless times exceed f64.
    log_unit: f64,
}

/// Depth y from which gamma is 1 up to rounding, so y grows at a constant rate.
const MAX_DEPTH: f64 = 40.0;

/// Largest change of an exponent over a panel. Panels are also shorter than the distance to the
/// pole (size = 0); together this keeps the quadrature error below the stated one.
const MAX_EXPONENT_CHANGE: f64 = 8.0;

impl EquiangularTime {
    /// The time integral for starts from `gamma = start`.
    pub fn new(
        beta: f64,
        shift: f64,
        n: f64,
        kernel_factor: Dd,
        constant_term: f64,
        start: f64,
    ) -> Self {
        let exponent = beta * (1.0 - start - shift);
        Self {
            beta,
            shift,
            n,
            kernel_factor,
            constant_term,
            log_unit: (exponent - 600.0).max(0.0).floor(),
        }
    }

    /// `y = -log(1 - gamma)` by one Newton step from the rounded one.
    fn depth_from_gamma(gamma: f64) -> Dd {
        let rounded = Dd::from(-(-gamma).ln_1p());
        let v = (-rounded).exp();
        rounded + (v + Dd::from(gamma) - Dd::from(1.0)) / v
    }

    fn size(&self, v: Dd) -> Dd {
        Dd::from(self.n - 1.0) * (Dd::from(1.0) - v) + Dd::from(1.0)
    }

    /// `dT/dy` in units of `e^log_unit`.
    fn time_per_depth(&self, y: Dd) -> Dd {
        let v = (-y).exp();
        let kernel =
            (Dd::from(self.beta) * (v - Dd::from(self.shift)) - Dd::from(self.log_unit)).exp();
        let constant = Dd::from(self.constant_term)
            * if self.log_unit > 0.0 { Dd::from(-self.log_unit).exp() } else { Dd::from(1.0) };
        (self.kernel_factor * kernel + constant) / (self.size(v) + self.size(v))
    }

    /// The width of the quadrature panel that begins at y.
    fn width(&self, y: Dd) -> f64 {
        let v = (-y).exp();
        let slope = self.beta.abs() * v.to_f64();
        let width = MAX_EXPONENT_CHANGE / slope;
        // A kernel below e^-100 relative to the constant term need not be resolved.
        let negligible = self.constant_term > 0.0 && self.beta < 0.0 && slope > 100.0;
        let width = if negligible { width.max((slope / 100.0).ln()) } else { width };
        // The size is a concave function of y with slope n at the pole: the pole is at least size /
        // n away.
        width.min(self.size(v).to_f64() / self.n)
    }

    /// `T(y + h) - T(y)` in units of `e^log_unit`; infinite beyond f64.
    fn panel(&self, y: Dd, h: Dd) -> Dd {
        static RULE: OnceLock<Vec<(Dd, Dd)>> = OnceLock::new();
        let half = h * Dd::from(0.5);
        let mut sum = Dd::default();
        for (x, w) in RULE.get_or_init(|| gauss_legendre_dd(20)) {
            sum = sum + *w * self.time_per_depth(y + half + half * *x);
        }
        let value = sum * half;
        if value.to_f64().is_finite() { value } else { Dd::from(f64::INFINITY) }
    }

    /// The time from `gamma = from` to `gamma = to`; infinite if it exceeds f64.
    pub fn time(&self, from: f64, to: f64) -> f64 {
        let (mut y, end, mut total) =
            (Self::depth_from_gamma(from), Self::depth_from_gamma(to), Dd::default());
        // Exceeds e^800 for any levels.
        if self.log_unit > 200.0 {
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
        if self.log_unit > 0.0 { total.to_f64() * self.log_unit.exp() } else { total.to_f64() }
    }

    /// `y(t)` from `gamma(0) = start`.
    pub fn depth(&self, start: f64, t: f64) -> f64 {
        let (mut y, mut total) = (Self::depth_from_gamma(start), Dd::default());
        let t = if self.log_unit > 0.0 {
            Dd::from(t) * Dd::from(-self.log_unit).exp()
        } else {
            Dd::from(t)
        };
        // The search below would not find a change that is this small beside a panel. Its relative
        // error as a linear one is at most its size times the change of the logarithm of T'.
        let (first, v) = (t / self.time_per_depth(y), (-y).exp());
        let change = self.beta.abs() * v.to_f64() + self.n / self.size(v).to_f64();
        if first.to_f64() * change < 1e-18 {
            return (y + first).to_f64();
        }
        while y.to_f64() < MAX_DEPTH {
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
        (y + (t - total) / self.time_per_depth(y)).to_f64()
    }
}
