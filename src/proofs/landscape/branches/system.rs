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
//! Two clusters of different masses are described by their centre of mass and g itself. With
//! `mu = m_1 / (m_1 + m_2)`, the quotient has the mean of w over the distances from both, and its
//! derivative by g is `(1/2 - mu) w' + g (1/3 - mu + mu^2) w''`. If one of the masses is the
//! parameter, the centre of mass is that for a typical value, so that it does not depend on it.
//!
//! The unknowns are the distances between the centres of neighbouring units in turns,
//! without the last one, then the t of pairs in squared radians and the g of others in radians. The
//! equations are the forces on the first `1, 2, ...` units, then the quotients.

use super::super::cell::Mass;
use super::super::kernel::Law;
use super::jet::{Jet, Two, pull_by_own};
use super::shape::{Shapes, common};
use super::solve::Value;
use crate::num::interval::Interval;

/// What is asked of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// One cluster.
    Single,
    /// Two clusters of the same mass.
    Pair,
    /// Two clusters; the mass of the second.
    Uneven(Mass),
    /// Three clusters of the same mass at the same distance: the second unit, opposite to the
    /// first.
    Triple,
    /// One cluster; the second derivative for splitting it is an equation.
    Watched,
}

/// A unit: the mass of its first cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub(super) mass: Mass,
    pub(super) kind: Kind,
}

/// A cluster of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) mass: Mass,
    /// The place relative to the centre in units of the distance of the clusters.
    pub(super) place: Interval,
}

impl Unit {
    /// The clusters.
    pub(super) fn members(self) -> Vec<Member> {
        let half = Interval::exact(0.5);
        let member = |mass: Mass, place: Interval| Member { mass, place };
        let m = self.mass;
        match self.kind {
            Kind::Single | Kind::Watched => vec![member(m, Interval::ZERO)],
            Kind::Pair => vec![member(m, -half), member(m, half)],
            Kind::Uneven(second) => {
                let (own, other) = (Interval::exact(m.typical), Interval::exact(second.typical));
                let all = Interval::exact(m.typical + second.typical);
                vec![member(m, -(other / all)), member(second, own / all)]
            }
            Kind::Triple => {
                vec![member(m, -half - half), member(m, Interval::ZERO), member(m, half + half)]
            }
        }
    }

    /// Mass of all clusters.
    pub(super) fn total(self) -> Mass {
        self.members().into_iter().map(|m| m.mass).fold(Mass::fixed(0.0), Mass::with)
    }

    /// Whether a mass is the parameter.
    pub(super) fn varies(self) -> bool {
        self.mass.varies() || matches!(self.kind, Kind::Uneven(second) if second.varies())
    }

    /// The place of the first and of the last cluster, in units of their distance.
    pub(super) fn ends(self) -> (Interval, Interval) {
        let members = self.members();
        (members[0].place, members[members.len() - 1].place)
    }

    /// Whether it has two clusters.
    pub(super) fn is_double(self) -> bool {
        matches!(self.kind, Kind::Pair | Kind::Uneven(_))
    }

    /// `sum_i m_i p_i^k` over the places of its clusters, for k = 1 or 2.
    pub(super) fn moment(self, k: usize, parameter: Interval) -> Interval {
        let power = |p: Interval| if k == 2 { p.sqr() } else { p };
        let members = self.members();
        let terms = members.iter().map(|m| m.mass.at(parameter) * power(m.place));
        terms.fold(Interval::ZERO, |sum, term| sum + term)
    }

    /// `m_1 m_2 / (m_1 + m_2)` of two clusters whose masses are fixed.
    fn reduced(self) -> Interval {
        let own = self.mass.fixed;
        match self.kind {
            Kind::Uneven(second) => {
                Interval::exact(own * second.fixed) / Interval::exact(own + second.fixed)
            }
            _ => Interval::exact(0.5 * own),
        }
    }
}

/// What the unknowns of a system mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chart {
    /// The distances between the centres of neighbouring units, without the last one, then t or g
    /// of the units with two clusters.
    Distances,
    /// The offset eta and t of two different clusters opposite to a third one (`opposite.rs`).
    OppositePair,
    /// The t of three clusters at equal distances opposite to a fourth one (`triple.rs`).
    OppositeTriple,
}

/// Units in cyclic order.
#[derive(Clone, Debug)]
pub(super) struct System {
    pub(super) units: Vec<Unit>,
    pub(super) chart: Chart,
    pub(super) law: Law,
}

