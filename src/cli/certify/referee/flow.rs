//! The flow: its field, the Taylor coefficients of the field along a path, and its derivative on tangent spaces.

use super::{BigInt, I, dot, int, largest, max, sum};
use std::cmp::min;

/// Points with masses, and the masses of the tokens of each.
pub(super) struct System {
    pub(super) softmax: bool,
    pub(super) causal: bool,
    pub(super) d: usize,
    pub(super) beta: I,
    /// Added to the exponents of all weights: a unit of time.
    pub(super) shift: I,
    pub(super) m: Vec<I>,
    pub(super) tokens: Vec<Vec<I>>,
}

#[rustfmt::skip]
impl System {
    pub(super) fn seen(&self, i: usize) -> impl Iterator<Item = usize> + use<> { (0..if self.causal { i } else { self.m.len() }).filter(move |j| *j != i) }
    pub(super) fn least(&self, i: usize) -> &I { self.tokens[i].iter().min_by_key(|m| &m.0).unwrap_or(&self.m[i]) }
    pub(super) fn norm(&self, v: &[I]) -> I { sum(v.chunks(self.d).zip(&self.m).map(|(v, m)| m * dot(v, v).up())).sqrt().up() }
    pub(super) fn reach(&self, r: &I) -> Vec<I> { (0..self.m.len()).map(|i| (r / self.least(i).sqrt()).up()).collect() }
    pub(super) fn merged(&self, labels: &[usize], count: usize) -> System {
        let of = |l| (0..labels.len()).filter(move |i| labels[*i] == l).flat_map(|i| self.tokens[i].clone()).collect();
        let tokens: Vec<Vec<I>> = (0..count).map(of).collect();
        System { beta: self.beta.clone(), shift: self.shift.clone(), m: tokens.iter().map(|m| sum(m.iter().cloned())).collect(), tokens, ..*self }
    }
}

/// A series per coordinate, point or pair.
pub(super) type Table = Vec<Vec<I>>;

#[rustfmt::skip]
pub(super) fn cauchy(a: &[I], b: &[I], k: usize) -> I { sum((0..=k).map(|l| &a[l] * &b[k - l])) }
#[rustfmt::skip]
fn pair(i: usize, j: usize) -> usize { max(i, j) * (max(i, j) - 1) / 2 + min(i, j) }
pub(super) fn tables(s: &System) -> [Table; 7] {
    let n = s.m.len();
    [n * s.d, n * s.d, n, n, n, n * n, n * n].map(|k| vec![Vec::new(); k])
}

/// The next Taylor coefficient of the field along a path, given that of the path. The tables: x, V, Z, `|x|^2`, `<x, V>`, `l beta G_l`, E.
pub(super) fn field(s: &System, [x, v, z, square, radial, slope, e]: &mut [Table; 7], next: &[I]) -> Vec<I> {
    let (n, d, k) = (s.m.len(), s.d, x[0].len());
    x.iter_mut().zip(next).for_each(|(s, x)| s.push(x.clone()));
    for (i, j) in (1..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let (at, g) = (pair(i, j), sum((0..d).map(|c| cauchy(&x[i * d + c], &x[j * d + c], k))));
        slope[at].push(&s.beta * &g * int(k as i64));
        let rest = sum((1..=k).map(|l| &slope[at][l] * &e[at][k - l]));
        e[at].push(if k == 0 { (&s.beta * (g - int(1)) + &s.shift).exp() } else { rest.over(k as i64) });
    }
    for i in 0..n {
        let others = sum(s.seen(i).map(|j| &s.m[j] * &e[pair(i, j)][k]));
        z[i].push(if k == 0 { others + &s.m[i] } else { others });
        for c in i * d..(i + 1) * d {
            let y = sum(s.seen(i).map(|j| &s.m[j] * cauchy(&e[pair(i, j)], &x[j * d + c - i * d], k)));
            let before = sum((1..=k).map(|l| &z[i][l] * &v[c][k - l]));
            v[c].push(if s.softmax { (y - before) / &z[i][0] } else { y });
        }
        square[i].push(sum((i * d..(i + 1) * d).map(|c| cauchy(&x[c], &x[c], k))));
        radial[i].push(sum((i * d..(i + 1) * d).map(|c| cauchy(&x[c], &v[c], k))));
    }
    (0..n * d).map(|c| cauchy(&square[c / d], &v[c], k) - cauchy(&radial[c / d], &x[c], k)).collect()
}

/// What is known on a box: weights, products, and what is seen in the frames `B_i` (the columns of the reflection of `x_i / |x_i|` to an axis, but that one).
pub(super) struct Local<'a> {
    pub(super) s: &'a System,
    unit: Vec<I>,
    axes: &'a [(usize, I)],
    pub(super) a: Vec<Vec<I>>,
    pub(super) g: Vec<Vec<I>>,
    pub(super) h: Vec<Vec<Vec<I>>>,
    pub(super) v: Vec<Vec<I>>,
    pub(super) radial: Vec<I>,
    pub(super) square: I,
}

