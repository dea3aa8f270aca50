//! The test of boxes for small beta: order parameters as further unknowns.
//!
//! With the places `e_j` of the clusters and `R_l = sum_j m_j e_j^l`, the force on a cluster is
//! `(2 / beta) sum_l l I_l(beta) Im(R_l conj(e)^l)`, I the modified Bessel functions, because
//! `beta sin d e^{beta cos d} = 2 sum_l l I_l sin(l d)`. For small beta `I_l` is of size `beta^l`:
//! all configurations with `R_1 = 0` nearly balance, and among them those with `R_2 = 0`, so the
//! derivative of the forces is almost singular and boxes would have to be narrow.
//!
//! At level L the unknowns are the gaps and `rho_l = R_l / gamma_l` for `l = 1..=L`, with
//! `gamma_l = (L + 1) I_(L+1) / (l I_l)`. The force on a cluster is a positive number times
//! `F = sum_(l <= L) Im(rho_l conj(e)^l) + sum_j m_j h(x_j - x)`,
//! `h(d) = sum_(l > L) c_l sin(l d)`, `c_l = l I_l / ((L + 1) I_(L+1))`. So F = 0 for all clusters
//! but one, together with `R_l - gamma_l rho_l = 0`, is a system whose terms have size 1 for all
//! beta. The force on the last cluster is 0, too, because
//! `sum_i m_i F_i = sum_l Im(rho_l conj(R_l)) = 0`. The derivative of the system is singular
//! exactly where that of the forces is: the latter is the Schur complement of the block `-gamma` of
//! rho.
//!
//! F = 0 for all clusters is a linear system for rho, which bounds it on a box. For neighbours a
//! and b at a small positive distance, so is the quotient `(F_a - F_b) / (x_b - x_a)`: a mean of
//! `sum_l l Re(rho_l conj(e)^l) + sum_j m_j h'(x_j - x)` between both.

use super::super::cell::{Arrangement, Cell, MAX_TOKENS, Pairs, Row, grid_down, grid_up};
use super::super::kernel::{TRIG, direction};
use crate::dense_intervals::{apply, common, defect, inverse, is_below_one, krawczyk, middles};
use crate::num::interval::Interval;

/// Largest beta for which the test is made.
pub(super) const MOST: f64 = 0.5;

/// Number of terms of h; for `beta <= 1` the next ones are below 1e-5.
const TERMS: usize = 6;

/// Largest gap, in turns, at which the quotient of the forces on both clusters is tested.
const NEAR: f64 = 0.25;

/// Sine and cosine.
type SinCos = (Interval, Interval);

/// `sum_m (beta / 2)^(2 m) / (m! (m + l)!) = I_l(beta) / (beta / 2)^l`, for `beta <= 1`.
fn bessel(l: usize, beta: Interval) -> Interval {
    let quarter = (beta / Interval::exact(2.0)).sqr();
    let mut term = (1..=l).fold(Interval::exact(1.0), |t, k| t / Interval::exact(k as f64));
    let mut sum = term;
    for m in 1..=8 {
        term = term * quarter / Interval::exact((m * (m + l)) as f64);
        sum = sum + term;
    }
    // The next terms are below 1e-15 times the first one.
    sum + Interval::new(0.0, 1e-15 * sum.hi())
}

/// The order parameters of a level for all beta of an interval.
pub(super) struct Level {
    pub(super) level: usize,
    gamma: Vec<Interval>,
    /// `c_l` for `l = level + 1, ...`.
    c: Vec<Interval>,
}

impl Level {
    pub(super) fn new(level: usize, beta: (f64, f64)) -> Self {
        let beta = Interval::new(beta.0, beta.1);
        let half = beta / Interval::exact(2.0);
        let power = |n: usize| (0..n).fold(Interval::exact(1.0), |p, _| p * half);
        // l I_l / (k I_k) for l >= k.
        let ratio = |l: usize, k: usize| {
            let sizes = bessel(l, beta) / bessel(k, beta);
            Interval::exact(l as f64) / Interval::exact(k as f64) * power(l - k) * sizes
        };
        Self {
            level,
            gamma: (1..=level).map(|l| ratio(level + 1, l)).collect(),
            c: (0..TERMS).map(|t| ratio(level + 1 + t, level + 1)).collect(),
        }
    }

