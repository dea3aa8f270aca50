//! The equations of equilibrium of units: single clusters, pairs of equal clusters described by
//! their middle and the square t of their distance, and clusters whose splitting is watched.
//!
//! **Blow-up** Two clusters of mass m at the angles `x - g/2` and `x + g/2` are described by x and
//! `t = g^2`. The forces on both are in equilibrium if the force on the pair and the quotient
//! `q = (f_1 - f_2) / g` vanish:
//! `q = 2 m u(g)/g + sum_V m_V [u(D + g/2) - u(D - g/2)] / g` for the clusters V at distance D.
//! Both are even in g, and smooth in t: for some point between,
//! - `d/dt (v(D - g/2) + v(D + g/2)) = v''/4`,
//! - `d/dt (u(D + g/2) - u(D - g/2))/g = w''/24` (with `u = int w`, twice by parts),
//! - `d/dt u(g)/g = w''/6`.
//!
//! So the equations stay regular at `t = 0`, where the pair is one cluster and q is
//! `2 m + sum m_V w(D)`, the second derivative of the energy for splitting it. A zero of the new
//! equations with `t > 0` is one of the old equations, and regular if and only if it is regular
//! there.
//!
//! The unknowns are the distances between the middles of neighbouring units in turns, without the
//! last one, then the t of the pairs in squared radians. The equations are the forces on the first
//! `1, 2, ...` units, then the quotients.

use super::super::kernel::pi;
use super::shape::{Shape, Shapes, common};
use super::solve::Value;
use crate::num::interval::Interval;

/// What is asked of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One cluster.
    Single,
    /// Two clusters of the same mass.
    Pair,
    /// One cluster; the second derivative for splitting it is an equation.
    Watched,
}

/// A unit: the mass of each of its clusters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub(super) mass: f64,
    pub(super) kind: Kind,
}

impl Unit {
    /// Number of clusters.
    fn count(self) -> f64 {
        if self.kind == Kind::Pair { 2.0 } else { 1.0 }
    }
}

/// Units in cyclic order.
#[derive(Clone, Debug)]
pub(super) struct System {
    pub(super) units: Vec<Unit>,
}

/// Two pi.
pub(super) fn turn() -> Interval {
    pi() * Interval::exact(2.0)
}

impl System {
    /// Number of distances.
    pub(super) fn distances(&self) -> usize {
        self.units.len() - 1
    }

    /// Number of unknowns without beta.
    pub(super) fn unknowns(&self) -> usize {
        self.distances() + self.pairs().count()
    }

