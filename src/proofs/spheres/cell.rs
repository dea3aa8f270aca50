//! Boxes of Gram matrices: geometry that is exact, and the tests that exclude a box.

use crate::num::interval::Interval;
use std::cmp::Ordering;

/// Largest number of tokens.
pub const MAX_TOKENS: usize = 5;

/// Largest number of pairs.
pub(super) const MAX_PAIRS: usize = 10;

/// Bounds of boxes are whole multiples of `1 / GRID`.
pub(super) const GRID: f64 = (1u64 << 40) as f64;

/// A value for every pair of tokens.
pub(super) type Pairs<T> = [T; MAX_PAIRS];

/// A value for every token.
pub(super) type Row<T> = [T; MAX_TOKENS];

/// The tokens: masses, inverse temperatures, order of pairs, symmetry.
#[derive(Clone, Debug)]
pub(super) struct System {
    pub(super) n: usize,
    /// Number of pairs.
    pub(super) pairs: usize,
    pub(super) mass: Row<f64>,
    /// The interval of beta of the root.
    beta: (f64, f64),
    /// The place of a pair among the entries `g_12, g_13, ..., g_23, ...`.
    pub(super) place: Row<Row<usize>>,
    /// Entries (t, u) with `g_t >= g_u` for the lexicographically largest image.
    pub(super) order: Vec<(usize, usize)>,
    /// Permutations of tokens of equal mass.
    pub(super) permutations: Vec<Row<usize>>,
}

/// Bounds of the entries of Gram matrices, and of beta.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) g: Pairs<(f64, f64)>,
    pub(super) beta: (f64, f64),
}

/// Groups of coinciding tokens: the first token of every group, and the mass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups {
    pub(super) k: usize,
    pub(super) first: Row<usize>,
    pub(super) mass: Row<f64>,
}

/// The kernel and its product with the entry on a box.
pub(super) struct Values {
    pub(super) g: Pairs<Interval>,
    pub(super) phi: Pairs<Interval>,
    pub(super) beta: Interval,
}

/// All permutations of n tokens that keep their masses.
fn permutations(n: usize, mass: &Row<f64>) -> Vec<Row<usize>> {
    let mut all = vec![(0, [0; MAX_TOKENS])];
    for x in 0..n {
        let extend = |(used, p): &(u32, Row<usize>)| {
            let (used, p) = (*used, *p);
            (0..n).filter(move |y| used & (1 << y) == 0).map(move |y| {
                let mut p = p;
                p[x] = y;
                (used | 1 << y, p)
            })
        };
        all = all
            .iter()
            .flat_map(extend)
            .filter(|(_, p)| mass[x].to_bits() == mass[p[x]].to_bits())
            .collect();
    }
    all.into_iter().map(|(_, p)| p).collect()
}

impl System {
    pub(super) fn new(masses: &[u32], beta: (f64, f64)) -> Self {
        let n = masses.len();
        let mut mass = [0.0; MAX_TOKENS];
        mass.iter_mut().zip(masses).for_each(|(m, v)| *m = f64::from(*v));
        let pairs = n * (n - 1) / 2;
        // The pairs before those of the smaller token, and then those of the smaller token.
        let at = |a: usize, b: usize| match a.cmp(&b) {
            Ordering::Less => a * (2 * n - a - 1) / 2 + b - a - 1,
            Ordering::Equal => 0,
            Ordering::Greater => b * (2 * n - b - 1) / 2 + a - b - 1,
        };
        let small = |a: usize, b: usize| if a.max(b) < n { at(a, b) } else { 0 };
        let place = std::array::from_fn(|a| std::array::from_fn(|b| small(a, b)));
        let mut system = Self {
            n,
            pairs,
            mass,
            beta,
            place,
            order: Vec::new(),
            permutations: permutations(n, &mass),
        };
        let mut stable: Vec<Pairs<usize>> =
            system.permutations.iter().map(|p| system.moved(p)).collect();
        for t in 0..pairs {
            let mut larger: Vec<usize> = stable.iter().map(|p| p[t]).filter(|u| *u != t).collect();
            larger.sort_unstable();
            larger.dedup();
            system.order.extend(larger.into_iter().map(|u| (t, u)));
            stable.retain(|p| p[t] == t);
        }
        system
    }

