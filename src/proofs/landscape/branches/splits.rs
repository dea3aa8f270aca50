//! The second derivatives for splitting clusters on a branch that begins at a bifurcation, over
//! its whole box.
//!
//! Along the branch, `S = M w(0) + sum_V m_V w(D_V)` for a cluster of mass M with others at the
//! distances D. If S is not 0 on the box, nothing happens to the cluster there. Clusters that
//! begin to split at the bifurcation, too, and those that the split has made, have S = 0 at the
//! beginning. Then the derivative of S along the branch must have a sign: so has S beyond the
//! beginning.
//!
//! **Derivative** The distances are linear in the unknowns and in the distances g inside units.
//! For two clusters of the same mass the unknown is `t = g^2`, and for some point between, `d/dt
//! (w(D - g/2) + w(D + g/2)) = w''/4`. Near the point opposite to the cluster, `d w(pi + y) /
//! d(y^2) = w''/2` at some point between, because w is even there.

use super::super::cell::Mass;
use super::blow_up::Units;
use super::shape::Shapes;
use super::system::{Chart, Kind, Member, Unit};
use crate::num::interval::Interval;

/// A mass and its derivative by the parameter.
fn mass_of(mass: Mass, shapes: &Shapes) -> (Interval, Interval) {
    let slope = if mass.varies() { 1.0 } else { 0.0 };
    (mass.at(shapes.parameter()), Interval::exact(slope))
}

/// Sums S and its derivative along a branch.
struct Sum<'a> {
    shapes: &'a Shapes,
    value: Interval,
    slope: Interval,
}

impl<'a> Sum<'a> {
    /// The part of the cluster itself.
    fn new(mass: Mass, shapes: &'a Shapes) -> Self {
        let (own, by) = shapes.own().unwrap_or((Interval::exact(1.0), Interval::ZERO));
        let (mass, by_mass) = mass_of(mass, shapes);
        Self { shapes, value: mass * own, slope: by_mass * own + mass * by }
    }

    /// Adds a cluster at a distance in turns; `moved` is what the motion of both adds to the
    /// derivative of w.
    fn add(&mut self, mass: Mass, distance: Interval, moved: Interval) {
        let (shape, (mass, by_mass)) = (self.shapes.at(distance), mass_of(mass, self.shapes));
        self.value = self.value + mass * shape.w;
        self.slope = self.slope + by_mass * shape.w + mass * (shape.w_by + moved);
    }

    /// Adds a cluster at a distance in turns that changes at a rate in radians.
    fn add_at(&mut self, mass: Mass, distance: Interval, rate: Interval) {
        let moved = self.shapes.at(distance).w1 * rate;
        self.add(mass, distance, moved);
    }
}

impl Units {
    /// S and its derivative along the branch for every cluster that forms a unit by itself or is
    /// one of two different ones, by the number of the cluster; slopes are the derivatives of the
    /// unknowns. `None` for one of two equal clusters. In [`Chart::OppositePair`] only that of the
    /// third cluster: see [`Units::pair_stays`].
    pub(super) fn splits(
        &self,
        unknowns: &[Interval],
        slopes: &[Interval],
        shapes: &Shapes,
    ) -> Vec<(usize, Option<(Interval, Interval)>)> {
        let units = &self.system.units;
        if self.system.chart != Chart::Distances {
            let far = usize::from(units[0].kind != Kind::Single);
            let sum = self.opposite_to(far, unknowns, slopes, shapes);
            return vec![(self.first(far), Some((sum.value, sum.slope)))];
        }
        let mut all = Vec::new();
        for (a, unit) in units.iter().enumerate() {
            for (x, own) in unit.members().into_iter().enumerate() {
                let known = unit.kind != Kind::Pair;
                let sum = known.then(|| self.of_member((a, x, own), unknowns, slopes, shapes));
                let cluster = (self.first(a) + x) % self.count();
                all.push((cluster, sum.map(|s| (s.value, s.slope))));
            }
        }
        all
    }

