//! Rosenbrock steps for velocities whose Jacobian is block lower triangular: n systems of size d
//! per stage.
//!
//! A step uses gnomonic coordinates about its start: `x_i + z_i` with `z_i` tangent at `x_i` stands
//! for the token `(x_i + z_i)/|x_i + z_i|`, and
//! `z_i' = |x_i + z_i| (P_{x_i} f_i - z_i <f_i, x_i>)`. These coordinates have no component normal
//! to the sphere, so steps of 1e300 units of time leave no rounding in that direction.
//! Displacements are sums of increments, not differences of positions: drifts of 1e-57 keep their
//! digits.

use super::block_norms::max_row_norm;
use super::integrate::OdeSystem;
use super::rodas5p::{A, C, GAMMA, H, ORDER, STAGES};
use super::stepper::{StepAttempt, Stepper};
use crate::attention::{Dynamics, TriangularJacobian, kernel::Workspace};
use crate::error::Result;
use crate::num::{lu::Lu, sum::dot};
use crate::sphere::{
    Tokens,
    geometry::{project, retract},
};

/// Rosenbrock steps (Rodas5P) of a velocity with a triangular Jacobian.
///
/// **Accuracy** order 5, also on stiff parts; the error estimate is that of the embedded method of
/// order 4. **Cost** 8 velocities, one linearisation and n factorisations of d x d matrices per
/// step. **Source** Steinebach, BIT Numer. Math. 63, 27 (2023).
pub struct ImplicitStep<'a> {
    jacobian: Box<dyn TriangularJacobian + 'a>,
    start: Tokens,
    stage: Vec<f64>,
    /// Velocity at the start.
    velocity: Vec<f64>,
    /// Increments of the stages, tangent at the start; `z` is the increment of the whole step.
    u: Vec<Vec<f64>>,
    z: Vec<f64>,
    /// Blocks `J_ii` of the Jacobian at the start; empty until they are computed.
    blocks: Vec<f64>,
    factors: Vec<Lu>,
    h: f64,
    dense: Vec<Vec<f64>>,
    /// Velocity evaluations so far, linearisations included.
    evaluations: u64,
}

impl<'a> ImplicitStep<'a> {
    /// Prepares steps from `x`; `None` if the dynamics does not know a triangular Jacobian.
    pub fn new(dynamics: &'a Dynamics, x: &Tokens) -> Option<Self> {
        let size = x.coordinates().len();
        let mut step = Self {
            jacobian: dynamics.triangular_jacobian()?,
            start: x.clone(),
            stage: vec![0.0; size],
            velocity: vec![0.0; size],
            u: vec![vec![0.0; size]; STAGES],
            z: vec![0.0; size],
            blocks: Vec::new(),
            factors: vec![Lu::default(); x.n()],
            h: 0.0,
            dense: Vec::new(),
            evaluations: 1,
        };
        dynamics.rates(0.0, x, &mut Workspace::default(), &mut step.velocity);
        Some(step)
    }

    /// Spectral radius of the Jacobian at the start, by power iteration on every diagonal block.
    pub fn rate(&mut self) -> f64 {
        self.linearise();
        let d = self.start.d();
        self.blocks.chunks_exact(d * d).map(|block| spectral_radius(block, d)).fold(0.0, f64::max)
    }

    fn linearise(&mut self) {
        if !self.blocks.is_empty() {
            return;
        }
        let d = self.start.d();
        self.jacobian.linearise(&self.start);
        self.evaluations += 1;
        self.blocks.resize(self.start.n() * d * d, 0.0);
        for (i, block) in self.blocks.chunks_exact_mut(d * d).enumerate() {
            self.jacobian.diagonal_block(i, block);
        }
    }

    /// Factors `1/(h gamma) - J_ii + c x_i x_i^T`. The direction normal to the sphere, in which
    /// J_ii vanishes, gets an entry of the size of the others.
    fn factor(&mut self) {
        let (d, shift) = (self.start.d(), 1.0 / (GAMMA * self.h));
        for ((block, lu), x) in
            self.blocks.chunks_exact(d * d).zip(&mut self.factors).zip(self.start.rows())
        {
            let across = block.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let entry = |r: usize, c: usize| {
                across * x[r] * x[c] - block[r * d + c] + if r == c { shift } else { 0.0 }
            };
            lu.factor(d, entry);
        }
    }

