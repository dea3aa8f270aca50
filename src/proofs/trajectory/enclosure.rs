//! Enclosures of weights, tangent frames and projections over a box of configurations.

use super::system::System;
use crate::num::interval::Interval;

pub(super) fn point(v: f64) -> Interval {
    Interval::exact(v)
}

/// A sum of intervals.
pub(super) fn sum(v: impl IntoIterator<Item = Interval>) -> Interval {
    v.into_iter().fold(point(0.0), |s, v| s + v)
}

fn inner(a: &[Interval], b: &[Interval]) -> Interval {
    sum(a.iter().zip(b).map(|(a, b)| *a * *b))
}

/// Upper bound of the length of a vector, as a point interval.
pub(super) fn length(v: &[Interval]) -> Interval {
    point(sum(v.iter().map(|v| v.sqr())).sqrt().hi())
}

/// The coordinate axis that a tangent frame omits, and the sign of the point along it. Both are
/// fixed at the middle of a box, so that `1 + |x_axis|` stays away from 0.
#[derive(Clone, Copy)]
pub(super) struct Axis(usize, Interval);

impl Axis {
    /// The axis of the largest coordinate.
    pub(super) fn of(x: &[f64]) -> Self {
        let longest = (0..x.len()).fold(0, |a, b| if x[b].abs() > x[a].abs() { b } else { a });
        Self(longest, point(x[longest].signum()))
    }
}

/// Enclosures that hold for every configuration x of a box, in the notation of `lemmas.md`.
///
/// The frame `B_i` consists of the columns of the Householder reflection that sends `x_i / |x_i|`
/// to its axis, without the column of the axis. For every point of the box it is exactly an
/// orthonormal basis of the complement of `x_i`.
pub(super) struct Enclosure {
    /// Number of points.
    pub(super) k: usize,
    /// Number of columns of a frame, `d - 1`.
    pub(super) t: usize,
    /// `x_i / |x_i|`.
    directions: Vec<Interval>,
    axes: Vec<Axis>,
    d: usize,
    /// `A_ij` at `i k + j`. `A_ii` is the weight of the other tokens of point i (0 for one token).
    pub(super) a: Vec<Interval>,
    /// `G_ij = <x_i, x_j>`.
    pub(super) g: Vec<Interval>,
    /// `B_i^T x_j`.
    pub(super) bx: Vec<Interval>,
    /// `B_i^T V_i`.
    pub(super) bv: Vec<Interval>,
    /// `<x_i, V_i>`.
    pub(super) xv: Vec<Interval>,
    /// `|x_i|^2`, one enclosure for all i.
    pub(super) x_squared: Interval,
}

impl Enclosure {
    /// Over the box x, with `|x_i|` in `norm`. If `separate`, the tokens of one point lie anywhere
    /// in its box, each at its own place; otherwise they coincide.
    pub(super) fn new(
        system: &System,
        x: &[Interval],
        norm: Interval,
        axes: &[Axis],
        separate: bool,
    ) -> Self {
        let (k, d) = (system.len(), system.d);
        let directions = x.iter().map(|x| *x / norm).collect();
        let zero = |n: usize| vec![point(0.0); n];
        let t = d - 1;
        let mut l = Self {
            k,
            t,
            directions,
            axes: axes.to_vec(),
            d,
            a: zero(k * k),
            g: zero(k * k),
            bx: Vec::with_capacity(k * k * t),
            bv: zero(k * t),
            xv: zero(k),
            x_squared: norm.sqr(),
        };
        for i in 0..k {
            for j in 0..k {
                let row = &x[j * d..(j + 1) * d];
                l.g[i * k + j] =
                    if j < i { l.g[j * k + i] } else { inner(&x[i * d..(i + 1) * d], row) };
                let bx = l.tangent_coordinates(i, row);
                l.bx.extend(bx);
            }
        }
        l.fill_weights(system, separate);
        for i in 0..k {
            for j in 0..k {
                let a = l.a[i * k + j];
                l.xv[i] = l.xv[i] + a * l.g[i * k + j];
                for c in 0..t {
                    l.bv[i * t + c] = l.bv[i * t + c] + a * l.bx[(i * k + j) * t + c];
                }
            }
        }
        l
    }

    /// `A_ij = m_j E_ij / Z_i`.
    fn fill_weights(&mut self, system: &System, separate: bool) {
        let k = self.k;
        let mut e = vec![point(1.0); k * k];
        for i in 0..k {
            for j in 0..=i {
                if j < i || separate {
                    e[i * k + j] = (point(system.beta) * (self.g[i * k + j] - point(1.0))).exp();
                    e[j * k + i] = e[i * k + j];
                }
            }
        }
        for i in 0..k {
            let m = system.masses[i];
            // V leaves out the token itself, not the other tokens of its point; in Z its E is 1.
            let same_point = if separate && system.token_counts[i] > 1 {
                Interval::new(
                    (m - point(system.max_mass[i])).lo().max(0.0),
                    (m - point(system.min_mass[i])).hi(),
                ) * e[i * k + i]
            } else {
                point(0.0)
            };
            let itself =
                if separate { Interval::new(system.min_mass[i], system.max_mass[i]) } else { m };
            let z = if system.softmax {
                itself
                    + same_point
                    + sum(system.visible(i).map(|j| system.masses[j] * e[i * k + j]))
            } else {
                point(1.0)
            };
            self.a[i * k + i] = same_point / z;
            for j in system.visible(i) {
                self.a[i * k + j] = system.masses[j] * e[i * k + j] / z;
            }
        }
    }

    /// `B_i^T v`.
    pub(super) fn tangent_coordinates(&self, i: usize, v: &[Interval]) -> Vec<Interval> {
        let (u, Axis(axis, sign)) = (&self.directions[i * self.d..(i + 1) * self.d], self.axes[i]);
        let factor = (inner(u, v) + sign * v[axis]) / (point(1.0) + sign * u[axis]);
        (0..self.d).filter(|c| *c != axis).map(|c| v[c] - u[c] * factor).collect()
    }

    /// The columns of `B_i`.
    pub(super) fn frame(&self, i: usize) -> Vec<Vec<Interval>> {
        let (u, Axis(axis, sign)) = (&self.directions[i * self.d..(i + 1) * self.d], self.axes[i]);
        let scale = point(1.0) / (point(1.0) + sign * u[axis]);
        let column = |a: usize| {
            let factor = u[a] * scale;
            let entry = |c: usize| {
                point(f64::from(c == a))
                    - (u[c] + if c == axis { sign } else { point(0.0) }) * factor
            };
            (0..self.d).map(entry).collect()
        };
        (0..self.d).filter(|a| *a != axis).map(column).collect()
    }

    /// `B_i^T w_ij`, with `w_ij = x_j - V_i` for SA and `w_ij = x_j` for USA.
    pub(super) fn bw(&self, system: &System, i: usize, j: usize) -> Vec<Interval> {
        let bx = &self.bx[(i * self.k + j) * self.t..][..self.t];
        let bv = &self.bv[i * self.t..][..self.t];
        if system.softmax { bx.iter().zip(bv).map(|(x, v)| *x - *v).collect() } else { bx.to_vec() }
    }
}
