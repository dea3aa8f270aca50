//! The test of boxes for small beta: the order parameter as two further unknowns.
//!
//! For small beta all configurations with `sum_j m_j e_j = 0` nearly balance, `e_j` the places, so
//! the derivative of the forces is almost singular and boxes would have to be narrow. With
//! `sum_j m_j e_j = beta rho` and `h(d) = (e^{beta cos d} - 1) sin d / beta`, the force on a
//! cluster at the angle x is beta times `F = Im(rho conj(e)) + sum_j m_j h(x_j - x)`. So F = 0 for
//! all clusters but one, together with `sum_j m_j e_j - beta rho = 0`, is a system whose terms have
//! size 1 for all beta; the force on the last cluster is 0, too, because
//! `sum_i m_i F_i = Im(rho conj(sum_i m_i e_i)) = 0`. Its derivative is singular exactly where that
//! of the forces is: this is the Schur complement of the block `-beta` of rho.
//!
//! F = 0 for two clusters is a linear system for rho, which bounds it on a box.

use super::super::cell::{Arrangement, Cell, MAX_TOKENS, Pairs, Row, grid_down, grid_up};
use super::super::kernel::{Kernel, exp, pi};
use super::shape::common;
use super::solve;
use crate::num::interval::Interval;

/// Largest beta for which the test is made.
pub(super) const MOST: f64 = 0.5;

/// Sine, cosine and h over distances in turns, for all beta of an interval.
struct Ranges {
    turns: Kernel,
    beta: (f64, f64),
}

impl Ranges {
    /// Sine and cosine: pull and weight for beta = 0.
    fn sin_cos(&self, (lo, hi): (f64, f64)) -> (Interval, Interval) {
        let found = self.turns.ranges(lo, hi);
        (found.u, found.w)
    }

    /// h and its derivative `e^{beta cos} (-sin^2) + cos (e^{beta cos} - 1) / beta`. The second
    /// factor grows with beta and with the cosine.
    fn h(&self, distances: (f64, f64)) -> (Interval, Interval) {
        let (sin, cos) = self.sin_cos(distances);
        // The relative error of the exponential is below 2e-15, that of the product below 1e-15.
        let less = |beta: f64, c: f64, side: f64| {
            (exp(beta * c) * (1.0 + side * 4e-15) - 1.0) / beta + side * 1e-15
        };
        let (low, high) = self.beta;
        let slope = Interval::new(less(low, cos.lo(), -1.0), less(high, cos.hi(), 1.0));
        let power = Interval::new(low, high) * cos;
        let whole = Interval::new(exp(power.lo()) * (1.0 - 4e-15), exp(power.hi()) * (1.0 + 4e-15));
        (slope * sin, slope * cos - whole * sin.sqr())
    }
}

/// Places, h and its derivatives on a box or at a point, for clusters in the order after a gap.
struct Parts {
    k: usize,
    mass: Row<f64>,
    sin_cos: Row<(Interval, Interval)>,
    /// The sums of `m_b h(x_b - x_a)`.
    sums: Row<Interval>,
    /// The derivatives of h by pairs.
    slopes: Vec<Row<Interval>>,
}

impl Parts {
    /// `distances` are those from cluster a to cluster b > a in turns.
    fn new(
        mass: Row<f64>,
        k: usize,
        ranges: &Ranges,
        distances: &dyn Fn(usize, usize) -> (f64, f64),
    ) -> Self {
        let mut sin_cos = [(Interval::ZERO, Interval::exact(1.0)); MAX_TOKENS];
        let mut sums = [Interval::ZERO; MAX_TOKENS];
        let mut slopes = vec![[Interval::ZERO; MAX_TOKENS]; k];
        for a in 0..k {
            for b in a + 1..k {
                let apart = distances(a, b);
                let (h, slope) = ranges.h(apart);
                sums[a] = sums[a] + Interval::exact(mass[b]) * h;
                sums[b] = sums[b] - Interval::exact(mass[a]) * h;
                (slopes[a][b], slopes[b][a]) = (slope, slope);
                if a == 0 {
                    sin_cos[b] = ranges.sin_cos(apart);
                }
            }
        }
        Self { k, mass, sin_cos, sums, slopes }
    }

