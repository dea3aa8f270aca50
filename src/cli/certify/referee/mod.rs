//! A referee of certificates that shares nothing with the library that writes them: fixed point on big integers, rounded outwards, its own exponential, its
//! own recurrences. It never searches for what a certificate has to say. The lemmas are in `src/landscape/trajectory/lemmas.md`; letters are theirs.
//! A program of its own: `cargo run --release --example referee FILE`. Proofs of convergence are `trajectory.rs`, proofs of critical points `critical.rs`;
//! both rest on this file and on `flow.rs`, and on nothing else.

mod critical;
mod flow;
mod trajectory;

use num_bigint::BigInt;
use std::borrow::Borrow;
use std::cmp::max;
use std::ops::{Add, Div, Mul, Sub};

/// Binary digits after the point.
const P: usize = 128;

/// All numbers between two multiples of `2^-P`.
#[derive(Clone, Debug)]
pub(crate) struct I(pub(crate) BigInt, pub(crate) BigInt);

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
    pub(crate) fn sqr(&self) -> I { I(max((self * self).0, BigInt::ZERO), (self * self).1) }
    /// Of the part that is not negative.
    pub(crate) fn sqrt(&self) -> I { I((max(self.0.clone(), BigInt::ZERO) << P).sqrt(), (max(self.1.clone(), BigInt::ZERO) << P).sqrt() + 1) }
    pub(crate) fn exp(&self) -> I { I(exp(&self.0).0, exp(&self.1).1) }
    fn show(&self) -> f64 { self.0.to_string().parse().unwrap_or(f64::NAN) / 2f64.powi(P as i32) }
}
/// Halved until it is below 1/4, summed (`4^-33 / 33!` is far below the last digit), squared back. Beyond 2^12 as wide as makes every test fail.
fn exp(v: &BigInt) -> I {
    let halvings = (v.bits() as usize + 2).saturating_sub(P);
    if halvings > 14 {
        return I(BigInt::ZERO, BigInt::from(1) << (64 * P));
    }
    let x = I(v >> halvings, (v >> halvings) + 1);
    let terms = (1..33).rev().fold(int(1), |s, k| int(1) + (s * &x).over(k));
    (0..halvings).fold(I(terms.0 - 2, terms.1 + 2), |s, _| s.sqr())
}
#[rustfmt::skip]
fn int(v: i64) -> I { I(BigInt::from(v) << P, BigInt::from(v) << P) }
#[rustfmt::skip]
fn sum(v: impl IntoIterator<Item = I>) -> I { v.into_iter().fold(int(0), |s, v| s + v) }
#[rustfmt::skip]
fn dot(a: &[I], b: &[I]) -> I { sum(a.iter().zip(b).map(|(a, b)| a * b)) }
#[rustfmt::skip]
fn largest(v: impl IntoIterator<Item = I>) -> I { v.into_iter().fold(int(0), |a, b| if b.1 > a.1 { b.up() } else { a }) }
#[rustfmt::skip]
fn length(v: &[I]) -> I { sum(v.iter().map(I::sqr)).sqrt().up() }

/// How many eigenvalues are at least positive for all symmetric matrices in an interval matrix: its middle less the row sums of its radii is `L D L^T`, and D
/// has as many positive entries as the matrix has positive eigenvalues. Nothing where a pivot's sign is not decided.
fn positive(m: &[Vec<I>]) -> Option<usize> {
    let rest = |row: &Vec<I>| sum(row.iter().map(|v| (v - v.mid()).up()));
    let entry = |p: usize, q: usize| if p == q { m[p][p].mid() - rest(&m[p]) } else { m[p][q].mid() };
    let mut a: Vec<Vec<I>> = (0..m.len()).map(|p| (0..=p).map(|q| entry(p, q)).collect()).collect();
    let mut count = 0;
    for k in 0..a.len() {
        let (pivot, up) = (a[k][k].clone(), a[k][k].0 > BigInt::ZERO);
        let size = if up { pivot } else { int(0) - pivot };
        if size.0 <= BigInt::ZERO {
            return None;
        }
        count += usize::from(up);
        let column: Vec<I> = a.iter().skip(k + 1).map(|row| row[k].clone()).collect();
        for (row, c) in a.iter_mut().skip(k + 1).zip(&column) {
            let share = if up { c / &size } else { int(0) - c / &size };
            row.iter_mut().skip(k + 1).zip(&column).for_each(|(v, d)| *v = &*v - &share * d);
        }
    }
    Some(count)
}

/// `m 2^k`.
pub(crate) fn dyadic(m: i64, k: i64) -> I {
    let (m, k) = (BigInt::from(m), k + P as i64);
    if k >= 0 { I(&m << k as usize, m << k as usize) } else { I(&m >> -k as usize, (m >> -k as usize) + 1) }
}

/// The lines that are left of a file, the next one last.
struct Reader<'a>(Vec<&'a str>);

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
        let of = |(m, k): (&str, &str)| Some(dyadic(m.parse().ok()?, k.parse().ok().filter(|k| (-1100..=100).contains(k))?));
        let all: Option<Vec<I>> = self.words(key)?.into_iter().map(|w| w.split_once('p').and_then(of)).collect();
        all.filter(|v| v.len() == count).ok_or(format!("`{key}` has not {count} numbers"))
    }
    fn count(&mut self, key: &str, range: std::ops::RangeInclusive<usize>) -> Result<usize, String> {
        let found = self.words(key)?.first().and_then(|w| w.parse().ok());
        found.filter(|v| range.contains(v)).ok_or(format!("`{key}` is no whole number in {range:?}"))
    }
}

/// Checks a certificate and returns its statement and how it was reached. **Errors** the first thing that could not be confirmed.
pub fn check(text: &str) -> Result<String, String> {
    if text.starts_with('{') { critical::check(text) } else { trajectory::check(text) }
}
