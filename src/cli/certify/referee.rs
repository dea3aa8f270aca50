//! A referee of trajectory certificates that shares nothing with the library that writes them: fixed point on big integers, rounded outwards, its own exponential,
//! its own recurrences. It never searches. The lemmas are in `src/landscape/trajectory/lemmas.md`; letters are theirs.
//! A program of its own: `cargo run --release --example referee FILE`.

use num_bigint::BigInt;
use std::borrow::Borrow;
use std::cmp::{max, min};
use std::ops::{Add, Div, Mul, Sub};

/// Binary digits after the point.
const P: usize = 128;
/// Nothing is claimed of errors below this times the distance of the path from the sphere.
const FLOOR: i64 = 256;

/// All numbers between two multiples of `2^-P`.
#[derive(Clone, Debug)]
struct I(BigInt, BigInt);

#[rustfmt::skip]
macro_rules! operation {
    ($Op:ident $f:ident |$a:ident, $b:ident| $e:expr) => {
        impl<T: Borrow<I>> $Op<T> for &I { type Output = I; fn $f(self, o: T) -> I { let ($a, $b) = (self, o.borrow()); $e } }
        impl<T: Borrow<I>> $Op<T> for I { type Output = I; fn $f(self, o: T) -> I { (&self).$f(o) } }
    };
}
operation!(Add add |a, b| I(&a.0 + &b.0, &a.1 + &b.1));
operation!(Sub sub |a, b| I(&a.0 - &b.1, &a.1 - &b.0));
operation!(Mul mul |a, b| {
    let positive = a.0 >= BigInt::ZERO && b.0 >= BigInt::ZERO;
    let ends = if positive { vec![&a.0 * &b.0, &a.1 * &b.1] } else { vec![&a.0 * &b.0, &a.0 * &b.1, &a.1 * &b.0, &a.1 * &b.1] };
    I(ends.iter().min().map_or(BigInt::ZERO, |v| v >> P), ends.iter().max().map_or(BigInt::ZERO, |v| (v >> P) + 1))
});
// By a positive number; by anything else the answer is as wide as makes every test fail.
operation!(Div div |a, b| {
    let over = |v: &BigInt, low: bool| (v << P) / if (*v >= BigInt::ZERO) == low { &b.1 } else { &b.0 };
    if b.0 > BigInt::ZERO { I(over(&a.0, true) - 1, over(&a.1, false) + 1) } else { I(BigInt::from(-1) << (6 * P), BigInt::from(1) << (6 * P)) }
});

#[rustfmt::skip]
impl I {
    fn low(&self) -> I { I(self.0.clone(), self.0.clone()) }
    /// The largest absolute value.
    fn up(&self) -> I { I(max(-&self.0, self.1.clone()), max(-&self.0, self.1.clone())) }
    fn mid(&self) -> I { I((&self.0 + &self.1) >> 1usize, (&self.0 + &self.1) >> 1usize) }
    fn symmetric(&self) -> I { I(-self.up().1, self.up().1) }
    fn over(&self, k: i64) -> I { I(&self.0 / k - 1, &self.1 / k + 1) }
    fn sqr(&self) -> I { I(max((self * self).0, BigInt::ZERO), (self * self).1) }
    /// Of the part that is not negative.
    fn sqrt(&self) -> I { I((max(self.0.clone(), BigInt::ZERO) << P).sqrt(), (max(self.1.clone(), BigInt::ZERO) << P).sqrt() + 1) }
    fn exp(&self) -> I { I(exp(&self.0).0, exp(&self.1).1) }
}
/// Halved until it is below 1/4, summed (`4^-33 / 33!` is far below the last digit), squared back.
fn exp(v: &BigInt) -> I {
    let halvings = (v.bits() as usize + 2).saturating_sub(P).min(64);
    let x = I(v >> halvings, (v >> halvings) + 1);
    let terms = (1..33).rev().fold(int(1), |s, k| int(1) + (s * &x).over(k));
    (0..halvings).fold(I(terms.0 - 2, terms.1 + 2), |s, _| s.sqr())
}
fn int(v: i64) -> I {
    I(BigInt::from(v) << P, BigInt::from(v) << P)
}
fn sum(v: impl IntoIterator<Item = I>) -> I {
    v.into_iter().fold(int(0), |s, v| s + v)
}
fn dot(a: &[I], b: &[I]) -> I {
    sum(a.iter().zip(b).map(|(a, b)| a * b))
}
fn largest(v: impl IntoIterator<Item = I>) -> I {
    v.into_iter().fold(int(0), |a, b| if b.1 > a.1 { b.up() } else { a })
}
fn length(v: &[I]) -> I {
    sum(v.iter().map(I::sqr)).sqrt().up()
}

