//! How fast nearby configurations part: the matrices of Lemma 2, and bounds of their eigenvalues.

use super::enclosure::{Enclosure, length, point, sum};
use super::system::System;
use crate::num::interval::Interval;
use crate::num::vector::norm;

/// The symmetric part S of `D^(1/2) B^T F' B D^(-1/2)` and the vector `f = D^(1/2) B^T F` of Lemma
/// 2, enclosed over a box.
pub(super) struct TangentJacobian {
    size: usize,
    s: Vec<Interval>,
    /// Upper bound of `|S|` by the Frobenius norm of the matrix before it is made symmetric.
    pub(super) s_norm: Interval,
    f: Vec<Interval>,
}

/// Upper bounds on a piece of the path (Lemma 2).
pub(super) struct GrowthBounds {
    /// Largest eigenvalue of `S - kappa f f^T`.
    pub(super) mu: f64,
    /// `kappa |f|`.
    pub(super) kappa_f: Interval,
    /// `kappa |f|^2`.
    pub(super) kappa_f_squared: Interval,
    /// `|S|`.
    pub(super) s_norm: Interval,
}

/// `S - kappa f f^T` over a box: the midpoints of its entries, and the sum of their radii in each
/// row.
pub(super) struct ShiftedMatrix {
    size: usize,
    middle: Vec<f64>,
    row_radii: Vec<f64>,
}

impl TangentJacobian {
    pub(super) fn new(system: &System, l: &Enclosure) -> Self {
        let (k, t) = (l.k, l.t);
        let size = k * t;
        let mut s = vec![point(0.0); size * size];
        let frames: Vec<_> = (0..k).map(|i| l.frame(i)).collect();
        let beta = point(system.beta) * l.x_squared;
        for i in 0..k {
            for j in system.visible(i) {
                let (bw, a) = (l.bw(system, i, j), l.a[i * k + j]);
                let scale = a * (system.norm_weight(i) / system.norm_weight(j)).sqrt();
                let bx_ji = &l.bx[(j * k + i) * t..][..t];
                for q in 0..t {
                    let frame_q = l.tangent_coordinates(i, &frames[j][q]);
                    for p in 0..t {
                        s[(i * t + p) * size + j * t + q] =
                            scale * (l.x_squared * frame_q[p] + beta * bw[p] * bx_ji[q]);
                        let at = (i * t + p) * size + i * t + q;
                        s[at] = s[at] + beta * a * bw[p] * l.bx[(i * k + j) * t + q];
                    }
                }
            }
            for p in 0..t {
                let at = (i * t + p) * (size + 1);
                s[at] = s[at] - l.xv[i];
            }
        }
        let s_norm = length(&s);
        for p in 0..size {
            for q in 0..p {
                let both = point(0.5) * (s[p * size + q] + s[q * size + p]);
                (s[p * size + q], s[q * size + p]) = (both, both);
            }
        }
        let f =
            (0..size).map(|c| system.norm_weight(c / t).sqrt() * l.x_squared * l.bv[c]).collect();
        Self { size, s, s_norm, f }
    }

    /// A good kappa for an error of this size during this time: the component of the error along
    /// the flow then decays about as fast as it grew. It is 0 where that component does not grow,
    /// and small where the flow is slow.
    pub(super) fn choose_kappa(&self, error: f64, time: f64) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let speed = self.f_norm().hi();
        let unit: Vec<f64> = self.f.iter().map(|v| v.mid() / speed).collect();
        let middle: Vec<f64> = self.s.iter().map(|v| v.mid()).collect();
        let image: Vec<f64> = middle.chunks_exact(self.size).map(|r| dot(r, &unit)).collect();
        let limit = 0.02 / (error * (0.2 + self.s_norm.hi() * time));
        let kappa_f = (2.0 * norm(&image) / speed).min(limit);
        if dot(&image, &unit) > 0.0 && (kappa_f / speed).is_finite() {
            kappa_f / speed
        } else {
            0.0
        }
    }

    /// The bounds for this kappa, with the given mu.
    pub(super) fn growth_bounds(&self, mu: f64, kappa: f64) -> GrowthBounds {
        let kappa_f = point((point(kappa) * self.f_norm()).hi());
        GrowthBounds {
            mu,
            kappa_f,
            kappa_f_squared: point((kappa_f * self.f_norm()).hi()),
            s_norm: self.s_norm,
        }
    }

    /// Upper bound of `|f|`.
    fn f_norm(&self) -> Interval {
        length(&self.f)
    }

    /// `S - kappa f f^T`.
    pub(super) fn shifted(&self, kappa: f64) -> ShiftedMatrix {
        let entry =
            |at: usize| self.s[at] - point(kappa) * self.f[at / self.size] * self.f[at % self.size];
        ShiftedMatrix::new(&(0..self.s.len()).map(entry).collect::<Vec<_>>(), self.size)
    }
}

impl ShiftedMatrix {
    fn new(s: &[Interval], size: usize) -> Self {
        let mut middle = vec![0.0; size * size];
        let mut row_radii = vec![point(0.0); size];
        for p in 0..size {
            for q in 0..=p {
                let entry = s[p * size + q];
                (middle[p * size + q], middle[q * size + p]) = (entry.mid(), entry.mid());
                let radius = point(entry.radius());
                row_radii[p] = row_radii[p] + radius;
                if p != q {
                    row_radii[q] = row_radii[q] + radius;
                }
            }
        }
        Self { size, middle, row_radii: row_radii.into_iter().map(|r| r.hi()).collect() }
    }

    /// The largest sum of radii in a row: how far eigenvalues may be from those of the midpoints.
    /// Infinite or NaN if the enclosure is unbounded.
    pub(super) fn width(&self) -> f64 {
        self.row_radii.iter().fold(0.0, |a: f64, b| if *b <= a { a } else { *b })
    }

    /// mu: an upper bound of the largest eigenvalue over the box, at least 0. It is at most about
    /// `tolerance` above the least value that [`Self::verify`] accepts; the bisection starts from
    /// `guess`.
    pub(super) fn mu(&self, guess: f64, tolerance: f64) -> Option<f64> {
        if !self.width().is_finite() {
            return None;
        }
        let (mut low, mut high) = (0.0, guess.max(0.0) + tolerance);
        let mut found = loop {
            match self.verify(high) {
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
            match self.verify(middle) {
                Some(bound) => (found, high) = (bound, middle),
                None => low = middle,
            }
        }
        Some(found)
    }

    /// A proved upper bound of the largest eigenvalue, slightly above `lambda`, or `None` if the
    /// test fails.
    ///
    /// Every matrix M of the box satisfies `M <= middle + diag(row_radii)`. The test is that
    /// `C = lambda - middle - diag(row_radii)` is positive definite. If Cholesky's algorithm in f64
    /// succeeds on C, `C + E` is positive semidefinite with `|E|_2 <= (N + 2) u tr C` (Demmel 1989;
    /// Rump 2006). Another 3 u cover the rounding of the diagonal and of this bound.
    fn verify(&self, lambda: f64) -> Option<f64> {
        let n = self.size;
        let mut l = vec![0.0; n * n];
        let mut trace = 0.0;
        for i in 0..n {
            for j in 0..=i {
                let (a, b) = (&l[i * n..i * n + j], &l[j * n..j * n + j]);
                let done: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                if i == j {
                    let diagonal = lambda - self.middle[i * (n + 1)] - self.row_radii[i];
                    trace += diagonal.abs() + self.row_radii[i] + self.middle[i * (n + 1)].abs();
                    let pivot = diagonal - done;
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
