//! Ranges of `u(d) = e^{beta (cos d - 1)} sin d` and `w = u'` over distances and inverse
//! temperatures.
//!
//! On [0, pi], u rises until `beta sin^2 d = cos d` and falls. With `c = cos d`,
//! `w = e^{beta (c - 1)} (c - beta (1 - c^2))` has at most one extremum inside, where
//! `beta^2 c^2 + 3 beta c + 1 - beta^2 = 0`. For a fixed distance, u falls with beta, and w has
//! only a minimum, `-(1 + c) e^{beta (c - 1)}`, where `1 + 2 c = beta (1 - c^2)`.

use crate::formula::Table;
use crate::interval::F;
use std::sync::Arc;

/// One turn in units of `2^-48` turns.
pub(super) const TURN: i64 = 1 << 48;

/// A beta with the extremum of u and that of w: cosine and value.
struct Temperature {
    beta: f64,
    top: (F, F),
    turn: Option<(F, F)>,
}

/// Ranges for an interval of beta, or those of a formula.
pub(super) struct Kernel {
    ends: Vec<Temperature>,
    table: Option<Arc<Table>>,
}

/// What attracts the tokens: `e^{beta cos}` without a table.
#[derive(Clone, Default)]
pub(super) struct Law(pub(super) Option<Arc<Table>>);

impl Law {
    /// The ranges for all beta in an interval.
    pub(super) fn kernel(&self, beta: (f64, f64)) -> Kernel {
        match &self.0 {
            Some(table) => Kernel { ends: vec![], table: Some(table.clone()) },
            None => Kernel::new(beta),
        }
    }
    /// The weight of coincident tokens.
    pub(super) fn own(&self) -> F {
        self.0.as_ref().map_or(F::int(1.0), |t| t.own)
    }
    /// The largest gap of Lemma 1.
    pub(super) fn longest(&self) -> i64 {
        self.0.as_ref().map_or(TURN / 2, |t| t.longest)
    }
}

/// Cosine and sine of t units, for t in [0, half a turn].
fn direction(t: i64) -> (F, F) {
    if t > TURN / 4 {
        let (c, s) = direction(TURN / 2 - t);
        return (F(-c.1, -c.0), s);
    }
    if t > TURN / 8 {
        let (c, s) = direction(TURN / 4 - t);
        return (s, c);
    }
    // x <= pi / 4: the terms of degree 20 and 21 bound the remainders, 1e-20.
    let x = F::pi() * F::int(t as f64) / F::int((TURN / 2) as f64);
    let (one, square) = (F::int(1.0), x.sqr());
    let series = |odd: i32| {
        (1..=9).rev().fold(one, |s, j| {
            let k = f64::from(2 * j + odd);
            one - s * square / F::int(k * (k - 1.0))
        })
    };
    let rest = F(-1e-20, 1e-20);
    (series(0) + rest, x * series(1) + rest)
}

impl Temperature {
    fn new(beta: f64) -> Self {
        let (b, one) = (F::int(beta), F::int(1.0));
        let two = F::int(2.0);
        let root = |v: f64| (F::int(v) + F::int(4.0) * b.sqr()).sqrt();
        let kernel = |c: F| (b * (c - one)).exp();
        let c = two * b / (one + root(1.0));
        let top = (c, kernel(c) * (one - c.sqr()).sqrt());
        let turn = (beta.abs() > 0.3).then(|| {
            let c = two * (b.sqr() - one) / (b * (F::int(3.0) + root(5.0)));
            (c, kernel(c) * (c - b * (one - c.sqr())))
        });
        Self { beta, top, turn }
    }

    /// u and w in a direction.
    fn at(&self, (c, s): (F, F)) -> (F, F) {
        let b = F::int(self.beta);
        let e = (b * (c - F::int(1.0))).exp();
        (e * s, e * (c - b * s.sqr()))
    }
}

impl Kernel {
    /// For all beta in an interval.
    pub(super) fn new((low, high): (f64, f64)) -> Self {
        let point = low.to_bits() == high.to_bits();
        let ends = if point { vec![low] } else { vec![low, high] };
        Self { ends: ends.into_iter().map(Temperature::new).collect(), table: None }
    }

    /// The kernel of the middle of the interval, rounded.
    pub(super) fn middle(&self) -> Kernel {
        let beta: f64 = self.ends.iter().map(|t| t.beta).sum::<f64>() / self.ends.len() as f64;
        match &self.table {
            Some(table) => Kernel { ends: vec![], table: Some(table.clone()) },
            None => Kernel::new((beta, beta)),
        }
    }

    /// Ranges of u and w over distances in [0, 1] turn.
    pub(super) fn ranges(&self, (lo, hi): (i64, i64)) -> (F, F) {
        let half = TURN / 2;
        if hi <= half {
            return self.half(lo, hi);
        }
        let minus = |v: F| F(-v.1, -v.0);
        if lo >= half {
            let (u, w) = self.half(TURN - hi, TURN - lo);
            return (minus(u), w);
        }
        let (before, after) = (self.half(lo, half), self.half(TURN - hi, half));
        (before.0.join(&minus(after.0)), before.1.join(&after.1))
    }

    /// Ranges over distances in [0, 1/2] turn.
    fn half(&self, lo: i64, hi: i64) -> (F, F) {
        if let Some(table) = &self.table {
            return table.ranges(lo, hi);
        }
        let (near, far) = (direction(lo), direction(hi));
        let cosines = F(far.0.0.max(-1.0), near.0.1.min(1.0));
        let at = |t: &Temperature| {
            let ends = (t.at(near), if hi > lo { t.at(far) } else { t.at(near) });
            let (mut u, mut w) = (ends.0.0.join(&ends.1.0), ends.0.1.join(&ends.1.1));
            if cosines.meet(&t.top.0).is_some() {
                u = F(u.0, u.1.max(t.top.1.1));
            }
            if let Some((c, v)) = &t.turn
                && cosines.meet(c).is_some()
            {
                w = w.join(v);
            }
            (F(u.0.max(0.0), u.1.max(0.0)), w)
        };
        let (mut u, mut w) = at(&self.ends[0]);
        if let Some(end) = self.ends.get(1) {
            let other = at(end);
            (u, w) = (F(other.0.0, u.1), w.join(&other.1));
            let beta = F(self.ends[0].beta, end.beta);
            let one = F::int(1.0);
            let slope = one + F::int(2.0) * cosines - beta * (one - cosines.sqr());
            if !slope.has_sign() {
                let least = (one + cosines) * (beta * (cosines - one)).exp();
                w = F(w.0.min(-least.1), w.1);
            }
        }
        (u, w)
    }
}