    /// Sine and cosine of l times a distance in turns.
    fn sin_cos(l: usize, (lo, hi): (f64, f64)) -> SinCos {
        // Exact: multiples of 2^-48 below 2^5.
        let (lo, hi) = (l as f64 * lo, l as f64 * hi);
        if hi - lo >= 1.0 {
            return (Interval::symmetric(1.0), Interval::symmetric(1.0));
        }
        let ends = [lo, hi].map(|t| {
            let t = t - t.floor();
            let d = direction(if t > 0.5 { 1.0 - t } else { t });
            (if t > 0.5 { -d.s } else { d.s }, d.c)
        });
        // Whether a place is between, up to whole turns.
        let passes = |t: f64| (lo - t).ceil() + t <= hi;
        let range = |a: f64, b: f64, top: f64, bottom: f64| {
            let least = if passes(bottom) { -1.0 } else { (a.min(b) - TRIG).max(-1.0) };
            let most = if passes(top) { 1.0 } else { (a.max(b) + TRIG).min(1.0) };
            Interval::new(least, most)
        };
        let [(sin, cos), (other_sin, other_cos)] = ends;
        (range(sin, other_sin, 0.25, 0.75), range(cos, other_cos, 0.0, 0.5))
    }

    /// h and its derivative over distances in turns.
    fn h(&self, distances: (f64, f64)) -> (Interval, Interval) {
        let mut sum = (Interval::ZERO, Interval::ZERO);
        for (t, c) in self.c.iter().enumerate() {
            let l = self.level + 1 + t;
            let ((sin, cos), slope) = (Self::sin_cos(l, distances), Interval::exact(l as f64) * *c);
            sum = (sum.0 + *c * sin, sum.1 + slope * cos);
        }
        // c_(l+1) < c_l / 6.
        let rest = Interval::symmetric(self.c[TERMS - 1].hi());
        (sum.0 + rest, sum.1 + Interval::exact(30.0) * rest)
    }
}

/// Places, h and its derivatives on a box or at a point, for clusters in the order after a gap.
struct Parts<'a> {
    k: usize,
    mass: Row<f64>,
    level: &'a Level,
    /// Sine and cosine of `l x_a`, by cluster and l.
    powers: Vec<Vec<SinCos>>,
    /// The sums of `m_b h(x_b - x_a)`.
    sums: Row<Interval>,
    /// The derivatives of h by pairs.
    slopes: Vec<Row<Interval>>,
}

impl<'a> Parts<'a> {
    /// `distances` are those from cluster a to cluster b > a in turns.
    fn new(
        mass: Row<f64>,
        k: usize,
        level: &'a Level,
        distances: &dyn Fn(usize, usize) -> (f64, f64),
    ) -> Self {
        let mut sums = [Interval::ZERO; MAX_TOKENS];
        let mut slopes = vec![[Interval::ZERO; MAX_TOKENS]; k];
        for a in 0..k {
            for b in a + 1..k {
                let (h, slope) = level.h(distances(a, b));
                sums[a] = sums[a] + Interval::exact(mass[b]) * h;
                sums[b] = sums[b] - Interval::exact(mass[a]) * h;
                (slopes[a][b], slopes[b][a]) = (slope, slope);
            }
        }
        let powers = (0..k)
            .map(|a| {
                let place = if a == 0 { (0.0, 0.0) } else { distances(0, a) };
                (1..=level.level).map(|l| Level::sin_cos(l, place)).collect()
            })
            .collect();
        Self { k, mass, level, powers, sums, slopes }
    }

    /// Number of unknowns.
    fn unknowns(&self) -> usize {
        self.k - 1 + 2 * self.level.level
    }

    /// Real and imaginary parts of `R_1, R_2, ...`.
    fn moments(&self) -> Vec<Interval> {
        let of = |l: usize, part: &dyn Fn(SinCos) -> Interval| {
            (0..self.k).fold(Interval::ZERO, |sum, a| {
                sum + Interval::exact(self.mass[a]) * part(self.powers[a][l])
            })
        };
        (0..self.level.level).flat_map(|l| [of(l, &|v| v.1), of(l, &|v| v.0)]).collect()
    }

    /// The coefficients of rho in the force on a cluster.
    fn row(&self, a: usize) -> Vec<Interval> {
        self.powers[a].iter().flat_map(|(sin, cos)| [-*sin, *cos]).collect()
    }

