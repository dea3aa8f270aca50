//! Interval arithmetic on integers over 2^128, elimination in symmetric matrices, and reading of
//! certificates.

use crate::canonical::whole;
use num_bigint::BigInt;
use std::borrow::Borrow;
use std::ops::{Add, Div, Mul, Sub};

/// Number of binary digits after the point.
const P: usize = 128;

/// An interval: all numbers between two multiples of `2^-P`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct I(pub BigInt, pub BigInt);

macro_rules! operation {
    ($Op:ident, $name:ident, $rule:expr, $($Left:ty),*) => {
        $(impl<T: Borrow<I>> $Op<T> for $Left {
            type Output = I;
            fn $name(self, other: T) -> I {
                $rule(self.borrow(), other.borrow())
            }
        })*
    };
}
operation!(Add, add, |a: &I, b: &I| I(&a.0 + &b.0, &a.1 + &b.1), I, &I);
operation!(Sub, sub, |a: &I, b: &I| I(&a.0 - &b.1, &a.1 - &b.0), I, &I);
operation!(Mul, mul, |a: &I, b: &I| a.ends(b, |a, b| (a * b) >> P), I, &I);
// If the divisor may be 0, the result is so wide that every test fails.
operation!(
    Div,
    div,
    |a: &I, b: &I| if b.has_sign() {
        a.ends(b, |a, b| (a << P) / b)
    } else {
        int(0).around(&dyadic(1, 7000))
    },
    I,
    &I
);

impl I {
    /// Hull of the results at the endpoints, rounded outwards.
    fn ends(&self, other: &I, f: impl Fn(&BigInt, &BigInt) -> BigInt) -> I {
        let all = [
            f(&self.0, &other.0),
            f(&self.0, &other.1),
            f(&self.1, &other.0),
            f(&self.1, &other.1),
        ];
        I(all.iter().min().unwrap_or(&all[0]) - 1, all.iter().max().unwrap_or(&all[0]) + 1)
    }
    fn has_sign(&self) -> bool {
        self.0 > BigInt::ZERO || self.1 < BigInt::ZERO
    }
    /// Upper bound of the absolute value.
    pub(super) fn up(&self) -> I {
        let largest = self.1.clone().max(-&self.0);
        I(largest.clone(), largest)
    }
    /// The midpoint, rounded.
    pub(super) fn mid(&self) -> I {
        let middle: BigInt = (&self.0 + &self.1) >> 1usize;
        I(middle.clone(), middle)
    }
    /// The interval, widened by a radius.
    pub(super) fn around(&self, radius: &I) -> I {
        I(&self.0 - &radius.1, &self.1 + &radius.1)
    }
    pub(super) fn over(&self, k: i64) -> I {
        I(&self.0 / k - 1, &self.1 / k + 1)
    }
    /// The square root of the nonnegative part.
    pub fn sqrt(&self) -> I {
        let root = |v: &BigInt| (v.max(&BigInt::ZERO) << P).sqrt();
        I(root(&self.0), root(&self.1) + 1)
    }
    /// At each endpoint: divide by 2^16 (then at most 1/4), Taylor sum (`4^-33 / 33!` is far below
    /// the last digit), square 16 times.
    pub fn exp(&self) -> I {
        let end = |v: &BigInt| {
            let x = I(v >> 16usize, (v >> 16usize) + 1);
            let terms = (1..33)
                .rev()
                .fold(int(1), |s, k| int(1) + (s * &x).over(k))
                .around(&dyadic(1, -120));
            if v.bits() as usize > P + 14 {
                int(1) / int(0)
            } else {
                (0..16).fold(terms, |s, _| &s * &s)
            }
        };
        I(end(&self.0).0, end(&self.1).1)
    }
    pub(super) fn show(&self) -> f64 {
        self.0.to_string().parse().unwrap_or(f64::NAN) / 2f64.powi(P as i32)
    }
}

