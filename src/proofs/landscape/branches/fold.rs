//! Folds: two branches that end in each other.
//!
//! Near a fold, beta is no coordinate of the curve of critical points, but some unknown z of its
//! equations is: for every value of this unknown, Krawczyk's test finds exactly one critical point
//! and its beta in a box. With `z = z_0 + s v + w`, where v is the direction of the curve, beta is
//! a function of s. Its second derivative has a sign wherever the first is 0, so it has at most one
//! fold in the box, and it has one because two points of the curve have the same beta.
//!
//! Clusters at a small distance are described by their centre of mass and their distance, because
//! their forces are almost equal.

use super::super::cell::Arrangement;
use super::blow_up::Units;
use super::point::{Point, ascents, intervals, point_of, splits_have_signs};
use super::solve::{self, Value};
use super::system::Over;
use crate::dense_intervals::{apply, common, defect, inverse, linear, middles};
use crate::num::interval::Interval;

/// A fold with a box in which all critical points form one curve through it.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    /// Enclosure of beta.
    pub(super) beta: Interval,
    /// Enclosures of the gaps in turns.
    pub(super) gaps: Vec<Interval>,
    around: Around,
    /// The point from which it was found.
    pub(super) own: Point,
    /// The point of the other branch at the beta where this one was left.
    pub(super) partner: Point,
    /// Directions of ascent of both branches.
    pub(super) ascents: (usize, usize),
}

/// The curve with one of the unknowns z of its equations as parameter.
#[derive(Clone, Debug)]
struct Curve {
    units: Units,
    /// The unknown that is the parameter.
    fixed: usize,
}

impl Curve {
    /// A vector with an entry at the place of the parameter.
    fn whole(&self, beside: &[Interval], own: Interval) -> Vec<Interval> {
        let mut all = beside.to_vec();
        all.insert(self.fixed, own);
        all
    }

    /// The equations for the other unknowns and beta, given the parameter; the derivative by the
    /// parameter takes the place of that by beta.
    fn evaluate(&self, parameter: f64, unknowns: &[Interval]) -> Option<Value> {
        let (beta, beside) = unknowns.split_last()?;
        let mut along = vec![0.0; beside.len() + 1];
        along[self.fixed] = 1.0;
        self.at(&self.whole(beside, Interval::exact(parameter)), *beta, &along)
    }

    /// The equations at z and beta, with the derivatives by the other unknowns and beta, and that
    /// along a direction.
    fn at(&self, z: &[Interval], beta: Interval, along: &[f64]) -> Option<Value> {
        let system = &self.units.system;
        if !system.allows(beta) {
            return None;
        }
        let mut value = system.evaluate_over(z, &Over::new(&system.law, beta));
        for (row, by_parameter) in value.by.iter_mut().zip(&mut value.by_parameter) {
            let terms = row.iter().zip(along);
            let slope = terms.fold(Interval::ZERO, |sum, (a, v)| sum + *a * Interval::exact(*v));
            row.remove(self.fixed);
            row.push(*by_parameter);
            *by_parameter = slope;
        }
        Some(value)
    }

    /// Approximate other unknowns and beta at a value of the parameter, and their derivatives.
    fn point(&self, parameter: f64, near: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let curve = |u: &[Interval]| self.evaluate(parameter, u);
        let found = solve::approximate(&curve, near)?;
        let exact: Vec<Interval> = found.iter().map(|v| Interval::exact(*v)).collect();
        let value = curve(&exact)?;
        let y = inverse(&middles(&value.by))?;
        let slope = |row: &Vec<f64>| -> f64 {
            row.iter().zip(&value.by_parameter).map(|(y, b)| -y * b.mid()).sum()
        };
        let slopes = y.iter().map(slope).collect();
        Some((found, slopes))
    }

    /// Approximate parameter, other unknowns and beta at the first zero of the derivative of beta
    /// beyond a point, where beta grows in the given direction.
    fn turning(&self, from: f64, near: Vec<f64>, direction: f64) -> Option<(f64, Vec<f64>)> {
        let n = near.len();
        let (near, slopes) = self.point(from, &near)?;
        let sign = direction * slopes[n - 1].signum();
        let (mut before, mut step) = ((from, near, slopes), 1e-6);
        let mut after = loop {
            let parameter = before.0 + sign * step;
            let (found, slopes) = self.point(parameter, &before.1)?;
            if slopes[n - 1] * before.2[n - 1] <= 0.0 {
                break (parameter, found, slopes);
            }
            (before, step) = ((parameter, found, slopes), 1.5 * step);
            if step > 0.1 {
                return None;
            }
        };
        for _ in 0..60 {
            let (a, b) = (before.2[n - 1], after.2[n - 1]);
            let share = (a / (a - b)).clamp(0.02, 0.98);
            let parameter = before.0 + share * (after.0 - before.0);
            let (found, slopes) = self.point(parameter, &before.1)?;
            let end = if slopes[n - 1] * a > 0.0 { &mut before } else { &mut after };
            *end = (parameter, found, slopes);
            if (after.0 - before.0).abs() < 1e-12 {
                break;
            }
        }
        Some((before.0, before.1))
    }
}

