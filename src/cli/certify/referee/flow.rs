//! The flow: its field, the Taylor coefficients of the field along a path, and its derivative on tangent spaces.

use super::number::{I, dot, int, sum};

/// Points with masses, and the masses of the tokens of each. Weights are `e^{beta (G - level)}`: a unit of time.
pub(super) struct System {
    pub(super) softmax: bool,
    pub(super) causal: bool,
    pub(super) d: usize,
    pub(super) beta: I,
    pub(super) level: I,
    pub(super) m: Vec<I>,
    pub(super) tokens: Vec<Vec<I>>,
}

impl System {
    pub(super) fn seen(&self, i: usize) -> impl Iterator<Item = usize> + use<> {
        (0..if self.causal { i } else { self.m.len() }).filter(move |j| *j != i)
    }
    pub(super) fn weight(&self, g: &I) -> I {
        (&self.beta * (g - &self.level)).exp()
    }
    pub(super) fn least(&self, i: usize) -> &I {
        self.tokens[i].iter().min().unwrap_or(&self.m[i])
    }
}

/// A series per coordinate, point or pair.
type Table = Vec<Vec<I>>;

fn cauchy(a: &[I], b: &[I], k: usize) -> I {
    sum((0..=k).map(|l| &a[l] * &b[k - l]))
}
/// x, V, Z, `|x|^2`, `<x, V>`, `l beta G_l`, E.
pub(super) fn tables(s: &System) -> [Table; 7] {
    let n = s.m.len();
    [n * s.d, n * s.d, n, n, n, n * n, n * n].map(|size| vec![Vec::new(); size])
}

/// The next Taylor coefficient of the field along a path, given that of the path.
pub(super) fn field(s: &System, [x, v, z, square, radial, slope, e]: &mut [Table; 7], next: &[I]) -> Vec<I> {
    let (n, d, k) = (s.m.len(), s.d, x[0].len());
    x.iter_mut().zip(next).for_each(|(s, x)| s.push(x.clone()));
    for (i, j) in (1..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let g = sum((0..d).map(|c| cauchy(&x[i * d + c], &x[j * d + c], k)));
        slope[i * n + j].push(&s.beta * &g * int(k as i64));
        let rest = sum((1..=k).map(|l| &slope[i * n + j][l] * &e[i * n + j][k - l]));
        e[i * n + j].push(if k == 0 { s.weight(&g) } else { rest.over(k as i64) });
        e[j * n + i] = e[i * n + j].clone();
    }
    for i in 0..n {
        let itself = if k == 0 { s.m[i].clone() } else { int(0) };
        z[i].push(itself + sum(s.seen(i).map(|j| &s.m[j] * &e[i * n + j][k])));
        for c in 0..d {
            let y = sum(s.seen(i).map(|j| &s.m[j] * cauchy(&e[i * n + j], &x[j * d + c], k)));
            let before = sum((1..=k).map(|l| &z[i][l] * &v[i * d + c][k - l]));
            v[i * d + c].push(if s.softmax { (y - before) / &z[i][0] } else { y });
        }
        square[i].push(sum((i * d..(i + 1) * d).map(|c| cauchy(&x[c], &x[c], k))));
        radial[i].push(sum((i * d..(i + 1) * d).map(|c| cauchy(&x[c], &v[c], k))));
    }
    (0..n * d).map(|c| cauchy(&square[c / d], &v[c], k) - cauchy(&radial[c / d], &x[c], k)).collect()
}

/// What is known on a box: weights, products, and what is seen in the frames `B_i` (the columns of the reflection of `x_i / |x_i|` to an axis, but that one).
pub(super) struct Local {
    unit: Vec<Vec<I>>,
    axes: Vec<usize>,
    pub(super) a: Vec<Vec<I>>,
    pub(super) g: Vec<Vec<I>>,
    pub(super) h: Vec<Vec<Vec<I>>>,
    pub(super) lean: Vec<Vec<Vec<I>>>,
    pub(super) v: Vec<Vec<I>>,
    pub(super) radial: Vec<I>,
    pub(super) square: I,
}