    /// Where a permutation of tokens takes the pairs.
    pub(super) fn moved(&self, p: &Row<usize>) -> Pairs<usize> {
        let mut to = [0; MAX_PAIRS];
        for a in 0..self.n {
            for b in a + 1..self.n {
                to[self.place[a][b]] = self.place[p[a]][p[b]];
            }
        }
        to
    }

    /// The box of all Gram matrices.
    pub(super) fn root(&self) -> Cell {
        Cell { g: [(-1.0, 1.0); MAX_PAIRS], beta: self.beta }
    }

    /// Shrinks a box to the Gram matrices in it, as far as simple rules do; false if there are
    /// none. The rules are Lemmas 1 and 2; their result is the same on every processor.
    pub(super) fn close(&self, cell: &mut Cell) -> bool {
        for _ in 0..3 {
            let before = cell.g;
            if !(self.join_groups(cell) && self.sort(cell) && self.triangles(cell)) {
                return false;
            }
            let changed = |t: usize| {
                before[t].0.to_bits() != cell.g[t].0.to_bits()
                    || before[t].1.to_bits() != cell.g[t].1.to_bits()
            };
            if !(0..self.pairs).any(changed) {
                break;
            }
        }
        true
    }

    /// Coinciding tokens have the same entries.
    fn join_groups(&self, cell: &mut Cell) -> bool {
        for a in 0..self.n {
            for b in a + 1..self.n {
                if cell.g[self.place[a][b]].0 < 1.0 {
                    continue;
                }
                for c in (0..self.n).filter(|c| *c != a && *c != b) {
                    let (t, u) = (self.place[a][c], self.place[b][c]);
                    let both = (cell.g[t].0.max(cell.g[u].0), cell.g[t].1.min(cell.g[u].1));
                    if both.0 > both.1 {
                        return false;
                    }
                    (cell.g[t], cell.g[u]) = (both, both);
                }
            }
        }
        true
    }

    /// The lexicographically largest image of a Gram matrix.
    fn sort(&self, cell: &mut Cell) -> bool {
        for (t, u) in &self.order {
            let (low, high) = (cell.g[*u].0, cell.g[*t].1);
            if low > high {
                return false;
            }
            cell.g[*t].0 = cell.g[*t].0.max(low);
            cell.g[*u].1 = cell.g[*u].1.min(high);
        }
        true
    }

