//! Existence of a critical point near an approximate Gram matrix, its rank and its directions of
//! ascent.
//!
//! Clusters `x_1, ..., x_k` in `R^r` solve `R_i = sum_{j != i} m_j phi_ij x_j - mu_i x_i = 0` and
//! `N_i = (|x_i|^2 - 1) / 2 = 0`. Of r independent clusters, the base, the p-th has only its first
//! p coordinates. Its other coordinates and components of R are left out, so the system is square.
//!
//! **Lemma 6** A zero of the square system with positive diagonal is a critical point of rank r.
//! *Proof* `sum_i m_i x_i ^ R_i = 0` for all vectors, because phi is symmetric. The components of R
//! that were left out belong to the base. Suppose R_p has only components after p, for the base in
//! order. The component `e_p ^ e_a` with a > p, for the last p, is `m_p x_pp R_pa`, because the
//! earlier x have no coordinate p. So `R_pa = 0`, and then the same holds for the p before it. QED
//!
//! Krawczyk's test proves a zero.
//!
//! **Directions** Along `v_i` orthogonal to `x_i`, twice the second variation of E is the sum over
//! pairs of tokens of `m_i m_j phi_ij (<v_i, v_j> + beta <v_i, x_j>^2 + beta <v_i, x_j> <v_j,
//! x_i>)` less the sum over tokens of `m_i mu_i |v_i|^2`. It splits. If clusters move as wholes, i
//! and j are clusters. If the tokens of a cluster with mass m move apart, `sum_i m_i v_i = 0`,
//! every `v_i` has the form `sum_j m_j phi_cj beta <v, x_j>^2 - (m + mu_c) |v|^2` over the other
//! clusters. A cluster of s tokens has s - 1 copies of it.
//!
//! Vectors in the span that keep the coordinates that were left out represent all modulo rotations:
//! a of them are directions of ascent. A direction e orthogonal to the span, `v_i = c_i e`, gives
//! `c^T S c` with `S_ij = m_i m_j phi_ij` and `S_ii = -m_i mu_i`. `S X = 0`, so the signs are those
//! of the part of S outside the base; with the directions that split clusters, b are positive. In
//! dimension d the index is `a + (d - r) b`.

use super::cell::{Cell, MAX_PAIRS, MAX_TOKENS, Pairs, System};
use crate::dense_intervals::{IntervalMatrix, apply, combination, krawczyk, positive_eigenvalues};
use crate::num::dense;
use crate::num::interval::Interval;

/// Tokens with larger products are one cluster of the candidate.
const TOGETHER: f64 = 1.0 - 1e-10;

/// Squared distances from the span below which a cluster depends on the others.
const DEPENDENT: f64 = 1e-8;

/// A proved critical point.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Enclosure of its Gram matrix.
    pub(super) place: Cell,
    /// The cluster of every token.
    pub(super) cluster: Vec<usize>,
    pub(super) rank: usize,
    /// Directions of ascent in the span, modulo rotations.
    pub(super) inside: Option<usize>,
    /// Directions of ascent for every dimension outside the span.
    pub(super) outside: Option<usize>,
    /// The coordinates of the clusters from which the proof starts.
    pub(super) centre: Vec<Vec<f64>>,
    /// The multipliers mu from which the proof starts.
    pub(super) multipliers: Vec<f64>,
    /// The clusters of the base, in order.
    pub(super) base: Vec<usize>,
    /// The radii for which Krawczyk's test holds, in the order of the unknowns.
    pub(super) radii: Vec<f64>,
}

/// An unknown, and the equation of the same name.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unknown {
    Coordinate(usize, usize),
    Multiplier(usize),
}

/// The square system.
struct Clusters<'a> {
    beta: f64,
    mass: &'a [f64],
    rank: usize,
    unknowns: Vec<Unknown>,
}

/// Coordinates and multipliers.
struct State {
    x: Vec<Vec<Interval>>,
    mu: Vec<Interval>,
}

fn dot(a: &[Interval], b: &[Interval]) -> Interval {
    a.iter().zip(b).fold(Interval::ZERO, |s, (a, b)| s + *a * *b)
}

