//! Newton's method on the equations of equilibrium in Gram coordinates.
//!
//! There are twice as many equations as unknowns, so a matrix Y of least squares leaves as many
//! combinations as unknowns. Zeros of the equations are zeros of the combinations. Two zeros G and
//! H in a box satisfy `Y J (G - H) = 0` for some J between the bounds of the derivative; so if
//! `Y J` is regular for all of them, there is at most one (Lemma 5).

use super::cell::{Cell, Groups, MAX_PAIRS, Pairs, System, Values, grid_down};
use crate::num::interval::Interval;

/// Largest number of equations.
const EQUATIONS: usize = 2 * MAX_PAIRS;

/// A matrix with a row for every equation.
type Tall<T> = [Pairs<T>; EQUATIONS];

/// A square matrix.
type Square<T> = [Pairs<T>; MAX_PAIRS];

/// What Newton's method says of a box.
pub(super) struct Step {
    /// There is no zero.
    pub(super) empty: bool,
    /// There is at most one zero.
    pub(super) regular: bool,
}

/// The pairs of groups as unknowns, and their places in a box.
pub(super) struct Unknowns {
    pub(super) count: usize,
    pub(super) place: Pairs<usize>,
    /// The unknown of a place.
    of: Pairs<usize>,
}

impl Unknowns {
    pub(super) fn new(system: &System, groups: &Groups) -> Self {
        let mut new = Self { count: 0, place: [0; MAX_PAIRS], of: [0; MAX_PAIRS] };
        for t in system.places(groups) {
            (new.place[new.count], new.of[t]) = (t, new.count);
            new.count += 1;
        }
        new
    }
}

/// Multiplication by matrices of floating-point numbers: a middle and a bound of the distance.
struct Product {
    middle: Square<f64>,
    radius: Square<f64>,
}

/// The inverse of a symmetric positive matrix by elimination; no bound of its error.
fn inverse(n: usize, a: &Square<f64>) -> Option<Square<f64>> {
    let (mut a, mut inverse) = (*a, [[0.0; MAX_PAIRS]; MAX_PAIRS]);
    for (x, row) in inverse.iter_mut().enumerate().take(n) {
        row[x] = 1.0;
    }
    for c in 0..n {
        let own = a[c][c];
        if own.is_nan() || own <= 1e-300 {
            return None;
        }
        let by = 1.0 / own;
        for y in 0..n {
            a[c][y] *= by;
            inverse[c][y] *= by;
        }
        for x in (0..n).filter(|x| *x != c) {
            let factor = a[x][c];
            let (row, other) = (a[c], inverse[c]);
            for y in 0..n {
                a[x][y] -= factor * row[y];
                inverse[x][y] -= factor * other[y];
            }
        }
    }
    inverse[..n].iter().all(|r| r[..n].iter().all(|v| v.is_finite())).then_some(inverse)
}

impl System {
    /// The derivative of the forces on a box.
    fn derivative(&self, groups: &Groups, v: &Values, unknowns: &Unknowns) -> Tall<Interval> {
        let (k, beta) = (groups.k, v.beta);
        let at = |x: usize, y: usize| self.place[groups.first[x]][groups.first[y]];
        let mut j = [[Interval::ZERO; MAX_PAIRS]; EQUATIONS];
        let mut row = 0;
        for i in 0..k {
            for to in (0..k).filter(|to| *to != i) {
                let (own, line) = (at(i, to), &mut j[row]);
                let g = v.g[own];
                let mut along = Interval::ZERO;
                for x in (0..k).filter(|x| *x != i) {
                    let t = at(i, x);
                    let weight = Interval::exact(groups.mass[x]) * v.phi[t];
                    if x == to {
                        let part = beta * (Interval::exact(1.0) - g.sqr()) - g - g;
                        along = along + weight * part;
                    } else {
                        let third = at(x, to);
                        let part = beta * (v.g[third] - v.g[t] * g) - g;
                        line[unknowns.of[t]] = weight * part;
                        line[unknowns.of[third]] = weight;
                        along = along - weight * v.g[t];
                    }
                }
                line[unknowns.of[own]] = along;
                row += 1;
            }
        }
        j
    }

    /// The forces on a box.
    fn forces(&self, groups: &Groups, v: &Values) -> [Interval; EQUATIONS] {
        every_equation(groups, |i, to| self.force(groups, v, i, to))
    }

