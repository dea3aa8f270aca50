//! A bound of the error along one piece of a path.

use super::curvature::curvature;
use super::enclosure::{Axis, Enclosure, point, sum};
use super::system::System;
use super::tangent_jacobian::GrowthBounds;
use crate::num::interval::Interval;

/// A piece of a path, with all that acts on the error there.
pub(super) struct Segment<'a> {
    pub(super) system: &'a System,
    /// Box that contains the piece, with `|p_i|` in `norm` and `||p_i|^2 - 1|` at most `q`.
    pub(super) range: &'a [Interval],
    pub(super) norm: Interval,
    pub(super) axes: &'a [Axis],
    pub(super) q: f64,
    /// Its length in time, T.
    pub(super) time: f64,
    pub(super) growth: GrowthBounds,
    /// Upper bound of the defect `|delta|`.
    pub(super) defect: Interval,
    /// The error at its beginning.
    pub(super) error: f64,
}

impl Segment<'_> {
    /// A bound r of the error on the piece, and the error at its end. A candidate r is proved if
    /// the error at the end, bounded with it, is at most r.
    pub(super) fn tube(&self) -> Option<(f64, f64)> {
        let mut r =
            1.2 * (self.error + self.defect.hi() * self.time) * (self.growth.mu * self.time).exp();
        for _ in 0..6 {
            let end = self.error_at_end(r)?;
            if end <= r {
                return Some((r, end));
            }
            r = if end < 4.0 * r { 1.3 * end } else { 2.0 * r };
        }
        None
    }

    /// Upper bound of
    /// `(error + T (defect + (1 + eta) c q)) e^{(mu + eta |S| + (1 + eta) Lambda r) T}`,
    /// `eta = kappa |f| r` (Lemmas 2 and 6).
    fn error_at_end(&self, r: f64) -> Option<f64> {
        let (time, radius, growth) = (point(self.time), point(r), &self.growth);
        let token_errors: Vec<f64> =
            (0..self.system.len()).map(|i| self.system.token_error(i, r)).collect();
        // Larger errors leave nothing to prove.
        if r.is_nan() || !token_errors.iter().all(|e| *e < 0.2) {
            return None;
        }
        let (small, eta) =
            (point((point(self.q) / point(self.error)).hi()), growth.kappa_f * radius);
        let (lambda, c) = match self.cluster_curvature(r, small) {
            Ok(bounds) => bounds,
            Err(any_kappa) if !any_kappa && eta.hi() > 0.0 => return None,
            Err(_) => curvature(
                self.system,
                &self.enclosure(self.system, &token_errors, true),
                &token_errors,
                small,
            ),
        };
        let one_plus_eta = point(1.0) + eta;
        let exponent =
            (point(growth.mu) + eta * growth.s_norm + one_plus_eta * point(lambda) * radius) * time;
        let added = time * (self.defect + one_plus_eta * point(c) * point(self.q));
        let end = ((point(self.error) + added) * exponent.exp()).hi();
        Some(if end.is_nan() { f64::INFINITY } else { end })
    }

    /// Enclosures over all configurations within `token_errors` of the piece.
    fn enclosure(&self, system: &System, token_errors: &[f64], separate: bool) -> Enclosure {
        let widest = token_errors.iter().copied().fold(0.0, f64::max);
        let wide: Vec<_> = self
            .range
            .iter()
            .enumerate()
            .map(|(at, x)| *x + Interval::symmetric(token_errors[at / system.d]))
            .collect();
        Enclosure::new(system, &wide, self.norm + Interval::symmetric(widest), self.axes, separate)
    }

    /// `(Lambda, c)` of the points in place of their tokens, if the condition of Lemma 6 holds.
    /// Otherwise whether Lemma 4 holds for any kappa.
    pub(super) fn cluster_curvature(&self, r: f64, small: Interval) -> Result<(f64, f64), bool> {
        let (s, growth) = (self.system, &self.growth);
        if !s.has_clusters() {
            return Err(true);
        }
        let (points, one, radius) = (s.points_as_tokens(), point(1.0), point(r));
        let token_errors: Vec<f64> =
            (0..s.len()).map(|i| points.token_error(i, (point(1.01) * radius).hi())).collect();
        let l = self.enclosure(&points, &token_errors, false);
        let (one_plus_beta, mass) = (one + point(s.beta.abs()), sum(s.masses.iter().copied()));
        // R of Lemma 6, and m^(1/2).
        let row_sum = if s.softmax { one } else { mass };
        let root_m = point(s.min_mass.iter().copied().fold(f64::INFINITY, f64::min)).sqrt();
        let eta = growth.kappa_f * radius;
        let c = radius / root_m
            * (point(11.0) * one_plus_beta.sqr() * row_sum * mass.sqrt() / root_m
                + point(3.0) * (point(growth.mu) + growth.kappa_f_squared));
        let right_side =
            (one + eta) * c + eta * (growth.s_norm + point(2.0) * one_plus_beta * row_sum);
        // N_a - (2 + beta) rho_a: a lower bound of the rate at which deviations within cluster a
        // decay.
        let decay = |i: usize| {
            let rho = sum(s.visible(i).map(|j| l.a[i * l.k + j]));
            (if s.softmax { one } else { s.masses[i] }) - (one + one_plus_beta) * rho
        };
        let clusters = || (0..s.len()).filter(|i| s.token_counts[*i] > 1);
        if (radius / root_m).hi() > 0.1 || !clusters().all(|i| (decay(i) - right_side).lo() > 0.0) {
            // The condition of Lemma 4; the path is at most r / 4 off the sphere.
            return Err(eta.hi() <= 1.0
                && clusters().all(|i| (decay(i) - one_plus_beta * row_sum * radius).lo() > 0.0));
        }
        let (lambda, c) = curvature(&points, &l, &token_errors, small);
        Ok(((point(1.04) * point(lambda)).hi(), (point(1.01) * point(c)).hi()))
    }
}