impl<'a> Local<'a> {
    pub(super) fn new(s: &'a System, x: &[I], norm: &I, axes: &'a [(usize, I)], own: bool) -> Self {
        let rows: Vec<&[I]> = x.chunks(s.d).collect();
        let g = rows.iter().map(|a| rows.iter().map(|b| dot(a, b)).collect()).collect();
        let unit = x.iter().map(|x| x / norm).collect();
        let mut l = Local { s, unit, axes, a: vec![], g, h: vec![], v: vec![], radial: vec![], square: norm.sqr() };
        for i in 0..rows.len() {
            let e = |j: usize| (&s.beta * (&l.g[i][j] - int(1)) + &s.shift).exp();
            let mut a = vec![int(0); rows.len()];
            s.seen(i).for_each(|j| a[j] = &s.m[j] * e(j));
            let mut itself = s.m[i].clone();
            if own && s.tokens[i].len() > 1 {
                // Its tokens are anywhere in its box, and none sees itself.
                itself = I(s.least(i).0.clone(), largest(s.tokens[i].iter().cloned()).1);
                a[i] = I(max((&s.m[i] - &itself).0, BigInt::ZERO), (&s.m[i] - s.least(i)).1) * e(i);
            }
            let total = if s.softmax { itself + sum(a.iter().cloned()) } else { int(1) };
            a = a.iter().map(|a| a / &total).collect();
            let h: Vec<Vec<I>> = rows.iter().map(|x| l.project(i, x)).collect();
            l.v.push((0..s.d - 1).map(|c| sum(a.iter().zip(&h).map(|(a, h)| a * &h[c]))).collect());
            l.radial.push(dot(&a, &l.g[i]));
            l.h.push(h);
            l.a.push(a);
        }
        l
    }
    fn reflected(&self, i: usize, v: &[I]) -> Vec<I> {
        let (u, (axis, sign)) = (&self.unit[i * self.s.d..(i + 1) * self.s.d], &self.axes[i]);
        let share = (dot(u, v) + sign * &v[*axis]) / (int(1) + sign * &u[*axis]);
        (0..self.s.d).map(|c| &v[c] - if c == *axis { &u[c] + sign } else { u[c].clone() } * &share).collect()
    }
    /// `B_i^T v`: all of the reflected vector but what lies on the axis.
    pub(super) fn project(&self, i: usize, v: &[I]) -> Vec<I> {
        self.reflected(i, v).into_iter().enumerate().filter(|(c, _)| *c != self.axes[i].0).map(|(_, v)| v).collect()
    }
    fn frame(&self, i: usize) -> Vec<Vec<I>> {
        let column = |a: usize| self.reflected(i, &(0..self.s.d).map(|c| int((c == a).into())).collect::<Vec<_>>());
        (0..self.s.d).filter(|a| *a != self.axes[i].0).map(column).collect()
    }
    pub(super) fn lean(&self, i: usize, j: usize) -> Vec<I> {
        self.h[i][j].iter().zip(&self.v[i]).map(|(h, v)| if self.s.softmax { h - v } else { h.clone() }).collect()
    }

    /// What moves i, in the coordinates `sqrt(m) e`, in tangent frames.
    pub(super) fn derivative(&self) -> Vec<Vec<I>> {
        let (s, t, size) = (self.s, self.s.d - 1, self.s.m.len() * (self.s.d - 1));
        let mut f = vec![vec![int(0); size]; size];
        let frames: Vec<_> = (0..s.m.len()).map(|i| self.frame(i)).collect();
        for i in 0..s.m.len() {
            for j in s.seen(i) {
                let (lean, scale) = (self.lean(i, j), (&s.m[i] / &s.m[j]).sqrt());
                let (a, frame): (I, Vec<_>) = (&self.a[i][j] * &self.square, frames[j].iter().map(|b| self.project(i, b)).collect());
                for (q, p) in (0..t).flat_map(|q| (0..t).map(move |p| (q, p))) {
                    let pull = &s.beta * &lean[p];
                    f[i * t + p][j * t + q] = &a * &scale * (&frame[q][p] + &pull * &self.h[j][i][q]);
                    f[i * t + p][i * t + q] = &f[i * t + p][i * t + q] + &a * pull * &self.h[i][j][q];
                }
            }
            (i * t..(i + 1) * t).for_each(|p| f[p][p] = &f[p][p] - &self.radial[i]);
        }
        f
    }
}

/// The axis that a frame leaves out, and the sign of the point there.
pub(super) fn axes(d: usize, x: &[I]) -> Vec<(usize, I)> {
    let longest = |row: &[I]| (0..d).fold(0, |a, b| if row[b].up().1 > row[a].up().1 { b } else { a });
    x.chunks(d).map(|row| (longest(row), int(if row[longest(row)].0 < BigInt::ZERO { -1 } else { 1 }))).collect()
}

/// `k - S`, S the symmetric part of a matrix.
pub(super) fn less(k: &I, f: &[Vec<I>]) -> Vec<Vec<I>> {
    let entry = |p: usize, q: usize| if p == q { k.clone() } else { int(0) } - (&f[p][q] + &f[q][p]).over(2);
    (0..f.len()).map(|p| (0..f.len()).map(|q| entry(p, q)).collect()).collect()
}
