//! Weights, tangent frames and projections on a box of configurations.

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

/// Upper bound of the length, as a point.
pub(super) fn length(v: &[Interval]) -> Interval {
    point(sum(v.iter().map(|v| v.sqr())).sqrt().hi())
}

/// The axis that a frame leaves out, and the sign of the point there: fixed in the middle of a box, so that `1 + |x_axis|` stays away from 0.
#[derive(Clone, Copy)]
pub(super) struct Axis(usize, Interval);

impl Axis {
    /// The longest coordinate.
    pub(super) fn of(x: &[f64]) -> Self {
        let longest = (0..x.len()).fold(0, |a, b| if x[b].abs() > x[a].abs() { b } else { a });
        Self(longest, point(x[longest].signum()))
    }
}

/// What is known of every configuration in a box. The frame `B_i` has the columns of the Householder reflection that sends `x_i / |x_i|` to its axis, but
/// that one: an orthonormal basis of the complement of `x_i`, exactly, for every point of the box.
pub(super) struct Local {
    pub(super) k: usize,
    /// Dimensions of a frame, `d - 1`.
    pub(super) t: usize,
    unit: Vec<Interval>,
    axes: Vec<Axis>,
    d: usize,
    /// `A_ij`, i the row; of the point with itself what its other tokens weigh (0 for a single token).
    pub(super) a: Vec<Interval>,
    /// `<x_i, x_j>`.
    pub(super) g: Vec<Interval>,
    /// `B_i^T x_j`.
    pub(super) h: Vec<Interval>,
    /// `B_i^T V_i`, and `<x_i, V_i>`.
    pub(super) v: Vec<Interval>,
    pub(super) s: Vec<Interval>,
    /// `|x_i|^2`, all of them.
    pub(super) square: Interval,
}

impl Local {
    /// For x in the box, `|x_i|` in `norm`. With `own`, tokens of one point are anywhere in its box, each on its own.
    pub(super) fn new(system: &System, x: &[Interval], norm: Interval, axes: &[Axis], own: bool) -> Self {
        let (k, d) = (system.len(), system.d);
        let unit = x.iter().map(|x| *x / norm).collect();
        let zero = |n: usize| vec![point(0.0); n];
        let t = d - 1;
        let mut l = Self {
            k,
            t,
            unit,
            axes: axes.to_vec(),
            d,
            a: zero(k * k),
            g: zero(k * k),
            h: Vec::with_capacity(k * k * t),
            v: zero(k * t),
            s: zero(k),
            square: norm.sqr(),
        };
        for i in 0..k {
            for j in 0..k {
                let row = &x[j * d..(j + 1) * d];
                l.g[i * k + j] = if j < i { l.g[j * k + i] } else { inner(&x[i * d..(i + 1) * d], row) };
                let h = l.project(i, row);
                l.h.extend(h);
            }
        }
        l.weights(system, own);
        for i in 0..k {
            for j in 0..k {
                let a = l.a[i * k + j];
                l.s[i] = l.s[i] + a * l.g[i * k + j];
                for c in 0..t {
                    l.v[i * t + c] = l.v[i * t + c] + a * l.h[(i * k + j) * t + c];
                }
            }
        }
        l
    }

    fn weights(&mut self, system: &System, own: bool) {
        let k = self.k;
        let mut e = vec![point(1.0); k * k];
        for i in 0..k {
            for j in 0..=i {
                if j < i || own {
                    e[i * k + j] = (point(system.beta) * (self.g[i * k + j] - point(1.0))).exp();
                    e[j * k + i] = e[i * k + j];
                }
            }
        }
        for i in 0..k {
            let m = system.masses[i];
            // A token does not see itself but its like; in the sum of its weights it is 1.
            let others = if own && system.sizes[i] > 1 {
                Interval::new((m - point(system.greatest[i])).lo().max(0.0), (m - point(system.least[i])).hi()) * e[i * k + i]
            } else {
                point(0.0)
            };
            let itself = if own { Interval::new(system.least[i], system.greatest[i]) } else { m };
            let total =
                if system.softmax { itself + others + sum(system.seen(i).map(|j| system.masses[j] * e[i * k + j])) } else { point(1.0) };
            self.a[i * k + i] = others / total;
            for j in system.seen(i) {
                self.a[i * k + j] = system.masses[j] * e[i * k + j] / total;
            }
        }
    }

    /// `B_i^T v`.
    pub(super) fn project(&self, i: usize, v: &[Interval]) -> Vec<Interval> {
        let (u, Axis(axis, sign)) = (&self.unit[i * self.d..(i + 1) * self.d], self.axes[i]);
        let share = (inner(u, v) + sign * v[axis]) / (point(1.0) + sign * u[axis]);
        (0..self.d).filter(|c| *c != axis).map(|c| v[c] - u[c] * share).collect()
    }

    /// Column by column, `B_i`.
    pub(super) fn frame(&self, i: usize) -> Vec<Vec<Interval>> {
        let (u, Axis(axis, sign)) = (&self.unit[i * self.d..(i + 1) * self.d], self.axes[i]);
        let scale = point(1.0) / (point(1.0) + sign * u[axis]);
        let column = |a: usize| {
            let share = u[a] * scale;
            let entry = |c: usize| point(f64::from(c == a)) - (u[c] + if c == axis { sign } else { point(0.0) }) * share;
            (0..self.d).map(entry).collect()
        };
        (0..self.d).filter(|a| *a != axis).map(column).collect()
    }

    /// `B_i^T w_ij`, with `w_ij = x_j - V_i` for rows that are divided by their sums, `x_j` for others.
    pub(super) fn lean(&self, system: &System, i: usize, j: usize) -> Vec<Interval> {
        let h = &self.h[(i * self.k + j) * self.t..][..self.t];
        let v = &self.v[i * self.t..][..self.t];
        if system.softmax { h.iter().zip(v).map(|(h, v)| *h - *v).collect() } else { h.to_vec() }
    }
}