/// Distance in turns from which derivatives are also computed as those of a quotient.
const CLEAR: f64 = 1e-4;

/// The product of two masses, and its derivative by the parameter if it depends on it.
fn product(m: Mass, k: Mass, parameter: Interval) -> (Interval, Option<Interval>) {
    match (m.varies(), k.varies()) {
        // Products of whole numbers are exact.
        (false, false) => (Interval::exact(m.fixed * k.fixed), None),
        (true, _) => (m.at(parameter) * k.at(parameter), Some(k.at(parameter))),
        (false, true) => (m.at(parameter) * k.at(parameter), Some(m.at(parameter))),
    }
}

/// An interval over a whole number.
fn over(v: Interval, divisor: f64) -> Interval {
    v / Interval::exact(divisor)
}

/// What the equations are made of, over a box.
struct Parts<'a> {
    /// Distances of the clusters in a unit, in turns.
    apart: Vec<Interval>,
    doubles: Vec<usize>,
    quotients: Vec<usize>,
    shapes: &'a Shapes,
}

impl System {
    /// Number of distances.
    pub(super) fn distances(&self) -> usize {
        self.units.len() - 1
    }

    /// The number of the first unknown that is a distance inside a unit, or its square.
    pub(super) fn first_inside(&self) -> usize {
        match self.chart {
            Chart::OppositeTriple => 0,
            Chart::Distances | Chart::OppositePair => self.distances(),
        }
    }

    /// The units with two clusters.
    pub(super) fn doubles(&self) -> Vec<usize> {
        (0..self.units.len()).filter(|u| self.units[*u].is_double()).collect()
    }

    /// Equations and derivatives over a box. For negative t or g they are continued by a constant
    /// slope, `F(0) + t F_t(0)`.
    pub(super) fn evaluate(&self, unknowns: &[Interval], shapes: &Shapes) -> Value {
        let mut value = match self.chart {
            Chart::Distances => self.evaluate_units(unknowns, shapes),
            Chart::OppositePair => self.evaluate_opposite_pair(unknowns, shapes),
            Chart::OppositeTriple => self.evaluate_opposite_triple(unknowns, shapes),
        };
        for (x, t) in unknowns.iter().enumerate().skip(self.first_inside()) {
            if t.lo() < 0.0 {
                let below = Interval::new(t.lo(), t.hi().min(0.0));
                for (f, by) in value.f.iter_mut().zip(&value.by) {
                    *f = *f + by[x] * below;
                }
            }
        }
        value
    }

    /// Equations and derivatives of units; negative t or g count as 0.
    fn evaluate_units(&self, unknowns: &[Interval], shapes: &Shapes) -> Value {
        let (n, gaps) = (self.units.len(), self.distances());
        let doubles = self.doubles();
        let mut apart = vec![Interval::ZERO; n];
        for (p, t) in doubles.iter().zip(&unknowns[gaps..]) {
            let t = Interval::new(t.lo().max(0.0), t.hi().max(0.0));
            let g = if self.units[*p].kind == Kind::Pair { t.sqrt() } else { t };
            apart[*p] = g / Interval::TURN;
        }
        let quotients: Vec<usize> =
            (0..n).filter(|u| self.units[*u].kind != Kind::Single).collect();
        let (rows, columns) = (gaps + quotients.len(), gaps + doubles.len());
        let mut value = Value {
            f: vec![Interval::ZERO; rows],
            by: vec![vec![Interval::ZERO; columns]; rows],
            by_parameter: vec![Interval::ZERO; rows],
        };
        let parts = Parts { apart, doubles, quotients, shapes };
        for a in 0..n {
            let mut distance = Interval::ZERO;
            for b in a + 1..n {
                distance = distance + unknowns[b - 1];
                self.add_pull(&mut value, (a, b), distance, &parts);
                for (own, other) in [(a, b), (b, a)] {
                    if parts.quotients.contains(&own) {
                        self.add_quotient(&mut value, (own, other), distance, &parts);
                    }
                }
            }
        }
        for own in parts.quotients.clone() {
            self.add_own(&mut value, own, &parts);
        }
        value
    }

    /// The kernel for all values of the parameter in an interval.
    pub(super) fn shapes(&self, parameter: Interval) -> Shapes {
        Shapes::new(&self.law, parameter)
    }

