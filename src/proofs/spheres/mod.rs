//! Whole landscapes on spheres: all critical points of the energy of n tokens on `S^{d-1}`, modulo
//! rotations, reflections and permutations of equal masses, with the proof that there are no
//! others.
//!
//! The energy is `E = (1 / 2 beta) sum_ij m_i m_j e^{beta <x_i, x_j>}`. With the Gram matrix `g_ij
//! = <x_i, x_j>` and `phi_ij = e^{beta (g_ij - 1)}`, the points are in equilibrium if `f_i = sum_j
//! m_j phi_ij (x_j - g_ij x_i) = 0`. This vector lies in the span of the tokens, so it is 0 if and
//! only if `E_ik = <f_i, x_k> = sum_{j != i} m_j phi_ij (g_jk - g_ij g_ik) = 0` for all k. These
//! equations know only the Gram matrix: no dimension, no rotation, and tokens that coincide or lie
//! in a plane are not singular. One search finds the critical points in all dimensions.
//!
//! **Rank** A critical point has a rank below n: if the tokens are independent, `f_i = 0` says that
//! `phi_ij = 0`. So all dimensions from n - 1 on have the same list.
//!
//! **Lemma 1 (order)** Every orbit has a Gram matrix that is lexicographically largest. Its entry t
//! is at least the entry u if a permutation of equal masses maps t to u and fixes all entries
//! before t. So boxes are shrunk to matrices with this order.
//!
//! **Lemma 2 (vectors)** If tokens i and j coincide, `g_ik = g_jk`. The angles of three vectors
//! satisfy the triangle inequality on the sphere: `g_bc` lies between
//! `g_ab g_ac -+ sqrt((1 - g_ab^2) (1 - g_ac^2))`, whose extrema over intervals are at their ends.
//!
//! **Lemma 3 (half space)** Let w be a vector with `<w, x_j> >= 0` for all j, and not always 0.
//! Then only consensus is critical. *Proof* Let `<w, x_i> = c` be smallest. Then `<f_i, w> = sum_j
//! m_j phi_ij (<w, x_j> - g_ij c) >= sum_j m_j phi_ij (1 - g_ij) c >= 0`. If this is 0, all `<w,
//! x_j>` are c. So c is positive and all `g_ij` are 1. QED
//!
//! **Lemma 4 (coincidence)** For i and j with `g = g_ij < 1`, and `p = g_ik`, `q = g_jk`,
//! `(E_ij + E_ji) / (1 - g) = (m_i + m_j) phi_ij (1 + g) + sum_k m_k (p phi(p) + q phi(q) - s_k
//! phi'(xi_k))` with `xi_k` between p and q and `s_k = (p - q)^2 / (1 - g)`. *Proof* The terms of k
//! are `phi(p) (q - g p) + phi(q) (p - g q) = (1 - g) (p phi(p) + q phi(q)) - (p - q) (phi(p) -
//! phi(q))`. QED The vectors `x_i + x_j` and `x_i - x_j` are orthogonal, so
//! `(p + q)^2 / (2 + 2 g) + (p - q)^2 / (2 - 2 g) <= 1` and `0 <= s_k <= 2 - (p + q)^2 / (1 + g)`.
//! If an enclosure of the right side excludes 0, then `g_ij = 1` at all critical points of the box.
//!
//! **Lemma 5 (uniqueness)** If a matrix Y times the derivative of the equations is close to the
//! unit matrix on a box, the box has at most one zero (`newton.rs`). Lemma 6 in `point.rs` proves
//! that a zero exists, with its rank and directions of ascent. The hull of a box and of that zero
//! has at most one zero, so the box has no other.
//!
//! **Lemma 7 (intervals of beta)** Let every box of a tree over an interval of beta have a reason:
//! Lemmas 1 to 4, Newton's method, or an injective derivative J of the equations of groups. Then
//! the critical orbits are graphs over beta: their number, ranks, coincidences, symmetries and
//! indices in every dimension are constant, and the list at one beta describes all.
//!
//! *Proof* Let X be a critical point of rank r in a box where J is injective; its columns are the
//! groups.
//! (a) A motion V in the span with Hessian 0 changes every `E_ik` by 0, so it changes no `g_ij`.
//! Then `X^T V` is antisymmetric with values in the rows of X, so V is a rotation of X.
//! (b) Let `S c = 0` (`point.rs`): motions `c_i e`, with e orthogonal to the span, have Hessian 0.
//! They have a force of second order, which is orthogonal to rotations. By (a) a motion V in the
//! span cancels it, so J is 0 along `c c^T + X^T V + V^T X` up to the diagonal. So this is 0, and
//! with it `(c, u)^2` for all u with `X u = 0`. So c is in the rows of X: a rotation.
//! (c) For tokens that Lemma 4 joined, the quotient at `g = 1` with `s_k = 2 <u, x_k>^2` is minus
//! twice the form by which tokens part along u (`point.rs`). It is not 0 for any u.
//! So the orbit is nondegenerate in all dimensions, and so is consensus. By the implicit function
//! theorem in a slice of `(S^{n-1})^n`, the orbits near it are one graph over beta. The theorem in
//! `R^r` for clusters as wholes gives a graph with the same coincidences and rank, so it is the
//! same. The zeros are compact, so they are graphs over the whole interval. Graphs that meet are
//! equal, also images under permutations. QED
//!
//! **Lemma 8 (average)** Let v be `P_i w` at token i for a fixed w. Twice the second variation of E
//! along v, summed over an orthonormal basis of vectors w, is `sum_ij m_i m_j phi_ij (1 - g_ij)
//! (d - 3 + (1 - g_ij) (1 + beta (1 + g_ij)))`. *Proof* For the projections, `tr P_i P_j = d - 2 +
//! g^2`, `|P_i x_j|^2 = 1 - g^2` and `<P_i x_j, P_j x_i> = -g (1 - g^2)`. QED For `d >= 3` and
//! `beta >= -1/2` all terms are positive unless `g_ij = 1`. With `b = -beta > 1/2` the bracket is
//! smallest at `g = 1 / (2 b)`, where it is `d - 2 - b - 1 / (4 b)`. If that is positive, all
//! critical points except consensus have a direction of ascent, for every number of tokens.
//!
//! **Proofs** All bounds are those of `num::interval`; bounds of boxes are multiples of `2^-40`, so
//! that their sums and differences are exact. Searches in floating point only propose points and
//! matrices, which tests then accept. The Morse inequalities of `morse.rs` are an independent test.