    /// The equations.
    fn equations(&self, rho: &[Interval]) -> Vec<Interval> {
        let force = |a: usize| {
            let row = self.row(a);
            row.iter().zip(rho).fold(self.sums[a], |sum, (c, r)| sum + *c * *r)
        };
        let mut all: Vec<Interval> = (0..self.k - 1).map(force).collect();
        let moments = self.moments();
        let rest = moments.iter().zip(rho).enumerate();
        all.extend(rest.map(|(x, (m, r))| *m - self.level.gamma[x / 2] * *r));
        all
    }

    /// Their derivatives by the gaps after each cluster, in radians, and by rho.
    fn derivatives(&self, rho: &[Interval]) -> Vec<Vec<Interval>> {
        let (k, n, zero) = (self.k, self.unknowns(), Interval::ZERO);
        let mut rows = Vec::with_capacity(n);
        for a in 0..k - 1 {
            let turning = self.powers[a].iter().enumerate().fold(zero, |sum, (l, (sin, cos))| {
                let both = rho[2 * l + 1] * *sin + rho[2 * l] * *cos;
                sum + Interval::exact(l as f64 + 1.0) * both
            });
            let by_gap = |l: usize| {
                // The gap moves all clusters after it.
                let others = if a > l { 0..l + 1 } else { l + 1..k };
                let pull = others
                    .fold(zero, |sum, b| sum + Interval::exact(self.mass[b]) * self.slopes[a][b]);
                if a > l { -(turning + pull) } else { pull }
            };
            rows.push((0..k - 1).map(by_gap).chain(self.row(a)).collect());
        }
        for x in 0..2 * self.level.level {
            let (l, is_sine) = (x / 2, x % 2 == 1);
            let mut row = vec![zero; n];
            let mut sum = zero;
            for gap in (0..k - 1).rev() {
                let (sin, cos) = self.powers[gap + 1][l];
                let turned = if is_sine { cos } else { -sin };
                let mass = Interval::exact((l as f64 + 1.0) * self.mass[gap + 1]);
                sum = sum + mass * turned;
                row[gap] = sum;
            }
            row[k - 1 + x] = -self.level.gamma[l];
            rows.push(row);
        }
        rows
    }

    /// The quotient of the forces on two neighbours: the coefficients of rho and the rest, from the
    /// place of the arc between them, and masses with their distances from it.
    fn quotient(&self, arc: (f64, f64), others: &[(f64, (f64, f64))]) -> Linear {
        let of = |l: usize| {
            let ((sin, cos), l) = (Level::sin_cos(l, arc), Interval::exact(l as f64));
            [l * cos, l * sin]
        };
        let rest = others.iter().fold(Interval::ZERO, |sum, (mass, distances)| {
            sum + Interval::exact(*mass) * self.level.h(*distances).1
        });
        Linear { by: (1..=self.level.level).flat_map(of).collect(), rest }
    }

    /// Bounds of rho at the zeros, or `None` if there are none, from the forces and quotients.
    fn rho(&self, quotients: Vec<Linear>) -> Option<Vec<Interval>> {
        let moments = self.moments();
        let mut rho: Vec<Interval> =
            moments.iter().enumerate().map(|(x, m)| *m / self.level.gamma[x / 2]).collect();
        let mut rows: Vec<Linear> =
            (0..self.k).map(|a| Linear { by: self.row(a), rest: self.sums[a] }).collect();
        contract(&rows, &mut rho)?;
        rows.extend(quotients);
        let holds = rows.iter().all(|row| row.at(&rho).contains(0.0));
        (holds && !is_contradiction(&rows, &rho)).then_some(rho)
    }
}

/// A linear function of rho.
struct Linear {
    by: Vec<Interval>,
    rest: Interval,
}

impl Linear {
    fn at(&self, rho: &[Interval]) -> Interval {
        self.by.iter().zip(rho).fold(self.rest, |sum, (c, r)| sum + *c * *r)
    }

    fn middle(&self) -> Vec<f64> {
        self.by.iter().map(|v| v.mid()).collect()
    }
}