impl<'a> Clusters<'a> {
    fn new(beta: f64, mass: &'a [f64], base: &[usize]) -> Self {
        let rank = base.len();
        let mut unknowns = Vec::new();
        for i in 0..mass.len() {
            let free = base.iter().position(|b| *b == i).map_or(rank, |p| p + 1);
            unknowns.extend((0..free).map(|a| Unknown::Coordinate(i, a)));
            unknowns.push(Unknown::Multiplier(i));
        }
        Self { beta, mass, rank, unknowns }
    }

    fn kernel(&self, x: &[Vec<Interval>], i: usize, j: usize) -> Interval {
        (Interval::exact(self.beta) * (dot(&x[i], &x[j]) - Interval::exact(1.0))).exp()
    }

    fn state(&self, values: &[Interval]) -> State {
        let k = self.mass.len();
        let mut state =
            State { x: vec![vec![Interval::ZERO; self.rank]; k], mu: vec![Interval::ZERO; k] };
        for (u, v) in self.unknowns.iter().zip(values) {
            match *u {
                Unknown::Coordinate(i, a) => state.x[i][a] = *v,
                Unknown::Multiplier(i) => state.mu[i] = *v,
            }
        }
        state
    }

    /// The sizes of the unknowns: 1 for coordinates, that of the kernel for multipliers.
    fn sizes(&self, values: &[Interval]) -> Vec<f64> {
        let (x, k) = (self.state(values).x, self.mass.len());
        let pull = |i: usize, j: usize| self.mass[j] * self.kernel(&x, i, j).hi();
        let size = |u: &Unknown| match *u {
            Unknown::Coordinate(..) => 1.0,
            Unknown::Multiplier(i) => {
                (0..k).filter(|j| *j != i).map(|j| pull(i, j)).fold(1e-200, f64::max)
            }
        };
        self.unknowns.iter().map(size).collect()
    }

    /// The equations and their derivatives.
    fn equations(&self, values: &[Interval]) -> (Vec<Interval>, IntervalMatrix) {
        let State { x, mu } = self.state(values);
        let (k, beta) = (x.len(), Interval::exact(self.beta));
        let kernel = |i: usize, j: usize| Interval::exact(self.mass[j]) * self.kernel(&x, i, j);
        let row = |i: usize| (0..k).map(|j| kernel(i, j)).collect::<Vec<_>>();
        let pull: Vec<Vec<Interval>> = (0..k).map(row).collect();
        let others = |i: usize| (0..k).filter(move |j| *j != i);
        let value = |u: &Unknown| match *u {
            Unknown::Coordinate(i, a) => {
                others(i).fold(-mu[i] * x[i][a], |s, j| s + pull[i][j] * x[j][a])
            }
            Unknown::Multiplier(i) => {
                (dot(&x[i], &x[i]) - Interval::exact(1.0)) * Interval::exact(0.5)
            }
        };
        let one = Interval::exact(1.0);
        let unit = |a: usize, b: usize| if a == b { one } else { Interval::ZERO };
        let entry = |of: &Unknown, by: &Unknown| match (*of, *by) {
            (Unknown::Coordinate(i, a), Unknown::Coordinate(j, b)) if i == j => others(i)
                .fold(-mu[i] * unit(a, b), |s, j| s + pull[i][j] * beta * x[j][a] * x[j][b]),
            (Unknown::Coordinate(i, a), Unknown::Coordinate(j, b)) => {
                pull[i][j] * (unit(a, b) + beta * x[j][a] * x[i][b])
            }
            (Unknown::Coordinate(i, a), Unknown::Multiplier(j)) if i == j => -x[i][a],
            (Unknown::Multiplier(i), Unknown::Coordinate(j, b)) if i == j => x[i][b],
            _ => Interval::ZERO,
        };
        let all = &self.unknowns;
        (
            all.iter().map(value).collect(),
            all.iter().map(|u| all.iter().map(|v| entry(u, v)).collect()).collect(),
        )
    }