mod benign;
mod cell;
mod certificate;
mod morse;
mod newton;
mod orbits;
mod point;
mod search;

pub use crate::landscape::Report;
pub use benign::{Benign, benign};
pub use cell::MAX_TOKENS;
pub use certificate::KIND;
pub use morse::{Labelled, morse_inequalities_hold};
pub use orbits::Orbit;

use super::landscape;
use crate::error::{Error, Result};
use crate::num::interval::check_fp_environment;
use cell::{Cell, System};
use orbits::Orbits;
use search::{Goal, Search, Tree};

/// Seconds above which a proof is refused before it starts.
const LONGEST: f64 = 86_400.0;

/// The largest dimension; the Morse inequalities are polynomials of degree n d.
pub const MAX_DIMENSION: usize = 1000;

/// The tokens and the inverse temperatures of a proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Tokens {
    masses: Vec<u32>,
    beta: (f64, f64),
}

impl Tokens {
    /// Tokens with these masses, for all beta in an interval. Masses are decimal numbers; their
    /// ratios count.
    ///
    /// **Errors** fewer than 2 tokens or more than [`MAX_TOKENS`], masses that are not positive or
    /// have more than six digits, beta outside [`landscape::BETA_RANGE`].
    ///
    /// ```
    /// use metastable::proofs::spheres::Tokens;
    /// assert_eq!(Tokens::new(&[0.5, 0.25, 0.25], (1.0, 1.0)).unwrap().masses(), [2, 1, 1]);
    /// assert!(Tokens::new(&[1.0; 6], (1.0, 2.0)).is_err());
    /// ```
    pub fn new(masses: &[f64], beta: (f64, f64)) -> Result<Self> {
        let n = masses.len();
        if !(2..=MAX_TOKENS).contains(&n) {
            let expected = format!(
                "from 2 to {MAX_TOKENS} tokens: each further one takes a few hundred times as long"
            );
            return Err(Error::parameter("n", n, expected));
        }
        let checked = landscape::Tokens::new(masses, beta)?;
        Ok(Self { masses: checked.masses().to_vec(), beta })
    }

    /// The masses as whole numbers without a common factor.
    pub fn masses(&self) -> &[u32] {
        &self.masses
    }

    /// Number of tokens.
    pub fn n(&self) -> usize {
        self.masses.len()
    }

