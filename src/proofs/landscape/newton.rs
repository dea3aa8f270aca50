//! Newton's method on the equations of equilibrium: contraction of a box, proof that a box has
//! exactly one zero, and the signs of the eigenvalues there.
//!
//! The unknowns are the `k - 1` gaps other than gap r, in the cyclic order that begins after it.
//! The equations are `G_l = sum_{p <= l < q} m_p m_q u_pq = 0`: the force on the first l + 1
//! clusters. Their derivative with respect to the gaps in radians is the symmetric matrix
//! `A_lm = sum_{p <= min(l, m), q > max(l, m)} m_p m_q w_pq`, the negative of the Hessian of the
//! energy. So negative eigenvalues of A are directions of ascent.

use super::cell::{Arrangement, Cell, MAX_TOKENS, Pairs, Row, Table, ZERO, grid_down, grid_up};
use super::kernel::Kernel;
use crate::dense_intervals::negative_eigenvalues;
use crate::num::interval::Interval;

/// A zero: the box in which it is the only one, and a narrow enclosure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zero {
    pub(super) alone: Row<(f64, f64)>,
    pub(super) place: Row<(f64, f64)>,
}

/// What Newton's method says of a box.
pub(super) struct Step {
    /// There is no zero.
    pub(super) empty: bool,
    /// There is exactly one zero, by Krawczyk's test.
    pub(super) unique: bool,
    /// All matrices between those of the derivative are regular.
    pub(super) regular: bool,
}

const NOTHING: Step = Step { empty: false, unique: false, regular: false };

/// The inverse of a matrix of rank n by elimination with scaled pivots; no bound of its error.
fn inverse(n: usize, a: &Table<f64>) -> Option<Table<f64>> {
    let (mut a, mut inverse) = (*a, [[0.0; MAX_TOKENS]; MAX_TOKENS]);
    for (x, row) in inverse.iter_mut().enumerate().take(n) {
        row[x] = 1.0;
    }
    for c in 0..n {
        let scaled = |x: usize| {
            let scale = a[x][c..n].iter().fold(0.0f64, |m, v| m.max(v.abs()));
            if scale > 0.0 { a[x][c].abs() / scale } else { 0.0 }
        };
        let pivot = (c..n).max_by(|x, y| scaled(*x).total_cmp(&scaled(*y)))?;
        a.swap(c, pivot);
        inverse.swap(c, pivot);
        let by = 1.0 / a[c][c];
        if !by.is_finite() || by.abs() <= 0.0 {
            return None;
        }
        for y in 0..n {
            a[c][y] *= by;
            inverse[c][y] *= by;
        }
        for x in (0..n).filter(|x| *x != c) {
            let factor = a[x][c];
            for y in 0..n {
                a[x][y] -= factor * a[c][y];
                inverse[x][y] -= factor * inverse[c][y];
            }
        }
    }
    inverse[..n].iter().all(|r| r[..n].iter().all(|v| v.is_finite())).then_some(inverse)
}

impl Arrangement {
    /// The cluster or gap at a place of the order that begins after gap r.
    #[inline]
    fn after(&self, r: usize, x: usize) -> usize {
        (r + 1 + x) % self.k
    }

    /// The derivative A on the box.
    fn derivative(&self, r: usize, pairs: &Pairs) -> Table<Interval> {
        let k = self.k;
        let mut a = [[ZERO; MAX_TOKENS]; MAX_TOKENS];
        // The sum for l adds the clusters of l to that for l - 1.
        for (l, m) in (0..k - 1).flat_map(|m| (0..=m).map(move |l| (l, m))) {
            let p = self.after(r, l);
            let mut sum = if l > 0 { a[l - 1][m] } else { ZERO };
            for x in m + 1..k {
                let q = self.after(r, x);
                sum = sum + pairs.w[p.min(q)][p.max(q)];
            }
            (a[l][m], a[m][l]) = (sum, sum);
        }
        a
    }

