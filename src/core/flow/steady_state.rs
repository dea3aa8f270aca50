//! Detection of steady states: a run may end when its tokens will not move any more.
//!
//! Small velocities prove nothing: drifts of 1e-57 are real, and near a saddle tokens hardly move
//! until the growing modes have grown. A state counts as stationary only if all of these hold.
//!
//! 1. **Contraction, not motion, limits the steps.** In a row of accepted explicit steps none moved
//!    a token by more than [`MAX_QUIET_DISPLACEMENT`], and the steps did not grow, although each
//!    may be ten times the last. (Under a slow drift they grow until they move the tokens by the
//!    tolerance.)
//! 2. **The velocity is rounding of the positions.** With L the largest rate of the velocity
//!    linearised at x, rounding of the positions changes the velocity f by about eps L; required is
//!    `|f| <= MAX_SPEED_ROUNDINGS eps L`. (A metastable state in which nothing contracts has |f| of
//!    the size of L, however small both are.)
//! 3. **Every mode contracts, at a resolved rate.** All eigenvalues of the linearised velocity have
//!    real parts below `-mu`, with `mu` at least `MIN_RELATIVE_DECAY` L, except those of rotations
//!    of all tokens: along them an equivariant velocity has no component that could decay or grow.
//!    (If clusters drift at 1e-26 while their members contract at rate 1/2, some modes have rates
//!    of 1e-26. These are not resolved, and the state does not count as stationary.)
//! 4. **The remaining motion is below the tolerance.** Along contracting modes the tokens still
//!    move by at most about `|f|/mu`; required is at most `rtol` kernel widths (or 1e-12).
//!
//! By 3 the Newton step from x has a length of about |f|/mu, which is small by 4: a steady state
//! lies within that distance, and it attracts x. A saddle violates 3, whatever its velocity. So
//! does a marginally stable state (in a continuum of minimisers): such runs go on.

use crate::attention::Dynamics;
use crate::num::dense::{eigenvalues, project_out};
use crate::num::sum::dot;
use crate::num::vector::{divide, norm};
use crate::sphere::{
    Tokens,
    geometry::{retract, tangent_basis},
};

/// Distance of a state from a steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// Largest speed of a token.
    pub speed: f64,
    /// Decay rate of the slowest mode, except rotations of all tokens; about nine digits, by
    /// differences.
    pub decay_rate: f64,
    /// Remaining distance of the tokens, `speed / decay_rate`.
    pub remaining_distance: f64,
}

/// Largest displacement of a token in a quiet step.
pub const MAX_QUIET_DISPLACEMENT: f64 = 512.0 * f64::EPSILON;

/// Quiet steps in a row before the first examination; every failed examination doubles the number.
pub const MIN_QUIET_STEPS: u32 = 16;

/// If quiet steps grow beyond this factor, contraction does not limit them.
const MAX_STEP_GROWTH: f64 = 100.0;

/// The state is examined only if at least this number of steps remains until the end time.
pub const MIN_REMAINING_STEPS: f64 = 100.0;

/// Speeds below this many roundings of the positions are noise.
const MAX_SPEED_ROUNDINGS: f64 = 256.0;

/// Differences do not resolve rates below this fraction of the largest.
const MIN_RELATIVE_DECAY: f64 = 1e-6;

/// Largest number of tangent coordinates for which the spectrum of the Jacobian is computed (about
/// a second).
const MAX_COORDINATES: usize = 600;

/// Observes the steps of a run.
pub struct SteadyStateDetector {
    quiet_steps: u32,
    required_steps: u32,
    /// Length of the first step in the row of quiet steps.
    first_step: f64,
    evaluations: u64,
}

impl Default for SteadyStateDetector {
    fn default() -> Self {
        Self { quiet_steps: 0, required_steps: MIN_QUIET_STEPS, first_step: 0.0, evaluations: 0 }
    }
}

impl SteadyStateDetector {
    /// The state to be saved in a checkpoint.
    pub fn save_state(&self) -> [u64; 4] {
        [
            u64::from(self.quiet_steps),
            u64::from(self.required_steps),
            self.first_step.to_bits(),
            self.evaluations,
        ]
    }

    /// Restores a saved state.
    pub fn restore_state([quiet_steps, required_steps, first_step, evaluations]: [u64; 4]) -> Self {
        Self {
            quiet_steps: quiet_steps as u32,
            required_steps: required_steps as u32,
            first_step: f64::from_bits(first_step),
            evaluations,
        }
    }