impl Local {
    /// With all `|x_i|` in `norm`. With `own` the tokens of a point are anywhere in its box, and none sees itself.
    pub(super) fn new(s: &System, x: &[I], norm: &I, own: bool) -> Self {
        let rows: Vec<&[I]> = x.chunks(s.d).collect();
        let g: Vec<Vec<I>> = rows.iter().map(|a| rows.iter().map(|b| dot(a, b)).collect()).collect();
        let unit = rows.iter().map(|row| row.iter().map(|x| x / norm).collect()).collect();
        let axes = rows.iter().map(|row| (0..s.d).max_by_key(|c| row[*c].mid().up()).unwrap_or(0)).collect();
        let mut l = Local { unit, axes, a: vec![], g, h: vec![], lean: vec![], v: vec![], radial: vec![], square: norm * norm };
        for i in 0..rows.len() {
            let (mut a, mut itself) = (vec![int(0); rows.len()], s.m[i].clone());
            s.seen(i).for_each(|j| a[j] = &s.m[j] * s.weight(&l.g[i][j]));
            if own && s.tokens[i].len() > 1 {
                itself = I(s.least(i).0.clone(), s.tokens[i].iter().map(I::up).fold(int(0), I::max).1);
                a[i] = I((&s.m[i] - &itself).0.max(int(0).0), (&s.m[i] - s.least(i)).1) * s.weight(&l.g[i][i]);
            }
            let total = if s.softmax { itself + sum(a.iter().cloned()) } else { int(1) };
            a = a.iter().map(|a| a / &total).collect();
            let h: Vec<Vec<I>> = rows.iter().map(|x| l.project(i, x)).collect();
            let v: Vec<I> = (0..s.d - 1).map(|c| sum(a.iter().zip(&h).map(|(a, h)| a * &h[c]))).collect();
            let lean = |h: &Vec<I>| h.iter().zip(&v).map(|(h, v)| if s.softmax { h - v } else { h.clone() }).collect();
            l.lean.push(h.iter().map(lean).collect());
            l.radial.push(dot(&a, &l.g[i]));
            l.v.push(v);
            l.h.push(h);
            l.a.push(a);
        }
        l
    }
    fn reflected(&self, i: usize, v: &[I]) -> Vec<I> {
        let (u, axis) = (&self.unit[i], self.axes[i]);
        let sign = int(if u[axis].mid() > int(0) { 1 } else { -1 });
        let share = (dot(u, v) + &sign * &v[axis]) / (int(1) + &sign * &u[axis]);
        (0..v.len()).map(|c| &v[c] - if c == axis { &u[c] + &sign } else { u[c].clone() } * &share).collect()
    }
    /// `B_i^T v`.
    fn project(&self, i: usize, v: &[I]) -> Vec<I> {
        let mut v = self.reflected(i, v);
        v.remove(self.axes[i]);
        v
    }

    /// What moves i, in the coordinates `sqrt(m) e`, in tangent frames.
    pub(super) fn derivative(&self, s: &System) -> Vec<Vec<I>> {
        let (t, n) = (s.d - 1, s.m.len());
        let mut f = vec![vec![int(0); n * t]; n * t];
        let column = |j: usize, a: usize| self.reflected(j, &(0..s.d).map(|c| int((c == a).into())).collect::<Vec<_>>());
        let frame = |j: usize| (0..s.d).filter(|a| *a != self.axes[j]).map(|a| column(j, a)).collect();
        let frames: Vec<Vec<Vec<I>>> = (0..n).map(frame).collect();
        for (i, j) in (0..n).flat_map(|i| s.seen(i).map(move |j| (i, j))) {
            let (a, root) = (&self.a[i][j] * &self.square, (&s.m[i] / &s.m[j]).sqrt());
            for (q, p) in (0..t).flat_map(|q| (0..t).map(move |p| (q, p))) {
                let pull = &s.beta * &self.lean[i][j][p];
                f[i * t + p][j * t + q] = &a * &root * (&self.project(i, &frames[j][q])[p] + &pull * &self.h[j][i][q]);
                f[i * t + p][i * t + q] = &f[i * t + p][i * t + q] + &a * pull * &self.h[i][j][q];
            }
        }
        (0..n * t).for_each(|p| f[p][p] = &f[p][p] - &self.radial[p / t]);
        f
    }
}