pub(super) fn int(v: i64) -> I {
    I(BigInt::from(v) << P, BigInt::from(v) << P)
}
/// `m 2^k`, for k at least -1100.
pub fn dyadic(m: i64, k: i64) -> I {
    let (whole, low) = (BigInt::from(m) << (k + 1100) as usize, 1100 - P);
    I(&whole >> low, -(-whole >> low))
}
pub(super) fn sum(v: impl IntoIterator<Item = I>) -> I {
    v.into_iter().fold(int(0), |s, v| s + v)
}
pub(super) fn dot<'a>(a: impl IntoIterator<Item = &'a I>, b: impl IntoIterator<Item = &'a I>) -> I {
    sum(a.into_iter().zip(b).map(|(a, b)| a * b))
}
pub(super) fn length(v: &[I]) -> I {
    dot(v, v).sqrt().up()
}

/// Eliminates the columns of a symmetric matrix; the pivot is the largest remaining diagonal entry.
/// The pivots stay on the diagonal, and the number of positive ones equals the number of positive
/// eigenvalues. `None` if the sign of a pivot is not decided.
pub(super) fn eliminate(a: &mut [Vec<I>]) -> Option<usize> {
    let mut left: Vec<usize> = (0..a.len()).collect();
    while let Some(k) = left.iter().copied().max_by_key(|k| a[*k][*k].mid().up()) {
        let own = Some(a[k].clone()).filter(|own| own[k].has_sign())?;
        left.retain(|i| *i != k);
        for i in left.iter().copied() {
            let factor = &a[i][k] / &own[k];
            a[i].iter_mut().zip(&own).for_each(|(v, o)| *v = &*v - &factor * o);
        }
    }
    Some((0..a.len()).filter(|k| a[*k][*k] > int(0)).count())
}

/// A lower bound of the number of eigenvalues below k, valid for the symmetric parts of all
/// matrices in an interval matrix: from its midpoint and the row sums of its radii.
pub(super) fn count_below(k: &I, f: &[Vec<I>]) -> Option<usize> {
    let twice = |p: usize, q: usize| &f[p][q] + &f[q][p];
    let own = |p: usize| k + k - sum((0..f.len()).map(|q| (twice(p, q) - twice(p, q).mid()).up()));
    let less = |p: usize, q: usize| if p == q { own(p) } else { int(0) } - twice(p, q).mid();
    eliminate(
        &mut (0..f.len()).map(|p| (0..f.len()).map(|q| less(p, q)).collect()).collect::<Vec<_>>(),
    )
}

/// The lines of a file that are still to be read, the next one last: key and words.
pub(super) struct Reader<'a>(pub(super) Vec<Vec<&'a str>>);

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, end: &str, between: &str) -> Self {
        let words = |l: &'a str| {
            l.split(|c| between.contains(c)).map(str::trim).filter(|w| !w.is_empty()).collect()
        };
        Reader(text.rsplit(end).map(words).filter(|l: &Vec<_>| !l.is_empty()).collect())
    }
    pub(super) fn is(&self, key: &str) -> bool {
        self.0.last().is_some_and(|l| l[0] == key)
    }
    pub(super) fn list<T>(
        &mut self,
        key: &str,
        n: impl Into<Option<usize>>,
        of: fn(&'a str) -> Option<T>,
    ) -> Result<Vec<T>, String> {
        let line = if self.is(key) { self.0.pop() } else { None };
        let line = line.ok_or_else(|| {
            format!(
                "a line `{key}` is missing before `{}`",
                self.0.last().map_or("the end", |l| l[0])
            )
        })?;
        let all: Option<Vec<T>> = line[1..].iter().map(|w| of(w)).collect();
        all.filter(|v| n.into().is_none_or(|n| n == v.len()))
            .ok_or(format!("`{key}` is followed by a wrong number of values"))
    }
}

/// `m p k` means `m 2^k`, with an odd m; 0 is `0p0`.
pub(super) fn number(word: &str) -> Option<I> {
    let (m, k) = word.split_once('p')?;
    let (m, k): (i64, i64) = (whole(m)?, whole(k)?);
    let canonical = m % 2 != 0 || (m, k) == (0, 0);
    (canonical && (-1100..=100).contains(&k)).then(|| dyadic(m, k))
}