    /// The sum of `m_j e_j`.
    fn moment(&self) -> [Interval; 2] {
        let mut sum = [Interval::ZERO; 2];
        for (m, (sin, cos)) in self.mass[..self.k].iter().zip(&self.sin_cos) {
            let m = Interval::exact(*m);
            sum = [sum[0] + m * *cos, sum[1] + m * *sin];
        }
        sum
    }

    /// The equations.
    fn equations(&self, rho: [Interval; 2], beta: Interval) -> Vec<Interval> {
        let force = |a: usize| {
            let (sin, cos) = self.sin_cos[a];
            rho[1] * cos - rho[0] * sin + self.sums[a]
        };
        let mut all: Vec<Interval> = (0..self.k - 1).map(force).collect();
        let moment = self.moment();
        all.extend([moment[0] - beta * rho[0], moment[1] - beta * rho[1]]);
        all
    }

    /// Their derivatives by the gaps after each cluster, in radians, and by rho.
    fn derivatives(&self, rho: [Interval; 2], beta: Interval) -> Vec<Vec<Interval>> {
        let (k, zero) = (self.k, Interval::ZERO);
        let mut rows = Vec::with_capacity(k + 1);
        for a in 0..k - 1 {
            let (sin, cos) = self.sin_cos[a];
            let turning = rho[1] * sin + rho[0] * cos;
            let by_gap = |l: usize| {
                // The gap moves all clusters after it.
                let others = if a > l { 0..l + 1 } else { l + 1..k };
                let pull = others
                    .fold(zero, |sum, b| sum + Interval::exact(self.mass[b]) * self.slopes[a][b]);
                if a > l { -(turning + pull) } else { pull }
            };
            rows.push((0..k - 1).map(by_gap).chain([-sin, cos]).collect());
        }
        let mut moved = [vec![zero; k + 1], vec![zero; k + 1]];
        for l in (0..k - 1).rev() {
            let ((sin, cos), m) = (self.sin_cos[l + 1], Interval::exact(self.mass[l + 1]));
            let after = |row: &[Interval]| if l + 2 < k { row[l + 1] } else { zero };
            moved[0][l] = after(&moved[0]) - m * sin;
            moved[1][l] = after(&moved[1]) + m * cos;
        }
        (moved[0][k - 1], moved[1][k]) = (-beta, -beta);
        rows.extend(moved);
        rows
    }

    /// Bounds of rho at the zeros, or `None` if there are none.
    fn rho(&self, beta: Interval) -> Option<[Interval; 2]> {
        let mut rho = self.moment().map(|v| v / beta);
        let mut meet = |x: usize, found: Interval| {
            let (lo, hi) = (rho[x].lo().max(found.lo()), rho[x].hi().min(found.hi()));
            if lo <= hi {
                rho[x] = Interval::new(lo, hi);
            }
            lo <= hi
        };
        for a in 0..self.k {
            for b in a + 1..self.k {
                let ((sin_a, cos_a), (sin_b, cos_b)) = (self.sin_cos[a], self.sin_cos[b]);
                let below = cos_a * sin_b - sin_a * cos_b;
                if below.mig() < 0.05 {
                    continue;
                }
                let (own, other) = (self.sums[a], self.sums[b]);
                let found =
                    [(other * cos_a - own * cos_b) / below, (other * sin_a - own * sin_b) / below];
                if !(meet(0, found[0]) && meet(1, found[1])) {
                    return None;
                }
            }
        }
        Some(rho)
    }
}

