//! Clusters on the circle: forces, their derivatives, and what excludes or encloses equilibria in a
//! box of gaps. Lemmas are those of the documentation of `proofs::landscape`.

use crate::balance::Balance;
use crate::canonical::{confirm, index, whole};
use crate::interval::F;
use crate::kernel::{Kernel, Law, TURN as ONE};
use crate::strata::Members;

/// Bounds of gaps.
pub(super) type Gaps = Vec<(i64, i64)>;

/// Bounds of gaps, and of beta.
#[derive(Clone)]
pub(super) struct Cell {
    pub(super) gaps: Gaps,
    pub(super) beta: (f64, f64),
}

/// Clusters in cyclic order.
pub(super) struct Circle {
    pub(super) clusters: Vec<Members>,
    mass: Vec<f64>,
    /// Upper bounds of the masses.
    upper: Vec<f64>,
    pub(super) law: Law,
    /// Images of the gaps; true for reflections.
    pub(super) symmetries: Vec<(Vec<usize>, bool)>,
}

/// Ranges of distances and, times both masses, of u and w, for p < q.
pub(super) struct Pairs {
    pub(super) distance: Vec<Vec<(i64, i64)>>,
    pub(super) u: Vec<Vec<F>>,
    pub(super) w: Vec<Vec<F>>,
}

/// What Newton's method says.
pub(super) struct Newton {
    pub(super) gaps: Option<Gaps>,
    pub(super) unique: bool,
    pub(super) regular: bool,
}

/// Shrinks the gaps to those whose sum can be 1; false if there are none.
pub(super) fn close(gaps: &mut [(i64, i64)]) -> bool {
    for _ in 0..2 {
        let (mut low, mut high) = gaps.iter().fold((0, 0), |s, g| (s.0 + g.0, s.1 + g.1));
        for g in gaps.iter_mut() {
            let new = (g.0.max(ONE - (high - g.1)), g.1.min(ONE - (low - g.0)));
            if new.0 > new.1 {
                return false;
            }
            (low, high) = (low + new.0 - g.0, high + new.1 - g.1);
            *g = new;
        }
    }
    true
}

pub(super) fn widest(gaps: &[(i64, i64)]) -> usize {
    (0..gaps.len()).rev().max_by_key(|x| gaps[*x].1 - gaps[*x].0).unwrap_or(0)
}

/// The inverse of a matrix in floating point: any matrix will do.
pub(super) fn inverse(a: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = a.len();
    let unit = |x: usize| (0..n).map(move |y| if x == y { 1.0 } else { 0.0 });
    let mut rows: Vec<Vec<f64>> =
        a.iter().enumerate().map(|(x, r)| r.iter().copied().chain(unit(x)).collect()).collect();
    for c in 0..n {
        let size = |x: &usize| {
            rows[*x][c].abs() / rows[*x][c..n].iter().fold(1e-300, |m: f64, v| m.max(v.abs()))
        };
        let pivot = (c..n).max_by(|x, y| size(x).total_cmp(&size(y)))?;
        rows.swap(c, pivot);
        let by = rows[c][c];
        if by.abs() <= 0.0 || !by.is_finite() {
            return None;
        }
        let row: Vec<f64> = rows[c].iter().map(|v| v / by).collect();
        for x in (0..n).filter(|x| *x != c) {
            let factor = rows[x][c];
            rows[x].iter_mut().zip(&row).for_each(|(v, r)| *v -= factor * r);
        }
        rows[c] = row;
    }
    Some(rows.into_iter().map(|r| r[n..].to_vec()).collect())
}

impl Circle {
    pub(super) fn new(clusters: Vec<Members>, masses: &[u32], all: &[u32], law: Law) -> Self {
        let k = clusters.len();
        let mass = clusters.iter().map(|c| f64::from(c.iter().sum::<u32>())).collect();
        let largest = |m: &u32| masses.iter().position(|own| own == m).map(|x| all[x]);
        let sum = |c: &Members| c.iter().filter_map(largest).map(f64::from).sum();
        let upper = clusters.iter().map(sum).collect();
        let mut symmetries = vec![];
        for r in 0..k {
            if (0..k).all(|x| clusters[(x + r) % k] == clusters[x]) {
                symmetries.push(((0..k).map(|x| (x + r) % k).collect(), false));
            }
            // Cluster x goes to r - x, so the gap after x goes to the gap after r - x - 1.
            if (0..k).all(|x| clusters[(r + k - x) % k] == clusters[x]) {
                symmetries.push(((0..k).map(|x| (r + 2 * k - x - 1) % k).collect(), true));
            }
        }
        Self { clusters, mass, upper, law, symmetries }
    }

