//! Bounds of the kernels on discs of the complex plane, in interval arithmetic. No bound depends on
//! a mathematical library.
//!
//! With `w = a + i b` the Gaussian has `|e^{-w^2/2}| = e^{(b^2 - a^2)/2}` and the kernel of the
//! circle `|e^{beta (cos w - 1)}| <= e^{beta (cosh b - 1) - beta (1 - cos a)}`: growth in b times
//! decay in a.

use crate::num::interval::Interval;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Width of a bin in units of the kernel: a power of two, so that bin centres are exact.
pub(super) const BIN_WIDTH: f64 = 0.5;
/// Number of Taylor coefficients of the derivative of the estimate.
pub(super) const TERMS: usize = 20;

/// The kernel, in units u.
#[derive(Clone, Copy)]
pub(super) enum KernelShape {
    /// `e^{-u^2/2}`.
    Gaussian,
    /// `e^{beta (cos(u / unit) - 1)}` on a circle of `bins` bins.
    VonMises { beta: f64, bins: usize },
}

fn real(x: f64) -> Interval {
    Interval::exact(x)
}

/// Angle of one unit on a circle with this number of bins.
pub(super) fn radian(bins: usize) -> Interval {
    Interval::new(TAU, TAU.next_up()) / real(bins as f64 * BIN_WIDTH)
}

/// An upper bound of the exact value of x, which was computed in f64 from nonnegative numbers by
/// sums and products with at most `roundings` roundings of any term. Each rounding reduces a number
/// by at most eps/2 of itself, or by 1e-320 where it underflows;
/// `(1 - eps/2)^{-k} <= 1 + 0.6 k eps` while k eps is below 1/10.
pub(super) fn round_up(x: f64, roundings: usize) -> f64 {
    (real(x) * (real(1.0) + real(roundings as f64) * real(0.6 * f64::EPSILON)) + real(1e-300)).hi()
}

/// Upper bound of `beta (cosh x - 1) = 2 beta sinh^2(x / 2)`.
fn growth(beta: f64, x: Interval) -> Interval {
    let half = x * real(0.5);
    // sinh y <= y e^{y^2 / 6}, term by term. Above 1/2 the exponentials do not cancel.
    let sinh = if half.hi() < 0.5 {
        half * (half.sqr() / real(6.0)).exp()
    } else {
        (half.exp() - (-half).exp()) * real(0.5)
    };
    sinh.sqr() * real(beta) * real(2.0)
}

/// Lower bound of `beta (1 - cos x) = 2 beta sin^2(x / 2)`, which grows up to pi.
fn decay(beta: f64, x: Interval) -> Interval {
    let (sin, _) = (real(x.lo().clamp(0.0, PI)) * real(0.5)).sin_cos();
    real(sin.sqr().lo()) * real(beta) * real(2.0)
}

impl KernelShape {
    /// An upper bound of the modulus of the kernel, up to an additive constant without effect on
    /// derivatives, on the disc of radius `rho` about a point at this distance.
    pub fn bound(self, distance: f64, rho: f64) -> f64 {
        let nearest = real((real(distance) - real(rho)).lo().max(0.0));
        match self {
            Self::Gaussian => ((real(rho).sqr() - nearest.sqr()) * real(0.5)).exp().hi(),
            Self::VonMises { beta, bins } => {
                let radian = radian(bins);
                let across = real(rho) * radian;
                let direct = (growth(beta, across) - decay(beta, nearest * radian)).exp().hi();
                // For small beta: |e^h - 1| <= |h| e^{|h|}.
                let h = ((across.exp() + (-across).exp()) * real(0.5) + real(1.0)) * real(beta);
                direct.min((h * h.exp()).hi())
            }
        }
    }

    /// A radius that nearly minimises Cauchy's estimate of the coefficients from `TERMS` on. Any
    /// radius gives a valid bound, so the search is plain f64.
    fn radius(self, distance: f64) -> f64 {
        let order = TERMS as f64 + 1.0;
        match self {
            // rho^2/2 - max(d - rho, 0)^2/2 - order log rho.
            Self::Gaussian => order.sqrt().min(order / distance),
            Self::VonMises { beta, bins } => {
                let radian = radian(bins).mid();
                let log = |rho: f64| {
                    let near = (radian * (distance - rho)).max(0.0);
                    let h = beta * ((radian * rho).cosh() + 1.0);
                    let direct = 2.0
                        * beta
                        * ((0.5 * radian * rho).sinh().powi(2) - (0.5 * near).sin().powi(2));
                    direct.min(h + h.ln()) - order * rho.ln()
                };
                let radii = (0..24).map(|k| 1.12f64.powi(k));
                radii.min_by(|a, b| log(*a).total_cmp(&log(*b))).unwrap_or(1.0)
            }
        }
    }

    /// Bounds of the terms from `TERMS` on in the derivative and in its slope, for
    /// `|v - z| <= BIN_WIDTH`, by Cauchy's estimate `|g_m| <= B(rho) / rho^m`.
    pub fn truncation(self, distance: f64) -> (f64, f64) {
        let rho = self.radius(distance);
        let (w, terms, one) = (real(BIN_WIDTH) * real(1.0 + 1e-9), real(TERMS as f64), real(1.0));
        let ratio = w / real(rho);
        let lead = (0..TERMS).fold(real(self.bound(distance, rho)) / real(rho), |p, _| p * ratio);
        let sum =
            |next: Interval| if next.hi() < 1.0 { one / (one - next) } else { real(f64::INFINITY) };
        // sum_{m >= TERMS} (m + 1) r^m and sum (m + 1) m r^m / w, bounded by geometric series with
        // their largest quotient.
        let value = lead * (terms + one) * sum(ratio * (terms + real(2.0)) / (terms + one));
        let slope = lead * (terms + one) * terms / w * sum(ratio * (terms + real(2.0)) / terms);
        (value.hi(), slope.hi())
    }

