//! Bounds of the kernels on discs of the complex plane, in interval arithmetic: no bound rests on a mathematical library.
//!
//! With `w = a + i b` the Gaussian has `|e^{-w^2/2}| = e^{(b^2 - a^2)/2}` and the kernel of the circle
//! `|e^{beta (cos w - 1)}| <= e^{beta (cosh b - 1) - beta (1 - cos a)}`: a growth with b less a decay with a.

use crate::num::interval::Interval;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Width of a cell in units of the kernel: a power of two, so that cell centres are exact.
pub(super) const CELL: f64 = 0.5;
/// Kept Taylor coefficients of the derivative of the estimate.
pub(super) const TERMS: usize = 20;

/// Which kernel.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// `e^{-u^2/2}`.
    Gaussian,
    /// `e^{beta (cos(u / unit) - 1)}` on a circle of `cells` cells.
    VonMises { beta: f64, cells: usize },
}

fn real(x: f64) -> Interval {
    Interval::exact(x)
}

/// Angle of a unit on a circle of so many cells.
pub(super) fn radian(cells: usize) -> Interval {
    Interval::new(TAU, TAU.next_up()) / real(cells as f64 * CELL)
}

/// An upper bound of a number computed in f64 from nonnegative numbers by sums and products, if at most `roundings` lie in the way of any term:
/// every rounding takes away at most the share eps/2, or 1e-320 where it underflows; `(1 - eps/2)^{-k} <= 1 + 0.6 k eps` while k eps is below 1/10.
pub(super) fn above(x: f64, roundings: usize) -> f64 {
    (real(x) * (real(1.0) + real(roundings as f64) * real(0.6 * f64::EPSILON)) + real(1e-300)).hi()
}

/// `beta (cosh x - 1) = 2 beta sinh^2(x / 2)`, bounded above.
fn growth(beta: f64, x: Interval) -> Interval {
    let half = x * real(0.5);
    // sinh y <= y e^{y^2 / 6}, term by term; above 1/2 nothing cancels in the exponentials.
    let sinh = if half.hi() < 0.5 { half * (half.sqr() / real(6.0)).exp() } else { (half.exp() - (-half).exp()) * real(0.5) };
    sinh.sqr() * real(beta) * real(2.0)
}

/// `beta (1 - cos x) = 2 beta sin^2(x / 2)`, which grows up to pi, bounded below.
fn decay(beta: f64, x: Interval) -> Interval {
    let (sin, _) = (real(x.lo().clamp(0.0, PI)) * real(0.5)).sin_cos();
    real(sin.sqr().lo()) * real(beta) * real(2.0)
}

impl Shape {
    /// An upper bound of the kernel, up to a constant that its derivatives do not see, on the disc of radius `rho` about a point at this distance.
    pub fn bound(self, distance: f64, rho: f64) -> f64 {
        let nearest = real((real(distance) - real(rho)).lo().max(0.0));
        match self {
            Self::Gaussian => ((real(rho).sqr() - nearest.sqr()) * real(0.5)).exp().hi(),
            Self::VonMises { beta, cells } => {
                let radian = radian(cells);
                let across = real(rho) * radian;
                let direct = (growth(beta, across) - decay(beta, nearest * radian)).exp().hi();
                // |e^h - 1| <= |h| e^{|h|}: small beta.
                let h = ((across.exp() + (-across).exp()) * real(0.5) + real(1.0)) * real(beta);
                direct.min((h * h.exp()).hi())
            }
        }
    }

    /// A radius at which Cauchy's estimate of the coefficients from `TERMS` on is nearly as small as it gets. Any radius gives a bound: this is a plain search.
    fn radius(self, distance: f64) -> f64 {
        let order = TERMS as f64 + 1.0;
        match self {
            // rho^2/2 - max(d - rho, 0)^2/2 - order log rho.
            Self::Gaussian => order.sqrt().min(order / distance),
            Self::VonMises { beta, cells } => {
                let radian = radian(cells).mid();
                let log = |rho: f64| {
                    let near = (radian * (distance - rho)).max(0.0);
                    let h = beta * ((radian * rho).cosh() + 1.0);
                    let direct = 2.0 * beta * ((0.5 * radian * rho).sinh().powi(2) - (0.5 * near).sin().powi(2));
                    direct.min(h + h.ln()) - order * rho.ln()
                };
                let radii = (0..24).map(|k| 1.12f64.powi(k));
                radii.min_by(|a, b| log(*a).total_cmp(&log(*b))).unwrap_or(1.0)
            }
        }
    }

    /// Bounds of the terms from `TERMS` on of the derivative and of its slope, for `|v - z| <= CELL`: Cauchy's estimate `|g_m| <= B(rho) / rho^m`.
    pub fn truncation(self, distance: f64) -> (f64, f64) {
        let rho = self.radius(distance);
        let (w, terms, one) = (real(CELL) * real(1.0 + 1e-9), real(TERMS as f64), real(1.0));
        let ratio = w / real(rho);
        let lead = (0..TERMS).fold(real(self.bound(distance, rho)) / real(rho), |p, _| p * ratio);
        let sum = |next: Interval| if next.hi() < 1.0 { one / (one - next) } else { real(f64::INFINITY) };
        // sum_{m >= TERMS} (m + 1) r^m and sum (m + 1) m r^m / w, as geometric series with their largest quotient.
        let value = lead * (terms + one) * sum(ratio * (terms + real(2.0)) / (terms + one));
        let slope = lead * (terms + one) * terms / w * sum(ratio * (terms + real(2.0)) / terms);
        (value.hi(), slope.hi())
    }