/// Points with masses, and the masses of the tokens of each.
struct System {
    softmax: bool,
    causal: bool,
    d: usize,
    beta: I,
    m: Vec<I>,
    tokens: Vec<Vec<I>>,
}

#[rustfmt::skip]
impl System {
    fn seen(&self, i: usize) -> impl Iterator<Item = usize> + use<> { (0..if self.causal { i } else { self.m.len() }).filter(move |j| *j != i) }
    fn least(&self, i: usize) -> &I { self.tokens[i].iter().min_by_key(|m| &m.0).unwrap_or(&self.m[i]) }
    fn norm(&self, v: &[I]) -> I { sum(v.chunks(self.d).zip(&self.m).map(|(v, m)| m * dot(v, v).up())).sqrt().up() }
    fn reach(&self, r: &I) -> Vec<I> { (0..self.m.len()).map(|i| (r / self.least(i).sqrt()).up()).collect() }
    fn merged(&self, labels: &[usize], count: usize) -> System {
        let of = |l| (0..labels.len()).filter(move |i| labels[*i] == l).flat_map(|i| self.tokens[i].clone()).collect();
        let tokens: Vec<Vec<I>> = (0..count).map(of).collect();
        System { beta: self.beta.clone(), m: tokens.iter().map(|m| sum(m.iter().cloned())).collect(), tokens, ..*self }
    }
}

/// A series per coordinate, point or pair.
type Table = Vec<Vec<I>>;

fn cauchy(a: &[I], b: &[I], k: usize) -> I {
    sum((0..=k).map(|l| &a[l] * &b[k - l]))
}
fn pair(i: usize, j: usize) -> usize {
    max(i, j) * (max(i, j) - 1) / 2 + min(i, j)
}
fn tables(s: &System) -> [Table; 7] {
    let n = s.m.len();
    [n * s.d, n * s.d, n, n, n, n * n, n * n].map(|k| vec![Vec::new(); k])
}

/// The next Taylor coefficient of the field along a path, given that of the path. The tables: x, V, Z, `|x|^2`, `<x, V>`, `l beta G_l`, E.
fn field(s: &System, [x, v, z, square, radial, slope, e]: &mut [Table; 7], next: &[I]) -> Vec<I> {
    let (n, d, k) = (s.m.len(), s.d, x[0].len());
    x.iter_mut().zip(next).for_each(|(s, x)| s.push(x.clone()));
    for (i, j) in (1..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let (at, g) = (pair(i, j), sum((0..d).map(|c| cauchy(&x[i * d + c], &x[j * d + c], k))));
        slope[at].push(&s.beta * &g * int(k as i64));
        let rest = || sum((1..=k).map(|l| &slope[at][l] * &e[at][k - l])).over(k as i64);
        let next = if k == 0 { (&s.beta * (g - int(1))).exp() } else { rest() };
        e[at].push(next);
    }
    for i in 0..n {
        let others = sum(s.seen(i).map(|j| &s.m[j] * &e[pair(i, j)][k]));
        z[i].push(if k == 0 { others + &s.m[i] } else { others });
        for c in i * d..(i + 1) * d {
            let y = sum(s.seen(i).map(|j| &s.m[j] * cauchy(&e[pair(i, j)], &x[j * d + c - i * d], k)));
            let rest = |y| (y - sum((1..=k).map(|l| &z[i][l] * &v[c][k - l]))) / &z[i][0];
            let next = if s.softmax { rest(y) } else { y };
            v[c].push(next);
        }
        square[i].push(sum((i * d..(i + 1) * d).map(|c| cauchy(&x[c], &x[c], k))));
        radial[i].push(sum((i * d..(i + 1) * d).map(|c| cauchy(&x[c], &v[c], k))));
    }
    (0..n * d).map(|c| cauchy(&square[c / d], &v[c], k) - cauchy(&radial[c / d], &x[c], k)).collect()
}