    pub(super) fn k(&self) -> usize {
        self.mass.len()
    }

    pub(super) fn is_image(&self, gaps: &[(i64, i64)]) -> bool {
        self.symmetries.iter().any(|(to, _)| {
            (0..self.k()).find(|x| to[*x] != *x).is_some_and(|x| gaps[x].1 < gaps[to[x]].0)
        })
    }

    pub(super) fn pairs(&self, gaps: &[(i64, i64)], kernel: &Kernel) -> Pairs {
        let k = self.k();
        let zero = vec![vec![F::int(0.0); k]; k];
        let (mut u, mut w) = (zero.clone(), zero);
        let mut distance = vec![vec![(0, 0); k]; k];
        let all = gaps.iter().fold((0, 0), |s, g| (s.0 + g.0, s.1 + g.1));
        for p in 0..k {
            let (mut low, mut high) = (0, 0);
            for q in p + 1..k {
                (low, high) = (low + gaps[q - 1].0, high + gaps[q - 1].1);
                let bounds =
                    (low.max(ONE - (all.1 - high)).max(0), high.min(ONE - (all.0 - low)).min(ONE));
                let (pull, weight) = kernel.ranges(bounds);
                let mass = F(self.mass[p] * self.mass[q], self.upper[p] * self.upper[q]);
                (u[p][q], w[p][q], distance[p][q]) = (pull * mass, weight * mass, bounds);
            }
        }
        Pairs { distance, u, w }
    }

    /// Sums over pairs of a cluster in a..=b and one outside; a pair (q, p) with q before the arc
    /// has the sign.
    pub(super) fn between(&self, table: &[Vec<F>], (a, b): (usize, usize), sign: f64) -> F {
        let after = table[a..=b].iter().flat_map(|row| &row[b + 1..]);
        let before = table[..a].iter().flat_map(|row| &row[a..=b]);
        let sum = after.fold(F::int(0.0), |s, v| s + *v);
        sum + F::int(sign) * before.fold(F::int(0.0), |s, v| s + *v)
    }

    pub(super) fn quotient(
        &self,
        gaps: &[(i64, i64)],
        pairs: &Pairs,
        kernel: &Kernel,
        p: usize,
    ) -> bool {
        let (k, gap) = (self.k(), gaps[p]);
        let q = (p + 1) % k;
        if gap.1 > ONE / 2 {
            return false;
        }
        let mut own = kernel.ranges((0, gap.1)).1;
        if gap.0 > 0 {
            let radians = F::pi() * F(gap.0 as f64, gap.1 as f64) / F::int((ONE / 2) as f64);
            own = own.meet(&(kernel.ranges(gap).0 / radians)).unwrap_or(own);
        }
        let mut sum = own * F::int(self.mass[p] + self.mass[q]);
        for t in (0..k).filter(|t| *t != p && *t != q) {
            let to = |x: usize| match t < x {
                true => pairs.distance[t][x],
                false => (ONE - pairs.distance[x][t].1, ONE - pairs.distance[x][t].0),
            };
            let hull = (to(p).0, to(q).1);
            if hull.0 > hull.1 {
                return false;
            }
            sum = sum + kernel.ranges(hull).1 * F::int(self.mass[t]);
        }
        sum.has_sign()
    }

    /// Whether a combination of forces, whose numbers are the words, excludes equilibria.
    pub(super) fn balances(
        &self,
        cell: &Cell,
        kernel: &Kernel,
        words: &[&str],
    ) -> Result<bool, String> {
        let k = self.k();
        let numbers: Option<Vec<i32>> = words.iter().skip(2).map(|w| whole(w)).collect();
        let numbers = numbers
            .filter(|a| a.len() == k + 1 && a.iter().all(|a| a.unsigned_abs() <= 1 << 20))
            .ok_or("a combination without its numbers")?;
        let quotient = match words[1] {
            "-" => confirm(numbers[0] == 0, "a number without its quotient").map(|()| None)?,
            gap => Some((index(gap, k)?, numbers[0])),
        };
        let pairs = self.pairs(&cell.gaps, kernel);
        let balance = Balance {
            mass: &self.mass,
            gaps: &cell.gaps,
            distance: &pairs.distance,
            beta: F(cell.beta.0, cell.beta.1),
            turns: Kernel::new((0.0, 0.0)),
        };
        Ok(self.law.0.is_none() && balance.excludes(quotient, &numbers[1..]))
    }