    /// A matrix of least squares for equations that are scaled to size 1.
    fn preconditioner(
        count: usize,
        rows: usize,
        j: &Tall<f64>,
    ) -> Option<[[f64; EQUATIONS]; MAX_PAIRS]> {
        let mut scaled = [[0.0; MAX_PAIRS]; EQUATIONS];
        let mut scale = [0.0; EQUATIONS];
        for r in 0..rows {
            let size = j[r][..count].iter().fold(0.0f64, |m, v| m.max(v.abs()));
            if size > 1e-290 && size < 1e290 {
                scale[r] = 1.0 / size;
                for x in 0..count {
                    scaled[r][x] = j[r][x] * scale[r];
                }
            }
        }
        let mut square = [[0.0; MAX_PAIRS]; MAX_PAIRS];
        for line in &scaled[..rows] {
            for x in 0..count {
                for y in 0..count {
                    square[x][y] += line[x] * line[y];
                }
            }
        }
        let inverse = inverse(count, &square)?;
        let mut y = [[0.0; EQUATIONS]; MAX_PAIRS];
        for x in 0..count {
            for r in 0..rows {
                let sum: f64 = inverse[x][..count].iter().zip(&scaled[r]).map(|(a, b)| a * b).sum();
                y[x][r] = sum * scale[r];
            }
        }
        Some(y)
    }

    /// Shrinks a box to where zeros can be.
    pub(super) fn newton(&self, cell: &mut Cell, groups: &Groups, v: &Values) -> Step {
        let nothing = Step { empty: false, regular: false };
        let unknowns = Unknowns::new(self, groups);
        let (count, rows) = (unknowns.count, 2 * unknowns.count);
        let j = self.derivative(groups, v, &unknowns);
        let mut centre = *cell;
        for g in &mut centre.g[..self.pairs] {
            let middle = grid_down(0.5 * (g.0 + g.1));
            *g = (middle, middle);
        }
        let (low, high) = cell.beta;
        let middle_beta = 0.5 * (low + high);
        let drift = (low < high).then(|| {
            let v = self.values(&centre, groups);
            every_equation(groups, |i, to| self.force_by_beta(groups, &v, (i, to)))
        });
        let change = Interval::new(low, high) - Interval::exact(middle_beta);
        centre.beta = (middle_beta, middle_beta);
        let at_centre = self.values(&centre, groups);
        let middle = j.map(|row| row.map(Interval::mid));
        let Some(y) = Self::preconditioner(count, rows, &middle) else {
            return nothing;
        };
        let forces = self.forces(groups, &at_centre);
        // The mean value theorem for every equation: first in beta, then in the entries.
        let offset: Pairs<Interval> = std::array::from_fn(|x| {
            if x >= count {
                return Interval::ZERO;
            }
            let (g, c) = (cell.g[unknowns.place[x]], centre.g[unknowns.place[x]].0);
            Interval::new(g.0 - c, g.1 - c)
        });
        for r in 0..rows {
            let mut sum = drift.map_or(forces[r], |d| forces[r] + d[r] * change);
            for x in 0..count {
                sum = sum + j[r][x] * offset[x];
            }
            if sum.mig() > 1e-10 * sum.mag() {
                return Step { empty: true, regular: false };
            }
        }
        let product = multiply(count, rows, &y, &j);
        let regular = product.is_regular(count);
        for (x, combination) in y.iter().enumerate().take(count) {
            let entry = |z: usize| {
                let (m, r) = (product.middle[x][z], product.radius[x][z]);
                Interval::new((m - r).next_down(), (m + r).next_up())
            };
            let own = entry(x);
            if own.contains(0.0) {
                continue;
            }
            let mut sum = Interval::ZERO;
            for (y, force) in combination.iter().zip(&forces[..rows]) {
                sum = sum - Interval::exact(*y) * *force;
            }
            if let Some(drift) = &drift {
                let parts = combination.iter().zip(&drift[..rows]);
                let slope = parts.fold(Interval::ZERO, |s, (y, d)| s + Interval::exact(*y) * *d);
                sum = sum - slope * change;
            }
            for z in (0..count).filter(|z| *z != x) {
                let (g, c) = (cell.g[unknowns.place[z]], centre.g[unknowns.place[z]].0);
                sum = sum - entry(z) * Interval::new(g.0 - c, g.1 - c);
            }
            let t = unknowns.place[x];
            let new = sum / own + Interval::exact(centre.g[t].0);
            let g = &mut cell.g[t];
            // The margin keeps the digits of the certificate few.
            let digit = power_of_two_below((g.1 - g.0) / 4096.0);
            let low = ((new.lo().max(-2.0) - digit) / digit).floor() * digit;
            let high = ((new.hi().min(2.0) + digit) / digit).ceil() * digit;
            let bounds = (g.0.max(low), g.1.min(high));
            if bounds.0 > bounds.1 {
                return Step { empty: true, regular };
            }
            *g = bounds;
        }
        Step { empty: false, regular }
    }

    /// Whether there is at most one zero in a box.
    pub(super) fn is_regular(&self, cell: &Cell) -> bool {
        let groups = self.groups(cell);
        let unknowns = Unknowns::new(self, &groups);
        let (count, rows) = (unknowns.count, 2 * unknowns.count);
        let j = self.derivative(&groups, &self.values(cell, &groups), &unknowns);
        let Some(y) = Self::preconditioner(count, rows, &j.map(|r| r.map(Interval::mid))) else {
            return false;
        };
        multiply(count, rows, &y, &j).is_regular(count)
    }