/// The part of a box of small beta in which its zeros lie, from the ranges of the box; `None` if it
/// has no zeros, or only regular ones.
pub(super) fn undecided_part(
    arrangement: &Arrangement,
    cell: &Cell,
    pairs: &Pairs,
) -> Option<Cell> {
    let k = arrangement.k;
    let r = cell.widest(k).0;
    let after = |x: usize| (r + 1 + x) % k;
    let mass: Row<f64> =
        std::array::from_fn(|x| if x < k { arrangement.mass[after(x)] } else { 0.0 });
    let ranges = Ranges { turns: Kernel::new((0.0, 0.0)), beta: cell.beta };
    let parts = Parts::new(mass, k, &ranges, &|a, b| {
        let (p, q) = (after(a), after(b));
        if p < q {
            pairs.distance[p][q]
        } else {
            let (lo, hi) = pairs.distance[q][p];
            (1.0 - hi, 1.0 - lo)
        }
    });
    let beta = Interval::new(cell.beta.0, cell.beta.1);
    let rho = parts.rho(beta)?;
    let by = parts.derivatives(rho, beta);
    let turn = pi() * Interval::exact(2.0);
    let Some(centre) = arrangement.centre(r, cell) else { return Some(*cell) };
    // Differences of multiples of 2^-48 are exact.
    let mut around: Vec<Interval> = (0..k - 1)
        .map(|l| {
            let gap = cell.gaps[after(l)];
            Interval::new(gap.0 - centre[l], gap.1 - centre[l]) * turn
        })
        .collect();
    let middle = rho.map(|v| Interval::exact(v.mid()));
    around.extend([rho[0] - middle[0], rho[1] - middle[1]]);
    let Some(y) = solve::inverse(&solve::middles(&by)) else { return Some(*cell) };
    let rest = solve::defect(&y, &by);
    let up = |s: f64, v: f64| (s + v).next_up();
    let regular = rest.iter().zip(&around).all(|(row, own)| {
        let sum =
            row.iter().zip(&around).fold(0.0, |s, (v, z)| up(s, (v.mag() * z.mag()).next_up()));
        sum < own.mag()
    });
    if regular {
        return None;
    }
    let at = Parts::new(mass, k, &ranges, &|a, b| {
        // Exact: multiples of 2^-48.
        let distance: f64 = centre[a..b].iter().sum();
        (distance, distance)
    });
    let step = solve::apply(&y, &at.equations(middle, beta));
    let mut within = *cell;
    for l in 0..k + 1 {
        let moved = rest[l].iter().zip(&around).fold(-step[l], |sum, (v, z)| sum + *v * *z);
        if moved.hi() < around[l].lo() || moved.lo() > around[l].hi() {
            return None;
        }
        if l < k - 1 {
            let gap = &mut within.gaps[after(l)];
            let shifted = common(around[l], moved) / turn + Interval::exact(centre[l]);
            let (low, high) = (grid_down(shifted.lo()), grid_up(shifted.hi()));
            *gap = (gap.0.max(low), gap.1.min(high));
        }
    }
    Some(within)
}

#[cfg(test)]
mod tests {
    use super::super::super::cell::{Cell, MAX_TOKENS, grid_down};
    use super::super::super::kernel::Kernel;
    use super::super::super::strata::arrange;
    use super::{Parts, Ranges, undecided_part};
    use crate::num::interval::Interval;
    use crate::num::stream::Stream;

    /// The equations by their definition, for angles of the clusters.
    fn plain(x: &[f64], mass: &[f64], rho: [f64; 2], beta: f64) -> Vec<f64> {
        let h = |d: f64| (beta * d.cos()).exp_m1() / beta * d.sin();
        let sum = |of: &dyn Fn(usize) -> f64| (0..x.len()).map(|j| mass[j] * of(j)).sum::<f64>();
        let force = |a: usize| rho[1] * x[a].cos() - rho[0] * x[a].sin() + sum(&|j| h(x[j] - x[a]));
        let mut all: Vec<f64> = (0..x.len() - 1).map(force).collect();
        all.push(sum(&|j| x[j].cos()) - beta * rho[0]);
        all.push(sum(&|j| x[j].sin()) - beta * rho[1]);
        all
    }