    /// The derivative of the forces on the first clusters after gap r.
    fn derivative(&self, r: usize, w: &[Vec<F>]) -> Vec<Vec<F>> {
        let (k, at) = (self.k(), |x: usize| (r + 1 + x) % self.k());
        let weight = |x: usize, y: usize| w[at(x).min(at(y))][at(x).max(at(y))];
        let entry = |l: usize, m: usize| {
            let (first, last) = (l.min(m), l.max(m));
            let inner = |x: usize| (last + 1..k).fold(F::int(0.0), |s, y| s + weight(x, y));
            (0..=first).fold(F::int(0.0), |s, x| s + inner(x))
        };
        (0..k - 1).map(|l| (0..k - 1).map(|m| entry(l, m)).collect()).collect()
    }

    /// Newton's method for the gaps without gap r.
    pub(super) fn newton(&self, gaps: &[(i64, i64)], kernel: &Kernel, r: usize) -> Newton {
        let (k, n) = (self.k(), self.k() - 1);
        let nothing = |gaps: &[(i64, i64)]| Newton {
            gaps: Some(gaps.to_vec()),
            unique: false,
            regular: false,
        };
        let at = |x: usize| (r + 1 + x) % k;
        let a = self.derivative(r, &self.pairs(gaps, kernel).w);
        // A point of the box with the sum 1: the way from it to a zero stays in all ranges.
        let (low, wide) = gaps.iter().fold((0, 0), |s, g| (s.0 + g.0, s.1 + g.1 - g.0));
        let share = if wide > 0 { (ONE - low) as f64 / wide as f64 } else { 0.5 };
        let between = |g: (i64, i64)| {
            ((g.0 as f64 + share * (g.1 - g.0) as f64).floor() as i64).clamp(g.0, g.1)
        };
        let centre: Vec<i64> = (0..n).map(|l| between(gaps[at(l)])).collect();
        let rest = ONE - centre.iter().sum::<i64>();
        if rest < gaps[r].0 || rest > gaps[r].1 {
            return nothing(gaps);
        }
        let mut point = vec![(0, 0); k];
        (0..n).for_each(|l| point[at(l)] = (centre[l], centre[l]));
        point[r] = (rest, rest);
        let here = self.pairs(&point, kernel);
        let middle: Vec<Vec<f64>> = self
            .derivative(r, &self.pairs(&point, &kernel.middle()).w)
            .iter()
            .map(|row| row.iter().map(F::mid).collect())
            .collect();
        let Some(y) = inverse(&middle) else { return nothing(gaps) };
        // The force on the first clusters after gap r.
        let pull = |x: usize, y: usize| {
            let (p, q) = (at(x), at(y));
            if p < q { here.u[p][q] } else { here.u[q][p] * F::int(-1.0) }
        };
        let force = |l: usize| {
            let inner = |x: usize| (l + 1..k).fold(F::int(0.0), |s, y| s + pull(x, y));
            (0..=l).fold(F::int(0.0), |s, x| s + inner(x))
        };
        let g: Vec<F> = (0..n).map(force).collect();
        let sum = |terms: &mut dyn Iterator<Item = F>| terms.fold(F::int(0.0), |s, v| s + v);
        let yg: Vec<F> = (0..n).map(|l| sum(&mut (0..n).map(|t| F::int(y[l][t]) * g[t]))).collect();
        let ya = |l: usize, m: usize| sum(&mut (0..n).map(|t| F::int(y[l][t]) * a[t][m]));
        let ya: Vec<Vec<F>> = (0..n).map(|l| (0..n).map(|m| ya(l, m)).collect()).collect();
        let off = |l: usize, m: usize| F::int(if l == m { 1.0 } else { 0.0 }) - ya[l][m];
        let to_radians = F::pi() / F::int((ONE / 2) as f64);
        let box_of = |l: usize| {
            let gap = gaps[at(l)];
            F((gap.0 - centre[l]) as f64, (gap.1 - centre[l]) as f64)
        };
        // X - c in units of 2^-48 turns: exact.
        let start: Vec<F> = (0..n).map(box_of).collect();
        let yg: Vec<F> = yg.into_iter().map(|v| v / to_radians).collect();
        let minus = |v: F| F::int(0.0) - v;
        let unique = (0..n).all(|l| {
            let image = minus(yg[l]) + sum(&mut (0..n).map(|m| off(l, m) * start[m]));
            start[l].0 < image.0 && image.1 < start[l].1
        });
        let row = |l: usize, scale: &dyn Fn(usize) -> f64| {
            sum(&mut (0..n).map(|m| F::int(off(l, m).mag()) * F::int(scale(m)))).1
        };
        let regular = (0..n).all(|l| row(l, &|_| 1.0) < 1.0)
            || (0..n).all(|l| row(l, &|m| start[m].mag()) < start[l].mag());
        let (mut z, mut gaps) = (start, gaps.to_vec());
        for l in 0..n {
            if !ya[l][l].has_sign() {
                continue;
            }
            let others = sum(&mut (0..n).filter(|m| *m != l).map(|m| ya[l][m] * z[m]));
            match z[l].meet(&((minus(yg[l]) - others) / ya[l][l])) {
                Some(new) => z[l] = new,
                None => return Newton { gaps: None, unique: false, regular },
            }
        }
        for l in 0..n {
            let gap = &mut gaps[at(l)];
            let (low, high) = (z[l].0.floor() as i64 + centre[l], z[l].1.ceil() as i64 + centre[l]);
            *gap = (gap.0.max(low), gap.1.min(high));
        }
        Newton { gaps: Some(gaps), unique, regular }
    }