    /// Computes the increment of stage s, token by token.
    fn evaluate(&mut self, system: &mut dyn OdeSystem, t: f64, s: usize) -> Result<()> {
        let (d, h) = (self.start.d(), self.h);
        let (known, rest) = self.u.split_at_mut(s);
        let u = &mut rest[0];
        self.z.fill(0.0);
        if s == 0 {
            u.copy_from_slice(&self.velocity);
        } else {
            add_combination(A[s - 1], known, 1.0, &mut self.z);
            let y = &mut self.stage;
            y.iter_mut()
                .zip(self.start.coordinates().iter().zip(&self.z))
                .for_each(|(y, (x, z))| *y = x + z);
            y.chunks_exact_mut(d).for_each(|r| {
                retract(r);
            });
            self.evaluations += 1;
            system.rates(t, &self.stage, u)?;
            for ((f, z), x) in
                u.chunks_exact_mut(d).zip(self.z.chunks_exact(d)).zip(self.start.rows())
            {
                let (across, length) = (dot(f, x), dot(z, z).sqrt().hypot(1.0));
                f.iter_mut().zip(z).for_each(|(f, z)| *f = length * (*f - across * z));
            }
            add_combination(C[s - 1], known, 1.0 / h, u);
        }
        for i in 0..self.start.n() {
            let (earlier, rest) = u.split_at_mut(i * d);
            self.jacobian.add_off_diagonal(i, earlier, &mut rest[..d]);
            project(self.start.row(i), &mut rest[..d]);
            self.factors[i].solve(&mut rest[..d]);
            project(self.start.row(i), &mut rest[..d]);
        }
        Ok(())
    }
}

impl Stepper for ImplicitStep<'_> {
    /// Returns NaN also if a block is singular.
    fn step(
        &mut self,
        system: &mut dyn OdeSystem,
        t: f64,
        y: &[f64],
        h: f64,
        end: &mut [f64],
    ) -> Result<f64> {
        self.h = h;
        self.dense.clear();
        self.linearise();
        self.factor();
        for s in 0..STAGES {
            self.evaluate(system, t, s)?;
        }
        let last = &self.u[STAGES - 1];
        self.z.iter_mut().zip(last).for_each(|(z, u)| *z += u);
        end.iter_mut().zip(y.iter().zip(&self.z)).for_each(|(e, (y, z))| *e = y + z);
        end.chunks_exact_mut(self.start.d()).for_each(|r| {
            retract(r);
        });
        Ok(if last.iter().all(|v| v.is_finite()) {
            max_row_norm(last.len(), self.start.d(), |c| last[c])
        } else {
            f64::NAN
        })
    }

    fn order(&self) -> Option<u32> {
        Some(ORDER)
    }

    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        self.start.coordinates_mut().copy_from_slice(y);
        self.evaluations += 1;
        self.blocks.clear();
        self.dense.clear();
        system.rates(t, y, &mut self.velocity)
    }

    fn rates(&self) -> &[f64] {
        &self.velocity
    }

    fn is_dense(&self) -> bool {
        true
    }

    /// Order 4, retracted; costs no velocity.
    fn interpolate(
        &mut self,
        _: &mut dyn OdeSystem,
        step: StepAttempt,
        theta: f64,
        out: &mut [f64],
    ) -> Result<()> {
        if self.dense.is_empty() {
            self.dense = vec![self.z.clone()];
            for weights in H {
                let mut row = vec![0.0; self.z.len()];
                add_combination(weights, &self.u, 1.0, &mut row);
                self.dense.push(row);
            }
        }
        let rest = 1.0 - theta;
        let weights = [theta, theta * rest, theta * rest * theta, theta * rest * theta * theta];
        out.fill(0.0);
        add_combination(&weights, &self.dense, 1.0, out);
        out.iter_mut().zip(step.start).for_each(|(y, s)| *y += s);
        out.chunks_exact_mut(self.start.d()).for_each(|r| {
            retract(r);
        });
        Ok(())
    }

    /// `max_i |z_i|`, a sum of increments, not a difference of positions.
    fn displacement(&self, _: &dyn OdeSystem, _: &[f64], _: &[f64]) -> f64 {
        max_row_norm(self.z.len(), self.start.d(), |c| self.z[c])
    }

    fn first_nonfinite(&self, _: &[f64]) -> Option<usize> {
        self.u.iter().find_map(|u| u.iter().position(|v| !v.is_finite()))
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

/// Adds `factor sum_k w_k v_k`.
fn add_combination(weights: &[f64], vectors: &[Vec<f64>], factor: f64, out: &mut [f64]) {
    for (w, v) in weights.iter().zip(vectors) {
        out.iter_mut().zip(v).for_each(|(o, v)| *o += factor * w * v);
    }
}

/// Largest |eigenvalue| of a symmetric block by power iteration from its largest row: a lower
/// bound, within a few per cent, which is accurate enough for the test of stiffness.
fn spectral_radius(block: &[f64], d: usize) -> f64 {
    let square = |r: &[f64]| r.iter().map(|v| v * v).sum::<f64>();
    let largest = block.chunks_exact(d).max_by(|a, b| square(a).total_cmp(&square(b)));
    let mut v = largest.map(<[f64]>::to_vec).unwrap_or_default();
    let mut rate = 0.0;
    for _ in 0..12 {
        if !retract(&mut v) {
            return rate;
        }
        v = block.chunks_exact(d).map(|row| dot(row, &v)).collect();
        rate = dot(&v, &v).sqrt();
    }
    rate
}