    /// Observes an accepted step; true if the state should be examined.
    pub fn needs_examination(&mut self, h: f64, remaining: f64, displacement: f64) -> bool {
        if displacement > MAX_QUIET_DISPLACEMENT
            || (self.quiet_steps > 0 && h > MAX_STEP_GROWTH * self.first_step)
        {
            self.quiet_steps = 0;
            return false;
        }
        if self.quiet_steps == 0 {
            self.first_step = h;
        }
        self.quiet_steps += 1;
        self.quiet_steps >= self.required_steps && remaining > MIN_REMAINING_STEPS * h
    }

    /// The residual if the state is stationary, otherwise `None`. **Cost** 2 n (d - 1) velocities
    /// and a spectrum, for at most 600 coordinates.
    pub fn examine(
        &mut self,
        dynamics: &Dynamics,
        x: &Tokens,
        velocity: &[f64],
        rtol: f64,
    ) -> Option<Residual> {
        self.quiet_steps = 0;
        self.required_steps = self.required_steps.saturating_mul(2);
        self.evaluations = 0;
        let (n, d) = (x.n(), x.d());
        let size = n * (d - 1);
        // In other spaces, or if weights depend on time, this linearisation would not be that of
        // the motion.
        let supported =
            x.space().is_unit() && x.extra_numbers().is_empty() && dynamics.properties().autonomous;
        if size > MAX_COORDINATES || !supported {
            return None;
        }
        let bases: Vec<f64> = x.rows().flat_map(tangent_basis).collect();
        self.evaluations = 2 * size as u64;
        let mut jacobian = jacobian_by_differences(dynamics, x, &bases);
        let scale = jacobian.iter().map(|v| v * v).sum::<f64>().sqrt();
        if !(scale.is_normal() && scale.is_finite()) {
            return None;
        }
        if dynamics.properties().rotation_equivariant {
            deflate(&mut jacobian, scale, &rotation_modes(x, &bases));
        }
        jacobian.iter_mut().for_each(|v| *v /= scale);
        let spectrum = eigenvalues(&jacobian, size)?;
        let largest = scale * spectrum.iter().map(|(re, im)| re.hypot(*im)).fold(0.0, f64::max);
        let decay_rate = -scale * spectrum.last()?.0;
        let speed = velocity.chunks_exact(d).map(|v| dot(v, v).sqrt()).fold(0.0, f64::max);
        let residual = Residual { speed, decay_rate, remaining_distance: speed / decay_rate };
        let noise = speed <= MAX_SPEED_ROUNDINGS * f64::EPSILON * largest;
        let allowed = (rtol * dynamics.length_scale()).max(1e-12);
        (noise
            && decay_rate >= MIN_RELATIVE_DECAY * largest
            && residual.remaining_distance <= allowed)
            .then_some(residual)
    }

    /// Velocities evaluated in the last examination.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

/// The Jacobian of the velocity in tangent coordinates by central differences; relative accuracy
/// about 1e-10 of its largest entry.
fn jacobian_by_differences(dynamics: &Dynamics, x: &Tokens, bases: &[f64]) -> Vec<f64> {
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
            jacobian[row * size + column] =
                dot(e, &plus[token * d..(token + 1) * d]) / (2.0 * delta);
        }
    }
    jacobian
}

/// An orthonormal basis, one row each, of the rotations of all tokens, in tangent coordinates.
fn rotation_modes(x: &Tokens, bases: &[f64]) -> Vec<Vec<f64>> {
    let d = x.d();
    let mut found: Vec<Vec<f64>> = Vec::new();
    for (a, b) in (0..d).flat_map(|a| (0..a).map(move |b| (a, b))) {
        // The rotation moves token x by -x_b e_a + x_a e_b.
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

/// `J - scale sum_r r r^T`: modes r with `J r = 0` get the rate `-scale`; the others keep their
/// rates.
fn deflate(jacobian: &mut [f64], scale: f64, modes: &[Vec<f64>]) {
    for mode in modes {
        for (row, a) in jacobian.chunks_exact_mut(mode.len()).zip(mode) {
            row.iter_mut().zip(mode).for_each(|(v, b)| *v -= scale * a * b);
        }
    }
}
