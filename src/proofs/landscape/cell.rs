//! Boxes of gaps, and the tests that exclude critical points or show a direction of ascent there.

use super::kernel::{Kernel, Law};
use crate::num::interval::Interval;
use std::borrow::Cow;

/// Largest number of tokens.
pub const MAX_TOKENS: usize = 12;

/// `2^48`: bounds of gaps are multiples of its inverse, so sums of gaps are exact.
pub(super) const GRID: f64 = 281_474_976_710_656.0;

/// The largest multiple of `2^-48` below a number.
#[inline]
pub(super) fn grid_down(t: f64) -> f64 {
    (t * GRID).floor() / GRID
}

/// The smallest multiple of `2^-48` above a number.
#[inline]
pub(super) fn grid_up(t: f64) -> f64 {
    (t * GRID).ceil() / GRID
}

/// A number for every token.
pub(super) type Row<T> = [T; MAX_TOKENS];

/// A number for every pair of tokens; entries above the diagonal count.
pub(super) type Table<T> = Row<Row<T>>;

/// A box: bounds of the gaps between neighbours in turns, and bounds of beta or of the parameter in
/// its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) gaps: Row<(f64, f64)>,
    pub(super) beta: (f64, f64),
}

/// The mass of a cluster, `fixed + varying * parameter`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mass {
    pub(super) fixed: f64,
    /// 1 if the token whose mass is the parameter belongs to the cluster, else 0.
    pub(super) varying: f64,
    /// The mass at a typical value of the parameter, which fixes coordinates.
    pub(super) typical: f64,
}

impl Mass {
    /// A mass that does not depend on the parameter.
    pub(super) fn fixed(fixed: f64) -> Self {
        Self { fixed, varying: 0.0, typical: fixed }
    }

    /// Whether it depends on the parameter.
    pub(super) fn varies(self) -> bool {
        self.varying > 0.0
    }

    /// For all values of the parameter in an interval.
    pub(super) fn at(self, parameter: Interval) -> Interval {
        let fixed = Interval::exact(self.fixed);
        if self.varies() { fixed + parameter } else { fixed }
    }

    /// The mass of several clusters, of which one may vary.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            fixed: self.fixed + other.fixed,
            varying: self.varying + other.varying,
            typical: self.typical + other.typical,
        }
    }
}

/// Clusters in cyclic order on the circle.
#[derive(Clone, Debug)]
pub(super) struct Arrangement {
    /// Number of clusters.
    pub(super) k: usize,
    /// Masses, whole numbers; without that of a token whose mass is the parameter.
    pub(super) mass: Row<f64>,
    /// The cluster of the token whose mass is the parameter, and a typical value of it.
    pub(super) varying: Option<(usize, f64)>,
    /// Tokens per cluster.
    pub(super) size: Row<usize>,
    /// Images of the gaps under rotations (false) and reflections (true) that keep the clusters.
    pub(super) symmetries: Vec<(Row<usize>, bool)>,
    /// The largest masses, if masses lie in intervals; else the masses.
    pub(super) upper: Row<f64>,
    /// What attracts the clusters.
    pub(super) law: Law,
}

/// Ranges of a cell: distances from p to q in the direction of the order, `m_p m_q u`, `m_p m_q w`.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    pub(super) distance: Table<(f64, f64)>,
    pub(super) u: Table<Interval>,
    pub(super) w: Table<Interval>,
}

/// An interval with one number.
pub(super) const ZERO: Interval = Interval::ZERO;

impl Cell {
    /// Shrinks the gaps to those whose sum can be 1; false if there are none. Sums are exact.
    pub(super) fn close(&mut self, k: usize) -> bool {
        for _ in 0..2 {
            let (mut low, mut high) = (0.0, 0.0);
            for g in &self.gaps[..k] {
                (low, high) = (low + g.0, high + g.1);
            }
            for g in &mut self.gaps[..k] {
                let new = (g.0.max(1.0 - (high - g.1)), g.1.min(1.0 - (low - g.0)));
                if new.0 > new.1 {
                    return false;
                }
                (low, high) = (low + (new.0 - g.0), high + (new.1 - g.1));
                *g = new;
            }
        }
        true
    }