/// What is known on a box: weights, products, and what is seen in the frames `B_i` (the columns of the reflection of `x_i / |x_i|` to an axis, but that one).
struct Local<'a> {
    s: &'a System,
    unit: Vec<I>,
    axes: &'a [(usize, I)],
    a: Vec<Vec<I>>,
    g: Vec<Vec<I>>,
    h: Vec<Vec<Vec<I>>>,
    v: Vec<Vec<I>>,
    radial: Vec<I>,
    square: I,
}

impl<'a> Local<'a> {
    fn new(s: &'a System, x: &[I], norm: &I, axes: &'a [(usize, I)], own: bool) -> Self {
        let rows: Vec<&[I]> = x.chunks(s.d).collect();
        let g = rows.iter().map(|a| rows.iter().map(|b| dot(a, b)).collect()).collect();
        let unit = x.iter().map(|x| x / norm).collect();
        let mut l = Local { s, unit, axes, a: vec![], g, h: vec![], v: vec![], radial: vec![], square: norm.sqr() };
        for i in 0..rows.len() {
            let e = |j: usize| (&s.beta * (&l.g[i][j] - int(1))).exp();
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
    fn project(&self, i: usize, v: &[I]) -> Vec<I> {
        self.reflected(i, v).into_iter().enumerate().filter(|(c, _)| *c != self.axes[i].0).map(|(_, v)| v).collect()
    }
    fn frame(&self, i: usize) -> Vec<Vec<I>> {
        let column = |a: usize| self.reflected(i, &(0..self.s.d).map(|c| int((c == a).into())).collect::<Vec<_>>());
        (0..self.s.d).filter(|a| *a != self.axes[i].0).map(column).collect()
    }
    fn lean(&self, i: usize, j: usize) -> Vec<I> {
        self.h[i][j].iter().zip(&self.v[i]).map(|(h, v)| if self.s.softmax { h - v } else { h.clone() }).collect()
    }

    /// Lemma 3: no eigenvalue of the symmetric part on tangent spaces is above mu.
    fn grows_at_most(&self, mu: &I) -> bool {
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
        let both = |p: usize, q: usize| (&f[p][q] + &f[q][p]).over(2);
        let rest = |p: usize| sum((0..size).map(|q| (both(p, q) - both(p, q).mid()).up()));
        let entry = |p: usize, q: usize| if p == q { mu.low() - both(p, p).mid() - rest(p) } else { int(0) - both(p, q).mid() };
        positive((0..size).map(|p| (0..=p).map(|q| entry(p, q)).collect()).collect())
    }

    /// `(Lambda, c)` with `|e_i| <= reach_i`.
    fn curvature(&self, reach: &[I]) -> (I, I) {
        let (s, n, b, inverse) = (self.s, self.s.m.len(), &self.s.beta.up(), &(int(1) / &self.square));
        let (mut rows, mut columns, mut third, mut constant) = (vec![], vec![int(0); n], int(0), int(0));
        for i in 0..n {
            // A, |B w|, the sine, |g|, |<x, w>|, the mass.
            let pair = |j: usize| {
                let (g, a) = (self.g[i][j].up(), self.a[i][j].up());
                let a = if i == j { (a * &s.m[i] / (&s.m[i] - s.least(i))).up() } else { a };
                let far = largest([reach[i].clone(), reach[j].clone()]).over(2);
                let sine = (largest([length(&self.h[i][j]), length(&self.h[j][i])]) + &g * inverse * far).up();
                let along = if s.softmax { (&self.g[i][j] - &self.radial[i]).up() } else { g.clone() };
                (j, [a, length(&self.lean(i, j)), sine, g, along, s.m[j].clone()])
            };
            let pairs: Vec<(usize, [I; 6])> = s.seen(i).chain((s.tokens[i].len() > 1).then_some(i)).map(pair).collect();
            let product = |p: &[I; 6], f: &[usize]| f.iter().fold(p[0].clone(), |s, k| s * &p[*k]);
            // Sums of A times the listed factors: of 1, and of eta_j by Cauchy and Schwarz.
            let plain = |f: &[usize]| sum(pairs.iter().map(|(_, p)| product(p, f))).up();
            let dual = |f: &[usize]| sum(pairs.iter().map(|(_, p)| product(p, f).sqr() / &p[5])).sqrt().up();
            let q = &(largest(pairs.iter().map(|p| p.1[3].clone())) * inverse).over(FLOOR).up();
            let radial = (inverse.sqrt() * &self.square * (b * plain(&[1, 3]) + int(3) * length(&self.v[i]))).up();
            let (two, b2, a0, a2, w0) = (&int(2), &b.sqr(), &plain(&[2]), &dual(&[]), &plain(&[1, 2]));
            let tail = &(dual(&[2]) + q * plain(&[]));
            let (m0, m1) = if s.softmax { (a0, tail) } else { (&int(0), &int(0)) };
            let wq = &(dual(&[1, 2]) + q * plain(&[1]));
            // Of eta_i^2 u, eta_i u^2, eta_i^3: twice the covariance of e with l, w with l'', the third moment.
            let second = two * b * (dual(&[2]) + a2 * m0 + dual(&[1])) + two * b2 * (dual(&[1, 2, 2]) + q * w0 + m0 * wq + w0 * m1);
            let first = two * b * a2 * (q + m1) + b2 * (two * q * dual(&[1, 2]) + q.sqr() * plain(&[1]) + two * m1 * wq);
            let cubic = b2 * (plain(&[1, 2, 2]) + two * m0 * w0);
            // 2 <x, V'>, and <x, e> <e, V'>.
            let (far, small) = (&(two * b * self.square.sqrt().up()), &int(1).over(FLOOR).up());
            let slow = &(a2 + far * tail);
            let second = &self.square * second + two * (tail + b * (dual(&[4, 2]) + q * plain(&[4]))) + &reach[i] * slow + small * far * a0;
            let cubic = &self.square * cubic + two * b * plain(&[4, 2]) + &reach[i] * far * a0;
            let first = &self.square * first + small * slow;
            rows.push((second + (cubic + &radial) / s.least(i).sqrt()).over(2).up());
            third = third + &s.m[i] * first.over(2).sqr();
            let mut drift = radial;
            for (j, p) in &pairs {
                let along = self.square.sqrt() * (&p[2] + b * &p[1] * &p[3]);
                let pull = &self.square * (two * b * &p[2] + b2 * &p[1] * p[2].sqr()) + &along;
                columns[*j] = &columns[*j] + &s.m[i] * (&p[0] * pull).over(2).sqr() / s.m[*j].sqr();
                drift = drift + &p[0] * along;
            }
            constant = constant + &s.m[i] * drift.sqr();
        }
        let worst = largest(rows.into_iter().zip(columns).map(|(r, c)| r + c.sqrt()));
        ((worst + third.sqrt()).up(), constant.sqrt().over(2).up())
    }
}

/// Whether a symmetric matrix (its lower half) is positive definite: all pivots are positive.
fn positive(mut a: Vec<Vec<I>>) -> bool {
    for k in 0..a.len() {
        let pivot = a[k][k].clone();
        if pivot.0 <= BigInt::ZERO {
            return false;
        }
        let column: Vec<I> = a.iter().skip(k + 1).map(|row| row[k].clone()).collect();
        for (row, c) in a.iter_mut().skip(k + 1).zip(&column) {
            let share = c / &pivot;
            row.iter_mut().skip(k + 1).zip(&column).for_each(|(v, d)| *v = &*v - &share * d);
        }
    }
    true
}

/// The polynomial of a step in units of its length, the bounds of its defect, and of `||p|^2 - 1|`.
fn path(s: &System, start: &[I], h: &I, order: usize) -> (Vec<Vec<I>>, Vec<I>, I) {
    let (mut t, mut p, mut defect) = (tables(s), vec![start.to_vec()], Vec::new());
    for k in 0..order {
        let found: Vec<I> = field(s, &mut t, &p[k]).iter().map(|f| h * f).collect();
        let next: Vec<I> = found.iter().map(|f| f.over(k as i64 + 1).mid()).collect();
        let delta: Vec<I> = found.iter().zip(&next).map(|(f, x)| int(k as i64 + 1) * x - f).collect();
        defect.push(s.norm(&delta));
        p.push(next);
    }
    let choose = |l: usize, k: usize| (0..k).fold(1i64, |c, i| c * (l - i) as i64 / (i as i64 + 1));
    let (mut t, all) = (tables(s), I(BigInt::ZERO, int(1).1));
    let last = (0..=order).map(|k| field(s, &mut t, &horner(&p, &all, k, |l| choose(l, k)))).last().unwrap_or_default();
    defect.push(s.norm(&last.iter().map(|f| h * f).collect::<Vec<_>>()));
    let square = |i: usize, l: usize, k: usize| dot(&p[l][i * s.d..(i + 1) * s.d], &p[k - l][i * s.d..(i + 1) * s.d]);
    let of = |i: usize, k: usize| sum((k.saturating_sub(order)..=k.min(order)).map(|l| square(i, l, k))) - int((k == 0).into());
    let bulge = largest((0..s.m.len()).map(|i| sum((0..=2 * order).map(|k| of(i, k).up()))));
    (p, defect, bulge)
}
fn horner(p: &[Vec<I>], t: &I, from: usize, factor: impl Fn(usize) -> i64) -> Vec<I> {
    (0..p[0].len()).map(|c| (from..p.len()).rev().fold(int(0), |s, l| s * t + int(factor(l)) * &p[l][c])).collect()
}

/// The lines that are left of a file.
struct Reader<'a>(Vec<&'a str>);

fn number(text: &str) -> Option<I> {
    let (m, k) = text.split_once('p')?;
    let (m, k) = (BigInt::from(m.parse::<i64>().ok()?), k.parse::<i64>().ok().filter(|k| (-1100..=100).contains(k))? + P as i64);
    Some(if k >= 0 { I(&m << k as usize, m << k as usize) } else { I(&m >> -k as usize, (m >> -k as usize) + 1) })
}

impl<'a> Reader<'a> {
    fn is(&self, key: &str) -> bool {
        self.0.last().is_some_and(|l| l.split_whitespace().next() == Some(key))
    }
    fn words(&mut self, key: &str) -> Result<Vec<&'a str>, String> {
        let line = if self.is(key) { self.0.pop() } else { None };
        line.map(|l| l.split_whitespace().skip(1).collect())
            .ok_or(format!("a line `{key}` is missing before `{:.40}`", self.0.last().unwrap_or(&"the end")))
    }
    fn numbers(&mut self, key: &str, count: usize) -> Result<Vec<I>, String> {
        let all: Option<Vec<I>> = self.words(key)?.into_iter().map(number).collect();
        all.filter(|v| v.len() == count).ok_or(format!("`{key}` has not {count} numbers"))
    }
    fn count(&mut self, key: &str, range: std::ops::RangeInclusive<usize>) -> Result<usize, String> {
        let found = self.words(key)?.first().and_then(|w| w.parse().ok());
        found.filter(|v| range.contains(v)).ok_or(format!("`{key}` is no whole number in {range:?}"))
    }
}

