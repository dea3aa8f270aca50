//! The flow: its field, and the Taylor coefficients of the field along a path.

use super::number::{I, dot, int, sum};

/// Points with masses, and what masses the tokens of each have. Weights are `e^{beta (G - level)}`: a unit of time.
pub(super) struct System {
    pub(super) softmax: bool,
    pub(super) causal: bool,
    pub(super) d: usize,
    pub(super) beta: I,
    pub(super) level: I,
    pub(super) m: Vec<I>,
    pub(super) each: Vec<I>,
}

impl System {
    /// What a token of i sees: with `own` also its point, where others are.
    pub(super) fn seen(&self, i: usize, own: bool) -> impl Iterator<Item = usize> + use<> {
        let others = own && self.m[i] != self.each[i];
        (0..if self.causal { i } else { self.m.len() }).filter(move |j| *j != i || others)
    }
    pub(super) fn weight(&self, g: &I) -> I {
        (&self.beta * (g - &self.level)).exp()
    }
}

/// A series per coordinate, point or pair.
type Table = Vec<Vec<I>>;

/// The last coefficient of a product of series.
fn cauchy(a: &[I], b: &[I]) -> I {
    dot(a, b.iter().rev())
}
/// x, V, Z, `|x|^2`, `<x, V>`, `l beta G_l`, E.
pub(super) fn tables(s: &System) -> [Table; 7] {
    [s.d, s.d, 1, 1, 1, s.m.len(), s.m.len()].map(|size| vec![Vec::new(); s.m.len() * size])
}

/// The next Taylor coefficient of the field along a path, given that of the path.
pub(super) fn field(s: &System, [x, v, z, square, radial, slope, e]: &mut [Table; 7], next: &[I]) -> Vec<I> {
    let (n, d, k) = (s.m.len(), s.d, x[0].len());
    let product = |a: &Table, b: &Table, i: usize, j: usize| sum((0..d).map(|c| cauchy(&a[i * d + c], &b[j * d + c])));
    x.iter_mut().zip(next).for_each(|(s, x)| s.push(x.clone()));
    for (i, j) in (1..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let (g, pair) = (product(x, x, i, j), i * n + j);
        slope[pair].push(&s.beta * &g * int(k as i64));
        let new = if k == 0 { s.weight(&g) } else { cauchy(&slope[pair][1..], &e[pair]).over(k as i64) };
        [pair, j * n + i].iter().for_each(|p| e[*p].push(new.clone()));
    }
    for i in 0..n {
        let itself = if k == 0 { s.m[i].clone() } else { int(0) };
        z[i].push(itself + sum(s.seen(i, false).map(|j| &s.m[j] * &e[i * n + j][k])));
        for c in 0..d {
            let y = sum(s.seen(i, false).map(|j| &s.m[j] * cauchy(&e[i * n + j], &x[j * d + c])));
            let v = &mut v[i * d + c];
            v.push(if s.softmax { (y - cauchy(&z[i][1..], v)) / &z[i][0] } else { y });
        }
        square[i].push(product(x, x, i, i));
        radial[i].push(product(x, v, i, i));
    }
    (0..n * d).map(|c| cauchy(&square[c / d], &v[c]) - cauchy(&radial[c / d], &x[c])).collect()
}