/// The matrix Y with the smallest entries for which Y B is 1, B the middles of coefficients.
fn left_inverse(rows: &[Linear]) -> Option<Vec<Vec<f64>>> {
    let middle: Vec<Vec<f64>> = rows.iter().map(Linear::middle).collect();
    let count = middle.first()?.len();
    let product = |x: usize, y: usize| middle.iter().map(|r| r[x] * r[y]).sum();
    let square: Vec<Vec<f64>> =
        (0..count).map(|x| (0..count).map(|y| product(x, y)).collect()).collect();
    let left = |row: &Vec<f64>| -> Vec<f64> {
        let of = |r: &Vec<f64>| row.iter().zip(r).map(|(i, v)| i * v).sum();
        middle.iter().map(of).collect()
    };
    Some(inverse(&square)?.iter().map(left).collect())
}

/// Narrower bounds of the solutions of `B rho + K = 0`, from `rho = -Y K + (I - Y B) rho` with a
/// left inverse Y of B; `None` if there are none.
fn contract(rows: &[Linear], rho: &mut [Interval]) -> Option<()> {
    let Some(left) = left_inverse(rows) else { return Some(()) };
    let count = rho.len();
    let constants: Vec<Interval> = rows.iter().map(|row| row.rest).collect();
    let by: Vec<&[Interval]> = rows.iter().map(|row| &row.by[..]).collect();
    let (first, rest) = (apply(&left, &constants), defect(&left, &by));
    let norm = rest.iter().map(|row| row.iter().map(|v| v.mag()).sum::<f64>());
    let norm = norm.fold(0.0, f64::max) * (1.0 + 1e-14);
    if norm < 0.999 {
        let size = first.iter().map(|v| v.mag()).fold(0.0, f64::max);
        let bound = Interval::symmetric(size / (1.0 - norm) * (1.0 + 1e-12));
        for r in rho.iter_mut() {
            *r = meet(*r, bound)?;
        }
    }
    for _ in 0..3 {
        for x in 0..count {
            let terms = rest[x].iter().zip(rho.iter());
            let found = terms.fold(-first[x], |sum, (v, r)| sum + *v * *r);
            rho[x] = meet(rho[x], found)?;
        }
    }
    Some(())
}

/// Whether `B rho + K = 0` has no solution because of a combination of its rows: the part of K that
/// is orthogonal to B.
fn is_contradiction(rows: &[Linear], rho: &[Interval]) -> bool {
    let Some(left) = left_inverse(rows) else { return false };
    let middle: Vec<f64> = rows.iter().map(|row| row.rest.mid()).collect();
    let solved: Vec<f64> =
        left.iter().map(|y| y.iter().zip(&middle).map(|(y, k)| y * k).sum()).collect();
    let numbers: Vec<Interval> = rows
        .iter()
        .zip(&middle)
        .map(|(row, k)| {
            let part: f64 = row.middle().iter().zip(&solved).map(|(b, x)| b * x).sum();
            Interval::exact(k - part)
        })
        .collect();
    let combined = |of: &dyn Fn(&Linear) -> Interval| {
        numbers.iter().zip(rows).fold(Interval::ZERO, |sum, (n, row)| sum + *n * of(row))
    };
    let rest = combined(&|row| row.rest);
    let sum =
        rho.iter().enumerate().fold(rest, |sum, (x, r)| sum + combined(&|row| row.by[x]) * *r);
    !sum.contains(0.0)
}

/// The numbers that lie in both intervals.
fn meet(a: Interval, b: Interval) -> Option<Interval> {
    let (lo, hi) = (a.lo().max(b.lo()), a.hi().min(b.hi()));
    (lo <= hi).then(|| Interval::new(lo, hi))
}