/// A state of the proof: points of the grid, and a bound of the distance of the tokens from them.
struct State {
    s: System,
    x: Vec<I>,
    error: I,
}

impl State {
    fn step(&mut self, r: &mut Reader, order: usize) -> Result<(), String> {
        let h = r.numbers("step", 1)?.remove(0).low();
        if h.0 <= BigInt::ZERO || h.0 > int(1).0 << 60usize {
            return Err("the step has no length".into());
        }
        let (p, defect, bulge) = path(&self.s, &self.x, &h, order);
        let mut a = int(0);
        while r.is("piece") {
            let [end, mu, tube] = &r.numbers("piece", 3)?[..] else { return Err("three numbers".into()) };
            // In units of the step; the last one ends with it.
            let b = if r.is("piece") { (end / &h).mid() } else { int(1) };
            if b.0 <= a.0 || b.0 > int(1).0 || mu.0 < BigInt::ZERO || tube.0 <= BigInt::ZERO {
                return Err("pieces are not in order".into());
            }
            self.piece((&p, &defect, &bulge), &h, (&a, &b), (mu, tube))?;
            a = b;
        }
        if a.0 != int(1).0 {
            return Err("the step has no pieces".into());
        }
        let next = r.numbers("next", self.x.len())?;
        self.jump(horner(&p, &int(1), 0, |_| 1), &next, |c| c);
        Ok(())
    }

