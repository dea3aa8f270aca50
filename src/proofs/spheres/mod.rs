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
//! **Proofs** All bounds are those of `num::interval`; bounds of boxes are multiples of `2^-40`, so
//! that their sums and differences are exact. Searches in floating point only propose points and
//! matrices, which tests then accept. The Morse inequalities of `morse.rs` are an independent test.

mod cell;
mod certificate;
mod morse;
mod newton;
mod orbits;
mod point;
mod search;

pub use cell::MAX_TOKENS;
pub use certificate::KIND;
pub use morse::{Labelled, morse_inequalities_hold};
pub use orbits::Orbit;
pub use search::Report;

use super::landscape;
use crate::error::{Error, Result};
use crate::num::interval::check_fp_environment;
use cell::System;
use orbits::Orbits;
use search::Search;

/// Seconds above which a proof is refused before it starts.
const LONGEST: f64 = 86_400.0;

/// The largest dimension; the Morse inequalities are polynomials of degree n d.
pub const MAX_DIMENSION: usize = 1000;

/// The tokens and the inverse temperature of a proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Tokens {
    masses: Vec<u32>,
    beta: f64,
}

impl Tokens {
    /// Tokens with these masses. Masses are decimal numbers; their ratios count.
    ///
    /// **Errors** fewer than 2 tokens or more than [`MAX_TOKENS`], masses that are not positive or
    /// have more than six digits, beta outside [`landscape::BETA_RANGE`], or beta = 0, where the
    /// points with mean 0 are critical and form continua.
    ///
    /// ```
    /// use metastable::proofs::spheres::Tokens;
    /// assert_eq!(Tokens::new(&[0.5, 0.25, 0.25], 1.0).unwrap().masses(), [2, 1, 1]);
    /// assert!(Tokens::new(&[1.0; 6], 1.0).is_err());
    /// ```
    pub fn new(masses: &[f64], beta: f64) -> Result<Self> {
        let n = masses.len();
        if !(2..=MAX_TOKENS).contains(&n) {
            let expected = format!(
                "from 2 to {MAX_TOKENS} tokens: each further one takes a few hundred times as long"
            );
            return Err(Error::parameter("n", n, expected));
        }
        if beta.abs() <= 0.0 {
            let expected = "not 0: there the points with mean 0 are critical and form continua";
            return Err(Error::parameter("beta", beta, expected));
        }
        let checked = landscape::Tokens::new(masses, (beta, beta))?;
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

    /// The inverse temperature.
    pub fn beta(&self) -> f64 {
        self.beta
    }
}

/// All critical points.
#[derive(Clone, Debug, PartialEq)]
pub struct Landscape {
    /// Whether the list is proved to be complete, with all directions of ascent.
    pub complete: bool,
    /// The critical points up to symmetry, by rank and number of clusters.
    pub orbits: Vec<Orbit>,
    /// Number of labelled critical points modulo rotations and reflections by directions of ascent,
    /// for a given dimension, if known.
    pub labelled: Option<Vec<u64>>,
    /// Whether the Morse inequalities hold in the given dimension, or in all from 2 to n + 1.
    pub morse: Option<bool>,
    /// Number of boxes of the tree.
    pub boxes: u64,
    /// Number of undecided boxes.
    pub undecided: u64,
    /// The first undecided boxes: bounds of `g_12, g_13, ..., g_23, ...`.
    pub undecided_boxes: Vec<Vec<(f64, f64)>>,
    /// Whether the search was stopped.
    pub interrupted: bool,
    /// The certificate, if it was wanted and the proof is complete.
    pub certificate: Option<String>,
}

/// Finds all critical points on the sphere of `R^d`, or for `None` in all dimensions, and proves
/// that there are no others.
///
/// **Cost** measured with two threads: see the guide, `landscapes`.
/// **Errors** a dimension below 2 or above [`MAX_DIMENSION`]; a proof that would take longer than a
/// day, with the estimate; arithmetic that is not IEEE.
///
/// ```
/// use metastable::proofs::spheres::{Tokens, complete};
/// let tokens = Tokens::new(&[1.0; 4], 2.0).unwrap();
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
    if let Some(d) = d.filter(|d| !(2..=MAX_DIMENSION).contains(d)) {
        return Err(Error::parameter("d", d, format!("from 2 to {MAX_DIMENSION}, or any")));
    }
    refuse_long(tokens)?;
    let system = System::new(&tokens.masses, tokens.beta);
    let search = Search::new(&system, keep, report);
    let mut tree = search.run();
    // The leaves name all points but consensus, which Lemma 3 leaves out.
    tree.zeros.extend(system.prove(&[1.0; cell::MAX_PAIRS]));
    let all = Orbits::new(&system, &tokens.masses, &tree.zeros);
    let interrupted = search.is_stopped();
    let orbits = all.sorted(d.unwrap_or(usize::MAX));
    let decided = all.orbits.iter().all(|o| o.inside.is_some() && o.outside.is_some());
    let counted = tree.undecided_count == 0 && all.clear && !interrupted && decided;
    let hold = |d: usize| {
        let labelled = labelled(&orbits, d);
        labelled.is_some_and(|all| morse_inequalities_hold(tokens.n(), d, &all))
    };
    let morse = counted.then(|| match d {
        Some(d) => hold(d),
        None => (2..=tokens.n() + 1).all(hold),
    });
    let complete = morse == Some(true);
    let by_index = |d: usize| {
        let mut counts = Vec::new();
        for point in labelled(&orbits, d)? {
            counts.resize(counts.len().max(point.index + 1), 0);
            counts[point.index] += point.count;
        }
        Some(counts)
    };
    Ok(Landscape {
        complete,
        labelled: d.filter(|_| decided).and_then(by_index),
        orbits,
        morse,
        boxes: tree.boxes,
        undecided: tree.undecided_count,
        undecided_boxes: tree.undecided.iter().map(|c| c.g[..system.pairs].to_vec()).collect(),
        interrupted,
        certificate: (keep && complete)
            .then(|| certificate::text(&tokens.masses, tokens.beta, &all, &tree)),
    })
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
/// large beta five tokens are nearly free to move, and at beta = 0 there are continua.
pub fn seconds(tokens: &Tokens) -> f64 {
    let n = tokens.n();
    let (boxes, large, small) = match n {
        0..=3 => (40.0, 0.5, 0.0),
        4 => (1000.0, 0.8, 0.9),
        _ => (3e5, 2.2, 1.5),
    };
    let beta = tokens.beta.abs();
    let growth = (beta / 4.0).max(1.0).powf(large) * (1.0 / beta).max(1.0).powf(small);
    let permutations = System::new(&tokens.masses, tokens.beta).permutations.len() as f64;
    let images = (1..=n).map(|k| k as f64).product::<f64>() / permutations;
    boxes * growth * images.powf(0.6) * 7e-6
}