    /// Three points: `|g_bc - g_ab g_ac| <= sqrt((1 - g_ab^2)(1 - g_ac^2))`.
    fn triangles(&self, cell: &mut Cell) -> bool {
        for a in 0..self.n {
            for b in 0..self.n {
                for c in (b + 1..self.n).filter(|c| *c != a && b != a) {
                    let (p, q) = (cell.g[self.place[a][b]], cell.g[self.place[a][c]]);
                    let third = &mut cell.g[self.place[b][c]];
                    let (low, high) = third_side(p, q);
                    *third = (third.0.max(low), third.1.min(high));
                    if third.0 > third.1 {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Groups of tokens that coincide on the whole box.
    pub(super) fn groups(&self, cell: &Cell) -> Groups {
        let mut groups = Groups { k: 0, first: [0; MAX_TOKENS], mass: [0.0; MAX_TOKENS] };
        for x in 0..self.n {
            let same = (0..groups.k).find(|y| cell.g[self.place[groups.first[*y]][x]].0 >= 1.0);
            match same {
                Some(y) => groups.mass[y] += self.mass[x],
                None => {
                    groups.first[groups.k] = x;
                    groups.mass[groups.k] = self.mass[x];
                    groups.k += 1;
                }
            }
        }
        groups
    }

    /// The entries of pairs of groups.
    pub(super) fn places(&self, groups: &Groups) -> impl Iterator<Item = usize> {
        let (k, first) = (groups.k, groups.first);
        (0..k).flat_map(move |x| (x + 1..k).map(move |y| self.place[first[x]][first[y]]))
    }

    /// The kernel on a box, for pairs of groups.
    pub(super) fn values(&self, cell: &Cell, groups: &Groups) -> Values {
        let (one, beta) = (Interval::exact(1.0), Interval::new(cell.beta.0, cell.beta.1));
        let (mut g, mut phi) = ([one; MAX_PAIRS], [one; MAX_PAIRS]);
        for t in self.places(groups) {
            g[t] = Interval::new(cell.g[t].0, cell.g[t].1);
            // 1 - g is exact on the grid.
            phi[t] = exponential(beta * (g[t] - one));
        }
        Values { g, phi, beta }
    }

    /// Tokens whose sum has products with all tokens that are at least 0, and one that is positive:
    /// then only consensus is critical (Lemma 3). The bits of the result are the tokens.
    pub(super) fn half_space(&self, cell: &Cell, groups: &Groups) -> Option<u32> {
        let k = groups.k;
        let entry = |x: usize, y: usize| match x.max(y) < k && x != y {
            true => cell.g[self.place[groups.first[x]][groups.first[y]]].0,
            false => 1.0,
        };
        let low: Row<Row<f64>> = std::array::from_fn(|x| std::array::from_fn(|y| entry(x, y)));
        let found = (1..1u32 << k).find(|set| {
            let mut positive = false;
            (0..k).all(|y| {
                // Sums of at most five multiples of 2^-40 are exact.
                let sum: f64 = (0..k).filter(|x| set & (1 << x) != 0).map(|x| low[x][y]).sum();
                positive |= sum > 0.0;
                sum >= 0.0
            }) && positive
        })?;
        Some((0..k).filter(|x| found & (1 << x) != 0).map(|x| 1 << groups.first[x]).sum())
    }

    /// The force on a group along another one: `E_ik`.
    pub(super) fn force(&self, groups: &Groups, v: &Values, i: usize, k: usize) -> Interval {
        self.weighted_force(groups, v, (i, k), |t| v.phi[t])
    }

    /// The derivative of a force with respect to beta.
    pub(super) fn force_by_beta(
        &self,
        groups: &Groups,
        v: &Values,
        of: (usize, usize),
    ) -> Interval {
        let one = Interval::exact(1.0);
        self.weighted_force(groups, v, of, |t| v.phi[t] * (v.g[t] - one))
    }

    /// A force with these weights in the place of the kernel.
    fn weighted_force(
        &self,
        groups: &Groups,
        v: &Values,
        (i, k): (usize, usize),
        weight: impl Fn(usize) -> Interval,
    ) -> Interval {
        let at = |x: usize, y: usize| self.place[groups.first[x]][groups.first[y]];
        let own = v.g[at(i, k)];
        let mut sum = Interval::ZERO;
        for j in (0..groups.k).filter(|j| *j != i) {
            let t = at(i, j);
            let part = if j == k {
                Interval::exact(1.0) - own.sqr()
            } else {
                v.g[at(j, k)] - v.g[t] * own
            };
            sum = sum + Interval::exact(groups.mass[j]) * weight(t) * part;
        }
        sum
    }

    /// The quotient of Lemma 4 for two groups.
    pub(super) fn quotient(&self, groups: &Groups, v: &Values, i: usize, j: usize) -> Interval {
        let at = |x: usize, y: usize| self.place[groups.first[x]][groups.first[y]];
        let (one, two) = (Interval::exact(1.0), Interval::exact(2.0));
        let t = at(i, j);
        let more = one + v.g[t];
        let mut sum = Interval::exact(groups.mass[i] + groups.mass[j]) * v.phi[t] * more;
        for c in (0..groups.k).filter(|c| *c != i && *c != j) {
            let (p, q) = (at(i, c), at(j, c));
            // Products with the unit vector along x_i - x_j.
            let most = (two - (v.g[p] + v.g[q]).sqr() / more).hi();
            let most = if most > 0.0 { most.min(2.0) } else { 0.0 };
            let slope = v.beta
                * Interval::new(v.phi[p].lo().min(v.phi[q].lo()), v.phi[p].hi().max(v.phi[q].hi()));
            let part = v.g[p] * v.phi[p] + v.g[q] * v.phi[q] - Interval::new(0.0, most) * slope;
            sum = sum + Interval::exact(groups.mass[c]) * part;
        }
        sum
    }

    /// A vector of whole numbers v with `v^T G v < 0` on the whole box.
    pub(super) fn indefinite(&self, groups: &Groups, v: &Values) -> Option<Row<i32>> {
        let k = groups.k;
        let at = |x: usize, y: usize| self.place[groups.first[x]][groups.first[y]];
        let entry = |x: usize, y: usize| match x.max(y) < k && x != y {
            true => v.g[at(x, y)].mid(),
            false => 1.0,
        };
        let mut a: Row<Row<f64>> = std::array::from_fn(|x| std::array::from_fn(|y| entry(x, y)));
        // Elimination; a negative pivot belongs to a direction.
        let mut rows = [[0.0f64; MAX_TOKENS]; MAX_TOKENS];
        for (x, row) in rows.iter_mut().enumerate().take(k) {
            row[x] = 1.0;
        }
        for c in 0..k {
            let pivot = a[c][c];
            if pivot < 0.0 {
                let size = rows[c][..k].iter().fold(0.0f64, |m, v| m.max(v.abs()));
                let whole = rows[c].map(|v| (v / size * 200.0).round() as i32);
                return self.is_negative_along(groups, v, &whole).then_some(whole);
            }
            if pivot < 1e-12 {
                return None;
            }
            for x in c + 1..k {
                let factor = a[x][c] / pivot;
                for y in 0..k {
                    a[x][y] -= factor * a[c][y];
                    rows[x][y] -= factor * rows[c][y];
                }
            }
        }
        None
    }

    fn is_negative_along(&self, groups: &Groups, v: &Values, along: &Row<i32>) -> bool {
        let k = groups.k;
        let mut sum = Interval::ZERO;
        for x in 0..k {
            sum = sum + Interval::exact(f64::from(along[x] * along[x]));
            for y in x + 1..k {
                let t = self.place[groups.first[x]][groups.first[y]];
                sum = sum + Interval::exact(f64::from(2 * along[x] * along[y])) * v.g[t];
            }
        }
        sum.is_negative()
    }
}

/// Bound of the relative error of [`exponential`] at one number.
const EXP: f64 = 1e-14;

/// `e^x` for `|x| <= 690`. With `x = k ln 2 + r` and `|r| < 0.35`, the remainder of the Taylor sum
/// of degree 13 is below `0.35^14 / 14! < 1e-17`. Horner's rule with 28 roundings changes it by at
/// most `29 U e^0.35 < 5e-15`, `U = 2^-53`. The upper part of `ln 2` has 32 digits, so its product
/// with k and the difference from x are exact; the lower part changes r by less than `2 U`. The
/// result is at least 0.7, so [`EXP`] bounds the relative error.
#[inline]
fn exponential(x: Interval) -> Interval {
    const HIGH: f64 = 0.693_147_180_369_123_8;
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Adding and subtracting 1.5 2^52 rounds to a whole number.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    const TERMS: [f64; 14] = [
        1.0,
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
        1.0 / 6_227_020_800.0,
    ];
    let point = |x: f64| {
        let k = (x * std::f64::consts::LOG2_E + SHIFT) - SHIFT;
        let r = (x - k * HIGH) - k * LOW;
        let sum = TERMS.iter().rev().fold(0.0, |s, c| s * r + c);
        // -1000 < k < 1000.
        sum * f64::from_bits(((k as i64 + 1023) as u64) << 52)
    };
    if x.mag() > 690.0 {
        return x.exp();
    }
    Interval::new(point(x.lo()) * (1.0 - EXP), point(x.hi()) * (1.0 + EXP))
}

/// Bounds of the third product of three unit vectors from intervals of two. The angle between the
/// other sides lies between the difference and the sum of the two angles. Differences from 1 are
/// exact, so the roundings change values by less than `2^-49`; the margin is `2^-44`.
fn third_side(p: (f64, f64), q: (f64, f64)) -> (f64, f64) {
    const MARGIN: f64 = 1.0 / (1u64 << 44) as f64;
    let root = |p: f64, q: f64| ((1.0 - p) * (1.0 + p) * ((1.0 - q) * (1.0 + q))).sqrt();
    let difference = |p: f64, q: f64| grid_up(p * q + root(p, q) + MARGIN).min(1.0);
    let sum = |p: f64, q: f64| grid_down(p * q - root(p, q) - MARGIN).max(-1.0);
    let high = match () {
        () if p.1 < q.0 => difference(p.1, q.0),
        () if q.1 < p.0 => difference(p.0, q.1),
        () => 1.0,
    };
    let low = match () {
        () if p.1 < -q.1 => sum(p.1, q.1),
        () if p.0 > -q.0 => sum(p.0, q.0),
        () => -1.0,
    };
    (low, high)
}

/// The next multiple of `1 / GRID` below.
pub(super) fn grid_down(x: f64) -> f64 {
    (x * GRID).floor() / GRID
}

/// The next multiple of `1 / GRID` above.
pub(super) fn grid_up(x: f64) -> f64 {
    (x * GRID).ceil() / GRID
}

impl Cell {
    /// Whether two boxes have no common point.
    pub(super) fn is_apart(&self, other: &Cell, pairs: usize) -> bool {
        (0..pairs).any(|t| self.g[t].1 < other.g[t].0 || other.g[t].1 < self.g[t].0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, EXP, MAX_PAIRS, Pairs, System, exponential, grid_down, grid_up};
    use crate::num::interval::Interval;
    use crate::num::stream::Stream;

    #[test]
    fn the_kernel_has_its_error() {
        let mut s = Stream::new(1, &["spheres kernel"]);
        for _ in 0..100_000 {
            let x = Interval::exact(s.uniform_in(-250.0, 30.0));
            let (found, exact) = (exponential(x), x.exp());
            assert!(found.lo() <= exact.lo() && exact.hi() <= found.hi(), "{x:?}");
            assert!(found.width() <= 2.1 * EXP * exact.hi(), "{x:?}");
        }
    }

    /// Products of random unit vectors in space.
    fn gram(system: &System, s: &mut Stream) -> Pairs<f64> {
        let mut x = Vec::new();
        for _ in 0..system.n {
            let v: Vec<f64> = (0..3).map(|_| s.uniform_in(-1.0, 1.0)).collect();
            let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            x.push(v.iter().map(|v| v / length).collect::<Vec<f64>>());
        }
        let mut g = [1.0; MAX_PAIRS];
        for a in 0..system.n {
            for b in a + 1..system.n {
                let product: f64 = x[a].iter().zip(&x[b]).map(|(a, b)| a * b).sum();
                g[system.place[a][b]] = product.clamp(-1.0, 1.0);
            }
        }
        g
    }

    #[test]
    fn boxes_keep_ordered_matrices_and_enclose_forces() {
        let mut s = Stream::new(2, &["spheres boxes"]);
        let system = System::new(&[1, 1, 1, 2], (2.5, 3.0));
        for _ in 0..3000 {
            let first = gram(&system, &mut s);
            let images = system.permutations.iter().map(|p| system.moved(p).map(|t| first[t]));
            let larger = |a: &Pairs<f64>, b: &Pairs<f64>| {
                let parts = a.iter().zip(b).take(system.pairs);
                parts
                    .map(|(a, b)| a.total_cmp(b))
                    .find(|o| o.is_ne())
                    .unwrap_or(std::cmp::Ordering::Equal)
            };
            let g = images.max_by(larger).unwrap_or(first);
            let mut cell = system.root();
            for (b, g) in cell.g.iter_mut().zip(&g).take(system.pairs) {
                let (down, up) = (s.uniform_in(0.0, 0.4), s.uniform_in(0.0, 0.4));
                *b = (grid_down(g - down).max(-1.0), grid_up(g + up).min(1.0));
            }
            let kept = system.close(&mut cell)
                && (0..system.pairs).all(|t| cell.g[t].0 <= g[t] && g[t] <= cell.g[t].1);
            assert!(kept, "{g:?} {cell:?}");
            let beta = s.uniform_in(2.5, 3.0);
            let point = Cell { g: g.map(|g| (g, g)), beta: (beta, beta) };
            let groups = system.groups(&cell);
            let (wide, exact) = (system.values(&cell, &groups), system.values(&point, &groups));
            for i in 0..groups.k {
                for k in (0..groups.k).filter(|k| *k != i) {
                    let (f, g) =
                        (system.force(&groups, &wide, i, k), system.force(&groups, &exact, i, k));
                    assert!(f.lo() <= g.hi() && g.lo() <= f.hi());
                    // Lemma 4, with the definition of the quotient.
                    let t = system.place[groups.first[i]][groups.first[k]];
                    let both = g + system.force(&groups, &exact, k, i);
                    let q = both / (Interval::exact(1.0) - exact.g[t]);
                    let enclosure = system.quotient(&groups, &wide, i, k);
                    assert!(enclosure.lo() <= q.hi() && q.lo() <= enclosure.hi());
                }
            }
        }
    }
}
