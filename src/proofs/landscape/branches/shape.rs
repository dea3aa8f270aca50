//! Ranges of the pull u, the weight `w = u'`, its derivatives, and their derivatives by the
//! parameter.
//!
//! For the exponential with `e = e^{beta (c - 1)}`, `c = cos d`, `s = sin d`: `u = e s`,
//! `w = e (c - beta s^2)`,
//! `w' = e s (beta^2 s^2 - 3 beta c - 1)` and
//! `w'' = e (-c - 3 beta c^2 + 4 beta s^2 + 6 beta^2 c s^2 - beta^3 s^4)`; the derivatives by beta
//! are `(c - 1) u` and `e ((c - 1) (c - beta s^2) - s^2)`. Other interactions: [`Family`].

use super::super::cell::{grid_down, grid_up};
use super::super::family::Family;
use super::super::kernel::{Kernel, Law, TRIG, direction, exp};
pub(super) use crate::dense_intervals::common;
use crate::num::interval::Interval;

/// The ranges on an interval of distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) u: Interval,
    pub(super) w: Interval,
    /// `w'`.
    pub(super) w1: Interval,
    /// `w''`.
    pub(super) w2: Interval,
    /// Derivative of u by the parameter.
    pub(super) u_by: Interval,
    /// Derivative of w by the parameter.
    pub(super) w_by: Interval,
}

/// Cosine at a distance in turns, a multiple of `2^-48`: differences from whole numbers are exact.
fn cosine(t: f64) -> f64 {
    let t = t - t.floor();
    direction(if t > 0.5 { 1.0 - t } else { t }).c
}

/// Range of the cosine between two distances in turns.
fn cosines(lo: f64, hi: f64) -> Interval {
    if hi - lo >= 1.0 {
        return Interval::symmetric(1.0);
    }
    let (a, b) = (cosine(lo), cosine(hi));
    let top = if lo.ceil() <= hi { 1.0 } else { (a.max(b) + TRIG).min(1.0) };
    let bottom = if (lo - 0.5).ceil() + 0.5 <= hi { -1.0 } else { (a.min(b) - TRIG).max(-1.0) };
    Interval::new(bottom, top)
}

/// A kernel for an interval of the parameter.
pub(super) struct Shapes {
    parameter: Interval,
    law: Law,
    kernel: Kernel,
}

impl Shapes {
    /// The interval of the parameter.
    pub(super) fn parameter(&self) -> Interval {
        self.parameter
    }

    /// For all values of the parameter in an interval.
    pub(super) fn new(law: &Law, parameter: Interval) -> Self {
        let kernel = law.kernel((parameter.lo(), parameter.hi()));
        Self { parameter, law: law.clone(), kernel }
    }

    /// An interaction that is not the exponential.
    pub(super) fn family(&self) -> Option<&Family> {
        match &self.law {
            Law::Family(family) => Some(family),
            _ => None,
        }
    }

    /// The weight of coincident tokens, `phi(1)`, and its derivative by the parameter; `None` for
    /// the exponential, where it is 1.
    pub(super) fn own(&self) -> Option<(Interval, Interval)> {
        self.family().map(|f| f.own(self.parameter))
    }

    /// Whether the parameter is the beta of the exponential.
    pub(super) fn has_beta(&self) -> bool {
        matches!(self.law, Law::Exponential)
    }

    /// Beta, cosine, sine and `e^{beta (c - 1)}` for distances in turns, within `[-1, 2]`.
    pub(super) fn parts(&self, distance: Interval) -> (Interval, Interval, Interval, Interval) {
        let (lo, hi) = (grid_down(distance.lo()), grid_up(distance.hi()));
        let (c, s) = (cosines(lo, hi), cosines(lo - 0.25, hi - 0.25));
        let beta = self.law.beta(self.parameter).unwrap_or(Interval::ZERO);
        let power = beta * (c - Interval::exact(1.0));
        // The relative error of the exponential is below 2e-15, that of the product below 1e-15.
        let e = Interval::new(
            exp(power.lo()) * (1.0 - 4e-15),
            exp(power.hi().min(700.0)) * (1.0 + 4e-15),
        );
        (beta, c, s, e)
    }

    /// Ranges over distances in turns, within `[-1, 2]`.
    pub(super) fn at(&self, distance: Interval) -> Shape {
        let (lo, hi) = (grid_down(distance.lo()), grid_up(distance.hi()));
        let inside = lo >= 0.0 && hi <= 1.0;
        if let Some(family) = self.family() {
            let found = family.derivatives(Interval::new(lo, hi), self.parameter);
            let ([u, w, w1, w2], [u_by, w_by]) = (found.by_distance, found.by_parameter);
            return Shape { u, w, w1, w2, u_by, w_by };
        }
        let (one, three, four) = (Interval::exact(1.0), Interval::exact(3.0), Interval::exact(4.0));
        let (b, c, s, e) = self.parts(distance);
        let ss = common(s.sqr(), one - c.sqr());
        let (bss, bc) = (b * ss, b * c);
        let p = c - bss;
        let (mut u, mut w) = (e * s, e * p);
        if inside {
            let sharp = self.kernel.ranges(lo, hi);
            (u, w) = (common(u, sharp.u), common(w, sharp.w));
        }
        let w1 = e * s * (b * bss - three * bc - one);
        let six = Interval::exact(6.0);
        let w2 = e * (c * (six * b * bss - three * bc - one) + bss * (four - b * bss));
        let less = c - one;
        if !self.has_beta() {
            return Shape { u, w, w1, w2, u_by: Interval::ZERO, w_by: Interval::ZERO };
        }
        Shape { u, w, w1, w2, u_by: less * u, w_by: e * (less * p - ss) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::kernel::Law;
    use super::Shapes;
    use crate::num::interval::Interval;
    use crate::num::stream::Stream;

    #[test]
    fn ranges_contain_values_and_difference_quotients() {
        let mut stream = Stream::new(1, &["branch shapes"]);
        for _ in 0..20_000 {
            let lo = stream.uniform_in(-0.3, 1.2);
            let hi = lo + 0.1 * stream.uniform_in(0.0, 1.0);
            let b = stream.uniform_in(0.05, 6.0);
            let shape =
                Shapes::new(&Law::Exponential, Interval::new(b, b + 0.1)).at(Interval::new(lo, hi));
            let d = std::f64::consts::TAU * stream.uniform_in(lo, hi);
            let b = stream.uniform_in(b, b + 0.1);
            let u = |d: f64, b: f64| (b * (d.cos() - 1.0)).exp() * d.sin();
            let w =
                |d: f64, b: f64| (b * (d.cos() - 1.0)).exp() * (d.cos() - b * d.sin() * d.sin());
            // Central differences with step h: errors of about (1 + beta)^5 h^2 and 1e-16 / h^2.
            let (h, near) = (1e-4, |x: Interval, v: f64, slack: f64| {
                assert!(x.lo() - slack <= v && v <= x.hi() + slack, "{x:?} {v}");
            });
            near(shape.u, u(d, b), 1e-14);
            near(shape.w, w(d, b), 1e-14 * 50.0);
            near(shape.w1, (w(d + h, b) - w(d - h, b)) / (2.0 * h), 2e-4);
            near(shape.w2, (w(d + h, b) - 2.0 * w(d, b) + w(d - h, b)) / (h * h), 2e-4);
            near(shape.u_by, (u(d, b + h) - u(d, b - h)) / (2.0 * h), 1e-6);
            near(shape.w_by, (w(d, b + h) - w(d, b - h)) / (2.0 * h), 1e-6);
        }
    }
}