    /// Newton's method without error bounds.
    fn refine(&self, start: &mut [f64]) -> Option<()> {
        for _ in 0..12 {
            let exact: Vec<Interval> = start.iter().map(|v| Interval::exact(*v)).collect();
            let (f, j) = self.equations(&exact);
            let y = inverse(&j, &self.sizes(&exact))?;
            let mut largest = 0.0f64;
            for (x, row) in start.iter_mut().zip(&y) {
                let step: f64 = row.iter().zip(&f).map(|(y, f)| y * f.mid()).sum();
                *x -= step;
                largest = largest.max(step.abs());
            }
            if largest.is_nan() || largest > 0.5 {
                return None;
            }
        }
        Some(())
    }

    /// A zero near a start, by Krawczyk's test: its enclosure, and the radii of the test.
    fn zero(&self, start: &[f64]) -> Option<(Vec<Interval>, Vec<f64>)> {
        let n = start.len();
        let centre: Vec<Interval> = start.iter().map(|v| Interval::exact(*v)).collect();
        let (f, j) = self.equations(&centre);
        let y = inverse(&j, &self.sizes(&centre))?;
        let step = apply(&y, &f);
        let mut radii: Vec<f64> =
            (0..n).map(|x| 4.0 * step[x].mag() + 1e-14 * start[x].abs() + 1e-200).collect();
        for _ in 0..8 {
            let wide: Vec<Interval> =
                (0..n).map(|x| centre[x] + Interval::symmetric(radii[x])).collect();
            let (_, j) = self.equations(&wide);
            // Not `defect`, which rounds otherwise: certificates have the radii to the last digit.
            let rest = |(x, row): (usize, &Vec<f64>)| {
                let unit = |z: usize| Interval::exact(if x == z { 1.0 } else { 0.0 });
                let product = combination(row, &j).into_iter().enumerate();
                product.map(|(z, v)| unit(z) - v).collect::<Vec<_>>()
            };
            let rest: IntervalMatrix = y.iter().enumerate().map(rest).collect();
            let offsets: Vec<Interval> = radii.iter().map(|r| Interval::symmetric(*r)).collect();
            let image = krawczyk(&step, &rest, &offsets);
            // The margin is for the rounding of another program.
            if image.iter().zip(&radii).all(|(image, radius)| image.mag() < 0.9 * radius) {
                return Some(((0..n).map(|x| centre[x] + image[x]).collect(), radii));
            }
            for (r, image) in radii.iter_mut().zip(&image) {
                *r = (2.0 * image.mag()).max(3.0 * *r);
            }
        }
        None
    }
}

/// The inverse of the middles, without a bound of its error. Unknowns have the given sizes, and
/// rows are scaled to size 1.
fn inverse(j: &IntervalMatrix, sizes: &[f64]) -> Option<Vec<Vec<f64>>> {
    let n = sizes.len();
    let sized = |row: &Vec<Interval>| -> Vec<f64> {
        row.iter().zip(sizes).map(|(v, s)| v.mid() * s).collect()
    };
    let mut a: Vec<f64> = j.iter().map(sized).collect::<Vec<_>>().concat();
    let mut scale = Vec::with_capacity(n);
    for row in a.chunks_mut(n) {
        let size = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if !(size > 1e-290 && size < 1e290) {
            return None;
        }
        row.iter_mut().for_each(|v| *v /= size);
        scale.push(1.0 / size);
    }
    let mut y = dense::inverse(&a, n);
    for (row, size) in y.chunks_mut(n).zip(sizes) {
        row.iter_mut().zip(&scale).for_each(|(v, s)| *v *= s * size);
    }
    y.iter().all(|v| v.is_finite()).then(|| y.chunks(n).map(<[f64]>::to_vec).collect())
}