    /// The largest distance of a cluster of a unit from its centre, in turns.
    fn reach(&self, unit: usize, parts: &Parts) -> f64 {
        let (first, last) = self.units[unit].ends();
        let size = Interval::exact(first.mag().max(last.mag()));
        (size * Interval::exact(parts.apart[unit].hi())).hi()
    }

    /// Coefficients over all distances between the clusters of two units, if one has two clusters.
    fn jet_between(
        &self,
        (a, b): (usize, usize),
        distance: Interval,
        reach: f64,
        parts: &Parts,
    ) -> Option<Jet> {
        let double = self.units[a].is_double() || self.units[b].is_double();
        double.then(|| parts.shapes.jet(distance + Interval::symmetric(reach)))
    }

    /// Adds the pull between two units to the forces.
    fn add_pull(
        &self,
        value: &mut Value,
        (a, b): (usize, usize),
        distance: Interval,
        parts: &Parts,
    ) {
        let (one, two, gaps) = (self.units[a], self.units[b], self.distances());
        let reach = (self.reach(a, parts) + self.reach(b, parts)).next_up();
        let wide = parts.shapes.at(distance + Interval::symmetric(reach));
        let turn = Interval::TURN;
        let (mut pull, mut stiff, mut by_parameter) =
            (Interval::ZERO, Interval::ZERO, Interval::ZERO);
        // Derivatives by the distances inside both units, in radians, and by series.
        let (mut inside, mut series) = ([Interval::ZERO; 2], [Interval::ZERO; 2]);
        for Member { mass: m, place: from } in one.members() {
            for Member { mass: k, place: to } in two.members() {
                let (mass, slope) = product(m, k, parts.shapes.parameter());
                let shape = if one.is_double() || two.is_double() {
                    let shift = to * parts.apart[b] - from * parts.apart[a];
                    parts.shapes.at(distance + shift)
                } else {
                    wide
                };
                pull = pull + shape.u * mass;
                stiff = stiff + shape.w * mass * turn;
                by_parameter = by_parameter + shape.u_by * mass;
                if let Some(slope) = slope {
                    by_parameter = by_parameter + shape.u * slope;
                }
                inside = [inside[0] - from * shape.w * mass, inside[1] + to * shape.w * mass];
            }
        }
        let between = self.jet_between((a, b), distance, reach, parts);
        for (own, other, sign) in [(a, b, -1.0), (b, a, 1.0)] {
            let (unit, g) = (self.units[own], parts.apart[own] * turn);
            let place = |p: Interval| Interval::exact(sign) * p;
            let mass = |m: Member| m.mass.at(parts.shapes.parameter());
            let members: Vec<(Interval, Interval)> =
                unit.members().into_iter().map(|m| (mass(m), place(m.place))).collect();
            let kind = (unit.kind == Kind::Pair, !unit.varies());
            let slot = usize::from(own == b);
            for Member { mass, place } in self.units[other].members() {
                let Some(between) = between.as_ref().filter(|_| unit.is_double()) else { break };
                let shift = Interval::exact(-sign) * place * parts.apart[other];
                let at = parts.shapes.jet(distance + shift);
                let own = pull_by_own(&members, &at, between, g, kind);
                series[slot] = series[slot] + own * mass.at(parts.shapes.parameter());
            }
        }
        let by_double = |own: usize, other: Unit| {
            let slot = usize::from(own == b);
            if self.units[own].varies() {
                return common(inside[slot], series[slot]);
            }
            let mass = self.units[own].reduced() * other.total().at(parts.shapes.parameter());
            let slope = wide.w1 * mass;
            let (g, direct) = (parts.apart[own], inside[slot]);
            let (slope, direct) = match self.units[own].kind {
                // reduced = m / 2, and dt = 2 g dg.
                Kind::Pair => (slope * Interval::exact(0.5), direct / (g * turn + g * turn)),
                _ => (slope * g * turn, direct),
            };
            let slope = common(slope, series[slot]);
            if g.lo() > CLEAR { common(slope, direct) } else { slope }
        };
        for l in a..b {
            value.f[l] = value.f[l] + pull;
            value.by_parameter[l] = value.by_parameter[l] + by_parameter;
            for m in a..b {
                value.by[l][m] = value.by[l][m] + stiff;
            }
            for (column, p) in parts.doubles.iter().enumerate() {
                let slope = match () {
                    () if *p == a => by_double(a, two),
                    () if *p == b => by_double(b, one),
                    () => continue,
                };
                let entry = &mut value.by[l][gaps + column];
                *entry = *entry + slope;
            }
        }
    }