    /// The interval of inverse temperatures.
    pub fn beta(&self) -> (f64, f64) {
        self.beta
    }

    /// The first lines of a certificate: what is given.
    ///
    /// ```
    /// use metastable::proofs::spheres::Tokens;
    /// let tokens = Tokens::new(&[1.0; 3], (1.0, 2.0)).unwrap();
    /// assert_eq!(tokens.hypotheses(), "metastable-spheres 1\nmasses 1 1 1\nbeta 1.0 2.0\n");
    /// ```
    pub fn hypotheses(&self) -> String {
        certificate::header(&self.masses, self.beta)
    }
}

/// All critical points.
#[derive(Clone, Debug, PartialEq)]
pub struct Landscape {
    /// Whether the list is proved to be complete, with all directions of ascent. For an interval of
    /// beta: also that the number of critical points and their indices are the same for all beta in
    /// it.
    pub complete: bool,
    /// The beta of the listed points: the middle of the interval, or of the widest piece; the low
    /// end of the interval if all of it is open.
    pub at: f64,
    /// The critical points up to symmetry, by rank and number of clusters.
    pub orbits: Vec<Orbit>,
    /// Number of labelled critical points modulo rotations and reflections by directions of ascent,
    /// for a given dimension, if known.
    pub labelled: Option<Vec<u64>>,
    /// Whether the Morse inequalities hold in the given dimension, or in all from 2 to n + 1.
    /// `None` if something is undecided.
    pub morse: Option<bool>,
    /// For an interval of beta, intervals outside which no critical point appears, vanishes or
    /// changes its index. Empty if there are none, and if that search was stopped.
    pub open: Vec<(f64, f64)>,
    /// The intervals between those, with the list of the middle of each.
    pub pieces: Vec<Piece>,
    /// Number of boxes of all trees.
    pub boxes: u64,
    /// Number of undecided boxes.
    pub undecided: u64,
    /// The first undecided boxes.
    pub undecided_boxes: Vec<UndecidedBox>,
    /// Whether the search was stopped.
    pub interrupted: bool,
    /// The certificate, if it was wanted and the proof is complete.
    pub certificate: Option<String>,
}

/// An undecided box: the bounds of `g_12, g_13, ..., g_23, ...`, and of beta.
#[derive(Clone, Debug, PartialEq)]
pub struct UndecidedBox {
    /// Bounds of the inner products.
    pub inner_products: Vec<(f64, f64)>,
    /// Bounds of beta.
    pub beta: (f64, f64),
}

/// An interval of beta in which no critical point appears, vanishes or changes its index.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The interval.
    pub beta: (f64, f64),
    /// The beta of the listed points: the middle.
    pub at: f64,
    /// The critical points up to symmetry.
    pub orbits: Vec<Orbit>,
    /// Whether the list is proved to be complete, with all directions of ascent.
    pub complete: bool,
}

/// The list at one beta.
struct List {
    at: f64,
    tree: Tree,
    all: Orbits,
    orbits: Vec<Orbit>,
    morse: Option<bool>,
    stopped: bool,
}

impl List {
    /// Finds all critical points at one beta.
    fn new(masses: &[u32], beta: f64, d: Option<usize>, keep: bool, report: Report) -> Self {
        let system = System::new(masses, (beta, beta));
        let search = Search::new(&system, Goal::Zeros, keep, report);
        let mut tree = search.run();
        // The leaves name all points but consensus, which Lemma 3 leaves out.
        tree.zeros.extend(system.prove(&[1.0; cell::MAX_PAIRS], beta));
        let all = Orbits::new(&system, masses, &tree.zeros);
        let orbits = all.sorted(d.unwrap_or(usize::MAX));
        let stopped = search.is_stopped();
        let decided = all.orbits.iter().all(|o| o.inside.is_some() && o.outside.is_some());
        let counted = tree.undecided_count == 0 && all.clear && !stopped && decided;
        let hold = |d: usize| {
            let labelled = labelled(&orbits, d);
            labelled.is_some_and(|all| morse_inequalities_hold(masses.len(), d, &all))
        };
        let morse = counted.then(|| match d {
            Some(d) => hold(d),
            None => (2..=masses.len() + 1).all(hold),
        });
        Self { at: beta, tree, all, orbits, morse, stopped }
    }

    fn is_complete(&self) -> bool {
        self.morse == Some(true)
    }