    #[test]
    fn equations_and_derivatives_contain_the_definitions() {
        let (mut s, tau) = (Stream::new(2, &["order parameter"]), std::f64::consts::TAU);
        for trial in 0..300 {
            let (k, beta, width) = (3 + trial % 4, s.uniform_in(0.01, 0.5), 1e-3);
            let gaps: Vec<f64> = (1..k).map(|_| grid_down(s.uniform_in(0.05, 0.2))).collect();
            let rho = [s.uniform_in(-2.0, 2.0), s.uniform_in(-2.0, 2.0)];
            let mut mass = [0.0; MAX_TOKENS];
            mass[..k].fill_with(|| s.uniform_in(1.0, 4.0).floor());
            let ranges = Ranges { turns: Kernel::new((0.0, 0.0)), beta: (beta, beta + width) };
            let parts = Parts::new(mass, k, &ranges, &|a, b| {
                let sum: f64 = gaps[a..b].iter().sum();
                (sum, sum + (b - a) as f64 * grid_down(width))
            });
            let boxed = rho.map(|v| Interval::new(v, v + width));
            let betas = Interval::new(beta, beta + width);
            let (f, by) = (parts.equations(boxed, betas), parts.derivatives(boxed, betas));
            let mut inside: Vec<f64> =
                gaps.iter().chain(&rho).map(|v| v + width * s.uniform_in(0.0, 0.99)).collect();
            let beta = beta + width * s.uniform_in(0.0, 1.0);
            let of = |z: &[f64]| {
                let mut x = vec![0.0];
                (0..k - 1).for_each(|l| x.push(x[l] + tau * z[l]));
                plain(&x, &mass[..k], [z[k - 1], z[k]], beta)
            };
            let near = |v: Interval, wanted: f64, slack: f64| {
                assert!(v.lo() - slack <= wanted && wanted <= v.hi() + slack, "{v:?} {wanted}");
                assert!(v.width() < 2.0, "{trial} {v:?}");
            };
            f.iter().zip(of(&inside)).for_each(|(f, v)| near(*f, v, 1e-12));
            for m in 0..k + 1 {
                let (own, h) = (inside[m], 1e-6);
                let step = if m < k - 1 { h / tau } else { h };
                inside[m] = own + step;
                let up = of(&inside);
                inside[m] = own - step;
                let down = of(&inside);
                inside[m] = own;
                for (row, (u, d)) in by.iter().zip(up.iter().zip(&down)) {
                    near(row[m], (u - d) / (2.0 * h), 1e-8);
                }
            }
        }
    }

    #[test]
    fn a_critical_point_is_not_lost() {
        // Boxes around the square and around 2+1+1, where the gap of both single tokens is known.
        let (mut s, beta) = (Stream::new(3, &["order parameter boxes"]), 0.05);
        let (mut low, mut high) = (0.0f64, 1.0f64);
        let rest = |c: f64| c.ln() + beta * (2.0 * c * c - 1.0 + c);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if rest(middle) < 0.0 { low = middle } else { high = middle }
        }
        // The pull of the pair balances that of the other single token: cos(g / 2) = c.
        let gap = 2.0 * low.acos() / std::f64::consts::TAU;
        let far = 0.5 * (1.0 - gap);
        for (clusters, gaps) in [
            (vec![vec![1]; 4], vec![0.25; 4]),
            (vec![vec![1, 1], vec![1], vec![1]], vec![far, gap, far]),
        ] {
            let (arrangement, k) = (arrange(&clusters), gaps.len());
            for _ in 0..400 {
                let wide = 10f64.powf(s.uniform_in(-6.0, -0.7));
                let mut cell = Cell { gaps: [(0.0, 0.0); MAX_TOKENS], beta: (beta, beta) };
                for (c, g) in cell.gaps.iter_mut().zip(&gaps) {
                    let low = grid_down(g - wide * s.uniform_in(0.01, 1.0)).max(0.0);
                    *c = (low, grid_down(g + wide * s.uniform_in(0.01, 1.0)).min(0.5));
                }
                assert!(cell.close(k));
                let pairs = arrangement.pairs(&cell, &Kernel::new((beta, beta)));
                if let Some(part) = undecided_part(&arrangement, &cell, &pairs) {
                    let holds =
                        |(c, g): (&(f64, f64), &f64)| c.0 - 1e-12 <= *g && *g <= c.1 + 1e-12;
                    assert!(part.gaps.iter().zip(&gaps).all(holds), "{cell:?} {part:?}");
                } else {
                    // Decided, although it has a zero: so it must be regular, and alone.
                    assert!(wide < 0.2, "{cell:?}");
                }
            }
        }
    }
}
