//! States at rest: when a run may end because nothing will move any more.
//!
//! Small velocities prove nothing: drifts of 1e-57 are real, and a saddle holds still until its growing modes have grown. A state is called
//! stationary only when all of this holds.
//!
//! 1. **Contraction, not motion, limits the steps.** In a row of accepted explicit steps none moved a token by more than [`QUIET`], and they did not
//!    grow, though each may be ten times the last. (A slow drift lets them grow until they move by the tolerance.)
//! 2. **The velocity is the rounding of the positions.** With L the largest rate of the velocity linearised at x, rounding the positions moves f by
//!    about eps L; `|f| <= ROUNDING eps L`. (A metastable state where nothing contracts has |f| of the size of L, however small both are.)
//! 3. **Every mode contracts, at a rate that is resolved.** All eigenvalues of the linearised velocity have real parts below `-mu`, with `mu` at least
//!    `RESOLVED` L, except the rotations of all tokens, along which an equivariant velocity has no component to decay or grow. (Clusters that
//!    drift at 1e-26 while their members contract at rate 1/2 have modes of rate 1e-26: not resolved, so nothing is claimed.)
//! 4. **What is left is below the tolerance.** Along contracting modes the tokens still move by at most about `|f|/mu`, at most `rtol` kernel widths
//!    (or 1e-12).
//!
//! By 3 the Newton step from x is about |f|/mu long, by 4 it is short: a state at rest lies within it, and it attracts x. A saddle fails 3, whatever
//! its velocity; so does a state that rests only marginally (a continuum of minimisers): such runs go on as before.

use crate::attention::Dynamics;
use crate::num::dense::{eigenvalues, project_out};
use crate::num::sum::dot;
use crate::num::vector::{divide, norm};
use crate::sphere::{
    Tokens,
    geometry::{retract, tangent_basis},
};

/// How far a state is from rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// Largest speed of a token.
    pub speed: f64,
    /// Rate at which the slowest mode decays, rotations of all tokens apart; differences give about nine digits.
    pub decay: f64,
    /// What is left to move, `speed / decay`.
    pub left: f64,
}

/// The most a token moves in a quiet step.
pub const QUIET: f64 = 512.0 * f64::EPSILON;

/// Quiet steps in a row before the state is examined, at first; every examination in vain doubles it.
pub const PATIENCE: u32 = 16;

/// Quiet steps that grow beyond this factor are not limited by contraction.
const GROWN: f64 = 100.0;

/// Steps that must be left to go, or the end time comes first.
pub const LEFT: f64 = 100.0;

/// Speeds below this many roundings of positions are noise.
const ROUNDING: f64 = 256.0;

/// Rates below this share of the largest are not resolved by differences.
const RESOLVED: f64 = 1e-6;

/// Tangent coordinates beyond which the linearised velocity is not computed: its spectrum takes a second.
const MOST: usize = 600;

/// Watches the steps of a run.
pub struct Rest {
    quiet: u32,
    patience: u32,
    /// First step of the row.
    first: f64,
    evaluations: u64,
}

impl Default for Rest {
    fn default() -> Self {
        Self { quiet: 0, patience: PATIENCE, first: 0.0, evaluations: 0 }
    }
}

impl Rest {
    /// What it must know to go on.
    pub fn memory(&self) -> [u64; 4] {
        [u64::from(self.quiet), u64::from(self.patience), self.first.to_bits(), self.evaluations]
    }

    /// Goes on with this memory.
    pub fn recall([quiet, patience, first, evaluations]: [u64; 4]) -> Self {
        Self { quiet: quiet as u32, patience: patience as u32, first: f64::from_bits(first), evaluations }
    }

    /// Sees an accepted step; true when the state is to be examined.
    pub fn is_due(&mut self, h: f64, remaining: f64, displacement: f64) -> bool {
        if displacement > QUIET || (self.quiet > 0 && h > GROWN * self.first) {
            self.quiet = 0;
            return false;
        }
        if self.quiet == 0 {
            self.first = h;
        }
        self.quiet += 1;
        self.quiet >= self.patience && remaining > LEFT * h
    }