/// Coordinates near a fold: `z = origin + s along + w`, and beta.
#[derive(Clone, Debug)]
struct Around {
    curve: Curve,
    origin: Vec<f64>,
    /// The direction of the curve; its entry at the parameter is 1, that of w is 0.
    along: Vec<f64>,
    radius: f64,
    /// Bounds of w without the entry at the parameter, and of beta.
    beside: Vec<Interval>,
}

impl Around {
    /// The unknowns for values of s and w.
    fn unknowns(&self, s: Interval, beside: &[Interval]) -> Vec<Interval> {
        let w = self.curve.whole(beside, Interval::ZERO);
        let lines = self.origin.iter().zip(&self.along).zip(&w);
        lines.map(|((o, v), w)| Interval::exact(*o) + s * Interval::exact(*v) + *w).collect()
    }

    /// Whether the unknowns z and beta lie in the box.
    fn contains(&self, z: &[Interval], beta: Interval) -> bool {
        let fixed = self.curve.fixed;
        let s = z[fixed] - Interval::exact(self.origin[fixed]);
        let Some((span, beside)) = self.beside.split_last() else { return false };
        let w = self.curve.whole(beside, Interval::ZERO);
        s.mag() < self.radius
            && beta.inside(*span)
            && (0..z.len()).filter(|m| *m != fixed).all(|m| {
                let own = z[m] - Interval::exact(self.origin[m]);
                (own - s * Interval::exact(self.along[m])).inside(w[m])
            })
    }

    /// The equations on a box of s, w and beta.
    fn evaluate(&self, s: Interval, beside: &[Interval]) -> Option<Value> {
        let (beta, w) = beside.split_last()?;
        self.curve.at(&self.unknowns(s, w), *beta, &self.along)
    }

    /// The image of a box of w and beta for all s of an interval around 0, under Krawczyk's
    /// operator at its middle. The values there are `G(z_0) + s A v + s^2 B / 2`, where B is the
    /// second derivative along v between; the matrix Y of the operator is applied to B first, so
    /// that the parts of all equations move together.
    fn image(&self, s: Interval, beside: &[Interval]) -> Option<Vec<Interval>> {
        let n = self.origin.len();
        let point: Vec<Interval> = beside.iter().map(|b| Interval::exact(b.mid())).collect();
        let (over, start) = (self.evaluate(s, beside)?, self.evaluate(Interval::ZERO, &point)?);
        let y = inverse(&middles(&over.by))?;
        let line = self.unknowns(s, &point[..n - 1]);
        let along: Vec<Interval> = self.along.iter().map(|v| Interval::exact(*v)).collect();
        let system = &self.curve.units.system;
        let bend = system.bend(&line, &along, &system.shapes(point[n - 1]));
        let half_square = Interval::new(0.0, (0.5 * s.mag() * s.mag()).next_up());
        let (first, slope) = (apply(&y, &start.f), apply(&y, &start.by_parameter));
        let (second, rest) = (apply(&y, &bend), defect(&y, &over.by));
        let entry = |l: usize| {
            let shifted = beside.iter().zip(&point);
            let moved = rest[l]
                .iter()
                .zip(shifted)
                .fold(Interval::ZERO, |sum, (r, (z, c))| sum + *r * (*z - *c));
            point[l] - first[l] - s * slope[l] - half_square * second[l] + moved
        };
        Some((0..n).map(entry).collect())
    }

    /// Derivatives of the other unknowns and of beta by s on a box.
    fn slopes(&self, s: Interval, beside: &[Interval]) -> Option<Vec<Interval>> {
        let value = self.evaluate(s, beside)?;
        let right: Vec<Interval> = value.by_parameter.iter().map(|v| -*v).collect();
        linear(&value.by, &right)
    }

    /// The second derivative of beta by s where the first is 0, on the whole box.
    fn second(&self) -> Option<Interval> {
        let n = self.origin.len();
        let s = Interval::symmetric(self.radius);
        let slopes = self.slopes(s, &self.beside)?;
        let (span, beside) = self.beside.split_last()?;
        let zero = self.curve.whole(&slopes[..n - 1], Interval::ZERO);
        let directions: Vec<Interval> =
            zero.iter().zip(&self.along).map(|(w, v)| *w + Interval::exact(*v)).collect();
        let hull = self.unknowns(s, beside);
        let system = &self.curve.units.system;
        let bend = system.bend(&hull, &directions, &system.shapes(*span));
        let right: Vec<Interval> = bend.iter().map(|v| -*v).collect();
        let value = self.evaluate(s, &self.beside)?;
        linear(&value.by, &right)?.last().copied()
    }

