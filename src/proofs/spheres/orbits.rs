//! Orbits of zeros: duplicates, symmetry, multiplicity, energy.

use super::cell::{Cell, MAX_PAIRS, Pairs, Row, System};
use super::point::Point;
use crate::num::interval::Interval;

/// A critical point, up to rotations, reflections and permutations of equal masses.
#[derive(Clone, Debug, PartialEq)]
pub struct Orbit {
    /// Masses of the tokens of every cluster.
    pub clusters: Vec<Vec<u32>>,
    /// Inner products of the clusters.
    pub gram: Vec<Vec<f64>>,
    /// Bound of the errors of the inner products.
    pub gram_error: f64,
    /// Dimension of the span of the tokens.
    pub rank: usize,
    /// Directions of ascent of the energy in the span, modulo rotations. `None` if the sign of an
    /// eigenvalue is not decided.
    pub inside: Option<usize>,
    /// Directions of ascent for every dimension outside the span. `None` as before.
    pub outside: Option<usize>,
    /// Number of configurations of labelled tokens in the orbit, modulo rotations and reflections.
    pub multiplicity: u64,
    /// Number of permutations of the clusters by rotations and reflections.
    pub symmetries: u64,
    /// `sum m_i m_j e^{beta (g_ij - 1)}` for masses with sum 1: the energy in units of that of one
    /// cluster. Rounded, without a proved bound.
    pub energy_share: f64,
}

impl Orbit {
    /// Tokens per cluster.
    pub fn sizes(&self) -> Vec<usize> {
        self.clusters.iter().map(Vec::len).collect()
    }

    /// Number of directions of ascent in `R^d`, modulo rotations: `inside + (d - rank) outside`.
    /// `None` if one is not known, or if d is below the rank.
    pub fn index(&self, d: usize) -> Option<usize> {
        Some(self.inside? + d.checked_sub(self.rank)? * self.outside?)
    }
}

/// The zeros of a tree up to permutations.
pub(super) struct Orbits {
    pub(super) orbits: Vec<Orbit>,
    /// The zero that represents every orbit.
    pub(super) points: Vec<Point>,
    /// The orbit of every zero of the tree, and the permutation that maps its representative there.
    pub(super) of: Vec<(usize, Row<usize>)>,
    /// Whether all pairs of zeros were told apart.
    pub(super) clear: bool,
}

/// What two enclosures of zeros say.
enum Answer {
    Same,
    Different,
    Open,
}

fn compare(system: &System, a: &Cell, b: &Cell) -> Answer {
    if a.is_apart(b, system.pairs) {
        return Answer::Different;
    }
    let mut hull = *a;
    for (g, h) in hull.g.iter_mut().zip(&b.g) {
        *g = (g.0.min(h.0), g.1.max(h.1));
    }
    if system.is_regular(&hull) { Answer::Same } else { Answer::Open }
}

/// The image of a Gram matrix: token a of the image is token `p[a]`.
pub(super) fn image(system: &System, cell: &Cell, p: &Row<usize>) -> Cell {
    let from: Pairs<usize> = system.moved(p);
    let mut new = Cell { g: [(1.0, 1.0); MAX_PAIRS], beta: cell.beta };
    for (t, g) in new.g.iter_mut().enumerate().take(system.pairs) {
        *g = cell.g[from[t]];
    }
    new
}

impl Orbits {
    /// Sorts the zeros of a tree into orbits.
    pub(super) fn new(system: &System, masses: &[u32], zeros: &[Point]) -> Self {
        let mut all = Self { orbits: Vec::new(), points: Vec::new(), of: Vec::new(), clear: true };
        for zero in zeros {
            let known = all.find(system, zero);
            let found = known.unwrap_or_else(|| {
                let identity = std::array::from_fn(|x| x);
                all.points.push(zero.clone());
                let symmetric = all.stabiliser(system, zero);
                all.orbits.push(orbit(system, masses, zero, symmetric));
                (all.points.len() - 1, identity)
            });
            all.of.push(found);
        }
        all
    }

    fn find(&mut self, system: &System, zero: &Point) -> Option<(usize, Row<usize>)> {
        let mut found = None;
        for (x, point) in self.points.iter().enumerate() {
            for p in &system.permutations {
                match compare(system, &image(system, &point.place, p), &zero.place) {
                    Answer::Different => {}
                    Answer::Same => found = found.or(Some((x, *p))),
                    Answer::Open => self.clear = false,
                }
                if found.is_some() {
                    return found;
                }
            }
        }
        found
    }

    /// Number of permutations of tokens that keep a zero.
    fn stabiliser(&mut self, system: &System, zero: &Point) -> u64 {
        let mut count = 0;
        for p in &system.permutations {
            match compare(system, &image(system, &zero.place, p), &zero.place) {
                Answer::Different => {}
                Answer::Same => count += 1,
                Answer::Open => self.clear = false,
            }
        }
        count
    }

    /// Sorts the orbits by rank, clusters and energy, and keeps those of a rank at most r.
    pub(super) fn sorted(&self, r: usize) -> Vec<Orbit> {
        let mut sorted: Vec<Orbit> = self.orbits.iter().filter(|o| o.rank <= r).cloned().collect();
        sorted.sort_by(|a, b| {
            let key = |o: &Orbit| (o.rank, o.clusters.len());
            key(a).cmp(&key(b)).then(b.energy_share.total_cmp(&a.energy_share))
        });
        sorted
    }
}

fn orbit(system: &System, masses: &[u32], zero: &Point, stabiliser: u64) -> Orbit {
    let k = zero.centre.len();
    let mut clusters: Vec<Vec<u32>> = vec![Vec::new(); k];
    for (token, c) in zero.cluster.iter().enumerate() {
        clusters[*c].push(masses[token]);
    }
    let first = |c: usize| zero.cluster.iter().position(|x| *x == c).unwrap_or(0);
    let entry = |a: usize, b: usize| {
        if a == b {
            Interval::exact(1.0)
        } else {
            let g = zero.place.g[system.place[first(a)][first(b)]];
            Interval::new(g.0, g.1)
        }
    };
    let gram: Vec<Vec<f64>> = (0..k).map(|a| (0..k).map(|b| entry(a, b).mid()).collect()).collect();
    let error = (0..k * k).map(|e| entry(e / k, e % k).radius()).fold(0.0, f64::max);
    let within = |c: &Vec<u32>| {
        // Permutations of equal masses in a cluster.
        let mut sorted = c.clone();
        sorted.sort_unstable();
        let runs = sorted.chunk_by(|a, b| a == b);
        runs.map(|r| (1..=r.len() as u64).product::<u64>()).product::<u64>()
    };
    let inner: u64 = clusters.iter().map(within).product();
    let total: f64 = system.mass.iter().sum();
    let mass: Vec<f64> =
        clusters.iter().map(|c| c.iter().map(|m| f64::from(*m)).sum::<f64>() / total).collect();
    let share = |e: usize| {
        let (a, b) = (e / k, e % k);
        mass[a] * mass[b] * (zero.place.beta.0 * (gram[a][b] - 1.0)).exp()
    };
    Orbit {
        energy_share: (0..k * k).map(share).sum(),
        multiplicity: system.permutations.len() as u64 / stabiliser.max(1),
        symmetries: stabiliser / inner.max(1),
        rank: zero.rank,
        inside: zero.inside,
        outside: zero.outside,
        gram_error: error,
        gram,
        clusters,
    }
}
