//! Two clusters of different masses opposite to a third one: a pitchfork, because a reflection
//! exchanges both orders.
//!
//! The clusters with the masses `m_1`, `m_2` have the places `p_i g` from their centre of mass, and
//! this is `g eta` away from the point opposite to the third cluster, of mass M. The pull of M at
//! the distance `pi - x` is `x V(x^2)`, and that of the clusters on each other is `g U(g^2)`; U and
//! V are smooth. With `x_i = p_i + eta` and `t = g^2`, the equations of equilibrium divided by g
//! are `sum_i m_i x_i V(t x_i^2) = 0` and `q = 0` for
//! `q = (m_1 + m_2) U(t) + M (x_1 V(t x_1^2) - x_2 V(t x_2^2))`. They have no symmetry left: at
//! `t = 0` they say that eta is 0 and that the second derivative for splitting the cluster is 0.
//! If `m_1` or `m_2` is the parameter, the centre of mass is that for a typical value of it, and
//! eta is `-(m_1 p_1 + m_2 p_2) / (m_1 + m_2)` at `t = 0`, but for a sign.

use super::super::cell::Mass;
use super::even::even;
use super::shape::{Shapes, common};
use super::solve::Value;
use super::system::{Member, System};
use crate::num::interval::Interval;

impl System {
    /// The unit with two clusters, its clusters and the mass of the other one.
    fn light(&self) -> (usize, [Member; 2], Mass) {
        let own = usize::from(self.units[1].is_double());
        let members = self.units[own].members();
        (own, [members[0], members[1]], self.units[1 - own].total())
    }

    /// 1 if the third cluster comes first, else -1: the sign of eta in the places.
    fn sign(own: usize) -> Interval {
        Interval::exact(if own == 1 { 1.0 } else { -1.0 })
    }

    /// Equations and derivatives in [`Chart::OppositePair`](super::system::Chart); negative t count
    /// as 0.
    pub(super) fn evaluate_opposite_pair(&self, unknowns: &[Interval], shapes: &Shapes) -> Value {
        let (own, members, mass) = self.light();
        let (eta, sign) = (unknowns[0], Self::sign(own));
        let t = Interval::new(unknowns[1].lo().max(0.0), unknowns[1].hi().max(0.0));
        let g = t.sqrt() / Interval::TURN;
        let mut value = Value {
            f: vec![Interval::ZERO; 2],
            by: vec![vec![Interval::ZERO; 2]; 2],
            by_parameter: vec![Interval::ZERO; 2],
        };
        let parameter = shapes.parameter();
        let whole = members[0].mass.with(members[1].mass);
        let total = whole.at(parameter);
        let pull = even(shapes, 0.0, g);
        value.f[1] = total * pull.value;
        value.by[1][1] = total * pull.slope;
        value.by_parameter[1] = total * pull.by_parameter;
        if whole.varies() {
            value.by_parameter[1] = value.by_parameter[1] + pull.value;
        }
        for (member, side) in members.into_iter().zip([1.0, -1.0]) {
            let x = member.place + sign * eta;
            // The pull at pi - x is minus that at pi + x.
            let v = even(shapes, 0.5, g * x);
            let by_x = v.value + Interval::exact(2.0) * t * x.sqr() * v.slope;
            let by_t = x * x.sqr() * v.slope;
            for (row, factor, mass) in [(0, -1.0, member.mass), (1, -side, mass)] {
                let factor = Interval::exact(factor);
                let weight = factor * mass.at(parameter);
                value.f[row] = value.f[row] + weight * x * v.value;
                value.by[row][0] = value.by[row][0] + weight * sign * by_x;
                value.by[row][1] = value.by[row][1] + weight * by_t;
                value.by_parameter[row] = value.by_parameter[row] + weight * x * v.by_parameter;
                if mass.varies() {
                    value.by_parameter[row] = value.by_parameter[row] + factor * x * v.value;
                }
            }
        }
        value
    }

    /// Bounds of `(eta, t)` at the zeros with positive g, from those of the distance between the
    /// units and of g, in turns: with `mu = m_1 m_2 / (m_1 + m_2)`, the first equation is
    /// `eta (m_1 V_1 + m_2 V_2) = mu (V_1 - V_2)` but for a sign, or
    /// `eta (m_1 V_1 + m_2 V_2) = -(m_1 p_1 V_1 + m_2 p_2 V_2)` if a mass varies. `None` if V may
    /// be 0.
    pub(super) fn opposite_bounds(
        &self,
        distance: Interval,
        g: Interval,
        shapes: &Shapes,
    ) -> Option<Vec<Interval>> {
        let (own, members, _) = self.light();
        let (offset, sign) = (distance - Interval::exact(0.5), Self::sign(own));
        let v = members.map(|m| even(shapes, 0.5, m.place * g + sign * offset).value);
        let [one, two] = members.map(|m| m.mass.at(shapes.parameter()));
        let (first, second) = (one * v[0], two * v[1]);
        let below = first + second;
        if below.contains(0.0) {
            return None;
        }
        let mut eta = if self.units[own].varies() {
            -(sign * ((members[0].place * first + members[1].place * second) / below))
        } else {
            Interval::symmetric(((v[0] - v[1]) * (one * two / (one + two)) / below).mag())
        };
        if g.lo() > 0.0 {
            eta = common(eta, offset / g);
        }
        Some(vec![eta, (g * Interval::TURN).sqr()])
    }