    /// The index and the width of the widest gap.
    pub(super) fn widest(&self, k: usize) -> (usize, f64) {
        let width = |x: &usize| self.gaps[*x].1 - self.gaps[*x].0;
        let x = (0..k).max_by(|a, b| width(a).total_cmp(&width(b)).then(b.cmp(a))).unwrap_or(0);
        (x, width(&x))
    }

    /// True if all gaps lie within given bounds.
    pub(super) fn is_within(&self, outer: &Row<(f64, f64)>, k: usize) -> bool {
        self.gaps[..k].iter().zip(outer).all(|(a, b)| b.0 <= a.0 && a.1 <= b.1)
    }
}

impl Arrangement {
    /// True if a symmetry maps every point of the cell to one that is lexicographically larger: an
    /// orbit has a largest point, and that one is elsewhere.
    pub(super) fn is_image(&self, cell: &Cell) -> bool {
        self.symmetries.iter().any(|(image, _)| {
            (0..self.k)
                .find(|x| image[*x] != *x)
                .is_some_and(|x| cell.gaps[x].1 < cell.gaps[image[x]].0)
        })
    }

    /// The mass of a cluster.
    pub(super) fn mass_of(&self, x: usize) -> Mass {
        let fixed = self.mass[x];
        match self.varying {
            Some((own, typical)) if own == x => {
                Mass { fixed, varying: 1.0, typical: fixed + typical }
            }
            _ => Mass::fixed(fixed),
        }
    }

    /// The masses of all clusters.
    pub(super) fn masses(&self) -> Vec<Mass> {
        (0..self.k).map(|x| self.mass_of(x)).collect()
    }