    /// Adds what one unit contributes to the quotient of another: masses times means of w over the
    /// distances from both clusters.
    fn add_quotient(
        &self,
        value: &mut Value,
        (own, other): (usize, usize),
        distance: Interval,
        parts: &Parts,
    ) {
        let (gaps, turn, shapes) = (self.distances(), Interval::TURN, parts.shapes);
        let row = gaps + parts.quotients.iter().position(|q| *q == own).unwrap_or_default();
        let (unit, pulls) = (self.units[own], self.units[other]);
        let reach = (self.reach(own, parts) + self.reach(other, parts)).next_up();
        let wide = shapes.at(distance + Interval::symmetric(reach));
        let g = parts.apart[own];
        let radians = g * turn;
        // The distances from both clusters, from that to the centre of mass; backwards for a unit
        // that comes before.
        let (first, last) = unit.ends();
        let (near, far) = if other > own { (-last, -first) } else { (first, last) };
        // The means of s + near and of its square for s in [0, 1].
        let lean = near + Interval::exact(0.5);
        let spread = over(Interval::exact(1.0), 3.0) + near + near.sqr();
        let clear = unit.is_double() && g.lo() > CLEAR;
        let even = unit.kind == Kind::Pair;
        let series = self
            .jet_between((own, other), distance, reach, parts)
            .filter(|_| unit.is_double())
            .map(|between| (Two::new((near, far), radians, even), between));
        let (mut by_own, mut by_place, mut by_distance) =
            (Interval::ZERO, Interval::ZERO, Interval::ZERO);
        for Member { mass: of, place } in pulls.members() {
            let mass = of.at(shapes.parameter());
            let shift = place * parts.apart[other];
            let at = if other > own { distance + shift } else { distance - shift };
            let middle = shapes.at(at);
            let mut mean = middle.w;
            let series = series.as_ref().map(|(two, between)| {
                let at = shapes.jet(at);
                (two.mean(&at, between), two.by_distance(&at, between), two.by_own(&at, between))
            });
            if let Some((sum, ..)) = series {
                mean = mean
                    + lean * radians * middle.w1
                    + radians.sqr() * spread * wide.w2 * Interval::exact(0.5);
                mean = common(mean, sum);
                if g.lo() > 1e-9 {
                    let ends = shapes.at(at + far * g).u - shapes.at(at + near * g).u;
                    mean = common(mean, ends / radians);
                }
            }
            value.f[row] = value.f[row] + mass * mean;
            let mut slope = match unit.kind {
                Kind::Pair => over(wide.w2, 24.0),
                _ => lean * middle.w1 + radians * spread * wide.w2,
            };
            let (mut bend, mut by_parameter) = (wide.w1, wide.w_by);
            if let Some((_, by_distance, by_own)) = series {
                (bend, slope) = (common(bend, by_distance), common(slope, by_own));
            }
            if clear {
                // The quotient rule; dt = 2 g dg.
                let (ends, starts) = (shapes.at(at + far * g), shapes.at(at + near * g));
                let (w_far, w_near) = (ends.w, starts.w);
                by_parameter = common(by_parameter, (ends.u_by - starts.u_by) / radians);
                bend = common(bend, (w_far - w_near) / radians);
                let direct = (far * w_far - near * w_near - mean) / radians;
                slope = common(
                    slope,
                    if unit.kind == Kind::Pair { direct / (radians + radians) } else { direct },
                );
            }
            value.by_parameter[row] = value.by_parameter[row] + mass * by_parameter;
            if of.varies() {
                value.by_parameter[row] = value.by_parameter[row] + mean;
            }
            by_own = by_own + mass * slope;
            by_place = by_place + mass * place * bend;
            by_distance = by_distance + mass * bend * turn;
        }
        for m in own.min(other)..own.max(other) {
            value.by[row][m] = value.by[row][m] + by_distance;
        }
        for (column, p) in parts.doubles.iter().enumerate() {
            let slope = match () {
                () if *p == own => by_own,
                () if *p == other && pulls.varies() => {
                    if other > own {
                        by_place
                    } else {
                        -by_place
                    }
                }
                () if *p == other => {
                    let slope = pulls.reduced() * wide.w2;
                    let g = parts.apart[other];
                    let by_place = if other > own { by_place } else { -by_place };
                    let (slope, direct) = match pulls.kind {
                        Kind::Pair => {
                            (slope * Interval::exact(0.5), by_place / (g * turn + g * turn))
                        }
                        _ => (slope * g * turn, by_place),
                    };
                    let slope = match &series {
                        Some((two, between)) if even && pulls.kind == Kind::Pair => {
                            let mean = two.bend_of_pair(&shapes.jet(distance), between, g * turn);
                            common(slope, pulls.reduced() * mean * Interval::exact(0.5))
                        }
                        _ => slope,
                    };
                    if g.lo() > CLEAR { common(slope, direct) } else { slope }
                }
                () => continue,
            };
            let entry = &mut value.by[row][gaps + column];
            *entry = *entry + slope;
        }
    }