    /// The residual of a state at rest, `None` for any other. **Cost** 2 n (d - 1) velocities and a spectrum, for at most 600 coordinates.
    pub fn examine(&mut self, dynamics: &Dynamics, x: &Tokens, velocity: &[f64], rtol: f64) -> Option<Residual> {
        self.quiet = 0;
        self.patience = self.patience.saturating_mul(2);
        self.evaluations = 0;
        let (n, d) = (x.n(), x.d());
        let size = n * (d - 1);
        // Elsewhere, and where weights change, what is linearised here would not be what moves.
        let here = x.space().is_unit() && x.own().is_empty() && dynamics.facts().autonomous;
        if size > MOST || !here {
            return None;
        }
        let bases: Vec<f64> = x.rows().flat_map(tangent_basis).collect();
        self.evaluations = 2 * size as u64;
        let mut jacobian = differences(dynamics, x, &bases);
        let scale = jacobian.iter().map(|v| v * v).sum::<f64>().sqrt();
        if !(scale.is_normal() && scale.is_finite()) {
            return None;
        }
        if dynamics.facts().rotation_equivariant {
            deflate(&mut jacobian, scale, &rotations(x, &bases));
        }
        jacobian.iter_mut().for_each(|v| *v /= scale);
        let spectrum = eigenvalues(&jacobian, size)?;
        let largest = scale * spectrum.iter().map(|(re, im)| re.hypot(*im)).fold(0.0, f64::max);
        let decay = -scale * spectrum.last()?.0;
        let speed = velocity.chunks_exact(d).map(|v| dot(v, v).sqrt()).fold(0.0, f64::max);
        let residual = Residual { speed, decay, left: speed / decay };
        let noise = speed <= ROUNDING * f64::EPSILON * largest;
        let allowed = (rtol * dynamics.length_scale()).max(1e-12);
        (noise && decay >= RESOLVED * largest && residual.left <= allowed).then_some(residual)
    }

    /// Velocities that the last examination took.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

/// The linearised velocity in tangent coordinates, by central differences: relative accuracy about 1e-10 of its largest entry.
fn differences(dynamics: &Dynamics, x: &Tokens, bases: &[f64]) -> Vec<f64> {
    let (n, d) = (x.n(), x.d());
    let (rank, size) = (d - 1, n * (d - 1));
    let delta = f64::EPSILON.cbrt() * dynamics.length_scale();
    let mut jacobian = vec![0.0; size * size];
    let (mut plus, mut minus) = (vec![0.0; n * d], vec![0.0; n * d]);
    let mut y = x.clone();
    for (column, direction) in bases.chunks_exact(d).enumerate() {
        let i = column / rank;
        for (step, out) in [(delta, &mut plus), (-delta, &mut minus)] {
            y.coordinates_mut().copy_from_slice(x.coordinates());
            let row = &mut y.coordinates_mut()[i * d..(i + 1) * d];
            row.iter_mut().zip(direction).for_each(|(y, e)| *y += step * e);
            retract(row);
            out.copy_from_slice(&dynamics.velocity(&y));
        }
        plus.iter_mut().zip(&minus).for_each(|(p, m)| *p -= m);
        for (row, e) in bases.chunks_exact(d).enumerate() {
            let token = row / rank;
            jacobian[row * size + column] = dot(e, &plus[token * d..(token + 1) * d]) / (2.0 * delta);
        }
    }
    jacobian
}

/// An orthonormal basis, one row each, of the rotations of all tokens in tangent coordinates.
fn rotations(x: &Tokens, bases: &[f64]) -> Vec<Vec<f64>> {
    let d = x.d();
    let mut found: Vec<Vec<f64>> = Vec::new();
    for (a, b) in (0..d).flat_map(|a| (0..a).map(move |b| (a, b))) {
        // Token x turns by -x_b e_a + x_a e_b.
        let coordinate = |(k, e): (usize, &[f64])| {
            let row = x.row(k / (d - 1));
            row[a] * e[b] - row[b] * e[a]
        };
        let mut turn: Vec<f64> = bases.chunks_exact(d).enumerate().map(coordinate).collect();
        let before = norm(&turn);
        project_out(&found, &mut turn);
        let after = norm(&turn);
        if after > 1e-6 * before {
            divide(&mut turn, after);
            found.push(turn);
        }
    }
    found
}

/// `J - scale sum_r r r^T`: modes along which J vanishes get the rate `-scale`, the others keep theirs.
fn deflate(jacobian: &mut [f64], scale: f64, modes: &[Vec<f64>]) {
    for mode in modes {
        for (row, a) in jacobian.chunks_exact_mut(mode.len()).zip(mode) {
            row.iter_mut().zip(mode).for_each(|(v, b)| *v -= scale * a * b);
        }
    }
}
