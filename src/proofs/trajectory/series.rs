//! Taylor coefficients of the field along a path from the Taylor coefficients of the path.
//!
//! The same recurrences run in f64, to find a path, and in intervals, to bound its defect.

use super::system::System;
use crate::num::interval::Interval;
use crate::num::number::Number;

/// Coefficient k of the product of two series.
fn cauchy_product<N: Number>(a: &[N], b: &[N], k: usize) -> N {
    a[..=k].iter().zip(b[..=k].iter().rev()).fold(N::exact(0.0), |s, (a, b)| s + *a * *b)
}

/// The series of the field, extended by one order at a time.
pub(super) struct Series<'a, N> {
    system: &'a System,
    /// The masses of the tokens.
    masses: Vec<N>,
    order: usize,
    /// `x` and `V`, one series per coordinate.
    x: Vec<Vec<N>>,
    v: Vec<Vec<N>>,
    /// `Z_i`, `|x_i|^2` and `<x_i, V_i>`, one series per token.
    z: Vec<Vec<N>>,
    x_squared: Vec<Vec<N>>,
    xv: Vec<Vec<N>>,
    /// `l beta G_l` (l the order) and E, one series per pair `(i, j)`, `j < i`.
    l_beta_g: Vec<Vec<N>>,
    e: Vec<Vec<N>>,
}

impl<'a, N: Number> Series<'a, N> {
    /// A series without coefficients; `number` is the interval itself, or a number in it.
    pub(super) fn new(system: &'a System, number: impl Fn(Interval) -> N) -> Self {
        let (k, d) = (system.len(), system.d);
        let empty = |n: usize| vec![Vec::new(); n];
        let pairs = k * (k - 1) / 2;
        Self {
            system,
            masses: system.masses.iter().map(|m| number(*m)).collect(),
            order: 0,
            x: empty(k * d),
            v: empty(k * d),
            z: empty(k),
            x_squared: empty(k),
            xv: empty(k),
            l_beta_g: empty(pairs),
            e: empty(pairs),
        }
    }

    /// Takes the next coefficient of the path and returns the coefficient of the same order of the
    /// field.
    pub(super) fn push(&mut self, x: impl IntoIterator<Item = N>) -> Vec<N> {
        self.x.iter_mut().zip(x).for_each(|(s, x)| s.push(x));
        self.push_e();
        self.push_v();
        let (d, k) = (self.system.d, self.order);
        self.order += 1;
        let one = |at: usize| {
            cauchy_product(&self.x_squared[at / d], &self.v[at], k)
                - cauchy_product(&self.xv[at / d], &self.x[at], k)
        };
        (0..self.x.len()).map(one).collect()
    }

    /// `E_ij = e^{beta (G_ij - 1)}`: `k E_k = beta sum_l l G_l E_{k-l}`.
    fn push_e(&mut self) {
        let (d, k, beta) = (self.system.d, self.order, N::exact(self.system.beta));
        for i in 1..self.system.len() {
            for j in 0..i {
                let at = i * (i - 1) / 2 + j;
                let g = (0..d).fold(N::exact(0.0), |s, c| {
                    s + cauchy_product(&self.x[i * d + c], &self.x[j * d + c], k)
                });
                self.l_beta_g[at].push(beta * g * N::exact(k as f64));
                let e = if k == 0 {
                    (beta * (g - N::exact(1.0))).exp()
                } else {
                    let sum = self.l_beta_g[at][1..=k]
                        .iter()
                        .zip(self.e[at].iter().rev())
                        .fold(N::exact(0.0), |s, (g, e)| s + *g * *e);
                    sum / N::exact(k as f64)
                };
                self.e[at].push(e);
            }
        }
    }

    /// V from `Z V = sum_j m_j E_ij x_j` (SA; Z = 1 for USA), `|x|^2` and `<x, V>`.
    fn push_v(&mut self) {
        let (d, k, s) = (self.system.d, self.order, self.system);
        for i in 0..s.len() {
            let mut y = vec![N::exact(0.0); d];
            let mut z = if k == 0 { self.masses[i] } else { N::exact(0.0) };
            for j in s.visible(i) {
                let (m, e) = (self.masses[j], &self.e[pair(i, j)]);
                z = z + m * e[k];
                y.iter_mut()
                    .zip(&self.x[j * d..])
                    .for_each(|(y, x)| *y = *y + m * cauchy_product(e, x, k));
            }
            self.z[i].push(z);
            for (c, y) in y.into_iter().enumerate() {
                let v = &self.v[i * d + c];
                let v = if s.softmax {
                    let numerator = self.z[i][1..=k]
                        .iter()
                        .zip(v.iter().rev())
                        .fold(y, |y, (z, v)| y - *z * *v);
                    numerator / self.z[i][0]
                } else {
                    y
                };
                self.v[i * d + c].push(v);
            }
            let own = i * d..(i + 1) * d;
            self.x_squared[i].push(
                own.clone()
                    .fold(N::exact(0.0), |s, at| s + cauchy_product(&self.x[at], &self.x[at], k)),
            );
            self.xv[i].push(
                own.fold(N::exact(0.0), |s, at| s + cauchy_product(&self.x[at], &self.v[at], k)),
            );
        }
    }
}

/// Index of the pair of two different tokens.
fn pair(i: usize, j: usize) -> usize {
    let (low, high) = (i.min(j), i.max(j));
    high * (high - 1) / 2 + low
}