    /// Adds the pull of the clusters of a unit on each other to its quotient.
    fn add_own(&self, value: &mut Value, own: usize, parts: &Parts) {
        let gaps = self.distances();
        let row = gaps + parts.quotients.iter().position(|q| *q == own).unwrap_or_default();
        let (unit, total) = (self.units[own], self.units[own].total());
        let mass = total.at(parts.shapes.parameter());
        let weight = parts.shapes.own();
        let coincident = weight.map_or(Interval::exact(1.0), |w| w.0);
        if !unit.is_double() {
            value.f[row] = value.f[row] + weight.map_or(mass, |w| mass * w.0);
            if let Some((_, by_parameter)) = weight {
                value.by_parameter[row] = value.by_parameter[row] + mass * by_parameter;
            }
            if total.varies() {
                value.by_parameter[row] = value.by_parameter[row] + coincident;
            }
            return;
        }
        let g = parts.apart[own];
        let (at, between) = (Interval::ZERO, Interval::new(0.0, g.hi()));
        let (at, between) = (parts.shapes.jet(at), parts.shapes.jet(between));
        let ends = (Interval::ZERO, Interval::exact(1.0));
        let two = Two::new(ends, g * Interval::TURN, unit.kind == Kind::Pair);
        let wide = parts.shapes.at(Interval::new(0.0, g.hi()));
        let radians = g * Interval::TURN;
        let mut pull = coincident + over(radians.sqr() * wide.w2, 6.0);
        let mut by_parameter = wide.w_by;
        if g.lo() > 1e-9 {
            pull = common(pull, parts.shapes.at(g).u / radians);
        }
        if g.lo() > CLEAR {
            by_parameter = common(by_parameter, parts.shapes.at(g).u_by / radians);
        }
        pull = common(pull, two.mean(&at, &between));
        let whole = common(pull, wide.w);
        value.f[row] = value.f[row] + mass * whole;
        value.by_parameter[row] = value.by_parameter[row] + mass * by_parameter;
        if total.varies() {
            value.by_parameter[row] = value.by_parameter[row] + whole;
        }
        if let Some(column) = parts.doubles.iter().position(|p| *p == own) {
            let mut slope = match unit.kind {
                Kind::Pair => over(wide.w2, 6.0),
                _ => over(radians * wide.w2, 3.0),
            };
            slope = common(slope, two.by_own(&at, &between));
            if g.lo() > CLEAR {
                let direct = (parts.shapes.at(g).w - pull) / radians;
                slope = common(
                    slope,
                    if unit.kind == Kind::Pair { direct / (radians + radians) } else { direct },
                );
            }
            let entry = &mut value.by[row][gaps + column];
            *entry = *entry + mass * slope;
        }
    }