    /// Number of labelled points by directions of ascent in a dimension.
    fn by_index(&self, d: usize) -> Option<Vec<u64>> {
        let mut counts = Vec::new();
        for point in labelled(&self.orbits, d)? {
            counts.resize(counts.len().max(point.index + 1), 0);
            counts[point.index] += point.count;
        }
        Some(counts)
    }
}

/// Pieces are not narrower than the interval of beta divided by this.
const PIECES: f64 = 32.0;

/// The parts of an interval between intervals in order, and those intervals, between which narrow
/// parts are left out.
fn between(all: (f64, f64), open: &mut Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let least = (all.1 - all.0) / PIECES;
    let (mut parts, mut wide) = (Vec::new(), Vec::<(f64, f64)>::new());
    let mut start = all.0;
    for own in open.drain(..) {
        if own.0 - start >= least {
            parts.push((start, own.0));
            wide.push(own);
        } else if let Some(last) = wide.last_mut() {
            last.1 = own.1;
        } else {
            wide.push((all.0, own.1));
        }
        start = own.1;
    }
    match wide.last_mut() {
        Some(last) if all.1 - start < least => last.1 = all.1,
        _ => parts.push((start, all.1)),
    }
    *open = wide;
    parts
}

/// Finds all critical points on the sphere of `R^d`, or for `None` in all dimensions, and proves
/// that there are no others. For an interval of beta, it lists those of the middle and proves that
/// none appears, vanishes or changes its index (Lemma 7); else it says where that may happen.
///
/// **Cost** measured with two threads: see the guide, `landscapes`.
/// **Errors** a dimension below 2 or above [`MAX_DIMENSION`]; beta = 0 in the interval; a proof
/// that would take longer than a day, with the estimate; arithmetic that is not IEEE.
///
/// ```
/// use metastable::proofs::spheres::{Tokens, complete};
/// let tokens = Tokens::new(&[1.0; 4], (2.0, 2.5)).unwrap();
/// let found = complete(&tokens, Some(3), false, &|_, _| true).unwrap();
/// assert!(found.complete);
/// assert_eq!(found.orbits.len(), 6);
/// let tetrahedron = found.orbits.last().unwrap();
/// assert_eq!((tetrahedron.rank, tetrahedron.symmetries), (3, 24));
/// ```
pub fn complete(
    tokens: &Tokens,
    d: Option<usize>,
    keep: bool,
    report: Report,
) -> Result<Landscape> {
    check_fp_environment()?;
    check_dimension(d)?;
    let (low, high) = tokens.beta;
    if low <= 0.0 && high >= 0.0 {
        let expected = "no 0: there the points with mean 0 are critical and form continua";
        return Err(Error::parameter("beta", format!("{low}..{high}"), expected));
    }
    refuse_long(tokens)?;
    let masses = tokens.masses();
    let mut trees = Vec::new();
    let (mut open, mut stopped) = (Vec::new(), false);
    if low < high {
        let system = System::new(masses, tokens.beta);
        let half = |share: f64, boxes: u64| report(0.5 * share, boxes);
        let search = Search::new(&system, Goal::Regular, keep, &half);
        let tree = search.run();
        stopped = search.is_stopped();
        if !stopped {
            open.clone_from(&tree.regions);
        }
        trees.push(tree);
    }
    // Without any part, the list is that of the low end.
    let mut parts = between(tokens.beta, &mut open);
    if parts.is_empty() {
        parts.push((low, low));
    }
    let decided = if low < high { 0.5 } else { 0.0 };
    let mut lists = Vec::new();
    for (x, beta) in parts.iter().enumerate() {
        let before: u64 = trees.iter().map(|t: &Tree| t.boxes).sum();
        let rest = |share: f64, boxes: u64| {
            let share = (x as f64 + share) / parts.len() as f64;
            report(decided + (1.0 - decided) * share, before + boxes)
        };
        let at = 0.5 * (beta.0 + beta.1);
        let mut list = List::new(masses, at, d, keep && open.is_empty(), &rest);
        stopped |= list.stopped;
        trees.insert(x, std::mem::take(&mut list.tree));
        lists.push(list);
        if stopped {
            break;
        }
    }
    parts.truncate(lists.len());
    let undecided: u64 = trees.iter().map(|t| t.undecided_count).sum();
    let width = |x: &usize| parts[*x].1 - parts[*x].0;
    let widest = (0..parts.len()).max_by(|a, b| width(a).total_cmp(&width(b))).unwrap_or(0);
    let complete = lists[widest].is_complete() && undecided == 0 && !stopped;
    let piece = |(list, beta): (&List, &(f64, f64))| Piece {
        beta: *beta,
        at: list.at,
        complete: list.is_complete(),
        orbits: list.orbits.clone(),
    };
    let pieces = match open.is_empty() {
        true => Vec::new(),
        false => {
            lists.iter().zip(&parts).filter(|(l, p)| !l.stopped && p.0 < p.1).map(piece).collect()
        }
    };
    let list = lists.swap_remove(widest);
    let pairs = masses.len() * (masses.len() - 1) / 2;
    let listed = |c: &Cell| UndecidedBox { inner_products: c.g[..pairs].to_vec(), beta: c.beta };
    Ok(Landscape {
        complete,
        at: list.at,
        labelled: d.and_then(|d| list.by_index(d)),
        morse: list.morse,
        boxes: trees.iter().map(|t| t.boxes).sum(),
        undecided,
        undecided_boxes: trees.iter().flat_map(|t| &t.undecided).map(listed).collect(),
        interrupted: stopped,
        certificate: (keep && complete)
            .then(|| certificate::text(masses, tokens.beta, &list.all, &trees)),
        orbits: list.orbits,
        open,
        pieces,
    })
}

