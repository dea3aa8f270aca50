//! The moving points of a proof: tokens, or clusters of tokens that have merged.

use super::start::Neighbourhood;
use crate::num::interval::Interval;
use std::ops::Range;

/// Points with masses, and the attention between them.
#[derive(Clone)]
pub(super) struct System {
    pub(super) beta: f64,
    pub(super) d: usize,
    /// Rows of weights are divided by their sums (SA); else they are not, and time has the unit `e^{-beta}` (USA).
    pub(super) softmax: bool,
    /// Point i sees the points `j < i` only.
    pub(super) causal: bool,
    /// The mass of each point, and the least and the greatest mass of its tokens.
    pub(super) masses: Vec<Interval>,
    pub(super) least: Vec<f64>,
    pub(super) greatest: Vec<f64>,
    /// Tokens per point.
    pub(super) sizes: Vec<usize>,
}

impl System {
    /// Every token a point.
    pub(super) fn of_tokens(s: &Neighbourhood) -> Self {
        let masses = s.masses.iter().map(|m| Interval::exact(*m)).collect();
        let (least, greatest, sizes) = (s.masses.clone(), s.masses.clone(), vec![1; s.masses.len()]);
        Self { beta: s.beta, d: s.d, softmax: s.softmax, causal: s.causal, masses, least, greatest, sizes }
    }

    /// Points.
    pub(super) fn len(&self) -> usize {
        self.masses.len()
    }

    /// The other points that point i sees, itself among them.
    fn range(&self, i: usize) -> Range<usize> {
        0..if self.causal { i } else { self.len() }
    }

    /// The other points that point i sees.
    pub(super) fn seen(&self, i: usize) -> impl Iterator<Item = usize> + use<> {
        self.range(i).filter(move |j| *j != i)
    }

    /// The system in which points with one label are one point (labels 0, 1, ... in order of appearance).
    pub(super) fn merged(&self, labels: &[usize]) -> Self {
        let count = labels.iter().max().map_or(0, |l| l + 1);
        let mut s = Self {
            masses: vec![Interval::exact(0.0); count],
            least: vec![f64::INFINITY; count],
            greatest: vec![0.0; count],
            sizes: vec![0; count],
            ..*self
        };
        for (i, l) in labels.iter().enumerate() {
            s.masses[*l] = s.masses[*l] + self.masses[i];
            s.least[*l] = s.least[*l].min(self.least[i]);
            s.greatest[*l] = s.greatest[*l].max(self.greatest[i]);
            s.sizes[*l] += self.sizes[i];
        }
        s
    }

    /// True when a point has several tokens.
    pub(super) fn has_clusters(&self) -> bool {
        self.sizes.iter().any(|n| *n > 1)
    }

    /// The points as tokens with their masses.
    pub(super) fn points(&self) -> Self {
        let (least, greatest) = (self.masses.iter().map(|m| m.lo()).collect(), self.masses.iter().map(|m| m.hi()).collect());
        Self { masses: self.masses.clone(), least, greatest, sizes: vec![1; self.len()], ..*self }
    }

    /// The weight of point i in the norm: its mass; 1 under a causal mask, where nothing ties the norm to the masses and a light token would be lost.
    pub(super) fn weight(&self, i: usize) -> Interval {
        if self.causal { Interval::exact(1.0) } else { self.masses[i] }
    }

    /// The least weight of a token of point i in the norm.
    pub(super) fn lightest(&self, i: usize) -> f64 {
        if self.causal { 1.0 } else { self.least[i] }
    }

    /// Upper bound of `(sum_i n_i |v_i|^2)^(1/2)`, n the weights of the norm, by a power of two that keeps the squares from underflow.
    pub(super) fn norm(&self, v: &[Interval]) -> f64 {
        let largest = v.iter().map(|v| v.mag()).fold(0.0, |a: f64, b| if b <= a { a } else { b });
        let (unit, zero) = (Interval::exact(power_of_two(largest)), Interval::exact(0.0));
        let row = |v: &[Interval]| v.iter().fold(zero, |s, v| s + (*v / unit).sqr());
        let all = v.chunks_exact(self.d).enumerate().fold(zero, |s, (i, v)| s + self.weight(i) * row(v));
        (all.sqrt() * unit).hi()
    }

    /// Upper bound of the distance of any token of point i from it, when the error is `eps`: `eps / n^(1/2)` with the least weight of its tokens.
    pub(super) fn reach(&self, i: usize, eps: f64) -> f64 {
        (Interval::exact(eps) / Interval::exact(self.lightest(i)).sqrt()).hi()
    }
}

/// The largest one that is at most v, at least the least normal double.
pub(super) fn power_of_two(v: f64) -> f64 {
    f64::from_bits(v.max(f64::MIN_POSITIVE).to_bits() & 0x7ff << 52)
}