    /// A point of the box whose gaps have the sum 1, without gap r. The mean value theorem needs
    /// one: on the way to a zero all distances must lie in their ranges, also those that the bounds
    /// of gap r make narrow. The middles of the other gaps may leave a gap r outside its bounds.
    pub(super) fn centre(&self, r: usize, cell: &Cell) -> Option<Row<f64>> {
        let k = self.k;
        let (low, wide) =
            cell.gaps[..k].iter().fold((0.0, 0.0), |s, g| (s.0 + g.0, s.1 + (g.1 - g.0)));
        let share = if wide > 0.0 { (1.0 - low) / wide } else { 0.5 };
        let (mut centre, mut rest) = ([0.0; MAX_TOKENS], 1.0);
        for (l, c) in centre.iter_mut().enumerate().take(k - 1) {
            let g = cell.gaps[self.after(r, l)];
            *c = grid_down(g.0 + share * (g.1 - g.0)).clamp(g.0, g.1);
            rest -= *c;
        }
        (cell.gaps[r].0 <= rest && rest <= cell.gaps[r].1).then_some(centre)
    }

    /// Equations and derivative at a point, without error bounds, and the equations with them.
    fn at_centre(
        &self,
        r: usize,
        centre: &Row<f64>,
        kernel: &Kernel,
    ) -> (Row<Interval>, Table<f64>) {
        let (k, mut weight) = (self.k, [[0.0; MAX_TOKENS]; MAX_TOKENS]);
        let mut pull = [[ZERO; MAX_TOKENS]; MAX_TOKENS];
        for p in 0..k {
            let mut t = 0.0;
            for q in p + 1..k {
                t += centre[q - 1];
                let mass = self.product(self.after(r, p), self.after(r, q));
                pull[p][q] = kernel.pull(t) * mass;
                weight[p][q] = kernel.plain(t).1 * mass.mid();
            }
        }
        let (mut g, mut a) = ([ZERO; MAX_TOKENS], [[0.0; MAX_TOKENS]; MAX_TOKENS]);
        for l in 0..k - 1 {
            for row in &pull[..=l] {
                g[l] = row[l + 1..k].iter().fold(g[l], |s, u| s + *u);
            }
            for m in l..k - 1 {
                let sum = weight[..=l].iter().map(|row| row[m + 1..k].iter().sum::<f64>()).sum();
                (a[l][m], a[m][l]) = (sum, sum);
            }
        }
        (g, a)
    }

    /// One step of the method of Hansen and Sengupta, which shrinks the cell around its zeros, with
    /// the tests of Krawczyk. `pairs` are the ranges of the cell.
    pub(super) fn newton(&self, cell: &mut Cell, pairs: &Pairs, kernel: &Kernel) -> Step {
        let r = cell.widest(self.k).0;
        self.newton_without(r, cell, pairs, kernel)
    }

    /// As [`newton`](Self::newton), without gap r.
    fn newton_without(&self, r: usize, cell: &mut Cell, pairs: &Pairs, kernel: &Kernel) -> Step {
        let n = self.k - 1;
        let turn = Interval::TURN;
        let a = self.derivative(r, pairs);
        let Some(centre) = self.centre(r, cell) else { return NOTHING };
        let (g, middle) = self.at_centre(r, &centre, kernel);
        let Some(y) = inverse(n, &middle) else { return NOTHING };
        let mut z = [ZERO; MAX_TOKENS];
        for l in 0..n {
            let gap = cell.gaps[self.after(r, l)];
            // Differences of multiples of 2^-48 are exact.
            z[l] = Interval::new(gap.0 - centre[l], gap.1 - centre[l]) * turn;
        }
        let start = z;
        let (mut ya, mut yg) = ([[ZERO; MAX_TOKENS]; MAX_TOKENS], [ZERO; MAX_TOKENS]);
        for l in 0..n {
            for t in 0..n {
                let factor = Interval::exact(y[l][t]);
                yg[l] = yg[l] + factor * g[t];
                for m in 0..n {
                    ya[l][m] = ya[l][m] + factor * a[t][m];
                }
            }
        }
        // |I - Y A|.
        let off = |l: usize, m: usize| {
            let one = Interval::exact(if l == m { 1.0 } else { 0.0 });
            (one - ya[l][m]).mag()
        };
        let up = |s: f64, t: f64| (s + t).next_up();
        let rows = |of: &dyn Fn(usize) -> f64, l: usize| {
            (0..n).fold(0.0, |s, m| up(s, (off(l, m) * of(m)).next_up()))
        };
        let regular = (0..n).all(|l| rows(&|_| 1.0, l) < 1.0)
            || (0..n).all(|l| rows(&|m| start[m].mag(), l) < start[l].mag());
        // Krawczyk: -Y G(c) + (I - Y A) (X - c) in the interior of X - c.
        let unique = (0..n).all(|l| {
            let mut image = -yg[l];
            for m in 0..n {
                let one = Interval::exact(if l == m { 1.0 } else { 0.0 });
                image = image + (one - ya[l][m]) * start[m];
            }
            image.inside(inner(start[l], cell.gaps[self.after(r, l)], centre[l], turn))
        });
        for l in 0..n {
            if ya[l][l].contains(0.0) {
                continue;
            }
            let mut sum = -yg[l];
            for m in (0..n).filter(|m| *m != l) {
                sum = sum - ya[l][m] * z[m];
            }
            let new = sum / ya[l][l];
            let (lo, hi) = (z[l].lo().max(new.lo()), z[l].hi().min(new.hi()));
            // The verifier rounds otherwise, so what holds by a rounding error is not used.
            if lo > hi + 1e-9 * start[l].width() {
                return Step { empty: true, unique: false, regular };
            }
            if lo <= hi {
                z[l] = Interval::new(lo, hi);
            }
        }
        for l in 0..n {
            let gap = &mut cell.gaps[self.after(r, l)];
            let shifted = z[l] / turn + Interval::exact(centre[l]);
            let margin = (gap.1 - gap.0) / 4096.0;
            let digit = power_of_two_below(margin);
            let low = ((shifted.lo() - margin) / digit).floor() * digit;
            let high = ((shifted.hi() + margin) / digit).ceil() * digit;
            *gap = (gap.0.max(low), gap.1.min(high));
        }
        Step { empty: false, unique, regular }
    }