    /// Bound of the derivative of order m of the kernel at this distance and beyond, by Cauchy's
    /// estimate with the radius `rho`.
    pub fn derivative(self, m: u32, distance: f64, rho: f64) -> f64 {
        (1..=m)
            .fold(real(self.bound(distance, rho)), |b, k| b * real(f64::from(k)) / real(rho))
            .hi()
    }

    /// True if the kernel is proved to be convex at this distance (less than half the circle) and
    /// beyond.
    pub fn convex_beyond(self, distance: f64) -> bool {
        match self {
            Self::Gaussian => distance > 1.0,
            // beta sin^2 t - cos t grows on [0, pi/2] and is positive on the rest.
            Self::VonMises { beta, bins } => {
                let angle = real(distance) * radian(bins);
                let (sin, cos) = angle.sin_cos();
                angle.lo() > FRAC_PI_2 || (real(beta) * sin.sqr() - cos).is_positive()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stats::{nan_max, nan_min};

    /// The bounds hold at sampled points of the discs.
    #[test]
    fn bounds_are_above_the_kernel() {
        for (beta, bins) in [(0.5, 16usize), (30.0, 69), (1e6, 12_567)] {
            let (shape, unit) =
                (KernelShape::VonMises { beta, bins }, bins as f64 * BIN_WIDTH / TAU);
            for (distance, rho) in [(0.0, 1.0), (3.0, 2.0), (2.0, 4.0), (3.9, 0.1)] {
                let bound = shape.bound(distance, rho);
                let gauss = KernelShape::Gaussian.bound(distance, rho);
                let (mut most, mut widest) = (0.0f64, 0.0f64);
                for k in 0..400 {
                    let (s, c) = (TAU * f64::from(k) / 400.0).sin_cos();
                    let (a, b) = ((distance + rho * c) / unit, rho * s / unit);
                    // |e^{beta (cos w - 1)} - z| for z = 0 and 1, the smaller.
                    let (re, im) = (beta * (a.cos() * b.cosh() - 1.0), -beta * a.sin() * b.sinh());
                    let size = re.exp();
                    let square = 1.0 + size * size - 2.0 * size * im.cos();
                    most = nan_max(most, nan_min(size, nan_max(square, 0.0).sqrt()));
                    let exponent = 0.5 * (rho * s).powi(2) - 0.5 * (distance + rho * c).powi(2);
                    widest = nan_max(widest, exponent.exp());
                }
                assert!(most <= bound * (1.0 + 1e-12), "{beta} {distance} {rho}: {most} {bound}");
                assert!(widest <= gauss * (1.0 + 1e-12), "{distance} {rho}: {widest} {gauss}");
            }
        }
    }

    /// The sum of the omitted terms of the Taylor series, at the worst corner of two bins, is below
    /// the bound.
    #[test]
    fn truncation_covers_the_rest_of_the_series() {
        // Hermite functions: e^{-(x + w)^2/2} has the coefficients of the recursion below.
        for distance in [0.0, 1.5, 4.0, 8.0] {
            let (bound, slope_bound) = KernelShape::Gaussian.truncation(distance);
            let mut worst = (0.0f64, 0.0f64);
            for x in [distance, -distance] {
                let mut g = vec![(-0.5 * x * x).exp(), 0.0];
                g[1] = -x * g[0];
                for m in 2..120 {
                    g.push((-x * g[m - 1] - g[m - 2]) / m as f64);
                }
                let (mut value, mut slope) = (0.0, 0.0);
                for m in TERMS..118 {
                    value += (m + 1) as f64 * g[m + 1] * BIN_WIDTH.powi(m as i32);
                    slope += ((m + 1) * m) as f64 * g[m + 1] * BIN_WIDTH.powi(m as i32 - 1);
                }
                worst = (nan_max(worst.0, f64::abs(value)), nan_max(worst.1, f64::abs(slope)));
            }
            assert!(
                worst.0 <= bound && worst.1 <= slope_bound,
                "{distance}: {worst:?} {bound} {slope_bound}"
            );
        }
    }

    #[test]
    fn convexity_begins_where_the_second_derivative_changes_sign() {
        assert!(
            KernelShape::Gaussian.convex_beyond(1.000_001)
                && !KernelShape::Gaussian.convex_beyond(0.999_999)
        );
        for (beta, bins) in [(0.5, 16usize), (30.0, 69), (1e6, 12_567)] {
            let (shape, unit) =
                (KernelShape::VonMises { beta, bins }, bins as f64 * BIN_WIDTH / TAU);
            // cos tau = 2 beta / (1 + sqrt(1 + 4 beta^2)).
            let tau = (2.0 * beta / (1.0 + (1.0 + 4.0 * beta * beta).sqrt())).acos();
            assert!(
                shape.convex_beyond(unit * tau * (1.0 + 1e-9))
                    && !shape.convex_beyond(unit * tau * (1.0 - 1e-9)),
                "{beta}"
            );
        }
    }
}