    /// S of a cluster opposite to all others.
    fn opposite_to<'a>(
        &self,
        far: usize,
        unknowns: &[Interval],
        slopes: &[Interval],
        shapes: &'a Shapes,
    ) -> Sum<'a> {
        let (units, half) = (&self.system.units, Interval::exact(0.5));
        let mut sum = Sum::new(units[far].mass, shapes);
        let t = unknowns.len() - 1;
        let square = Interval::new(unknowns[t].lo().max(0.0), unknowns[t].hi().max(0.0));
        let g = square.sqrt() / Interval::TURN;
        let triple = self.system.chart == Chart::OppositeTriple;
        // The offset eta moves both clusters.
        let sign = Interval::exact(if far == 0 { 1.0 } else { -1.0 });
        let (offset, by) = match triple {
            true => (Interval::ZERO, Interval::ZERO),
            false => (sign * unknowns[0], sign * slopes[0]),
        };
        for Member { mass, place } in units[1 - far].members() {
            let x = place + offset;
            let y = g * x;
            // d(y^2) for y in radians.
            let rate = slopes[t] * x.sqr() + Interval::exact(2.0) * square * x * by;
            let between = shapes.at(half + Interval::new(y.lo().min(0.0), y.hi().max(0.0)));
            sum.add(mass, half + y, between.w2 * half * rate);
        }
        sum
    }

    /// S of a cluster of a unit.
    fn of_member<'a>(
        &self,
        (a, x, own): (usize, usize, Member),
        unknowns: &[Interval],
        slopes: &[Interval],
        shapes: &'a Shapes,
    ) -> Sum<'a> {
        let units: &[Unit] = &self.system.units;
        let (n, distances) = (units.len(), self.system.distances());
        let mut sum = Sum::new(own.mass, shapes);
        // Distances inside units in turns, with their derivatives in radians; of a pair, that of
        // t.
        let mut apart = vec![(Interval::ZERO, Interval::ZERO); n];
        let doubles = self.system.doubles();
        for ((u, t), slope) in doubles.iter().zip(&unknowns[distances..]).zip(&slopes[distances..])
        {
            let t = Interval::new(t.lo().max(0.0), t.hi().max(0.0));
            let g = if units[*u].kind == Kind::Pair { t.sqrt() } else { t };
            apart[*u] = (g / Interval::TURN, *slope);
        }
        let inside = |u: usize| match units[u].kind {
            Kind::Uneven(_) => apart[u],
            _ => (Interval::ZERO, Interval::ZERO),
        };
        let (g, slope) = inside(a);
        for (y, other) in units[a].members().into_iter().enumerate().filter(|(y, _)| *y != x) {
            let way = Interval::exact(if y > x { 1.0 } else { -1.0 });
            sum.add_at(other.mass, way * g, way * slope);
        }
        for b in (0..n).filter(|b| *b != a) {
            let (low, high) = (a.min(b), a.max(b));
            let over =
                |all: &[Interval]| all[low..high].iter().fold(Interval::ZERO, |sum, v| sum + *v);
            let way = Interval::exact(if b > a { 1.0 } else { -1.0 });
            // From the cluster to the centre of the other unit.
            let distance = way * over(unknowns) - own.place * g;
            let rate = way * over(slopes) * Interval::TURN - own.place * slope;
            let (far, by) = inside(b);
            for Member { mass, place } in units[b].members() {
                if units[b].kind != Kind::Pair {
                    sum.add_at(mass, distance + place * far, rate + place * by);
                    continue;
                }
                let (own, by_square) = apart[b];
                let wide =
                    shapes.at(distance + Interval::symmetric((own * Interval::exact(0.5)).hi()));
                let at = distance + place * own;
                // Half of the derivative of both by t.
                let bend = wide.w2 * by_square * Interval::exact(0.125);
                let moved = shapes.at(at).w1 * rate + bend;
                sum.add(mass, at, moved);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::cell::Mass;
    use super::super::super::kernel::Law;
    use super::super::blow_up::Units;
    use super::super::shape::Shapes;
    use crate::num::interval::Interval;
    use crate::num::stream::Stream;

    fn w(d: f64, beta: f64) -> f64 {
        (beta * (d.cos() - 1.0)).exp() * (d.cos() - beta * d.sin() * d.sin())
    }

    /// S of a cluster from the gaps.
    fn plain(masses: &[f64], gaps: &[f64], c: usize, beta: f64) -> f64 {
        let k = masses.len();
        let mut place = vec![0.0; k];
        (1..k).for_each(|x| place[x] = place[x - 1] + std::f64::consts::TAU * gaps[x - 1]);
        let others = (0..k).filter(|x| *x != c);
        masses[c] + others.map(|x| masses[x] * w(place[x] - place[c], beta)).sum::<f64>()
    }

    fn units_of(trial: usize, masses: &[Mass]) -> Units {
        let law = Law::Exponential;
        match trial % 4 {
            0 => Units::new(masses, &[1], &law).expect("units"),
            1 => Units::new(masses, &[0], &law).expect("units"),
            2 => Units::new(masses, &[3], &law).expect("units"),
            _ => Units::new(masses, &[], &law).expect("units"),
        }
    }

    #[test]
    fn sums_and_their_derivatives_contain_the_definitions() {
        let mut s = Stream::new(9, &["branch splits"]);
        for trial in 0..600 {
            // Pairs of equal and of different masses; two opposite to a third; three to a fourth.
            let (masses, units) = match trial % 6 {
                4 => {
                    let m = [3.0, 5.0, 4.0].map(Mass::fixed);
                    let units =
                        Units::new(&m, &[0], &Law::Exponential).and_then(|u| u.opposite_pair());
                    (vec![3.0, 5.0, 4.0], units.expect("opposite units"))
                }
                5 => {
                    let m = [4.0, 1.0, 1.0, 1.0].map(Mass::fixed);
                    let units =
                        Units::opposite_triple(&m, &Law::Exponential).expect("three clusters");
                    (vec![4.0, 1.0, 1.0, 1.0], units)
                }
                x => {
                    let m = vec![2.0, 1.0, 1.0, 3.0, 2.0 + x as f64];
                    let own: Vec<Mass> = m.iter().copied().map(Mass::fixed).collect();
                    (m, units_of(x, &own))
                }
            };
            let start: Vec<f64> = match trial % 6 {
                4 => vec![s.uniform_in(-0.1, 0.1), s.uniform_in(0.02, 0.2)],
                5 => vec![s.uniform_in(0.02, 0.2)],
                _ => {
                    let distances = units.system.distances();
                    let doubles = units.system.doubles().len();
                    let least = |x: usize| if x < distances { (0.15, 0.2) } else { (0.02, 0.2) };
                    (0..distances + doubles).map(|x| s.uniform_in(least(x).0, least(x).1)).collect()
                }
            };
            let slopes: Vec<f64> = start.iter().map(|_| s.uniform_in(-1.0, 1.0)).collect();
            let beta = s.uniform_in(0.3, 3.0);
            // The branch is a line through the start.
            let at = |p: f64| -> (Vec<f64>, f64) {
                (start.iter().zip(&slopes).map(|(z, v)| z + (p - beta) * v).collect(), p)
            };
            let exact = |v: &[f64]| v.iter().map(|v| Interval::exact(*v)).collect::<Vec<_>>();
            let value = |c: usize, p: f64| {
                let (z, p) = at(p);
                let gaps: Vec<f64> = units.gaps(&exact(&z)).iter().map(|g| g.mid()).collect();
                plain(&masses, &gaps, c, p)
            };
            let width = 1e-4;
            let boxed: Vec<Interval> =
                start.iter().map(|z| Interval::new(z - width, z + width)).collect();
            let shapes = Shapes::new(&Law::Exponential, Interval::new(beta - width, beta + width));
            for (c, found) in units.splits(&boxed, &exact(&slopes), &shapes) {
                let Some((sum, slope)) = found else { continue };
                let wanted = value(c, beta);
                assert!(sum.contains(wanted) && sum.width() < 0.2, "{trial} {c} {sum:?} {wanted}");
                let h = 1e-5;
                let rate = (value(c, beta + h) - value(c, beta - h)) / (2.0 * h);
                let near = slope.lo() - 1e-6 <= rate && rate <= slope.hi() + 1e-6;
                assert!(near && slope.width() < 20.0, "{trial} {c} {slope:?} {rate}");
            }
        }
    }
}