/// **Errors** a dimension below 2 or above [`MAX_DIMENSION`].
fn check_dimension(d: Option<usize>) -> Result<()> {
    match d.filter(|d| !(2..=MAX_DIMENSION).contains(d)) {
        Some(d) => Err(Error::parameter("d", d, format!("from 2 to {MAX_DIMENSION}, or any"))),
        None => Ok(()),
    }
}

/// The orbits of rank at most d with their indices in that dimension; `None` if one is not known.
fn labelled(orbits: &[Orbit], d: usize) -> Option<Vec<Labelled>> {
    let fits = orbits.iter().filter(|o| o.rank <= d);
    fits.map(|o| Some(Labelled { count: o.multiplicity, index: o.index(d)?, rank: o.rank }))
        .collect()
}

/// **Errors** an estimate of more than a day.
fn refuse_long(tokens: &Tokens) -> Result<()> {
    let seconds = seconds(tokens);
    if seconds <= LONGEST {
        return Ok(());
    }
    let found =
        format!("{} tokens: the proof would take {:.0} hours", tokens.n(), seconds / 3600.0);
    Err(Error::parameter("n", found, "fewer tokens, so that it takes less than a day"))
}

/// Estimated seconds of [`complete`] with two threads, from the measured numbers of boxes: for
/// n = 5 about 3 10^5 at beta = 4, growing like `beta^2.2` beyond and like `beta^-1.5` below 1. At
/// large beta five tokens are nearly free to move, and at beta = 0 there are continua. An interval
/// of beta has 25 times as many boxes per e-fold for n = 4, and 80 times as many for n = 5.
pub fn seconds(tokens: &Tokens) -> f64 {
    let n = tokens.n();
    let (boxes, large, small, fold) = match n {
        0..=3 => (40.0, 0.5, 0.0, 10.0),
        4 => (1000.0, 0.8, 0.9, 25.0),
        _ => (3e5, 2.2, 1.5, 80.0),
    };
    let (low, high) = (tokens.beta.0.abs(), tokens.beta.1.abs());
    let (beta, least) = (low.max(high), low.min(high));
    let folds = if tokens.beta.0 < tokens.beta.1 { (beta / least).ln().max(0.05) } else { 0.0 };
    let growth = (beta / 4.0).max(1.0).powf(large) * (1.0 / least).max(1.0).powf(small);
    let permutations = System::new(&tokens.masses, tokens.beta).permutations.len() as f64;
    let images = (1..=n).map(|k| k as f64).product::<f64>() / permutations;
    boxes * growth * images.powf(0.6) * (1.0 + fold * folds) * 7e-6
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn narrow_parts_are_left_out() {
        let mut open = vec![(1.0, 1.1), (1.11, 1.2), (2.0, 2.1), (3.99, 3.995)];
        assert_eq!(between((1.0, 4.0), &mut open), [(1.2, 2.0), (2.1, 3.99)]);
        assert_eq!(open, [(1.0, 1.2), (2.0, 2.1), (3.99, 4.0)]);
        let mut all = vec![(0.0, 1.0)];
        assert!(between((0.0, 1.0), &mut all).is_empty() && all == [(0.0, 1.0)]);
        assert_eq!(between((0.0, 1.0), &mut Vec::new()), [(0.0, 1.0)]);
    }
}