    /// Second derivatives of the equations along a direction; no unit is a pair or watched, so the
    /// distances of all clusters are linear in the unknowns.
    ///
    /// With the mean of w'' between, that of a quotient is
    /// `w'' int (D' + (s + p) g')^2 ds = w'' ((D' + (p + 1/2) g')^2 + g'^2 / 12)`.
    pub(super) fn bend(
        &self,
        unknowns: &[Interval],
        along: &[Interval],
        shapes: &Shapes,
    ) -> Vec<Interval> {
        let (n, gaps) = (self.units.len(), self.distances());
        let mut bend = vec![Interval::ZERO; unknowns.len()];
        // Distances inside the units in turns, and their derivatives in radians.
        let mut apart = vec![(Interval::ZERO, Interval::ZERO); n];
        let doubles = self.doubles();
        for ((p, g), slope) in doubles.iter().zip(&unknowns[gaps..]).zip(&along[gaps..]) {
            apart[*p] = (Interval::new(g.lo().max(0.0), g.hi().max(0.0)) / Interval::TURN, *slope);
        }
        let hull = |at: Interval, near: Interval, far: Interval| {
            Interval::new(at.lo() + near.lo().min(far.lo()), at.hi() + near.hi().max(far.hi()))
        };
        for a in 0..n {
            let (mut distance, mut moved) = (Interval::ZERO, Interval::ZERO);
            for b in a + 1..n {
                (distance, moved) =
                    (distance + unknowns[b - 1], moved + along[b - 1] * Interval::TURN);
                for Member { mass: m, place: p } in self.units[a].members() {
                    for Member { mass: k, place: q } in self.units[b].members() {
                        let at = distance + q * apart[b].0 - p * apart[a].0;
                        let by = moved + q * apart[b].1 - p * apart[a].1;
                        let mass = product(m, k, shapes.parameter()).0;
                        let second = mass * shapes.at(at).w1 * by.sqr();
                        bend[a..b].iter_mut().for_each(|v| *v = *v + second);
                    }
                }
                for (own, other, sign) in [(a, b, 1.0), (b, a, -1.0)] {
                    let Some(row) = doubles.iter().position(|d| *d == own) else { continue };
                    let (first, last) = self.units[own].ends();
                    let (near, far) = if sign > 0.0 { (-last, -first) } else { (first, last) };
                    let (g, slope) = apart[own];
                    for Member { mass, place } in self.units[other].members() {
                        let place = Interval::exact(sign) * place;
                        let at = distance + place * apart[other].0;
                        let by = moved + place * apart[other].1;
                        let wide = shapes.at(hull(at, near * g, far * g)).w2;
                        let middle = by + (near + Interval::exact(0.5)) * slope;
                        let square = middle.sqr() + over(slope.sqr(), 12.0);
                        let mass = mass.at(shapes.parameter());
                        bend[gaps + row] = bend[gaps + row] + mass * wide * square;
                    }
                }
            }
        }
        for (row, own) in doubles.iter().enumerate() {
            let (g, slope) = apart[*own];
            let wide = shapes.at(Interval::new(0.0, g.hi())).w2;
            let mass = self.units[*own].total().at(shapes.parameter());
            bend[gaps + row] = bend[gaps + row] + mass * wide * over(slope.sqr(), 3.0);
        }
        bend
    }

    /// As [`evaluate`](Self::evaluate) with the parameter as the last unknown.
    pub(super) fn evaluate_with_parameter(&self, unknowns: &[Interval]) -> Option<Value> {
        let (parameter, rest) = unknowns.split_last()?;
        if !self.allows(*parameter) {
            return None;
        }
        let mut value = self.evaluate(rest, &self.shapes(*parameter));
        for (row, b) in value.by.iter_mut().zip(&value.by_parameter) {
            row.push(*b);
        }
        Some(value)
    }

    /// Whether the equations have bounds for all values of the parameter in an interval.
    pub(super) fn allows(&self, parameter: Interval) -> bool {
        match self.law {
            Law::Exponential => parameter.mag() <= 120.0,
            _ => parameter.is_finite(),
        }
    }

    /// Equations and derivatives over a box for all values of the parameter in an interval; values
    /// by the mean value theorem in the parameter.
    pub(super) fn evaluate_over(&self, unknowns: &[Interval], shapes: &Over) -> Value {
        let mut value = self.evaluate(unknowns, &shapes.all);
        let middle = self.evaluate(unknowns, &shapes.middle);
        for ((f, m), b) in value.f.iter_mut().zip(&middle.f).zip(&value.by_parameter) {
            *f = common(*f, *m + *b * shapes.shift);
        }
        value
    }
}

/// The kernel over an interval of the parameter and in its middle.
pub(super) struct Over {
    pub(super) all: Shapes,
    middle: Shapes,
    shift: Interval,
}

impl Over {
    /// The interval of the parameter.
    pub(super) fn parameter(&self) -> Interval {
        self.all.parameter()
    }

    /// For all values of the parameter in an interval.
    pub(super) fn new(law: &Law, parameter: Interval) -> Self {
        let middle = Interval::exact(parameter.mid());
        let shift = parameter - middle;
        Self { all: Shapes::new(law, parameter), middle: Shapes::new(law, middle), shift }
    }
}

#[cfg(test)]
mod tests;
