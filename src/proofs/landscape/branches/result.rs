//! What a continuation finds.

use super::super::UndecidedBox;
use super::super::orbits::morse_inequalities_hold;
use super::super::strata::Members;
use super::point::Piece;

/// The kind of a bifurcation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A cluster of two tokens splits, and a symmetry exchanges both directions.
    Pitchfork,
    /// Several directions at once: clusters that are images of each other, or of more tokens.
    Multiple,
    /// A cluster of two tokens with different masses splits.
    Transcritical,
    /// Two branches end in each other.
    Fold,
}

/// A bifurcation.
#[derive(Clone, Debug, PartialEq)]
pub struct Bifurcation {
    /// Enclosure of beta.
    pub beta: (f64, f64),
    /// Its kind.
    pub kind: Kind,
    /// The clusters of the branch on which it lies.
    pub clusters: Vec<Members>,
    /// Bounds of the gaps in turns.
    pub gaps: Vec<(f64, f64)>,
    /// The clusters that can split.
    pub splitting: Vec<usize>,
    /// Directions of ascent of that branch below and above; at a fold, of both branches.
    pub ascents: (usize, usize),
    /// The branch on which it lies.
    pub branch: usize,
    /// Branches that begin here.
    pub born: Vec<usize>,
    /// Whether it is proved which branches begin here.
    pub proved: bool,
}

/// The end of a branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// An end of the interval of beta.
    Range,
    /// The bifurcation with this number.
    Bifurcation(usize),
    /// The chain of boxes ends here, without a reason.
    Open,
}

/// A critical point of a branch.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The inverse temperature.
    pub beta: f64,
    /// Gaps in radians.
    pub gaps: Vec<f64>,
    /// Directions of ascent.
    pub ascents: usize,
    /// Energy in units of that of one cluster, rounded.
    pub energy_share: f64,
}

/// A branch of critical points, up to rotations, reflections and permutations of equal masses.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Masses of the tokens of every cluster.
    pub clusters: Vec<Members>,
    /// Number of labelled branches modulo rotations.
    pub multiplicity: u64,
    /// Whether a reflection maps every point to itself.
    pub mirror: bool,
    /// Number of rotations that map every point to itself, up to a permutation.
    pub rotations: u64,
    /// Boxes with exactly one critical point for every beta, in the order of beta.
    pub pieces: Vec<Piece>,
    /// Points in the order of beta.
    pub samples: Vec<Sample>,
    /// The ends at the smallest and at the largest beta.
    pub ends: (End, End),
}

/// All branches and bifurcations.
#[derive(Clone, Debug, PartialEq)]
pub struct Continuation {
    /// Whether it is proved that there are no others.
    pub complete: bool,
    /// The interval of beta, or of the parameter in its place.
    pub beta: (f64, f64),
    /// The branches, by number of clusters.
    pub branches: Vec<Branch>,
    /// The bifurcations in the order of beta.
    pub bifurcations: Vec<Bifurcation>,
    /// Whether the numbers of critical points satisfy the Morse inequalities between the
    /// bifurcations; `None` if a branch has an open end.
    pub morse: Option<bool>,
    /// Number of boxes of all trees.
    pub boxes: u64,
    /// Number of undecided boxes.
    pub undecided: u64,
    /// The first undecided boxes.
    pub undecided_boxes: Vec<UndecidedBox>,
    /// What is missing from a proof, in words.
    pub missing: Vec<String>,
    /// Whether the search was stopped.
    pub interrupted: bool,
}

/// Whether the Morse inequalities hold between all bifurcations.
pub(super) fn morse(found: &Continuation, n: usize) -> Option<bool> {
    let open = |b: &Branch| b.ends.0 == End::Open || b.ends.1 == End::Open;
    if found.branches.iter().any(open) {
        return None;
    }
    let mut cuts = vec![found.beta.0];
    cuts.extend(found.bifurcations.iter().map(|b| 0.5 * (b.beta.0 + b.beta.1)));
    cuts.push(found.beta.1);
    let holds = cuts.windows(2).filter(|c| c[1] - c[0] > 1e-9).all(|c| {
        let beta = 0.5 * (c[0] + c[1]);
        morse_inequalities_hold(&found.labelled(beta, n))
    });
    Some(holds)
}

impl Branch {
    /// Bounds of beta: of the boxes, or the bifurcations at the ends.
    pub fn reach(&self, bifurcations: &[Bifurcation]) -> (f64, f64) {
        let at = |end: End, piece: Option<f64>| match end {
            End::Bifurcation(b) => bifurcations.get(b).map(|b| 0.5 * (b.beta.0 + b.beta.1)),
            _ => piece,
        };
        let first = self.samples.first().map(|s| s.beta);
        let last = self.samples.last().map(|s| s.beta);
        (at(self.ends.0, first).unwrap_or(f64::NAN), at(self.ends.1, last).unwrap_or(f64::NAN))
    }

    /// Directions of ascent at a beta; `None` where the branch does not exist.
    pub fn ascents_at(&self, beta: f64, bifurcations: &[Bifurcation]) -> Option<usize> {
        let (low, high) = self.reach(bifurcations);
        if !(low <= beta && beta <= high) {
            return None;
        }
        // Beside a bifurcation at which it begins, the first or last box is the nearest.
        let distance = |p: &Piece| (p.beta.0 - beta).max(beta - p.beta.1).max(0.0);
        let nearest = self.pieces.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map(|p| p.ascents).or_else(|| self.samples.first().map(|s| s.ascents))
    }
}

impl Continuation {
    /// Number of labelled critical points modulo rotations by directions of ascent, at a beta.
    pub fn labelled(&self, beta: f64, n: usize) -> Vec<u64> {
        let mut counts = vec![0; n];
        for branch in &self.branches {
            if let Some(ascents) = branch.ascents_at(beta, &self.bifurcations)
                && let Some(count) = counts.get_mut(ascents)
            {
                *count += branch.multiplicity;
            }
        }
        counts
    }
}