    /// The same clusters for all values of the parameter in an interval: the masses are bounds.
    pub(super) fn at(&self, parameter: (f64, f64)) -> Cow<'_, Self> {
        let Some((x, _)) = self.varying else { return Cow::Borrowed(self) };
        let mut bounded = self.clone();
        let mass = self.mass_of(x).at(Interval::new(parameter.0, parameter.1));
        (bounded.mass[x], bounded.upper[x], bounded.varying) = (mass.lo(), mass.hi(), None);
        Cow::Owned(bounded)
    }

    /// The product of the masses of two clusters. Products of whole numbers are exact.
    #[inline]
    pub(super) fn product(&self, p: usize, q: usize) -> Interval {
        let (low, high) = (self.mass[p] * self.mass[q], self.upper[p] * self.upper[q]);
        self.rounded((p, q), low, high)
    }

    /// The sum of the masses of two clusters.
    #[inline]
    fn sum(&self, p: usize, q: usize) -> Interval {
        let (low, high) = (self.mass[p] + self.mass[q], self.upper[p] + self.upper[q]);
        self.rounded((p, q), low, high)
    }

    /// Bounds from the masses of two clusters; those from whole numbers are exact.
    #[inline]
    fn rounded(&self, (p, q): (usize, usize), low: f64, high: f64) -> Interval {
        let whole = |x: usize| self.mass[x].fract() <= 0.0 && self.upper[x].fract() <= 0.0;
        if whole(p) && whole(q) {
            Interval::new(low, high)
        } else {
            Interval::new(low.next_down(), high.next_up())
        }
    }

    /// Bounds of the mass of a cluster.
    #[inline]
    pub(super) fn weight(&self, x: usize) -> Interval {
        Interval::new(self.mass[x], self.upper[x])
    }

    /// The exact range of the distance from p to q > p.
    pub(super) fn distances(&self, cell: &Cell) -> Table<(f64, f64)> {
        let k = self.k;
        let mut distance = [[(0.0, 0.0); MAX_TOKENS]; MAX_TOKENS];
        let sum = cell.gaps[..k].iter().fold((0.0, 0.0), |s, g| (s.0 + g.0, s.1 + g.1));
        for (p, row) in distance.iter_mut().enumerate().take(k) {
            let (mut low, mut high) = (0.0, 0.0);
            for (to_q, gap) in row[p + 1..].iter_mut().zip(&cell.gaps[p..k - 1]) {
                (low, high) = (low + gap.0, high + gap.1);
                let other = (1.0 - (sum.1 - high), 1.0 - (sum.0 - low));
                *to_q = (low.max(other.0).max(0.0), high.min(other.1).min(1.0));
            }
        }
        distance
    }

    /// Whether the force between two clusters certainly changes its sign in a box, so that it is 0
    /// at one of its points.
    pub(super) fn changes_sign(&self, cell: &Cell) -> bool {
        let (a, b) = (cell.gaps[0], cell.gaps[1]);
        let kernel = self.law.kernel(cell.beta);
        let at = |gap: f64| kernel.ranges(gap, gap).u;
        let (low, high) = (at(a.0.max(1.0 - b.1)), at(a.1.min(1.0 - b.0)));
        (low.is_positive() && high.is_negative()) || (low.is_negative() && high.is_positive())
    }

    /// Ranges of all pairs.
    pub(super) fn pairs(&self, cell: &Cell, kernel: &Kernel) -> Pairs {
        let table = [[ZERO; MAX_TOKENS]; MAX_TOKENS];
        let mut pairs = Pairs { distance: self.distances(cell), u: table, w: table };
        for p in 0..self.k {
            for q in p + 1..self.k {
                let (lo, hi) = pairs.distance[p][q];
                let found = kernel.ranges(lo, hi);
                let mass = self.product(p, q);
                let (u, w) = if mass == Interval::exact(1.0) {
                    (found.u, found.w)
                } else {
                    (found.u * mass, found.w * mass)
                };
                (pairs.u[p][q], pairs.w[p][q]) = (u, w);
            }
        }
        pairs
    }

    /// An arc of clusters on which the total force is not 0.
    ///
    /// The force on the arc a..=b is the sum of the pulls of the clusters outside on those inside:
    /// `L(a, b) + R(a, b)`, where L has the clusters before a, R those after b.
    pub(super) fn force(&self, pairs: &Pairs) -> Option<(usize, usize)> {
        let k = self.k;
        let mut right = [[ZERO; MAX_TOKENS]; MAX_TOKENS];
        // R(a, b) = R(a + 1, b) + sum_{q > b} u_aq.
        for a in (0..k).rev() {
            let mut after = ZERO;
            for b in (a..k).rev() {
                right[a][b] = if a < b { right[a + 1][b] + after } else { after };
                after = after + pairs.u[a][b];
            }
        }
        for (a, right) in right.iter().enumerate().take(k) {
            // L(a, b) = L(a, b - 1) - sum_{q < a} u_qb.
            let mut left = ZERO;
            for b in a..k {
                for row in &pairs.u[..a] {
                    left = left - row[b];
                }
                if (a, b) != (0, k - 1) && !(left + right[b]).contains(0.0) {
                    return Some((a, b));
                }
            }
        }
        None
    }

    /// A gap whose two clusters cannot both be in equilibrium unless the gap is 0.
    ///
    /// For neighbours i and j at distance g in radians, `(f_i - f_j) / g` is
    /// `(m_i + m_j) u(g) / g + sum_t m_t w(xi_t)`, where `xi_t` lies between the distances of t
    /// from i and from j, and `u(g) / g` lies in `w([0, g])`, both by the mean value theorem.
    pub(super) fn quotient(&self, cell: &Cell, pairs: &Pairs, kernel: &Kernel) -> Option<usize> {
        let k = self.k;
        let backwards = |(lo, hi): (f64, f64)| (1.0 - hi, 1.0 - lo);
        (0..k).find(|&p| {
            let (q, gap) = ((p + 1) % k, cell.gaps[p]);
            if gap.1 > 0.3 {
                return false;
            }
            let mut own = kernel.ranges(0.0, gap.1).w;
            if gap.0 > 0.0 {
                let turn = Interval::TURN;
                let radians = Interval::new(gap.0, gap.1) * turn;
                let secant = kernel.ranges(gap.0, gap.1).u / radians;
                let (lo, hi) = (own.lo().max(secant.lo()), own.hi().min(secant.hi()));
                if lo <= hi {
                    own = Interval::new(lo, hi);
                }
            }
            let mut sum = own * self.sum(p, q);
            for t in (0..k).filter(|t| *t != p && *t != q) {
                let to = |x: usize| {
                    if t < x { pairs.distance[t][x] } else { backwards(pairs.distance[x][t]) }
                };
                let (lo, hi) = (to(p).0, to(q).1);
                if lo > hi {
                    return false;
                }
                sum = sum + kernel.ranges(lo, hi).w * self.weight(t);
            }
            !sum.contains(0.0)
        })
    }

    /// An arc of clusters that can be moved rigidly to increase the energy at second order:
    /// `sum m_p m_q w_pq < 0` over p in the arc and q outside.
    pub(super) fn cut(&self, pairs: &Pairs) -> Option<(usize, usize)> {
        let k = self.k;
        let up = |a: f64, b: f64| (a + b).next_up();
        let mut right = [[0.0f64; MAX_TOKENS]; MAX_TOKENS];
        for a in (0..k).rev() {
            let mut after = 0.0;
            for b in (a..k).rev() {
                right[a][b] = if a < b { up(right[a + 1][b], after) } else { after };
                after = up(after, pairs.w[a][b].hi());
            }
        }
        for (a, right) in right.iter().enumerate().take(k) {
            let mut left = 0.0;
            for b in a..k {
                for row in &pairs.w[..a] {
                    left = up(left, row[b].hi());
                }
                if (a, b) != (0, k - 1) && up(left, right[b]) < 0.0 {
                    return Some((a, b));
                }
            }
        }
        None
    }

    /// Displacements v, whole numbers, with `sum_{p<q} m_p m_q w_pq (v_p - v_q)^2 < 0`: moving
    /// along them increases the energy at second order. They come from the power method for the
    /// smallest eigenvalue of the quadratic form with upper bounds of w.
    pub(super) fn displacement(&self, pairs: &Pairs) -> Option<Row<i32>> {
        let k = self.k;
        let mut weights = [[0.0f64; MAX_TOKENS]; MAX_TOKENS];
        let mut size = 0.0f64;
        for (p, row) in weights.iter_mut().enumerate().take(k) {
            for (q, w) in row.iter_mut().enumerate().take(k).filter(|(q, _)| *q != p) {
                *w = pairs.w[p.min(q)][p.max(q)].hi();
            }
            size = size.max(row[..k].iter().map(|w| w.abs()).sum());
        }
        let mut v: Row<f64> = std::array::from_fn(|p| ((p * p * 7 + 3 * p + 1) % 11) as f64 - 5.0);
        for _ in 0..24 {
            let mut next = [0.0; MAX_TOKENS];
            for p in 0..k {
                let pull: f64 = (0..k).map(|q| weights[p][q] * (v[p] - v[q])).sum();
                next[p] = 2.0 * size * v[p] - pull;
            }
            let mean = next[..k].iter().sum::<f64>() / k as f64;
            let mut largest = 0.0f64;
            for x in &mut next[..k] {
                *x -= mean;
                largest = largest.max(x.abs());
            }
            if largest <= 0.0 || !largest.is_finite() {
                return None;
            }
            for (v, x) in v.iter_mut().zip(&next[..k]) {
                *v = x / largest;
            }
        }
        let whole: Row<i32> = std::array::from_fn(|p| (v[p] * 1000.0).round() as i32);
        self.ascends(pairs, &whole).then_some(whole)
    }

    /// Whether these displacements increase the energy at second order.
    pub(super) fn ascends(&self, pairs: &Pairs, v: &Row<i32>) -> bool {
        let mut sum = 0.0f64;
        for p in 0..self.k {
            for q in p + 1..self.k {
                // Exact: the square is a whole number below 2^53.
                let apart = f64::from(v[p]) - f64::from(v[q]);
                let square = apart * apart;
                sum = (sum + (pairs.w[p][q].hi() * square).next_up()).next_up();
            }
        }
        sum < 0.0
    }
}
