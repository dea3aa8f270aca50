//! How fast nearby configurations part: the largest eigenvalue of the symmetric part of the Jacobian on the tangent spaces, less what lies along the flow.

use super::local::{Local, length, point, sum};
use super::system::System;
use crate::num::interval::Interval;
use crate::num::vector::norm;

/// On a box, S, the symmetric part of `D^(1/2) B^T J B D^(-1/2)` (D the weights of the norm), and `f = D^(1/2) B^T F`.
pub(super) struct Derivative {
    size: usize,
    s: Vec<Interval>,
    /// A bound of its norm: that of all entries.
    pub(super) norm: Interval,
    f: Vec<Interval>,
}

/// Upper bounds on a piece: of the growth rate with the time chosen by kappa, of `kappa |F|`, `kappa |F|^2` and `|S|`.
pub(super) struct Rates {
    pub(super) growth: f64,
    pub(super) drag: Interval,
    pub(super) square: Interval,
    pub(super) norm: Interval,
}

/// `S - kappa f f^T` on a box: its middle, and per row the sum of the radii.
pub(super) struct Growth {
    size: usize,
    middle: Vec<f64>,
    slack: Vec<f64>,
}

impl Derivative {
    /// On a box.
    pub(super) fn new(system: &System, l: &Local) -> Self {
        let (k, t) = (l.k, l.t);
        let size = k * t;
        let mut s = vec![point(0.0); size * size];
        let frames: Vec<_> = (0..k).map(|i| l.frame(i)).collect();
        let beta = point(system.beta) * l.square;
        for i in 0..k {
            for j in system.seen(i) {
                let (lean, a) = (l.lean(system, i, j), l.a[i * k + j]);
                let scale = a * (system.weight(i) / system.weight(j)).sqrt();
                let back = &l.h[(j * k + i) * t..][..t];
                for q in 0..t {
                    let carried = l.project(i, &frames[j][q]);
                    for p in 0..t {
                        s[(i * t + p) * size + j * t + q] = scale * (l.square * carried[p] + beta * lean[p] * back[q]);
                        let at = (i * t + p) * size + i * t + q;
                        s[at] = s[at] + beta * a * lean[p] * l.h[(i * k + j) * t + q];
                    }
                }
            }
            for p in 0..t {
                let at = (i * t + p) * (size + 1);
                s[at] = s[at] - l.s[i];
            }
        }
        let norm = length(&s);
        for p in 0..size {
            for q in 0..p {
                let both = point(0.5) * (s[p * size + q] + s[q * size + p]);
                (s[p * size + q], s[q * size + p]) = (both, both);
            }
        }
        let f = (0..size).map(|c| system.weight(c / t).sqrt() * l.square * l.v[c]).collect();
        Self { size, s, norm, f }
    }

    /// A good kappa for an error of this size during this time: what is along the flow then decays about as fast as it grew. 0 where it does not grow, and little
    /// where the flow is too slow for it.
    pub(super) fn along(&self, error: f64, time: f64) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let speed = self.speed().hi();
        let unit: Vec<f64> = self.f.iter().map(|v| v.mid() / speed).collect();
        let middle: Vec<f64> = self.s.iter().map(|v| v.mid()).collect();
        let image: Vec<f64> = middle.chunks_exact(self.size).map(|r| dot(r, &unit)).collect();
        let most = 0.02 / (error * (0.2 + self.norm.hi() * time));
        let drag = (2.0 * norm(&image) / speed).min(most);
        if dot(&image, &unit) > 0.0 && (drag / speed).is_finite() { drag / speed } else { 0.0 }
    }

    /// With the growth of what `less` gives.
    pub(super) fn rates(&self, growth: f64, kappa: f64) -> Rates {
        let drag = point((point(kappa) * self.speed()).hi());
        Rates { growth, drag, square: point((drag * self.speed()).hi()), norm: self.norm }
    }

    /// `|F|`.
    fn speed(&self) -> Interval {
        length(&self.f)
    }

    /// `S - kappa f f^T`.
    pub(super) fn less(&self, kappa: f64) -> Growth {
        let entry = |at: usize| self.s[at] - point(kappa) * self.f[at / self.size] * self.f[at % self.size];
        Growth::of(&(0..self.s.len()).map(entry).collect::<Vec<_>>(), self.size)
    }
}

impl Growth {
    fn of(s: &[Interval], size: usize) -> Self {
        let mut middle = vec![0.0; size * size];
        let mut slack = vec![point(0.0); size];
        for p in 0..size {
            for q in 0..=p {
                let entry = s[p * size + q];
                (middle[p * size + q], middle[q * size + p]) = (entry.mid(), entry.mid());
                let radius = point(entry.radius());
                slack[p] = slack[p] + radius;
                if p != q {
                    slack[q] = slack[q] + radius;
                }
            }
        }
        Self { size, middle, slack: slack.into_iter().map(|s| s.hi()).collect() }
    }

    /// The largest sum of radii; infinite or not a number when nothing is known.
    pub(super) fn slack(&self) -> f64 {
        self.slack.iter().fold(0.0, |a: f64, b| if *b <= a { a } else { *b })
    }

    /// A bound of the largest eigenvalue over the box, at least 0, found to about `tolerance` above the best that this shows; from the guess `near`.
    pub(super) fn bound(&self, near: f64, tolerance: f64) -> Option<f64> {
        if !self.slack().is_finite() {
            return None;
        }
        let (mut low, mut high) = (0.0, near.max(0.0) + tolerance);
        let mut found = loop {
            match self.proved(high) {
                Some(bound) => break bound,
                None if high > 1e6 => return None,
                None => (low, high) = (high, 2.0 * high - low + tolerance),
            }
        };
        while high - low > tolerance {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            match self.proved(middle) {
                Some(bound) => (found, high) = (bound, middle),
                None => low = middle,
            }
        }
        Some(found)
    }

    /// An upper bound near `lambda`, when `lambda - S` is positive definite for all S of the box: S is at most its middle plus the diagonal of row sums of
    /// radii. When Cholesky's algorithm in f64 succeeds on B, `B + E` is positive semidefinite with `|E|_2 <= (N + 2) u tr B` (Demmel 1989; Rump 2006);
    /// another 3 u pay the rounding of the diagonal and of this bound.
    fn proved(&self, lambda: f64) -> Option<f64> {
        let n = self.size;
        let mut l = vec![0.0; n * n];
        let mut trace = 0.0;
        for i in 0..n {
            for j in 0..=i {
                let (a, b) = (&l[i * n..i * n + j], &l[j * n..j * n + j]);
                let done: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                if i == j {
                    let own = lambda - self.middle[i * (n + 1)] - self.slack[i];
                    trace += own.abs() + self.slack[i] + self.middle[i * (n + 1)].abs();
                    let pivot = own - done;
                    if !(pivot.is_finite() && pivot > 0.0) {
                        return None;
                    }
                    l[i * n + i] = pivot.sqrt();
                } else {
                    l[i * n + j] = (-self.middle[i * n + j] - done) / l[j * n + j];
                }
            }
        }
        let shift = point((n + 6) as f64 * f64::EPSILON) * point(trace);
        Some((point(lambda) + shift + sum([point(f64::MIN_POSITIVE)])).hi())
    }
}