    /// Lemma 2 from a to b.
    fn piece(&mut self, (p, defect, bulge): (&[Vec<I>], &[I], &I), h: &I, (a, b): (&I, &I), (mu, tube): (&I, &I)) -> Result<(), String> {
        let (s, middle, span) = (&self.s, (a + b).over(2).mid(), I(a.0.clone(), b.1.clone()));
        let centre = horner(p, &middle, 0, |_| 1);
        let axis = |row: &[I]| (0..s.d).fold(0, |a, b| if row[b].up().1 > row[a].up().1 { b } else { a });
        let axes: Vec<(usize, I)> =
            centre.chunks(s.d).map(|row| (axis(row), int(if row[axis(row)].0 < BigInt::ZERO { -1 } else { 1 }))).collect();
        let slope = |c: usize| (1..p.len()).rev().fold(int(0), |s, k| s * &span + int(k as i64) * &p[k][c]);
        let range: Vec<I> = centre.iter().enumerate().map(|(c, x)| x + slope(c) * (&span - &middle)).collect();
        let norm = (int(1) + bulge.symmetric()).sqrt();
        if !Local::new(s, &range, &norm, &axes, false).grows_at_most(mu) {
            return Err("errors may grow faster than is said".into());
        }
        let reach = s.reach(tube);
        let wide: Vec<I> = range.iter().enumerate().map(|(c, x)| x + reach[c / s.d].symmetric()).collect();
        let (lambda, c) = Local::new(s, &wide, &(norm + largest(reach.clone()).symmetric()), &axes, true).curvature(&reach);
        let rate = defect.iter().rev().fold(int(0), |s, d| s * b + d) + h * c * bulge;
        let (time, growth) = (b - a, (mu + lambda * tube) * (b - a) * h);
        if growth.1 > int(64).1 {
            return Err("no bound of the error is left".into());
        }
        self.error = ((largest([self.error.clone(), int(FLOOR) * bulge]) + rate * time) * growth.exp()).up();
        if self.error.1 <= tube.0 { Ok(()) } else { Err("the error leaves its tube".into()) }
    }

