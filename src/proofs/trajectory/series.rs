//! Taylor coefficients of the field along a path that is given by its own: the same recurrences in f64, which propose a path, and in intervals, which bound its
//! defect.

use super::system::System;
use crate::num::interval::Interval;
use std::ops::{Add, Div, Mul, Sub};

/// What the recurrences need of a number.
pub(super) trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    /// A double.
    fn of(v: f64) -> Self;
    /// An enclosed number: itself, or a point of it.
    fn from_interval(v: Interval) -> Self;
    /// `e^v`.
    fn exponential(self) -> Self;
}

impl Number for f64 {
    fn of(v: f64) -> Self {
        v
    }
    fn from_interval(v: Interval) -> Self {
        v.mid()
    }
    fn exponential(self) -> Self {
        self.exp()
    }
}

impl Number for Interval {
    fn of(v: f64) -> Self {
        Self::exact(v)
    }
    fn from_interval(v: Interval) -> Self {
        v
    }
    fn exponential(self) -> Self {
        self.exp()
    }
}

/// Coefficient k of the product of two series.
fn cauchy<N: Number>(a: &[N], b: &[N], k: usize) -> N {
    a[..=k].iter().zip(b[..=k].iter().rev()).fold(N::of(0.0), |s, (a, b)| s + *a * *b)
}

/// The series of the field, grown one order at a time.
pub(super) struct Series<'a, N> {
    system: &'a System,
    order: usize,
    /// One series per coordinate, or per token, or per pair `(i, j)`, `j < i`.
    x: Vec<Vec<N>>,
    v: Vec<Vec<N>>,
    total: Vec<Vec<N>>,
    square: Vec<Vec<N>>,
    radial: Vec<Vec<N>>,
    /// `l beta G_l`, and E.
    slope: Vec<Vec<N>>,
    weight: Vec<Vec<N>>,
}

impl<'a, N: Number> Series<'a, N> {
    pub(super) fn new(system: &'a System) -> Self {
        let (k, d) = (system.len(), system.d);
        let of = |n: usize| vec![Vec::new(); n];
        let pairs = k * (k - 1) / 2;
        Self {
            system,
            order: 0,
            x: of(k * d),
            v: of(k * d),
            total: of(k),
            square: of(k),
            radial: of(k),
            slope: of(pairs),
            weight: of(pairs),
        }
    }

    /// Takes the next coefficient of the path and returns the same one of the field.
    pub(super) fn push(&mut self, x: impl IntoIterator<Item = N>) -> Vec<N> {
        self.x.iter_mut().zip(x).for_each(|(s, x)| s.push(x));
        self.weights();
        self.sums();
        let (d, k) = (self.system.d, self.order);
        self.order += 1;
        let one = |at: usize| cauchy(&self.square[at / d], &self.v[at], k) - cauchy(&self.radial[at / d], &self.x[at], k);
        (0..self.x.len()).map(one).collect()
    }

    /// `E_ij = e^{beta (G_ij - 1)}`: `k E_k = beta sum_l l G_l E_{k-l}`.
    fn weights(&mut self) {
        let (d, k, beta) = (self.system.d, self.order, N::of(self.system.beta));
        for i in 1..self.system.len() {
            for j in 0..i {
                let at = i * (i - 1) / 2 + j;
                let g = (0..d).fold(N::of(0.0), |s, c| s + cauchy(&self.x[i * d + c], &self.x[j * d + c], k));
                self.slope[at].push(beta * g * N::of(k as f64));
                let e = if k == 0 {
                    (beta * (g - N::of(1.0))).exponential()
                } else {
                    let sum = self.slope[at][1..=k].iter().zip(self.weight[at].iter().rev()).fold(N::of(0.0), |s, (g, e)| s + *g * *e);
                    sum / N::of(k as f64)
                };
                self.weight[at].push(e);
            }
        }
    }

    /// V with `Z V = Y`, `|x|^2` and `<x, V>`.
    fn sums(&mut self) {
        let (d, k, s) = (self.system.d, self.order, self.system);
        for i in 0..s.len() {
            let mut y = vec![N::of(0.0); d];
            let mut z = if k == 0 { N::from_interval(s.masses[i]) } else { N::of(0.0) };
            for j in s.seen(i) {
                let (m, e) = (N::from_interval(s.masses[j]), &self.weight[pair(i, j)]);
                z = z + m * e[k];
                y.iter_mut().zip(&self.x[j * d..]).for_each(|(y, x)| *y = *y + m * cauchy(e, x, k));
            }
            self.total[i].push(z);
            for (c, y) in y.into_iter().enumerate() {
                let v = &self.v[i * d + c];
                let v = if s.softmax {
                    let rest = self.total[i][1..=k].iter().zip(v.iter().rev()).fold(y, |y, (z, v)| y - *z * *v);
                    rest / self.total[i][0]
                } else {
                    y
                };
                self.v[i * d + c].push(v);
            }
            let own = i * d..(i + 1) * d;
            self.square[i].push(own.clone().fold(N::of(0.0), |s, at| s + cauchy(&self.x[at], &self.x[at], k)));
            self.radial[i].push(own.fold(N::of(0.0), |s, at| s + cauchy(&self.x[at], &self.v[at], k)));
        }
    }
}

/// Where the pair of two different tokens is kept.
fn pair(i: usize, j: usize) -> usize {
    let (low, high) = (i.min(j), i.max(j));
    high * (high - 1) / 2 + low
}