    /// Bounds of s, of w and of beta at the fold: it lies between two s where the derivatives of
    /// beta have different signs.
    fn enclose(&self) -> Option<(Interval, Vec<Interval>)> {
        DISTANCES.iter().filter(|d| **d < self.radius).find_map(|distance| {
            let (s, mut narrow) = (Interval::symmetric(*distance), self.beside.clone());
            for _ in 0..8 {
                let image = self.image(s, &narrow)?;
                narrow = narrow.iter().zip(&image).map(|(a, b)| common(*a, *b)).collect();
            }
            let at = |s: f64| self.slopes(Interval::exact(s), &narrow)?.last().copied();
            let (one, two) = (at(-distance)?, at(*distance)?);
            let turns =
                one.is_negative() && two.is_positive() || one.is_positive() && two.is_negative();
            turns.then_some((s, narrow))
        })
    }
}

/// Distances from the fold, in the parameter, that are tried to enclose it.
const DISTANCES: [f64; 5] = [1e-10, 1e-9, 1e-8, 1e-7, 1e-6];

/// Bounds of the other unknowns beside the curve, in units of the radius of the parameter.
const WIDE: [f64; 3] = [0.02, 8e-3, 2e-3];

/// Radii of the parameter that are tried.
const RADII: [f64; 11] = [0.1, 0.04, 0.015, 6e-3, 2e-3, 8e-4, 3e-4, 1e-4, 4e-5, 1.5e-5, 5e-6];

impl Fold {
    /// A fold beyond a point of a branch that is followed in the given direction of beta.
    pub(super) fn beyond(arrangement: &Arrangement, from: &Point, direction: f64) -> Option<Self> {
        let k = arrangement.k;
        let middle: Vec<f64> = from.place[..k].iter().map(|g| 0.5 * (g.0 + g.1)).collect();
        let units = Units::near(&arrangement.masses(), &middle, &arrangement.law)?.linear();
        let z: Vec<f64> =
            units.unknowns(&intervals(&from.place[..k])).iter().map(|v| v.mid()).collect();
        let exact: Vec<Interval> = z.iter().map(|v| Interval::exact(*v)).collect();
        let shapes = units.system.shapes(Interval::exact(from.beta));
        let value = units.system.evaluate(&exact, &shapes);
        // Near a fold the slope of the branch is almost the direction of the curve.
        let y = inverse(&middles(&value.by))?;
        let slope = |row: &Vec<f64>| -> f64 {
            row.iter().zip(&value.by_parameter).map(|(y, b)| -y * b.mid()).sum()
        };
        let slope: Vec<f64> = y.iter().map(slope).collect();
        let fixed = (0..z.len()).max_by(|a, b| slope[*a].abs().total_cmp(&slope[*b].abs()))?;
        let mut near = z.clone();
        near.remove(fixed);
        near.push(from.beta);
        let curve = Curve { units, fixed };
        let (parameter, centre) = curve.turning(z[fixed], near, direction)?;
        let beta = *centre.last()?;
        if (beta - from.beta) * direction <= 0.0
            || (beta - from.beta).abs() > 0.1 * from.beta.abs().max(0.1)
        {
            return None;
        }
        let mut sizes = RADII.iter().flat_map(|r| WIDE.iter().map(move |w| (*r, *w)));
        sizes.find_map(|size| Self::within(arrangement, from, &curve, (parameter, &centre), size))
    }