    /// To points of the grid, each coordinate to its own.
    fn jump(&mut self, from: Vec<I>, to: &[I], place: impl Fn(usize) -> usize) {
        let to: Vec<I> = to.iter().map(I::low).collect();
        let jump: Vec<I> = from.iter().enumerate().map(|(c, x)| x - &to[place(c)]).collect();
        (self.error, self.x) = ((&self.error + self.s.norm(&jump)).up(), to);
    }

    fn merge(&mut self, r: &mut Reader) -> Result<(), String> {
        let (d, labels) = (self.s.d, r.words("merge")?.iter().filter_map(|w| w.parse().ok()).collect::<Vec<usize>>());
        let in_order = labels.iter().try_fold(0, |next, l| (*l <= next).then_some(max(next, l + 1)));
        let count = in_order.filter(|_| labels.len() == self.s.m.len() && !self.s.causal).ok_or("`merge` has no labels of points")?;
        let to = r.numbers("points", count * d)?;
        self.jump(self.x.clone(), &to, |c| labels[c / d] * d + c % d);
        self.s = self.s.merged(&labels, count);
        Ok(())
    }
}

/// Checks a certificate and returns its statement and how it was reached. **Errors** the first thing that could not be confirmed.
pub fn check(text: &str) -> Result<String, String> {
    let mut r = Reader(text.lines().filter(|l| !l.starts_with('#')).rev().collect());
    r.count("metastable-trajectory", 1..=1)?;
    let name = r.words("dynamics")?.join(" ");
    let kinds = [("sa", true, false), ("usa", false, false), ("causal-sa", true, true), ("causal-usa", false, true)];
    let (_, softmax, causal) = *kinds.iter().find(|k| k.0 == name).ok_or(format!("no dynamics `{name}`"))?;
    let (n, d) = (r.count("tokens", 1..=256)?, r.count("dimension", 2..=256)?);
    let (beta, radius) = (r.numbers("beta", 1)?.remove(0), r.numbers("radius", 1)?.remove(0));
    let (m, start, order) = (r.numbers("masses", n)?, r.numbers("start", n * d)?, r.count("order", 4..=40)?);
    let x: Vec<I> = r.numbers("first", n * d)?.iter().map(I::low).collect();
    if n * d > 512 || beta.0 < BigInt::ZERO || beta.0 > int(1000).0 || radius.0 < BigInt::ZERO || m.iter().any(|m| m.0 <= BigInt::ZERO) {
        return Err("sizes, beta, the radius or a mass are out of range".into());
    }
    let off = |i: usize| {
        let (row, size) = (&start[i * d..(i + 1) * d], sum(start[i * d..(i + 1) * d].iter().map(I::sqr)).sqrt());
        let away: Vec<I> = row.iter().zip(&x[i * d..]).map(|(v, x)| v / &size - x).collect();
        &m[i] * (radius.up() + length(&away)).sqr()
    };
    let (error, shown) = (sum((0..n).map(off)).sqrt().up(), beta.clone());
    let s = System { softmax, causal, d, beta, tokens: m.iter().map(|m| vec![m.clone()]).collect(), m };
    let (mut state, mut steps) = (State { s, x, error }, 0);
    while r.is("step") {
        steps += 1;
        state.step(&mut r, order).map_err(|e| format!("step {steps}: {e}"))?;
        if r.is("merge") {
            state.merge(&mut r)?;
        }
    }
    let (w, reach) = (r.numbers("end", d)?, state.s.reach(&state.error));
    let lies = |(x, reach): (&[I], &I)| dot(&w, x).0 > (length(&w) * reach).1;
    if !r.0.is_empty() || !state.x.chunks(d).zip(&reach).all(lies) {
        return Err("at the end the tokens are in no open hemisphere for certain".into());
    }
    let [beta, radius, error] = [&shown, &radius, &state.error].map(|v| v.0.to_string().parse().unwrap_or(f64::NAN) / 2f64.powi(P as i32));
    let start =
        format!("{name}, beta = {beta}: all starts of the {n} tokens in R^{d} within {radius:e} of the directions of the start rows");
    Ok(format!("{start} converge to one point ({steps} steps, error at most {error:.1e})"))
}

/// The program: checks the files that are named; exit code 1 when one is refused.
#[allow(dead_code, reason = "the entry of the program, not of the module")]
pub fn main() {
    let check = |file: String| (std::fs::read_to_string(&file).map_err(|e| e.to_string()).and_then(|text| check(&text)), file);
    let all: Vec<_> = std::env::args().skip(1).map(check).collect();
    let lines: Vec<String> = all.iter().map(|(found, file)| format!("{file}: {found:?}\n")).collect();
    let _ = std::io::Write::write_all(&mut std::io::stdout(), lines.concat().as_bytes());
    std::process::exit(all.iter().any(|a| a.0.is_err()).into());
}
