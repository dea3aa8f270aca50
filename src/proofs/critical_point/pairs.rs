//! Weights of pairs of clusters and their slopes, as intervals.

use super::Certificate;
use crate::error::{Error, Result};
use crate::num::formula::Differentiable;
use crate::num::interval::Interval;

/// The weight of a pair as a function of the squared chord `c2 = |y_q - y_p|^2`.
///
/// On the sphere `<y_q, y_p> = 1 - c2 / 2`; this argument is used off the sphere, too.
pub(super) enum Pairs {
    /// `e^{-beta c2 / 2}`.
    Exponential(f64),
    /// `phi(1 - c2 / 2)`.
    Formula(Box<Differentiable>),
}

impl Pairs {
    /// The weights of a certificate.
    pub(super) fn new(c: &Certificate) -> Result<Self> {
        Ok(match &c.formula {
            None => Self::Exponential(c.beta),
            Some(formula) => Self::Formula(Box::new(formula.differentiable()?)),
        })
    }

    /// `e^{log_scale} phi` and `e^{log_scale} phi'`. The whole line where the formula has no value.
    pub(super) fn at(&self, c2: Interval, log_scale: f64) -> (Interval, Interval) {
        let (half, scale) = (Interval::exact(0.5), Interval::exact(log_scale));
        match self {
            Self::Exponential(beta) => {
                let beta = Interval::exact(*beta);
                let w = (scale - beta * half * c2).exp();
                (w, w * beta)
            }
            Self::Formula(phi) => match phi.at(Interval::exact(1.0) - half * c2) {
                Ok((value, slope)) => (value * scale.exp(), slope * scale.exp()),
                Err(_) => (Interval::exact(f64::NAN), Interval::exact(f64::NAN)),
            },
        }
    }

    /// `log |phi|` at a point, and beta or `|phi'|` there: numbers that only choose scales.
    pub(super) fn size(&self, c2: f64) -> (f64, f64) {
        match self {
            Self::Exponential(beta) => (-0.5 * beta * c2, beta.abs()),
            Self::Formula(_) => {
                let (w, slope) = self.at(Interval::exact(c2), 0.0);
                (w.mid().abs().ln(), slope.mid().abs())
            }
        }
    }

    /// **Errors** a formula without a derivative between some pair of clusters, or at s = 1 where
    /// a cluster has several tokens.
    pub(super) fn check_smooth(&self, c: &Certificate) -> Result<()> {
        let rows: Vec<&[f64]> = c.points.chunks(c.d).collect();
        let several = c.sizes.iter().any(|s| *s > 1);
        let own = several.then_some(0.0);
        let pairs = rows.iter().enumerate().flat_map(|(q, a)| {
            rows[..q].iter().map(|b| a.iter().zip(*b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>())
        });
        for c2 in pairs.chain(own) {
            let (w, slope) = self.at(Interval::exact(c2), 0.0);
            if !(w.is_finite() && slope.is_finite()) {
                return Err(Error::parameter(
                    "interaction",
                    format!("no derivative near s = {}", 1.0 - 0.5 * c2),
                    "a function that is differentiable at the inner products of the clusters",
                ));
            }
        }
        Ok(())
    }
}