    /// The units that are pairs.
    fn pairs(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.units.len()).filter(|u| self.units[*u].kind == Kind::Pair)
    }

    /// Equations and derivatives over a box. Negative t count as 0: the value of the equations is
    /// then that at `t = 0`, and the derivatives are those of a continuation with a constant slope.
    pub(super) fn evaluate(&self, unknowns: &[Interval], shapes: &Shapes) -> Value {
        let (n, gaps) = (self.units.len(), self.distances());
        let pairs: Vec<usize> = self.pairs().collect();
        let mut apart = vec![Interval::ZERO; n];
        for (p, t) in pairs.iter().zip(&unknowns[gaps..]) {
            let t = Interval::new(t.lo().max(0.0), t.hi().max(0.0));
            apart[*p] = t.sqrt() / turn();
        }
        let quotients: Vec<usize> =
            (0..n).filter(|u| self.units[*u].kind != Kind::Single).collect();
        let (rows, columns) = (gaps + quotients.len(), gaps + pairs.len());
        let mut value = Value {
            f: vec![Interval::ZERO; rows],
            by: vec![vec![Interval::ZERO; columns]; rows],
            by_beta: vec![Interval::ZERO; rows],
        };
        let (turn, half) = (turn(), Interval::exact(0.5));
        let mut distance = vec![Interval::ZERO; n];
        for a in 0..n {
            let mut sum = Interval::ZERO;
            for b in a + 1..n {
                sum = sum + unknowns[b - 1];
                distance[b] = sum;
            }
            for b in a + 1..n {
                let (one, two) = (self.units[a], self.units[b]);
                let reach = (half * (apart[a] + apart[b])).hi();
                let over = shapes.at(distance[b] + Interval::symmetric(reach));
                let mass = Interval::exact(one.mass * two.mass);
                let number = Interval::exact(one.count() * two.count());
                let offsets =
                    offsets(one.kind == Kind::Pair, apart[a], two.kind == Kind::Pair, apart[b]);
                let exact: Vec<Shape> = if offsets.len() == 1 {
                    vec![over]
                } else {
                    offsets.iter().map(|o| shapes.at(distance[b] + *o)).collect()
                };
                let pull = exact.iter().fold(Interval::ZERO, |s, x| s + x.u) * mass;
                let stiff = exact.iter().fold(Interval::ZERO, |s, x| s + x.w) * mass * turn;
                let by_t = over.w1 * mass * Interval::exact(0.25);
                for l in a..b {
                    value.f[l] = value.f[l] + pull;
                    value.by_beta[l] = value.by_beta[l] + over.u_beta * mass * number;
                    for m in a..b {
                        value.by[l][m] = value.by[l][m] + stiff;
                    }
                    for (column, p) in pairs.iter().enumerate() {
                        if *p == a || *p == b {
                            let others = if *p == a { two.count() } else { one.count() };
                            let entry = &mut value.by[l][gaps + column];
                            *entry = *entry + by_t * Interval::exact(others);
                        }
                    }
                }
                // Quotients of both; a distance backwards has the same weight.
                for (own, other) in [(a, b), (b, a)] {
                    if let Some(row) = quotients.iter().position(|q| *q == own) {
                        let pull =
                            Pull { own, other, distance: distance[b], over, first: a, last: b };
                        self.add_quotient(&mut value, gaps + row, &pull, &apart, &pairs, shapes);
                    }
                }
            }
        }
        for (row, own) in quotients.iter().enumerate() {
            let (unit, row) = (self.units[*own], gaps + row);
            let mass = Interval::exact(unit.mass * unit.count());
            if unit.kind == Kind::Watched {
                value.f[row] = value.f[row] + mass;
                continue;
            }
            let g = apart[*own];
            let over = shapes.at(Interval::new(0.0, g.hi()));
            let square = (g * turn).sqr();
            let mut own_pull = Interval::exact(1.0) + square * over.w2 / Interval::exact(6.0);
            if g.lo() > 1e-9 {
                own_pull = common(own_pull, shapes.at(g).u / (g * turn));
            }
            value.f[row] = value.f[row] + mass * common(own_pull, over.w);
            value.by_beta[row] = value.by_beta[row] + mass * over.w_beta;
            if let Some(column) = pairs.iter().position(|p| p == own) {
                let entry = &mut value.by[row][gaps + column];
                *entry = *entry + mass * over.w2 / Interval::exact(6.0);
            }
        }
        value
    }

    /// Adds what one unit contributes to the quotient of another.
    fn add_quotient(
        &self,
        value: &mut Value,
        row: usize,
        pull: &Pull,
        apart: &[Interval],
        pairs: &[usize],
        shapes: &Shapes,
    ) {
        let (gaps, turn) = (self.distances(), turn());
        let (own, other) = (self.units[pull.own], self.units[pull.other]);
        let mass = Interval::exact(other.mass);
        let number = Interval::exact(other.count());
        let g = apart[pull.own];
        let square = (g * turn).sqr();
        let half = Interval::exact(0.5);
        let mut sum = Interval::ZERO;
        for offset in offsets(other.kind == Kind::Pair, apart[pull.other], false, Interval::ZERO) {
            let middle = shapes.at(pull.distance + offset);
            let mut mean = middle.w;
            if own.kind == Kind::Pair {
                mean = mean + square * pull.over.w2 / Interval::exact(24.0);
                if g.lo() > 1e-9 {
                    let ends = shapes.at(pull.distance + offset + half * g).u
                        - shapes.at(pull.distance + offset - half * g).u;
                    mean = common(mean, ends / (g * turn));
                }
            }
            sum = sum + mean;
        }
        value.f[row] = value.f[row] + mass * sum;
        value.by_beta[row] = value.by_beta[row] + mass * number * pull.over.w_beta;
        let by_distance = mass * number * pull.over.w1 * turn;
        for m in pull.first..pull.last {
            value.by[row][m] = value.by[row][m] + by_distance;
        }
        for (column, p) in pairs.iter().enumerate() {
            let by_t = match () {
                () if *p == pull.own => number * pull.over.w2 / Interval::exact(24.0),
                () if *p == pull.other => pull.over.w2 * Interval::exact(0.25),
                () => continue,
            };
            let entry = &mut value.by[row][gaps + column];
            *entry = *entry + mass * by_t;
        }
    }

    /// As [`evaluate`](Self::evaluate) with beta as the last unknown.
    pub(super) fn evaluate_with_beta(&self, unknowns: &[Interval]) -> Option<Value> {
        let (beta, rest) = unknowns.split_last()?;
        if beta.mag() > 120.0 {
            return None;
        }
        let mut value = self.evaluate(rest, &Shapes::new(*beta));
        for (row, b) in value.by.iter_mut().zip(&value.by_beta) {
            row.push(*b);
        }
        Some(value)
    }

    /// Equations and derivatives over a box for all beta in an interval; values by the mean value
    /// theorem in beta.
    pub(super) fn evaluate_over(&self, unknowns: &[Interval], shapes: &Over) -> Value {
        let mut value = self.evaluate(unknowns, &shapes.all);
        let middle = self.evaluate(unknowns, &shapes.middle);
        for ((f, m), b) in value.f.iter_mut().zip(&middle.f).zip(&value.by_beta) {
            *f = common(*f, *m + *b * shapes.shift);
        }
        value
    }
}