    /// Newton's method without error bounds, from given gaps; their sum stays 1.
    pub(super) fn approximate(&self, gaps: &Row<f64>, kernel: &Kernel) -> Option<Row<f64>> {
        let (k, n, mut g) = (self.k, self.k - 1, *gaps);
        for _ in 0..25 {
            let (mut u, mut w) = ([[0.0; MAX_TOKENS]; MAX_TOKENS], [[0.0; MAX_TOKENS]; MAX_TOKENS]);
            for p in 0..k {
                let mut t = 0.0;
                for q in p + 1..k {
                    t += g[q - 1];
                    let (pull, weight) = kernel.plain(t.clamp(0.0, 1.0));
                    let mass = self.product(p, q).mid();
                    (u[p][q], w[p][q]) = (pull * mass, weight * mass);
                }
            }
            let (mut a, mut force) = ([[0.0; MAX_TOKENS]; MAX_TOKENS], [0.0; MAX_TOKENS]);
            for l in 0..n {
                force[l] = u[..=l].iter().map(|row| row[l + 1..k].iter().sum::<f64>()).sum();
                for m in l..n {
                    let sum = w[..=l].iter().map(|row| row[m + 1..k].iter().sum::<f64>()).sum();
                    (a[l][m], a[m][l]) = (sum, sum);
                }
            }
            let y = inverse(n, &a)?;
            let mut largest = 0.0f64;
            for l in 0..n {
                let step = y[l][..n].iter().zip(&force[..n]).map(|(y, f)| y * f).sum::<f64>()
                    / std::f64::consts::TAU;
                g[l] -= step;
                largest = largest.max(step.abs());
            }
            g[n] = 1.0 - g[..n].iter().sum::<f64>();
            if largest.is_nan() || largest >= 1.0 {
                return None;
            }
            if largest < 1e-14 {
                break;
            }
        }
        g[..k].iter().all(|g| *g > 1e-9 && *g < 1.0).then_some(g)
    }

    /// A zero near a cell, with a proof that it is the only one in a box that contains the cell.
    pub(super) fn isolate(&self, cell: &Cell, kernel: &Kernel) -> Option<Zero> {
        let k = self.k;
        let mut start = [0.0; MAX_TOKENS];
        for (s, g) in start.iter_mut().zip(&cell.gaps[..k]) {
            *s = 0.5 * (g.0 + g.1);
        }
        let sum: f64 = start[..k].iter().sum();
        start[..k].iter_mut().for_each(|s| *s /= sum);
        let zero = self.approximate(&start, kernel)?;
        // A cell may be a single point.
        let width = cell.widest(k).1.max(1e-9);
        let near =
            |x: usize| zero[x] >= cell.gaps[x].0 - width && zero[x] <= cell.gaps[x].1 + width;
        if !(0..k).all(near) {
            return None;
        }
        // A zero on a face of the grid is surrounded by shrunken cells: boxes of several sizes are
        // tried around them.
        [0.04, 0.012, 4e-3, 1e-3, 2e-4, 2e-5, 1e-6, 1e-8, 1e-11]
            .into_iter()
            .find_map(|pad| self.isolate_within(pad, cell, &zero, kernel))
            .flatten()
    }