impl System {
    /// A critical point at one beta near a Gram matrix, if it can be proved.
    pub(super) fn prove(&self, gram: &Pairs<f64>, beta: f64) -> Option<Point> {
        let product = |a: usize, b: usize| if a == b { 1.0 } else { gram[self.place[a][b]] };
        let mut first: Vec<usize> = Vec::new();
        let mut cluster = Vec::new();
        for t in 0..self.n {
            let known = first.iter().position(|f| product(*f, t) > TOGETHER);
            cluster.push(known.unwrap_or(first.len()));
            if known.is_none() {
                first.push(t);
            }
        }
        let k = first.len();
        let mut mass = vec![0.0; k];
        for (t, c) in cluster.iter().enumerate() {
            mass[*c] += self.mass[t];
        }
        let (base, x) = coordinates(k, |a, b| product(first[a], first[b]))?;
        let clusters = Clusters::new(beta, &mass, &base);
        let multiplier = |i: usize| {
            let pull = |j: usize| {
                let g = product(first[i], first[j]);
                mass[j] * (beta * (g - 1.0)).exp() * g
            };
            (0..k).filter(|j| *j != i).map(pull).sum::<f64>()
        };
        let start = |u: &Unknown| match *u {
            Unknown::Coordinate(i, a) => x[i][a],
            Unknown::Multiplier(i) => multiplier(i),
        };
        let mut start: Vec<f64> = clusters.unknowns.iter().map(start).collect();
        clusters.refine(&mut start)?;
        let (values, radii) = clusters.zero(&start)?;
        let state = clusters.state(&values);
        if !(0..base.len()).all(|p| state.x[base[p]][p].is_positive()) {
            return None;
        }
        let mut place = Cell { g: [(1.0, 1.0); MAX_PAIRS], beta: (beta, beta) };
        for a in 0..self.n {
            for b in (a + 1..self.n).filter(|b| cluster[a] != cluster[*b]) {
                let g = dot(&state.x[cluster[a]], &state.x[cluster[b]]);
                place.g[self.place[a][b]] = (g.lo().max(-1.0), g.hi().min(1.0));
            }
        }
        let sizes: Vec<usize> =
            (0..k).map(|c| cluster.iter().filter(|x| **x == c).count()).collect();
        let second = Directions { clusters: &clusters, state: &state, base: &base, sizes: &sizes };
        let centre = clusters.state(&start.iter().map(|v| Interval::exact(*v)).collect::<Vec<_>>());
        Some(Point {
            place,
            rank: base.len(),
            inside: second.inside(),
            outside: second.outside(),
            centre: centre.x.iter().map(|x| x.iter().map(|v| v.mid()).collect()).collect(),
            multipliers: centre.mu.iter().map(|v| v.mid()).collect(),
            cluster,
            base,
            radii,
        })
    }
}

/// Coordinates of vectors with given products, by elimination with the largest distance from the
/// span of the earlier ones; and the order of the base.
fn coordinates(
    k: usize,
    product: impl Fn(usize, usize) -> f64,
) -> Option<(Vec<usize>, Vec<Vec<f64>>)> {
    let mut x: Vec<Vec<f64>> = vec![Vec::new(); k];
    let (mut base, mut rest) = (Vec::new(), vec![1.0f64; k]);
    loop {
        let free = (0..k).filter(|c| !base.contains(c));
        let Some(next) = free.max_by(|a, b| rest[*a].total_cmp(&rest[*b]).then(b.cmp(a))) else {
            break;
        };
        if rest[next] < DEPENDENT {
            break;
        }
        let own: Vec<f64> = x[next].clone();
        let root = rest[next].sqrt();
        for c in 0..k {
            let along: f64 = own.iter().zip(&x[c]).map(|(a, b)| a * b).sum();
            let new = match () {
                () if c == next => root,
                () if base.contains(&c) => 0.0,
                () => (product(next, c) - along) / root,
            };
            x[c].push(new);
            rest[c] -= new * new;
        }
        base.push(next);
    }
    (!base.is_empty()).then_some((base, x))
}

/// The second variation at a critical point.
struct Directions<'a> {
    clusters: &'a Clusters<'a>,
    state: &'a State,
    base: &'a [usize],
    /// Tokens of every cluster.
    sizes: &'a [usize],
}

/// A tangent vector at a cluster.
type Tangent = (usize, Vec<Interval>);

