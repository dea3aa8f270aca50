//! Folds: two branches that end in each other.
//!
//! At a fold the derivative A of the equations G has a null vector v. With one entry of v equal to
//! 1, the equations `G = 0, A v = 0` for the gaps, the other entries of v and beta are regular, so
//! Krawczyk's test encloses a fold. Near it the critical points are a curve
//! `z = z_0 + s v + w`: for every s the equations have exactly one solution in beta and in w, where
//! the entry of w in which v is 1 is 0.

use super::super::cell::{Arrangement, Row};
use super::point::{Point, ascents, clusters_of, intervals, point, splits_have_signs};
use super::shape::Shapes;
use super::solve::{self, Value};
use super::system::{Over, System, turn};
use crate::num::interval::Interval;

/// A fold with a box in which all critical points form one curve through it.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    /// Enclosure of beta.
    pub(super) beta: Interval,
    /// Enclosures of the gaps in turns.
    pub(super) gaps: Vec<Interval>,
    around: Around,
    /// The point of the other branch at the beta where this one was left.
    pub(super) partner: Point,
    /// Directions of ascent of both branches.
    pub(super) ascents: (usize, usize),
}

/// The equations of a fold: distances, entries of v but one, and beta.
struct Equations {
    masses: Vec<f64>,
    /// The entry of v that is 1.
    fixed: usize,
}

impl Equations {
    fn evaluate(&self, unknowns: &[Interval]) -> Option<Value> {
        let n = self.masses.len() - 1;
        let beta = unknowns[2 * n - 1];
        if beta.mag() > 120.0 {
            return None;
        }
        let shapes = Shapes::new(beta);
        let mut v = unknowns[n..2 * n - 1].to_vec();
        v.insert(self.fixed, Interval::exact(1.0));
        let size = 2 * n;
        let mut value = Value {
            f: vec![Interval::ZERO; size],
            by: vec![vec![Interval::ZERO; size]; size],
            by_beta: vec![Interval::ZERO; size],
        };
        // Columns: distances, then v without its fixed entry.
        let column = |m: usize| match m {
            m if m == self.fixed => None,
            m if m < self.fixed => Some(n + m),
            m => Some(n + m - 1),
        };
        let turn = turn();
        for a in 0..n {
            let (mut distance, mut along) = (Interval::ZERO, Interval::ZERO);
            for b in a + 1..=n {
                (distance, along) = (distance + unknowns[b - 1], along + v[b - 1]);
                let mass = Interval::exact(self.masses[a] * self.masses[b]);
                let shape = shapes.at(distance);
                let (stiff, bend) = (mass * shape.w * turn, mass * shape.w1 * turn.sqr() * along);
                for l in a..b {
                    value.f[l] = value.f[l] + mass * shape.u;
                    value.f[n + l] = value.f[n + l] + stiff * along;
                    value.by[l][size - 1] = value.by[l][size - 1] + mass * shape.u_beta;
                    value.by[n + l][size - 1] =
                        value.by[n + l][size - 1] + mass * shape.w_beta * turn * along;
                    for m in a..b {
                        value.by[l][m] = value.by[l][m] + stiff;
                        value.by[n + l][m] = value.by[n + l][m] + bend;
                        if let Some(c) = column(m) {
                            value.by[n + l][c] = value.by[n + l][c] + stiff;
                        }
                    }
                }
            }
        }
        Some(value)
    }
}

/// The second derivative of the equations of single clusters along a direction.
fn bend(system: &System, z: &[Interval], along: &[Interval], shapes: &Shapes) -> Vec<Interval> {
    let n = z.len();
    let mut bend = vec![Interval::ZERO; n];
    for a in 0..n {
        let (mut distance, mut sum) = (Interval::ZERO, Interval::ZERO);
        for b in a + 1..=n {
            (distance, sum) = (distance + z[b - 1], sum + along[b - 1] * turn());
            let mass = Interval::exact(system.units[a].mass * system.units[b].mass);
            let second = mass * shapes.at(distance).w1 * sum.sqr();
            bend[a..b].iter_mut().for_each(|v| *v = *v + second);
        }
    }
    bend
}

/// Coordinates near a fold: `z = origin + s along + w`, and beta.
#[derive(Clone, Debug)]
struct Around {
    origin: Vec<f64>,
    along: Vec<f64>,
    /// The entry of `along` that is 1; that of w is 0.
    fixed: usize,
    radius: f64,
    /// Bounds of w without the fixed entry, and of beta.
    beside: Vec<Interval>,
}

impl Around {
    /// w with its fixed entry.
    fn whole(&self, beside: &[Interval]) -> Vec<Interval> {
        let mut w = beside.to_vec();
        w.insert(self.fixed, Interval::ZERO);
        w
    }

    /// The distances for values of s and w.
    fn distances(&self, s: Interval, beside: &[Interval]) -> Vec<Interval> {
        let w = self.whole(beside);
        let lines = self.origin.iter().zip(&self.along).zip(&w);
        lines.map(|((o, v), w)| Interval::exact(*o) + s * Interval::exact(*v) + *w).collect()
    }