    /// The proof in a box of the given radius of the parameter, and bounds beside the curve.
    fn within(
        arrangement: &Arrangement,
        from: &Point,
        curve: &Curve,
        (parameter, centre): (f64, &[f64]),
        (radius, wide): (f64, f64),
    ) -> Option<Self> {
        let (k, n, fixed) = (arrangement.k, centre.len(), curve.fixed);
        let (_, slopes) = curve.point(parameter, centre)?;
        let (mut origin, mut along) = (centre[..n - 1].to_vec(), slopes[..n - 1].to_vec());
        origin.insert(fixed, parameter);
        along.insert(fixed, 1.0);
        // The curve at both ends of the box, and how far it goes there.
        let mut reach = vec![0.0f64; n];
        for side in [-radius, radius] {
            let (end, _) = curve.point(parameter + side, centre)?;
            for (l, r) in reach.iter_mut().enumerate() {
                let line = if l < n - 1 { side * slopes[l] } else { 0.0 };
                *r = r.max((end[l] - centre[l] - line).abs());
            }
        }
        // Wider than the curve needs, so that a box beside the curve lies inside or far away.
        let bounds = |l: usize| {
            let (middle, wide) =
                if l < n - 1 { (0.0, wide * radius) } else { (centre[l], 0.2 * reach[l]) };
            let r = 2.0 * reach[l] + wide;
            Interval::new(middle - r, middle + r)
        };
        let beside: Vec<Interval> = (0..n).map(bounds).collect();
        let around = Around { curve: curve.clone(), origin, along, radius, beside };
        let unknowns = |p: &Point| curve.units.unknowns(&intervals(&p.place[..k]));
        let own = unknowns(from);
        if !around.contains(&own, Interval::exact(from.beta)) {
            return None;
        }
        let s = Interval::symmetric(radius);
        let image = around.image(s, &around.beside)?;
        if !image.iter().zip(&around.beside).all(|(i, b)| i.inside(*b)) {
            return None;
        }
        if around.second()?.contains(0.0) {
            return None;
        }
        let (at, narrow) = around.enclose()?;
        let (beta, beside) = narrow.split_last()?;
        let gaps = curve.units.gaps(&around.unknowns(at, beside));
        // The other branch, on the other side of the fold.
        let mirrored = around.origin.iter().zip(&own).map(|(o, z)| 2.0 * o - z.mid());
        let partner = point_of(&curve.units, &mirrored.collect::<Vec<f64>>(), from.beta)?;
        let other = unknowns(&partner);
        let apart = (own[fixed] - other[fixed]).mig() > 0.0;
        let (span, beside) = around.beside.split_last()?;
        let hull: Vec<(f64, f64)> = curve
            .units
            .gaps(&around.unknowns(s, beside))
            .iter()
            .map(|g| (g.lo().max(0.0), g.hi()))
            .collect();
        if !(around.contains(&other, Interval::exact(from.beta))
            && apart
            && splits_have_signs(arrangement, &hull, (span.lo(), span.hi())))
        {
            return None;
        }
        let of = |p: &Point| ascents(arrangement, &p.place[..k], (p.beta, p.beta));
        let ascents = (of(from)?, of(&partner)?);
        let found = Self { beta: *beta, gaps, around, own: *from, partner, ascents };
        // A symmetry that exchanges both ends makes it a pitchfork.
        let sides = [&found.own, &found.partner].map(|p| found.sides(arrangement, p));
        (sides.iter().all(|s| s.len() == 1) && sides[0] != sides[1]).then_some(found)
    }

    /// The ends of the curve on which a point or its images under symmetries lie: true where the
    /// parameter is larger than at the fold.
    fn sides(&self, arrangement: &Arrangement, point: &Point) -> Vec<bool> {
        let (k, fixed) = (arrangement.k, self.around.curve.fixed);
        let mut found = Vec::new();
        for (image, _) in &arrangement.symmetries {
            let own: Vec<(f64, f64)> = image[..k].iter().map(|x| point.place[*x]).collect();
            let z = self.around.curve.units.unknowns(&intervals(&own));
            if !self.around.contains(&z, Interval::exact(point.beta)) {
                continue;
            }
            let s = z[fixed] - Interval::exact(self.around.origin[fixed]);
            if s.lo() < 0.0 {
                found.push(false);
            }
            if s.hi() > 0.0 {
                found.push(true);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The end of the curve on which a point lies, up to symmetry; `None` if it is not decided.
    pub(super) fn side(&self, arrangement: &Arrangement, point: &Point) -> Option<bool> {
        match self.sides(arrangement, point)[..] {
            [side] => Some(side),
            _ => None,
        }
    }

    /// The end of the curve on which another proof of the same fold began; `None` if it is not
    /// decided. Boxes differ in size, so a point of either proof may lie in the box of the other.
    pub(super) fn side_of_start(&self, arrangement: &Arrangement, other: &Fold) -> Option<bool> {
        let side = |of: &Fold, p: &Point| of.side(arrangement, p);
        let is_beside = |p: &Point| Some(side(other, p)? == side(other, &other.own)?);
        let of_own = |p: &Point| is_beside(p).zip(side(self, p)).map(|(beside, s)| s == beside);
        side(self, &other.own)
            .or_else(|| side(self, &other.partner).map(|s| !s))
            .or_else(|| of_own(&self.own).or_else(|| of_own(&self.partner)))
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
            let own: Vec<(f64, f64)> = image[..arrangement.k].iter().map(|x| gaps[*x]).collect();
            self.around.contains(&self.around.curve.units.unknowns(&intervals(&own)), beta)
        })
    }
}