    /// A narrow enclosure of the only zero of a box, or why it is not the only one.
    pub(super) fn zero(
        &self,
        r: usize,
        alone: &[(i64, i64)],
        kernel: &Kernel,
    ) -> Result<Gaps, String> {
        let sum = |end: fn(&(i64, i64)) -> i64| {
            (0..self.k()).filter(|x| *x != r).map(|x| end(&alone[x])).sum::<i64>()
        };
        let whole = alone[r] == (ONE - sum(|g| g.1), ONE - sum(|g| g.0));
        confirm(whole && alone.iter().all(|g| g.0 > 0 && g.1 < ONE), "the box of a zero is cut")?;
        let first = self.newton(alone, kernel, r);
        confirm(first.unique, "Newton's map does not send the box of a zero into itself")?;
        let mut place = first.gaps.unwrap_or_default();
        for _ in 0..8 {
            confirm(close(&mut place), "the box of a zero has none")?;
            let step = self.newton(&place, kernel, widest(&place));
            place = step.gaps.ok_or("the box of a zero has none")?;
        }
        confirm(close(&mut place), "the box of a zero has none")?;
        Ok(place)
    }

    /// Number of directions of ascent at a zero.
    pub(super) fn ascents(&self, place: &[(i64, i64)], kernel: &Kernel) -> Result<usize, String> {
        let pairs = self.pairs(place, kernel);
        let mut a = self.derivative(widest(place), &pairs.w);
        let (mut left, mut count): (Vec<usize>, usize) = ((0..a.len()).collect(), 0);
        while let Some(x) = left.iter().copied().max_by(|x, y| {
            let size = |x: usize| if a[x][x].has_sign() { a[x][x].mid().abs() } else { -1.0 };
            size(*x).total_cmp(&size(*y))
        }) {
            let own = a[x].clone();
            confirm(own[x].has_sign(), "the sign of an eigenvalue is not decided")?;
            count += usize::from(own[x].1 < 0.0);
            left.retain(|y| *y != x);
            for y in left.iter().copied() {
                let factor = a[y][x] / own[x];
                a[y].iter_mut().zip(&own).for_each(|(v, o)| *v = *v - factor * *o);
            }
        }
        Ok(count + self.splitting(&pairs)?)
    }

    /// Number of directions of ascent that split a cluster.
    pub(super) fn splitting(&self, pairs: &Pairs) -> Result<usize, String> {
        let mut count = 0;
        for (p, c) in self.clusters.iter().enumerate().filter(|(_, c)| c.len() > 1) {
            let own = F::int(self.mass[p] * self.mass[p]) * self.law.own();
            let sum = own + self.between(&pairs.w, (p, p), 1.0);
            confirm(sum.has_sign(), "the sign of an eigenvalue is not decided")?;
            count += if sum.1 < 0.0 { c.len() - 1 } else { 0 };
        }
        Ok(count)
    }
}