    /// Whether distances and beta lie in the box.
    fn contains(&self, z: &[Interval], beta: Interval) -> bool {
        let s = z[self.fixed] - Interval::exact(self.origin[self.fixed]);
        let Some((span, beside)) = self.beside.split_last() else { return false };
        let w = self.whole(beside);
        s.mag() < self.radius
            && beta.inside(*span)
            && (0..z.len()).filter(|m| *m != self.fixed).all(|m| {
                let own = z[m] - Interval::exact(self.origin[m]);
                (own - s * Interval::exact(self.along[m])).inside(w[m])
            })
    }

    /// The equations on the curve for w and beta, where s is given; the derivative by s takes the
    /// place of that by beta.
    fn evaluate(&self, system: &System, s: Interval, unknowns: &[Interval]) -> Option<Value> {
        let (beta, beside) = unknowns.split_last()?;
        if beta.mag() > 120.0 {
            return None;
        }
        let mut value = system.evaluate_over(&self.distances(s, beside), &Over::new(*beta));
        for (row, by_beta) in value.by.iter_mut().zip(&mut value.by_beta) {
            let slope = row
                .iter()
                .zip(&self.along)
                .fold(Interval::ZERO, |sum, (a, v)| sum + *a * Interval::exact(*v));
            row.remove(self.fixed);
            row.push(*by_beta);
            *by_beta = slope;
        }
        Some(value)
    }

    /// Whether the equations have exactly one solution in the box for every s, by Krawczyk's test
    /// at `w = 0`. The values there are `G(z_0) + s A v + s^2 B / 2`, where B is the second
    /// derivative along v between; the matrix Y of the test is applied to B first, so that the
    /// parts of all equations move together.
    fn is_curve(&self, system: &System, centre: &[f64]) -> bool {
        let s = Interval::symmetric(self.radius);
        let point: Vec<Interval> = centre.iter().map(|c| Interval::exact(*c)).collect();
        let (Some(over), Some(start)) =
            (self.evaluate(system, s, &self.beside), self.evaluate(system, Interval::ZERO, &point))
        else {
            return false;
        };
        let Some(y) = solve::inverse(&solve::middles(&over.by)) else { return false };
        let n = self.origin.len();
        let line = self.distances(s, &point[..n - 1]);
        let along: Vec<Interval> = self.along.iter().map(|v| Interval::exact(*v)).collect();
        let bend = bend(system, &line, &along, &Shapes::new(point[n - 1]));
        let half_square = Interval::new(0.0, (0.5 * self.radius * self.radius).next_up());
        let (first, slope) = (solve::apply(&y, &start.f), solve::apply(&y, &start.by_beta));
        let (second, rest) = (solve::apply(&y, &bend), solve::defect(&y, &over.by));
        (0..n).all(|l| {
            let shifted = self.beside.iter().zip(&point);
            let moved = rest[l]
                .iter()
                .zip(shifted)
                .fold(Interval::ZERO, |sum, (r, (z, c))| sum + *r * (*z - *c));
            let image = point[l] - first[l] - s * slope[l] - half_square * second[l] + moved;
            image.inside(self.beside[l])
        })
    }
}

/// Radii in turns that are tried.
const RADII: [f64; 9] = [0.02, 8e-3, 3e-3, 1e-3, 4e-4, 1.5e-4, 5e-5, 1.5e-5, 5e-6];

impl Fold {
    /// A fold beyond a point of a branch that is followed in the given direction of beta.
    pub(super) fn beyond(arrangement: &Arrangement, from: &Point, direction: f64) -> Option<Self> {
        let n = arrangement.k - 1;
        let at =
            |p: &Point| -> Vec<f64> { p.place[..n].iter().map(|g| 0.5 * (g.0 + g.1)).collect() };
        let start = at(from);
        let point_z: Vec<Interval> = start.iter().map(|z| Interval::exact(*z)).collect();
        let shapes = Shapes::new(Interval::exact(from.beta));
        let value = clusters_of(arrangement, &[]).evaluate(&point_z, &shapes);
        // Near a fold the slope of the branch is almost the null vector.
        let y = solve::inverse(&solve::middles(&value.by))?;
        let slope = |row: &Vec<f64>| -> f64 {
            row.iter().zip(&value.by_beta).map(|(y, b)| -y * b.mid()).sum()
        };
        let slope: Vec<f64> = y.iter().map(slope).collect();
        let fixed = (0..n).max_by(|a, b| slope[*a].abs().total_cmp(&slope[*b].abs()))?;
        let mut unknowns = start.clone();
        let largest = slope[fixed];
        unknowns.extend((0..n).filter(|m| *m != fixed).map(|m| slope[m] / largest));
        unknowns.push(from.beta);
        let masses = arrangement.mass[..=n].to_vec();
        let equations = Equations { masses, fixed };
        let evaluate = |z: &[Interval]| equations.evaluate(z);
        let fold = solve::approximate(&evaluate, &unknowns)?;
        let beta = fold[2 * n - 1];
        let scale = from.beta.abs().max(0.1);
        let (gap, sum) = (&fold[..n], fold[..n].iter().sum::<f64>());
        if (beta - from.beta) * direction <= 0.0
            || (beta - from.beta).abs() > 0.1 * scale
            || gap.iter().chain([&(1.0 - sum)]).any(|g| *g <= 0.0)
        {
            return None;
        }
        RADII.iter().find_map(|radius| Self::within(arrangement, from, &equations, &fold, *radius))
    }