    /// The unknowns `(eta, t)` at `t = 0`.
    pub(super) fn opposite_origin(&self, parameter: Interval) -> Vec<Interval> {
        let (own, ..) = self.light();
        let eta = if self.units[own].varies() {
            let unit = self.units[own];
            -(Self::sign(own) * (unit.moment(1, parameter) / unit.total().at(parameter)))
        } else {
            Interval::ZERO
        };
        vec![eta, Interval::ZERO]
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::cell::Mass;
    use super::super::super::kernel::Law;
    use super::super::system::{Chart, Kind, Over, System, Unit};
    use crate::num::interval::Interval;
    use crate::num::stream::Stream;

    /// The equations by their definitions: forces on two tokens and a third one; eta is relative
    /// to the centre of mass at a typical value.
    fn plain(system: &System, z: [f64; 2], p: f64) -> [f64; 2] {
        let g = z[1].sqrt();
        let (own, members, third) = system.light();
        let sign = if own == 1 { 1.0 } else { -1.0 };
        let mass = |m: Mass| m.fixed + m.varying * p;
        let x = members.map(|m| m.place.mid() + sign * z[0]);
        let (m, third) = (members.map(|m| mass(m.mass)), mass(third));
        let beta = system.law.beta(Interval::exact(p)).expect("an exponential").mid();
        let u = |d: f64| (beta * (d.cos() - 1.0)).exp() * d.sin();
        let pull = x.map(|x| third * u(std::f64::consts::PI - g * x));
        let (one, two) = (pull[0] + m[1] * u(g), pull[1] - m[0] * u(g));
        [(m[0] * pull[0] + m[1] * pull[1]) / (third * g), (one - two) / g]
    }

    #[test]
    fn equations_are_the_forces_divided_by_the_distance() {
        let mut stream = Stream::new(5, &["branches opposite"]);
        let varying = Mass { fixed: 0.0, varying: 1.0, typical: 0.5 };
        for k in 0..800 {
            let first = k % 2 == 0;
            let mut masses =
                [Mass::fixed(1.0 + (k % 3) as f64), Mass::fixed(4.0), Mass::fixed(5.0)];
            // One of the three masses varies, or none.
            let law = match k / 2 % 4 {
                3 => Law::Exponential,
                x => {
                    masses[x] = varying;
                    Law::Fixed(0.6)
                }
            };
            let double = Unit { mass: masses[0], kind: Kind::Uneven(masses[1]) };
            let single = Unit { mass: masses[2], kind: Kind::Single };
            let units = if first { vec![single, double] } else { vec![double, single] };
            let system = System { units, chart: Chart::OppositePair, law };
            let z = [stream.uniform_in(-0.1, 0.1), stream.uniform_in(0.01, 0.1)];
            let (p, width) = (stream.uniform_in(0.1, 1.0), 1e-3);
            let boxed = z.map(|v| Interval::new(v, v + width));
            let over = Over::new(&system.law, Interval::new(p, p + width));
            let value = system.evaluate_over(&boxed, &over);
            let inside = z.map(|v| v + width * stream.uniform_in(0.0, 1.0));
            let b = p + width * stream.uniform_in(0.0, 1.0);
            let at = |z: [f64; 2], b: f64| plain(&system, z, b);
            let near = |x: Interval, v: f64, slack: f64| {
                assert!(x.lo() - slack <= v && v <= x.hi() + slack, "{k} {x:?} {v}");
                assert!(x.width() < 0.5, "{k} {x:?}");
            };
            let h = 1e-5;
            for row in 0..2 {
                near(value.f[row], at(inside, b)[row], 1e-11);
                for column in 0..2 {
                    let (mut up, mut down) = (inside, inside);
                    (up[column], down[column]) = (up[column] + h, down[column] - h);
                    let slope = (at(up, b)[row] - at(down, b)[row]) / (2.0 * h);
                    near(value.by[row][column], slope, 1e-6);
                }
                let slope = (at(inside, b + h)[row] - at(inside, b - h)[row]) / (2.0 * h);
                near(value.by_parameter[row], slope, 1e-6);
            }
        }
    }
}