impl Directions<'_> {
    fn count(&self) -> usize {
        self.sizes.len()
    }

    fn mass(&self, i: usize) -> Interval {
        Interval::exact(self.clusters.mass[i])
    }

    /// `m_j phi_ij` for two clusters.
    fn pull(&self, i: usize, j: usize) -> Interval {
        self.mass(j) * self.clusters.kernel(&self.state.x, i, j)
    }

    /// `mu_i`: the other clusters count.
    fn multiplier(&self, i: usize) -> Interval {
        let x = &self.state.x;
        let others = (0..self.count()).filter(|j| *j != i);
        others.fold(Interval::ZERO, |s, j| s + self.pull(i, j) * dot(&x[i], &x[j]))
    }

    /// A basis of the vectors orthogonal to `x_i` in the first coordinates.
    fn tangents(&self, i: usize, coordinates: usize) -> Option<Vec<Tangent>> {
        let x = &self.state.x[i];
        let size = |a: &usize| x[*a].mig();
        let pivot = (0..coordinates).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let vector = |a: usize| {
            let mut v = vec![Interval::ZERO; x.len()];
            (v[a], v[pivot]) = (Interval::exact(1.0), -(x[a] / x[pivot]));
            (i, v)
        };
        Some((0..coordinates).filter(|a| *a != pivot).map(vector).collect())
    }

    /// The form of one cluster: `sum_c m_c phi_ic beta <v, x_c> <w, x_c> - more <v, w>`.
    fn own(&self, (i, v): &Tangent, w: &[Interval], more: Interval) -> Interval {
        let (x, beta) = (&self.state.x, Interval::exact(self.clusters.beta));
        let others = (0..self.count()).filter(|c| c != i);
        others.fold(-more * dot(v, w), |s, c| {
            s + self.pull(*i, c) * beta * dot(v, &x[c]) * dot(w, &x[c])
        })
    }

    /// Directions of ascent in the span, modulo rotations.
    fn inside(&self) -> Option<usize> {
        let (rank, x) = (self.base.len(), &self.state.x);
        let beta = Interval::exact(self.clusters.beta);
        let (mut all, mut count): (Vec<Tangent>, usize) = (Vec::new(), 0);
        for i in 0..self.count() {
            let free = self.base.iter().position(|b| *b == i).map_or(rank, |p| p + 1);
            all.extend(self.tangents(i, free)?);
            if self.sizes[i] > 1 {
                let more = self.mass(i) + self.multiplier(i);
                let basis = self.tangents(i, rank)?;
                let entry = |v: &Tangent, w: &Tangent| self.own(v, &w.1, more);
                count += (self.sizes[i] - 1) * positive_eigenvalues(table(&basis, entry))?;
            }
        }
        let entry = |v: &Tangent, w: &Tangent| {
            let (i, j) = (v.0, w.0);
            if i == j {
                return self.mass(i) * self.own(v, &w.1, self.multiplier(i));
            }
            let far = dot(&v.1, &x[j]) * dot(&w.1, &x[i]);
            self.mass(i) * self.pull(i, j) * (dot(&v.1, &w.1) + beta * far)
        };
        Some(count + positive_eigenvalues(table(&all, entry))?)
    }

    /// Directions of ascent for every dimension outside the span.
    fn outside(&self) -> Option<usize> {
        let mut count = 0;
        for i in (0..self.count()).filter(|i| self.sizes[*i] > 1) {
            let more = self.mass(i) + self.multiplier(i);
            match () {
                () if more.is_negative() => count += self.sizes[i] - 1,
                () if more.is_positive() => {}
                () => return None,
            }
        }
        let rest: Vec<usize> = (0..self.count()).filter(|i| !self.base.contains(i)).collect();
        let entry = |i: &usize, j: &usize| {
            let value = if i == j { -self.multiplier(*i) } else { self.pull(*i, *j) };
            self.mass(*i) * value
        };
        Some(count + positive_eigenvalues(table(&rest, entry))?)
    }
}

/// The matrix of a form.
fn table<T>(all: &[T], entry: impl Fn(&T, &T) -> Interval) -> IntervalMatrix {
    all.iter().map(|v| all.iter().map(|w| entry(v, w)).collect()).collect()
}

/// Tokens are few.
const _: () = assert!(MAX_TOKENS * (MAX_TOKENS - 1) / 2 == MAX_PAIRS);
