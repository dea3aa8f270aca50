//! The moving points of a proof: tokens, or clusters of merged tokens.

use super::start::Neighbourhood;
use crate::num::interval::Interval;

/// Points with masses, and the attention between them.
#[derive(Clone)]
pub(super) struct System {
    pub(super) beta: f64,
    pub(super) d: usize,
    /// SA: the weights of a row are divided by their sum. Otherwise USA, with time in units of
    /// `e^{-beta}`.
    pub(super) softmax: bool,
    /// Causal mask: point i sees the points `j < i` only.
    pub(super) causal: bool,
    /// Mass of each point.
    pub(super) masses: Vec<Interval>,
    /// Least and greatest mass of a token of each point.
    pub(super) min_mass: Vec<f64>,
    pub(super) max_mass: Vec<f64>,
    /// Number of tokens of each point.
    pub(super) token_counts: Vec<usize>,
}

impl System {
    /// One point per token.
    pub(super) fn of_tokens(s: &Neighbourhood) -> Self {
        let masses = s.masses.iter().map(|m| Interval::exact(*m)).collect();
        let (min_mass, max_mass, token_counts) =
            (s.masses.clone(), s.masses.clone(), vec![1; s.masses.len()]);
        Self {
            beta: s.beta,
            d: s.d,
            softmax: s.softmax,
            causal: s.causal,
            masses,
            min_mass,
            max_mass,
            token_counts,
        }
    }

    /// Number of points.
    pub(super) fn len(&self) -> usize {
        self.masses.len()
    }

    /// Indices of the other points that point i sees.
    pub(super) fn visible(&self, i: usize) -> impl Iterator<Item = usize> + use<> {
        (0..if self.causal { i } else { self.len() }).filter(move |j| *j != i)
    }

    /// The system in which points with equal labels are one point. Labels are 0, 1, ... in order of
    /// appearance.
    pub(super) fn merged(&self, labels: &[usize]) -> Self {
        let count = labels.iter().max().map_or(0, |l| l + 1);
        let mut s = Self {
            masses: vec![Interval::exact(0.0); count],
            min_mass: vec![f64::INFINITY; count],
            max_mass: vec![0.0; count],
            token_counts: vec![0; count],
            ..*self
        };
        for (i, l) in labels.iter().enumerate() {
            s.masses[*l] = s.masses[*l] + self.masses[i];
            s.min_mass[*l] = s.min_mass[*l].min(self.min_mass[i]);
            s.max_mass[*l] = s.max_mass[*l].max(self.max_mass[i]);
            s.token_counts[*l] += self.token_counts[i];
        }
        s
    }

    /// True if a point has several tokens.
    pub(super) fn has_clusters(&self) -> bool {
        self.token_counts.iter().any(|n| *n > 1)
    }

    /// The system in which every point is one token with the mass of the point.
    pub(super) fn points_as_tokens(&self) -> Self {
        let (min_mass, max_mass) = (
            self.masses.iter().map(|m| m.lo()).collect(),
            self.masses.iter().map(|m| m.hi()).collect(),
        );
        Self {
            masses: self.masses.clone(),
            min_mass,
            max_mass,
            token_counts: vec![1; self.len()],
            ..*self
        }
    }

    /// The weight `D_i` of point i in the norm: its mass, or 1 under a causal mask (`lemmas.md`
    /// says why).
    pub(super) fn norm_weight(&self, i: usize) -> Interval {
        if self.causal { Interval::exact(1.0) } else { self.masses[i] }
    }

    /// The least weight of a token of point i in the norm.
    pub(super) fn min_norm_weight(&self, i: usize) -> f64 {
        if self.causal { 1.0 } else { self.min_mass[i] }
    }

    /// Upper bound of the norm `(sum_i D_i |v_i|^2)^(1/2)`. Division by a power of two keeps the
    /// squares from underflow.
    pub(super) fn norm(&self, v: &[Interval]) -> f64 {
        let largest = v.iter().map(|v| v.mag()).fold(0.0, |a: f64, b| if b <= a { a } else { b });
        let (unit, zero) = (Interval::exact(power_of_two(largest)), Interval::exact(0.0));
        let row = |v: &[Interval]| v.iter().fold(zero, |s, v| s + (*v / unit).sqr());
        let all = v
            .chunks_exact(self.d)
            .enumerate()
            .fold(zero, |s, (i, v)| s + self.norm_weight(i) * row(v));
        (all.sqrt() * unit).hi()
    }

    /// Upper bound of the distance of any token of point i from the point, when the norm of the
    /// error is at most r: `r / D^(1/2)` with the least weight D of its tokens.
    pub(super) fn token_error(&self, i: usize, r: f64) -> f64 {
        (Interval::exact(r) / Interval::exact(self.min_norm_weight(i)).sqrt()).hi()
    }
}

/// The largest power of two that is at most v, but at least the least normal double.
pub(super) fn power_of_two(v: f64) -> f64 {
    f64::from_bits(v.max(f64::MIN_POSITIVE).to_bits() & 0x7ff << 52)
}