    /// The proof in a box of the given radius in the fixed gap.
    fn within(
        arrangement: &Arrangement,
        from: &Point,
        equations: &Equations,
        fold: &[f64],
        radius: f64,
    ) -> Option<Self> {
        let (n, fixed) = (arrangement.k - 1, equations.fixed);
        let beta = fold[2 * n - 1];
        let mut along = fold[n..2 * n - 1].to_vec();
        along.insert(fixed, 1.0);
        let origin = fold[..n].to_vec();
        let mut around = Around { origin, along, fixed, radius, beside: Vec::new() };
        let system = clusters_of(arrangement, &[]);
        let mut centre = vec![0.0; n];
        centre[n - 1] = beta;
        // The curve at both ends of the box, and how far it goes there.
        let mut reach = vec![0.0f64; n];
        for side in [-radius, radius] {
            let curve = |u: &[Interval]| around.evaluate(&system, Interval::exact(side), u);
            let end = solve::approximate(&curve, &centre)?;
            for ((r, e), c) in reach.iter_mut().zip(&end).zip(&centre) {
                *r = r.max((e - c).abs());
            }
        }
        let largest = reach.iter().copied().fold(0.0, f64::max);
        around.beside = centre
            .iter()
            .zip(&reach)
            .map(|(c, r)| {
                let r = 2.0 * r + 0.3 * largest;
                Interval::new(c - r, c + r)
            })
            .collect();
        // One point for every s.
        let s = Interval::symmetric(radius);
        let curve = |u: &[Interval]| around.evaluate(&system, s, u);
        if !around.is_curve(&system, &centre) {
            return None;
        }
        // Where the slope of beta by s is 0, its second derivative has a sign: there is at most one
        // fold on the curve.
        let value = curve(&around.beside)?;
        let right: Vec<Interval> = value.by_beta.iter().map(|v| -*v).collect();
        let slopes = solve::linear(&value.by, &right)?;
        let (span, beside) = around.beside.split_last()?;
        let hull = around.distances(s, beside);
        let directions: Vec<Interval> = around
            .whole(&slopes[..n - 1])
            .into_iter()
            .zip(&around.along)
            .map(|(w, v)| w + Interval::exact(*v))
            .collect();
        let bend = bend(&system, &hull, &directions, &Shapes::new(*span));
        let right: Vec<Interval> = bend.iter().map(|v| -*v).collect();
        if solve::linear(&value.by, &right)?[n - 1].contains(0.0) {
            return None;
        }
        let evaluate = |u: &[Interval]| equations.evaluate(u);
        let place = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10].iter().find_map(|size| {
            let all: Vec<Interval> =
                fold.iter().map(|v| Interval::new(v - size, v + size)).collect();
            solve::krawczyk(&evaluate, &all, fold)
        })?;
        let place = solve::contract(&evaluate, place);
        let mut gaps = place[..n].to_vec();
        gaps.push(gaps.iter().fold(Interval::exact(1.0), |s, g| s - *g));
        let is_in = |p: &Point| around.contains(&intervals(&p.place[..n]), Interval::exact(p.beta));
        // The other branch, on the other side of the fold.
        let mirrored: Vec<f64> =
            (0..n).map(|m| 2.0 * fold[m] - 0.5 * (from.place[m].0 + from.place[m].1)).collect();
        let mut start = mirrored;
        start.push(1.0 - start.iter().sum::<f64>());
        let (partner, _) = point(arrangement, &start, from.beta)?;
        let apart = partner.place[fixed].1 < from.place[fixed].0
            || from.place[fixed].1 < partner.place[fixed].0;
        let mut whole: Row<(f64, f64)> = from.place;
        for (w, z) in whole.iter_mut().zip(&hull) {
            *w = (z.lo(), z.hi());
        }
        let bounds = (span.lo(), span.hi());
        if !(is_in(from)
            && is_in(&partner)
            && apart
            && splits_have_signs(arrangement, &whole[..n], bounds))
        {
            return None;
        }
        let of = |p: &Point| ascents(arrangement, &p.place[..arrangement.k], (p.beta, p.beta));
        let ascents = (of(from)?, of(&partner)?);
        Some(Self { beta: place[2 * n - 1], gaps, around, partner, ascents })
    }

    /// Whether gaps and an interval of beta, or their image under a symmetry, lie in the box.
    pub(super) fn covers(
        &self,
        arrangement: &Arrangement,
        gaps: &[(f64, f64)],
        beta: (f64, f64),
    ) -> bool {
        let beta = Interval::new(beta.0, beta.1);
        arrangement.symmetries.iter().any(|(image, _)| {
            let n = self.around.origin.len();
            let z: Vec<Interval> =
                image[..n].iter().map(|x| Interval::new(gaps[*x].0, gaps[*x].1)).collect();
            self.around.contains(&z, beta)
        })
    }
}