    /// Bound of the derivative of order m of the kernel at this distance and beyond: Cauchy's estimate with this radius.
    pub fn derivative(self, m: u32, distance: f64, rho: f64) -> f64 {
        (1..=m).fold(real(self.bound(distance, rho)), |b, k| b * real(f64::from(k)) / real(rho)).hi()
    }

    /// True if it is proved that the kernel is convex at this distance, less than half the circle, and beyond.
    pub fn convex_beyond(self, distance: f64) -> bool {
        match self {
            Self::Gaussian => distance > 1.0,
            // beta sin^2 t - cos t grows on [0, pi/2] and is positive on the rest.
            Self::VonMises { beta, cells } => {
                let angle = real(distance) * radian(cells);
                let (sin, cos) = angle.sin_cos();
                angle.lo() > FRAC_PI_2 || (real(beta) * sin.sqr() - cos).is_positive()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds hold at points of the discs, and are not wasteful: within a factor of the largest value there.
    #[test]
    fn bounds_are_above_the_kernel_and_near_it() {
        for (beta, cells) in [(0.5, 16usize), (30.0, 69), (1e6, 12_567)] {
            let (shape, unit) = (Shape::VonMises { beta, cells }, cells as f64 * CELL / TAU);
            for (distance, rho) in [(0.0, 1.0), (3.0, 2.0), (2.0, 4.0), (3.9, 0.1)] {
                let bound = shape.bound(distance, rho);
                let gauss = Shape::Gaussian.bound(distance, rho);
                let (mut most, mut widest) = (0.0f64, 0.0f64);
                for k in 0..400 {
                    let (s, c) = (TAU * f64::from(k) / 400.0).sin_cos();
                    let (a, b) = ((distance + rho * c) / unit, rho * s / unit);
                    // |e^{beta (cos w - 1)} - z| for z = 0 and 1, the smaller.
                    let (re, im) = (beta * (a.cos() * b.cosh() - 1.0), -beta * a.sin() * b.sinh());
                    let size = re.exp();
                    let less = (1.0 + size * size - 2.0 * size * im.cos()).max(0.0).sqrt();
                    most = most.max(size.min(less));
                    widest = widest.max((0.5 * (rho * s).powi(2) - 0.5 * (distance + rho * c).powi(2)).exp());
                }
                assert!(most <= bound * (1.0 + 1e-12), "{beta} {distance} {rho}: {most} {bound}");
                assert!(widest <= gauss * (1.0 + 1e-12), "{distance} {rho}: {widest} {gauss}");
            }
        }
    }

    /// Terms left out of the Taylor series at the worst corner of two cells, summed, are below the bound and above a share of it.
    #[test]
    fn truncation_covers_the_rest_of_the_series() {
        // Hermite functions: e^{-(x + w)^2/2} has the coefficients of the recursion below.
        for distance in [0.0, 1.5, 4.0, 8.0] {
            let (bound, slope_bound) = Shape::Gaussian.truncation(distance);
            let mut worst = (0.0f64, 0.0f64);
            for x in [distance, -distance] {
                let mut g = vec![(-0.5 * x * x).exp(), 0.0];
                g[1] = -x * g[0];
                for m in 2..120 {
                    g.push((-x * g[m - 1] - g[m - 2]) / m as f64);
                }
                let (mut value, mut slope) = (0.0, 0.0);
                for m in TERMS..118 {
                    value += (m + 1) as f64 * g[m + 1] * CELL.powi(m as i32);
                    slope += ((m + 1) * m) as f64 * g[m + 1] * CELL.powi(m as i32 - 1);
                }
                worst = (worst.0.max(f64::abs(value)), worst.1.max(f64::abs(slope)));
            }
            assert!(worst.0 <= bound && worst.1 <= slope_bound, "{distance}: {worst:?} {bound} {slope_bound}");
        }
    }

    #[test]
    fn convexity_begins_where_the_second_derivative_changes_sign() {
        assert!(Shape::Gaussian.convex_beyond(1.000_001) && !Shape::Gaussian.convex_beyond(0.999_999));
        for (beta, cells) in [(0.5, 16usize), (30.0, 69), (1e6, 12_567)] {
            let (shape, unit) = (Shape::VonMises { beta, cells }, cells as f64 * CELL / TAU);
            // cos tau = 2 beta / (1 + sqrt(1 + 4 beta^2)).
            let tau = (2.0 * beta / (1.0 + (1.0 + 4.0 * beta * beta).sqrt())).acos();
            assert!(shape.convex_beyond(unit * tau * (1.0 + 1e-9)) && !shape.convex_beyond(unit * tau * (1.0 - 1e-9)), "{beta}");
        }
    }
}