/// The part of a box of small beta in which its zeros with positive gaps lie, from the ranges of
/// the box; `None` if it has no zeros, or only regular ones.
pub(super) fn undecided_part(
    arrangement: &Arrangement,
    level: usize,
    cell: &Cell,
    pairs: &Pairs,
) -> Option<Cell> {
    let (k, level) = (arrangement.k, Level::new(level, cell.beta));
    let r = cell.widest(k).0;
    let after = |x: usize| (r + 1 + x) % k;
    let mass: Row<f64> =
        std::array::from_fn(|x| if x < k { arrangement.mass[after(x)] } else { 0.0 });
    let distances = |a: usize, b: usize| {
        let (p, q) = (after(a), after(b));
        if p < q {
            pairs.distance[p][q]
        } else {
            let (lo, hi) = pairs.distance[q][p];
            (1.0 - hi, 1.0 - lo)
        }
    };
    let parts = Parts::new(mass, k, &level, &distances);
    let quotient = |a: usize| {
        let (b, gap) = (a + 1, cell.gaps[after(a)].1);
        let start = if a == 0 { 0.0 } else { distances(0, a).0 };
        let hull = |t: usize| match t {
            // Backwards: h' is even.
            _ if t < a => (distances(t, a).0, distances(t, b).1),
            _ if t > b => (distances(b, t).0, distances(a, t).1),
            _ => (0.0, gap),
        };
        let others: Vec<(f64, (f64, f64))> = (0..k).map(|t| (mass[t], hull(t))).collect();
        let apart = gap < NEAR && others.iter().all(|o| o.1.0 <= o.1.1);
        apart.then(|| parts.quotient((start, distances(0, b).1), &others))
    };
    let rho = parts.rho((0..k - 1).filter_map(quotient).collect())?;
    let by = parts.derivatives(&rho);
    let turn = Interval::TURN;
    let Some(centre) = arrangement.centre(r, cell) else { return Some(*cell) };
    // Differences of multiples of 2^-48 are exact.
    let mut around: Vec<Interval> = (0..k - 1)
        .map(|l| {
            let gap = cell.gaps[after(l)];
            Interval::new(gap.0 - centre[l], gap.1 - centre[l]) * turn
        })
        .collect();
    let middle: Vec<Interval> = rho.iter().map(|v| Interval::exact(v.mid())).collect();
    around.extend(rho.iter().zip(&middle).map(|(r, m)| *r - *m));
    let Some(y) = inverse(&middles(&by)) else { return Some(*cell) };
    let rest = defect(&y, &by);
    let sizes: Vec<f64> = around.iter().map(|v| v.mag()).collect();
    if is_below_one(&rest, &sizes) {
        return None;
    }
    let at = Parts::new(mass, k, &level, &|a, b| {
        // Exact: multiples of 2^-48.
        let distance: f64 = centre[a..b].iter().sum();
        (distance, distance)
    });
    let step = apply(&y, &at.equations(&middle));
    let mut within = *cell;
    for (l, moved) in krawczyk(&step, &rest, &around).into_iter().enumerate() {
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
    use super::{Level, Parts, undecided_part};
    use crate::num::interval::Interval;
    use crate::num::stream::Stream;

    /// `I_l(beta)` by its series.
    fn bessel(l: usize, beta: f64) -> f64 {
        let mut term = (1..=l).fold(1.0, |t, k| t * 0.5 * beta / k as f64);
        let mut sum = term;
        for m in 1..20 {
            term *= 0.25 * beta * beta / (m * (m + l)) as f64;
            sum += term;
        }
        sum
    }

    /// The equations by their definition, for angles of the clusters: the whole force, minus the
    /// part of the order parameters, plus that of rho.
    fn plain(level: usize, x: &[f64], mass: &[f64], rho: &[f64], beta: f64) -> Vec<f64> {
        let sum = |of: &dyn Fn(usize) -> f64| (0..x.len()).map(|j| mass[j] * of(j)).sum::<f64>();
        let size = |l: usize| l as f64 * bessel(l, beta);
        let own = size(level + 1);
        let force = |a: usize| {
            let all =
                sum(&|j| 0.5 * beta * (beta * (x[j] - x[a]).cos()).exp() * (x[j] - x[a]).sin());
            let low = |l: usize| size(l) * sum(&|j| (l as f64 * (x[j] - x[a])).sin());
            let tail = (all - (1..=level).map(low).sum::<f64>()) / own;
            let of = |l: usize| {
                let (sin, cos) = (l as f64 * x[a]).sin_cos();
                rho[2 * l - 1] * cos - rho[2 * l - 2] * sin
            };
            tail + (1..=level).map(of).sum::<f64>()
        };
        let mut found: Vec<f64> = (0..x.len() - 1).map(force).collect();
        for l in 1..=level {
            let gamma = own / size(l);
            found.push(sum(&|j| (l as f64 * x[j]).cos()) - gamma * rho[2 * l - 2]);
            found.push(sum(&|j| (l as f64 * x[j]).sin()) - gamma * rho[2 * l - 1]);
        }
        found
    }

    #[test]
    fn equations_and_derivatives_contain_the_definitions() {
        let (mut s, tau) = (Stream::new(2, &["order parameter"]), std::f64::consts::TAU);
        for trial in 0..300 {
            let (k, level, width) = (3 + trial % 4, 1 + trial % 3, 1e-3);
            // Beyond, the difference of the whole force and its parts loses the tail.
            let beta = s.uniform_in(0.2, 0.49);
            let gaps: Vec<f64> = (1..k).map(|_| grid_down(s.uniform_in(0.05, 0.2))).collect();
            let rho: Vec<f64> = (0..2 * level).map(|_| s.uniform_in(-2.0, 2.0)).collect();
            let mut mass = [0.0; MAX_TOKENS];
            mass[..k].fill_with(|| s.uniform_in(1.0, 4.0).floor());
            let of_level = Level::new(level, (beta, beta + width));
            let parts = Parts::new(mass, k, &of_level, &|a, b| {
                let sum: f64 = gaps[a..b].iter().sum();
                (sum, sum + (b - a) as f64 * grid_down(width))
            });
            let boxed: Vec<Interval> = rho.iter().map(|v| Interval::new(*v, v + width)).collect();
            let (f, by) = (parts.equations(&boxed), parts.derivatives(&boxed));
            let mut inside: Vec<f64> =
                gaps.iter().chain(&rho).map(|v| v + width * s.uniform_in(0.0, 0.99)).collect();
            let beta = beta + width * s.uniform_in(0.0, 1.0);
            let of = |z: &[f64]| {
                let mut x = vec![0.0];
                (0..k - 1).for_each(|l| x.push(x[l] + tau * z[l]));
                plain(level, &x, &mass[..k], &z[k - 1..], beta)
            };
            let near = |v: Interval, wanted: f64, slack: f64| {
                assert!(v.lo() - slack <= wanted && wanted <= v.hi() + slack, "{v:?} {wanted}");
                assert!(v.width() < 10.0, "{trial} {v:?}");
            };
            f.iter().zip(of(&inside)).for_each(|(f, v)| near(*f, v, 1e-10));
            for m in 0..inside.len() {
                let (own, h) = (inside[m], 1e-5);
                let step = if m < k - 1 { h / tau } else { h };
                inside[m] = own + step;
                let up = of(&inside);
                inside[m] = own - step;
                let down = of(&inside);
                inside[m] = own;
                for (row, (u, d)) in by.iter().zip(up.iter().zip(&down)) {
                    near(row[m], (u - d) / (2.0 * h), 2e-5);
                }
            }
        }
    }

    #[test]
    fn a_singular_zero_is_never_decided() {
        // The fold of masses 1, 2, 3, 4: a box that contains it has a zero that is not regular.
        let clusters = [4, 3, 1, 2].map(|m| vec![m]);
        let fold = [2.206852450321422, 1.832995526434152, 0.05482798945609184, 2.1885093409679204];
        let gaps = fold.map(|g| g / std::f64::consts::TAU);
        let (beta, arrangement) = (0.385_595_357_241_870_56, arrange(&clusters));
        let mut s = Stream::new(3, &["order parameter boxes"]);
        for trial in 0..1000 {
            let wide = 10f64.powf(s.uniform_in(-6.0, -0.7));
            let mut side = || wide * s.uniform_in(0.01, 1.0);
            let span = (beta - 0.1 * side(), beta + 0.1 * side());
            let mut cell = Cell { gaps: [(0.0, 0.0); MAX_TOKENS], beta: span };
            for (c, g) in cell.gaps.iter_mut().zip(&gaps) {
                *c = (grid_down(g - side()).max(0.0), grid_down(g + side()).min(0.5));
            }
            assert!(cell.close(4));
            let pairs = arrangement.pairs(&cell, &Kernel::new(span));
            let part = undecided_part(&arrangement, 1 + trial % 2, &cell, &pairs);
            let part = part.unwrap_or_else(|| panic!("{cell:?}"));
            // The fold is known to 2e-8: gaps move with the square root of the error of beta.
            let holds = |(c, g): (&(f64, f64), &f64)| c.0 - 2e-8 <= *g && *g <= c.1 + 2e-8;
            assert!(part.gaps.iter().zip(&gaps).all(holds), "{cell:?} {part:?}");
        }
    }
}