/// The kernel over an interval of beta and in its middle.
pub(super) struct Over {
    pub(super) all: Shapes,
    middle: Shapes,
    shift: Interval,
}

impl Over {
    /// For all beta in an interval.
    pub(super) fn new(beta: Interval) -> Self {
        let middle = Interval::exact(beta.mid());
        Self { all: Shapes::new(beta), middle: Shapes::new(middle), shift: beta - middle }
    }
}

/// A unit that pulls on another: the distance from the first to the last of both in the order.
struct Pull {
    own: usize,
    other: usize,
    distance: Interval,
    over: Shape,
    first: usize,
    last: usize,
}

/// The distances between the clusters of two units, from that between their middles.
fn offsets(one: bool, g: Interval, two: bool, h: Interval) -> Vec<Interval> {
    let half = Interval::exact(0.5);
    let ends = |pair: bool, g: Interval| {
        if pair { vec![-(half * g), half * g] } else { vec![Interval::ZERO] }
    };
    let (first, second) = (ends(one, g), ends(two, h));
    first.iter().flat_map(|a| second.iter().map(move |b| *a + *b)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, Over, System, Unit};
    use crate::num::interval::Interval;
    use crate::num::stream::Stream;

    /// Forces on the first units, then quotients, by the definitions.
    fn plain(system: &System, z: &[f64], beta: f64) -> Vec<f64> {
        let gaps = system.distances();
        let (mut at, mut tokens, mut pair) = (0.0, Vec::new(), gaps);
        for (x, unit) in system.units.iter().enumerate() {
            if unit.kind == Kind::Pair {
                let g = z[pair].sqrt();
                pair += 1;
                tokens.push((x, at - 0.5 * g, unit.mass));
                tokens.push((x, at + 0.5 * g, unit.mass));
            } else {
                tokens.push((x, at, unit.mass));
            }
            at += std::f64::consts::TAU * z.get(x).copied().unwrap_or(0.0);
        }
        let u = |d: f64| (beta * (d.cos() - 1.0)).exp() * d.sin();
        let w = |d: f64| (beta * (d.cos() - 1.0)).exp() * (d.cos() - beta * d.sin().powi(2));
        let force = |i: usize| -> f64 { tokens.iter().map(|t| t.2 * u(t.1 - tokens[i].1)).sum() };
        let of = |x: usize| (0..tokens.len()).filter(move |i| tokens[*i].0 == x);
        let mut found: Vec<f64> =
            (0..gaps).map(|l| (0..=l).flat_map(of).map(|i| tokens[i].2 * force(i)).sum()).collect();
        for (x, unit) in system.units.iter().enumerate() {
            let own: Vec<usize> = of(x).collect();
            match unit.kind {
                Kind::Single => {}
                Kind::Watched => {
                    found.push(tokens.iter().map(|t| t.2 * w(t.1 - tokens[own[0]].1)).sum())
                }
                Kind::Pair => found
                    .push((force(own[0]) - force(own[1])) / (tokens[own[1]].1 - tokens[own[0]].1)),
            }
        }
        found
    }

    #[test]
    fn equations_and_derivatives_contain_the_definitions() {
        let unit = |mass, kind| Unit { mass, kind };
        let systems = [
            vec![unit(2.0, Kind::Pair), unit(1.0, Kind::Single), unit(1.0, Kind::Single)],
            vec![unit(3.0, Kind::Single), unit(1.0, Kind::Pair), unit(1.0, Kind::Pair)],
            vec![unit(1.0, Kind::Single), unit(4.0, Kind::Watched), unit(1.0, Kind::Pair)],
        ];
        let mut stream = Stream::new(3, &["branch systems"]);
        for k in 0..600 {
            let system = System { units: systems[k % 3].clone() };
            let beta = stream.uniform_in(0.1, 4.0);
            let z: Vec<f64> = (0..system.unknowns())
                .map(|x| {
                    let small = x >= system.distances();
                    if small { stream.uniform_in(0.01, 0.2) } else { stream.uniform_in(0.15, 0.4) }
                })
                .collect();
            let width = 1e-3;
            let boxed: Vec<Interval> = z.iter().map(|v| Interval::new(*v, v + width)).collect();
            let over = Over::new(Interval::new(beta, beta + width));
            let value = system.evaluate_over(&boxed, &over);
            let inside: Vec<f64> =
                z.iter().map(|v| v + width * stream.uniform_in(0.0, 1.0)).collect();
            let b = beta + width * stream.uniform_in(0.0, 1.0);
            let near = |x: Interval, v: f64, slack: f64| {
                assert!(x.lo() - slack <= v && v <= x.hi() + slack, "{k} {x:?} {v}");
            };
            for (f, wanted) in value.f.iter().zip(plain(&system, &inside, b)) {
                near(*f, wanted, 1e-11);
            }
            let h = 1e-5;
            for m in 0..z.len() {
                let (mut up, mut down) = (inside.clone(), inside.clone());
                (up[m], down[m]) = (up[m] + h, down[m] - h);
                let (up, down) = (plain(&system, &up, b), plain(&system, &down, b));
                for (row, (p, q)) in value.by.iter().zip(up.iter().zip(&down)) {
                    near(row[m], (p - q) / (2.0 * h), 2e-5);
                }
            }
            let (up, down) = (plain(&system, &inside, b + h), plain(&system, &inside, b - h));
            for (row, (p, q)) in value.by_beta.iter().zip(up.iter().zip(&down)) {
                near(*row, (p - q) / (2.0 * h), 1e-6);
            }
        }
    }
}
