//! A piece of a path: how far the true solutions may get from it.

use super::curvature::curvature;
use super::growth::Rates;
use super::local::{Axis, Local, point, sum};
use super::system::System;
use crate::num::interval::Interval;

/// A piece of a path, and what acts on the error there.
pub(super) struct Part<'a> {
    pub(super) system: &'a System,
    /// Where it is, with `|p_i|` in `norm` and `||p|^2 - 1|` at most `bulge`.
    pub(super) range: &'a [Interval],
    pub(super) norm: Interval,
    pub(super) axes: &'a [Axis],
    pub(super) bulge: f64,
    pub(super) time: f64,
    pub(super) rates: Rates,
    /// The bound of the defect.
    pub(super) defect: Interval,
    /// The error at its beginning.
    pub(super) error: f64,
}

impl Part<'_> {
    /// A bound of the error on the piece, and the error at its end.
    pub(super) fn tube(&self) -> Option<(f64, f64)> {
        let mut radius = 1.2 * (self.error + self.defect.hi() * self.time) * (self.rates.growth * self.time).exp();
        for _ in 0..6 {
            let end = self.after(radius)?;
            if end <= radius {
                return Some((radius, end));
            }
            radius = if end < 4.0 * radius { 1.3 * end } else { 2.0 * radius };
        }
        None
    }

    /// `(error + time (defect + (1 + eta) c q)) e^{(mu + eta |S| + (1 + eta) Lambda r) time}`, `eta = kappa |F| r`, upwards (Lemmas 2 and 6).
    fn after(&self, radius: f64) -> Option<f64> {
        let (time, r, rates) = (point(self.time), point(radius), &self.rates);
        let reach: Vec<f64> = (0..self.system.len()).map(|i| self.system.reach(i, radius)).collect();
        // Beyond this nothing is left to prove.
        if radius.is_nan() || !reach.iter().all(|r| *r < 0.2) {
            return None;
        }
        let (small, eta) = (point((point(self.bulge) / point(self.error)).hi()), rates.drag * r);
        let (lambda, c) = match self.whole_clusters(radius, small) {
            Ok(bounds) => bounds,
            Err(any) if !any && eta.hi() > 0.0 => return None,
            Err(_) => curvature(self.system, &self.local(self.system, &reach, true), &reach, small),
        };
        let more = point(1.0) + eta;
        let growth = (point(rates.growth) + eta * rates.norm + more * point(lambda) * r) * time;
        let added = time * (self.defect + more * point(c) * point(self.bulge));
        let end = ((point(self.error) + added) * growth.exp()).hi();
        Some(if end.is_nan() { f64::INFINITY } else { end })
    }

    /// What is known within `reach_i` of the piece.
    fn local(&self, system: &System, reach: &[f64], own: bool) -> Local {
        let widest = reach.iter().copied().fold(0.0, f64::max);
        let wide: Vec<_> = self.range.iter().enumerate().map(|(at, x)| *x + Interval::symmetric(reach[at / system.d])).collect();
        Local::new(system, &wide, self.norm + Interval::symmetric(widest), self.axes, own)
    }

    /// `(Lambda, c)` with the points in the place of their tokens, when those provably come together (Lemma 6); or whether Lemma 4 holds for any kappa.
    pub(super) fn whole_clusters(&self, radius: f64, small: Interval) -> Result<(f64, f64), bool> {
        let (s, rates) = (self.system, &self.rates);
        if !s.has_clusters() {
            return Err(true);
        }
        let (points, one, r) = (s.points(), point(1.0), point(radius));
        let reach: Vec<f64> = (0..s.len()).map(|i| points.reach(i, (point(1.01) * r).hi())).collect();
        let l = self.local(&points, &reach, false);
        let (steep, mass) = (one + point(s.beta.abs()), sum(s.masses.iter().copied()));
        let row = if s.softmax { one } else { mass };
        let least = point(s.least.iter().copied().fold(f64::INFINITY, f64::min)).sqrt();
        let eta = rates.drag * r;
        let bend = r / least * (point(11.0) * steep.sqr() * row * mass.sqrt() / least + point(3.0) * (point(rates.growth) + rates.square));
        let apart = (one + eta) * bend + eta * (rates.norm + point(2.0) * steep * row);
        // How fast the deviations of a cluster decay, at least.
        let decay = |i: usize| {
            let others = sum(s.seen(i).map(|j| l.a[i * l.k + j]));
            (if s.softmax { one } else { s.masses[i] }) - (one + steep) * others
        };
        let clusters = || (0..s.len()).filter(|i| s.sizes[*i] > 1);
        if (r / least).hi() > 0.1 || !clusters().all(|i| (decay(i) - apart).lo() > 0.0) {
            // The path is at most a quarter of r off the sphere.
            return Err(eta.hi() <= 1.0 && clusters().all(|i| (decay(i) - steep * row * r).lo() > 0.0));
        }
        let (lambda, c) = curvature(&points, &l, &reach, small);
        Ok(((point(1.04) * point(lambda)).hi(), (point(1.01) * point(c)).hi()))
    }
}