    /// Newton's method without error bounds.
    pub(super) fn approximate(&self, cell: &Cell, groups: &Groups) -> Option<Pairs<f64>> {
        let unknowns = Unknowns::new(self, groups);
        let (count, rows) = (unknowns.count, 2 * unknowns.count);
        let mut at = *cell;
        at.g.iter_mut().for_each(|g| {
            let middle = 0.5 * (g.0 + g.1);
            *g = (middle, middle);
        });
        for _ in 0..20 {
            let v = self.values(&at, groups);
            let j = self.derivative(groups, &v, &unknowns).map(|row| row.map(Interval::mid));
            let y = Self::preconditioner(count, rows, &j)?;
            let forces = self.forces(groups, &v);
            let mut largest = 0.0f64;
            for (t, combination) in unknowns.place[..count].iter().zip(&y) {
                let parts = combination.iter().zip(&forces[..rows]);
                let step: f64 = parts.map(|(y, f)| y * f.mid()).sum();
                let g = &mut at.g[*t];
                let new = (g.0 - step).clamp(-1.0, 1.0);
                *g = (new, new);
                largest = largest.max(step.abs());
            }
            if largest.is_nan() || largest > 2.0 {
                return None;
            }
            if largest < 1e-14 {
                break;
            }
        }
        let mut gram = [1.0; MAX_PAIRS];
        let group = |x: usize| {
            let same = |y: &usize| {
                let f = groups.first[*y];
                f == x || cell.g[self.place[f][x]].0 >= 1.0
            };
            (0..groups.k).find(same).unwrap_or(0)
        };
        for a in 0..self.n {
            for b in (a + 1..self.n).filter(|b| group(a) != group(*b)) {
                gram[self.place[a][b]] =
                    at.g[self.place[groups.first[group(a)]][groups.first[group(b)]]].0;
            }
        }
        Some(gram)
    }
}

/// A number for every equation.
fn every_equation(
    groups: &Groups,
    value: impl Fn(usize, usize) -> Interval,
) -> [Interval; EQUATIONS] {
    let mut all = [Interval::ZERO; EQUATIONS];
    let k = groups.k;
    let pairs = (0..k).flat_map(|i| (0..k).filter(move |to| *to != i).map(move |to| (i, to)));
    all.iter_mut().zip(pairs).for_each(|(new, (i, to))| *new = value(i, to));
    all
}

/// The largest power of two below a margin, at least `1 / GRID`.
fn power_of_two_below(margin: f64) -> f64 {
    let exponent = (margin.to_bits() >> 52) as i32 - 1023;
    f64::from_bits(((exponent.clamp(-40, 0) + 1023) as u64) << 52)
}

impl Product {
    /// Whether the distance from the unit matrix is certainly below 1, with a margin.
    fn is_regular(&self, count: usize) -> bool {
        let distance = |x: usize| {
            let entry = |z: usize| {
                let unit = if x == z { 1.0 } else { 0.0 };
                (self.middle[x][z] - unit).abs() + self.radius[x][z]
            };
            (0..count).map(entry).sum::<f64>()
        };
        (0..count).all(|x| distance(x) < 0.99)
    }
}

/// `Y J`: sums of products of middles, and of the sizes of Y with the radii. Rounding changes a sum
/// of 20 products by less than 21 units `2^-53` of the sum of their sizes; the radii are enlarged
/// by 64 units of the middles, which leaves 43 for the rounding of the second sum.
fn multiply(
    count: usize,
    rows: usize,
    y: &[[f64; EQUATIONS]; MAX_PAIRS],
    j: &Tall<Interval>,
) -> Product {
    const UNIT: f64 = f64::EPSILON / 2.0;
    let mut middles = [[0.0; MAX_PAIRS]; EQUATIONS];
    let mut radii = [[0.0; MAX_PAIRS]; EQUATIONS];
    for r in 0..rows {
        for x in 0..count {
            let middle = j[r][x].mid();
            middles[r][x] = middle;
            radii[r][x] = j[r][x].radius() + 64.0 * UNIT * middle.abs();
        }
    }
    let mut product =
        Product { middle: [[0.0; MAX_PAIRS]; MAX_PAIRS], radius: [[0.0; MAX_PAIRS]; MAX_PAIRS] };
    for (x, combination) in y.iter().enumerate().take(count) {
        let (middle, radius) = (&mut product.middle[x], &mut product.radius[x]);
        for (r, factor) in combination.iter().enumerate().take(rows) {
            for z in 0..MAX_PAIRS {
                middle[z] += factor * middles[r][z];
                radius[z] += factor.abs() * radii[r][z];
            }
        }
        // Underflow of a product changes it by less than 2^-1074.
        radius.iter_mut().for_each(|r| *r = *r * (1.0 + 64.0 * UNIT) + 1e-300);
    }
    product
}