    /// As [`isolate`](Self::isolate) for one size of the box; `Some(None)` if the box has no zero.
    fn isolate_within(
        &self,
        pad: f64,
        cell: &Cell,
        zero: &Row<f64>,
        kernel: &Kernel,
    ) -> Option<Option<Zero>> {
        let (k, mut outer) = (self.k, *cell);
        for (g, z) in outer.gaps[..k].iter_mut().zip(zero) {
            *g = (grid_down(g.0.min(*z) - pad), grid_up(g.1.max(*z) + pad));
        }
        // Krawczyk's test needs a product of intervals in the other gaps, so the widest gap must
        // have all values that they leave.
        let r = outer.widest(k).0;
        let others = || (0..k).filter(|x| *x != r).map(|x| outer.gaps[x]);
        let (low, high) = others().fold((0.0, 0.0), |s, g| (s.0 + g.0, s.1 + g.1));
        outer.gaps[r] = (1.0 - high, 1.0 - low);
        if outer.gaps[..k].iter().any(|g| g.0 <= 0.0 || g.1 >= 1.0) {
            return None;
        }
        let alone = outer.gaps;
        let pairs = self.pairs(&outer, kernel);
        let mut inner = outer;
        let step = self.newton_without(r, &mut inner, &pairs, kernel);
        if step.empty {
            return Some(None);
        }
        if !step.unique {
            return None;
        }
        Some(self.narrow(alone, inner, kernel))
    }

    /// The zero of a box in which it is the only one, with a narrow enclosure.
    pub(super) fn enclose(
        &self,
        alone: &Row<(f64, f64)>,
        beta: (f64, f64),
        kernel: &Kernel,
    ) -> Option<Zero> {
        self.narrow(*alone, Cell { gaps: *alone, beta }, kernel)
    }

    fn narrow(&self, alone: Row<(f64, f64)>, mut inner: Cell, kernel: &Kernel) -> Option<Zero> {
        for _ in 0..6 {
            if !inner.close(self.k) {
                return None;
            }
            let pairs = self.pairs(&inner, kernel);
            if self.newton(&mut inner, &pairs, kernel).empty {
                return None;
            }
        }
        inner.close(self.k).then_some(Zero { alone, place: inner.gaps })
    }

    /// Number of directions of ascent at a zero in a box, also those that split a cluster; `None`
    /// if the sign of an eigenvalue is not decided.
    ///
    /// Elimination of A counts those that move whole clusters (Sylvester). In the `s - 1` ways to
    /// split a cluster of s tokens with mass M, the Hessian has the eigenvalue
    /// `-m (M phi'(1) + sum_c M_c w_c)` up to a positive factor.
    pub(super) fn ascents(&self, cell: &Cell, kernel: &Kernel) -> Option<usize> {
        let (k, n) = (self.k, self.k - 1);
        let pairs = self.pairs(cell, kernel);
        let mut a = self.derivative(cell.widest(k).0, &pairs);
        let mut count = negative_eigenvalues(&mut a[..n])?;
        for p in (0..k).filter(|p| self.size[*p] > 1) {
            let square = self.product(p, p);
            let mut sum = kernel.own().map_or(square, |own| own * square);
            for q in (0..k).filter(|q| *q != p) {
                sum = sum + pairs.w[p.min(q)][p.max(q)];
            }
            match () {
                () if sum.is_negative() => count += self.size[p] - 1,
                () if sum.is_positive() => {}
                () => return None,
            }
        }
        Some(count)
    }
}

/// The largest power of two below a margin, at least `2^-48`: few digits are written.
fn power_of_two_below(margin: f64) -> f64 {
    let exponent = (margin.to_bits() >> 52) as i32 - 1023;
    f64::from_bits(((exponent.clamp(-48, 0) + 1023) as u64) << 52)
}

/// An interval inside `X - c` in radians: from products that are rounded inwards.
fn inner(outer: Interval, gap: (f64, f64), centre: f64, turn: Interval) -> Interval {
    let low = (Interval::exact(gap.0 - centre) * turn).hi();
    let high = (Interval::exact(gap.1 - centre) * turn).lo();
    if low < high { Interval::new(low, high) } else { Interval::exact(outer.mid()) }
}
