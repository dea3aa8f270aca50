//! Ways to a critical point: trust-region minimisation of the squared gradient with deflation, and
//! eigenvector following for a wanted index.

use super::newton::move_along;
use super::searched::{FoundPoint, SearchedEnergy};
use super::spectrum::{rotations, to_ambient, to_coordinates};
use crate::attention::kernel::Workspace;
use crate::error::Result;
use crate::num::vector::{axpy, divide, max_abs, max_norm, norm};
use crate::num::{dense, sum::dot};
use crate::sphere::{
    Tokens,
    geometry::{project, retract, tangent_basis},
};
use argmin::core::{CostFunction, Executor, Gradient, Hessian};
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use argmin_math::ArgminDot;
use std::cell::RefCell;

/// The objective: `|grad|^2 / 2` in the mass metric on the chart `x_i + B_i xi_i` about a base
/// point, times the deflation factor of known points.
struct SquaredGradient<'a, E> {
    energy: &'a E,
    base: &'a Tokens,
    bases: Vec<Vec<f64>>,
    scale: f64,
    known: Vec<[f64; MOMENTS]>,
    /// Buffers of this search.
    work: RefCell<Workspace>,
}

/// Number of moments `sum_ij m_i m_j G_ij^l`. They are invariant under rotations and permutations
/// and distinguish critical points.
const MOMENTS: usize = 6;
/// Range of the deflation, in the squared distance of moments.
const DEFLATION_RANGE: f64 = 1e-3;

impl<E: SearchedEnergy> SquaredGradient<'_, E> {
    /// The point of the chart and the lengths before normalisation.
    fn point(&self, xi: &[f64]) -> (Tokens, Vec<f64>) {
        let (d, t) = (self.base.d(), self.base.d() - 1);
        let mut y = self.base.coordinates().to_vec();
        let mut lengths = Vec::with_capacity(self.base.n());
        for (i, row) in y.chunks_exact_mut(d).enumerate() {
            for (c, e) in xi[i * t..(i + 1) * t].iter().zip(self.bases[i].chunks_exact(d)) {
                axpy(*c, e, row);
            }
            lengths.push(norm(row));
            retract(row);
        }
        (Tokens::from_parts(d, y, self.base.masses().to_vec()), lengths)
    }

    /// Maps chart directions to tangent rows at the point.
    fn chart_to_tangent(&self, x: &Tokens, lengths: &[f64], xi: &[f64]) -> Vec<f64> {
        let (d, t) = (x.d(), x.d() - 1);
        let mut u = vec![0.0; x.coordinates().len()];
        for (i, row) in u.chunks_exact_mut(d).enumerate() {
            for (c, e) in xi[i * t..(i + 1) * t].iter().zip(self.bases[i].chunks_exact(d)) {
                row.iter_mut().zip(e).for_each(|(r, e)| *r += c * e / lengths[i]);
            }
            project(x.row(i), row);
        }
        u
    }

    /// Pulls covectors at the point back to the chart.
    fn covector_to_chart(&self, x: &Tokens, lengths: &[f64], u: &[f64]) -> Vec<f64> {
        let d = x.d();
        let mut out = Vec::with_capacity(x.n() * (d - 1));
        for (i, row) in u.chunks_exact(d).enumerate() {
            let mut row = row.to_vec();
            project(x.row(i), &mut row);
            out.extend(self.bases[i].chunks_exact(d).map(|e| dot(e, &row) / lengths[i]));
        }
        out
    }

    /// `grad_i / m_i`.
    fn field(&self, x: &Tokens) -> Vec<f64> {
        let mut g = vec![0.0; x.coordinates().len()];
        self.energy.grad(x, &mut self.work.borrow_mut(), &mut g);
        divide_by_masses(x, &mut g);
        g
    }

    fn hess_vec(&self, x: &Tokens, u: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; u.len()];
        self.energy.hess_vec(x, u, &mut self.work.borrow_mut(), &mut out);
        out
    }

    /// `scale` times `sum m_i |v_i|^2 / 2` of the field.
    fn half_square(&self, x: &Tokens, field: &[f64]) -> f64 {
        let square: f64 =
            field.chunks_exact(x.d()).zip(x.masses()).map(|(v, m)| m * dot(v, v)).sum();
        0.5 * square * self.scale
    }

    /// The deflation factor `prod (1 + sigma / |moments - known|^2)` and its logarithmic gradient
    /// (a covector).
    fn deflation(&self, x: &Tokens) -> (f64, Vec<f64>) {
        let current = moments(x);
        let (mut factor, mut by_moment) = (1.0, [0.0; MOMENTS]);
        for known in &self.known {
            let square =
                current.iter().zip(known).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() + 1e-14;
            factor *= 1.0 + DEFLATION_RANGE / square;
            let slope = -DEFLATION_RANGE / (square * (square + DEFLATION_RANGE));
            by_moment
                .iter_mut()
                .zip(current.iter().zip(known))
                .for_each(|(s, (a, b))| *s += slope * 2.0 * (a - b));
        }
        let mut u = vec![0.0; x.coordinates().len()];
        for (i, row) in u.chunks_exact_mut(x.d()).enumerate() {
            for j in 0..x.n() {
                let (g, mut power, mut weight) = (x.inner(i, j), 1.0, 0.0);
                for (l, s) in by_moment.iter().enumerate() {
                    weight += s * (l + 1) as f64 * power;
                    power *= g;
                }
                let weight = 2.0 * x.masses()[i] * x.masses()[j] * weight;
                axpy(weight, x.row(j), row);
            }
        }
        (factor, u)
    }
}

fn divide_by_masses(x: &Tokens, rows: &mut [f64]) {
    for (row, m) in rows.chunks_exact_mut(x.d()).zip(x.masses()) {
        divide(row, *m);
    }
}

fn moments(x: &Tokens) -> [f64; MOMENTS] {
    let mut out = [0.0; MOMENTS];
    for i in 0..x.n() {
        for j in 0..x.n() {
            let (g, m) = (x.inner(i, j), x.masses()[i] * x.masses()[j]);
            let mut power = m;
            for o in &mut out {
                power *= g;
                *o += power;
            }
        }
    }
    out
}

type ArgminResult<T> = std::result::Result<T, argmin::core::Error>;

impl<E: SearchedEnergy> CostFunction for SquaredGradient<'_, E> {
    type Param = Vec<f64>;
    type Output = f64;
    fn cost(&self, xi: &Vec<f64>) -> ArgminResult<f64> {
        let (x, _) = self.point(xi);
        Ok(self.half_square(&x, &self.field(&x)) * self.deflation(&x).0)
    }
}

impl<E: SearchedEnergy> Gradient for SquaredGradient<'_, E> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;
    fn gradient(&self, xi: &Vec<f64>) -> ArgminResult<Vec<f64>> {
        let (x, lengths) = self.point(xi);
        let field = self.field(&x);
        let (factor, log_slope) = self.deflation(&x);
        let value = self.half_square(&x, &field) * factor;
        let mut u = self.hess_vec(&x, &field);
        u.iter_mut().zip(&log_slope).for_each(|(u, s)| *u = *u * self.scale * factor + value * s);
        Ok(self.covector_to_chart(&x, &lengths, &u))
    }
}

/// The Gauss-Newton Hessian `H M^{-1} H` in the chart, applied without a matrix.
struct GaussNewton<'a, E> {
    problem: &'a SquaredGradient<'a, E>,
    xi: Vec<f64>,
}

impl<E> Clone for GaussNewton<'_, E> {
    fn clone(&self) -> Self {
        Self { problem: self.problem, xi: self.xi.clone() }
    }
}

impl<E: SearchedEnergy> ArgminDot<Vec<f64>, Vec<f64>> for GaussNewton<'_, E> {
    fn dot(&self, v: &Vec<f64>) -> Vec<f64> {
        let p = self.problem;
        let (x, lengths) = p.point(&self.xi);
        let mut u = p.hess_vec(&x, &p.chart_to_tangent(&x, &lengths, v));
        divide_by_masses(&x, &mut u);
        let (u, factor) = (p.hess_vec(&x, &u), p.scale * p.deflation(&x).0);
        p.covector_to_chart(&x, &lengths, &u).into_iter().map(|w| w * factor).collect()
    }
}

/// Borrows the objective for argmin, whose Hessians must be owned.
struct Problem<'a, E>(&'a SquaredGradient<'a, E>);

impl<E: SearchedEnergy> CostFunction for Problem<'_, E> {
    type Param = Vec<f64>;
    type Output = f64;
    fn cost(&self, xi: &Vec<f64>) -> ArgminResult<f64> {
        self.0.cost(xi)
    }
}

impl<E: SearchedEnergy> Gradient for Problem<'_, E> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;
    fn gradient(&self, xi: &Vec<f64>) -> ArgminResult<Vec<f64>> {
        self.0.gradient(xi)
    }
}

impl<'a, E: SearchedEnergy> Hessian for Problem<'a, E> {
    type Param = Vec<f64>;
    type Hessian = GaussNewton<'a, E>;
    fn hessian(&self, xi: &Vec<f64>) -> ArgminResult<GaussNewton<'a, E>> {
        Ok(GaussNewton { problem: self.0, xi: xi.clone() })
    }
}

/// Minimises the squared gradient from `start` away from known critical points (argmin, trust
/// region with Steihaug's conjugate gradients).
pub fn minimise_squared_gradient<E: SearchedEnergy>(
    energy: &E,
    start: &Tokens,
    known: &[E::Point],
) -> Tokens {
    let mut x = start.clone();
    let known: Vec<_> = known.iter().map(|p| moments(p.clusters())).collect();
    // Several charts: the point may move further than one chart covers.
    for _ in 0..4 {
        let bases = x.rows().map(tangent_basis).collect();
        let mut squared = SquaredGradient {
            energy,
            base: &x,
            bases,
            scale: 1.0,
            known: known.clone(),
            work: RefCell::default(),
        };
        let first = squared.half_square(&x, &squared.field(&x));
        if first <= 1e-300 {
            break;
        }
        squared.scale = 1.0 / first;
        let origin = vec![0.0; x.n() * (x.d() - 1)];
        let solver = TrustRegion::new(Steihaug::new().with_max_iters(2 * origin.len() as u64 + 20))
            .with_radius(0.1)
            .and_then(|s| s.with_max_radius(0.5));
        let Ok(solver) = solver else { break };
        let run = Executor::new(Problem(&squared), solver)
            .configure(|s| s.param(origin).max_iters(40).target_cost(1e-18))
            .run();
        let next = match run {
            Ok(mut result) => {
                match (result.state.get_best_cost(), result.state.take_best_param()) {
                    (cost, Some(best)) => (squared.point(&best).0, cost),
                    _ => break,
                }
            }
            Err(_) => break,
        };
        let done = next.1 < 1e-16;
        x = next.0;
        if done {
            break;
        }
    }
    x
}

/// Eigenvector following: in the eigenbasis of the Hessian it decreases the energy along the
/// `unstable` largest eigenvalues and increases it along all others, with Newton steps of at most
/// 0.1. It converges to saddles with that many unstable directions.
pub fn follow_eigenvectors<E: SearchedEnergy>(
    energy: &E,
    start: &Tokens,
    unstable: usize,
) -> Tokens {
    follow(start, unstable, energy, &|x| energy.mass_hessian(x).ok())
}

/// Eigenvector following to a saddle with one unstable direction. Near a maximum of the energy the
/// largest eigenvalues are the zero ones of rotations; they are shifted below the others.
pub fn follow_to_saddle<E: SearchedEnergy>(energy: &E, start: &Tokens) -> Tokens {
    follow(start, 1, energy, &|x| modulo_rotations(energy, x).ok())
}

/// The Hessian with the eigenvalues of rotations at the negative end of the spectrum.
pub(super) fn modulo_rotations<E: SearchedEnergy>(energy: &E, x: &Tokens) -> Result<Vec<f64>> {
    let mut h = energy.mass_hessian(x)?;
    let (top, size) = (max_abs(&h), h.len().isqrt());
    for b in rotations(x) {
        h.iter_mut().enumerate().for_each(|(k, v)| *v -= 2.0 * top * b[k / size] * b[k % size]);
    }
    Ok(h)
}

fn follow<E: SearchedEnergy>(
    start: &Tokens,
    unstable: usize,
    energy: &E,
    hessian: &dyn Fn(&Tokens) -> Option<Vec<f64>>,
) -> Tokens {
    let mut x = start.clone();
    let size = x.n() * (x.d() - 1);
    for _ in 0..150 {
        let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
        let hessian = hessian(&x);
        let Some((values, vectors)) = hessian.and_then(|h| dense::symmetric_eigen(&h, size)) else {
            break;
        };
        let mut gradient = vec![0.0; x.coordinates().len()];
        energy.grad(&x, &mut Workspace::default(), &mut gradient);
        let g = to_coordinates(&x, &bases, &gradient);
        let top = max_abs(&values);
        let mut p = vec![0.0; size];
        for (k, value) in values.iter().enumerate() {
            let v = &vectors[k * size..(k + 1) * size];
            let along = dot(v, &g);
            let sign = if k + unstable >= size { -1.0 } else { 1.0 };
            // The gradient has no component along rotations, whose eigenvalue is 0.
            let length = sign * along / value.abs().max(1e-10 * top).max(f64::MIN_POSITIVE);
            axpy(length, v, &mut p);
        }
        let step = to_ambient(&x, &bases, &p);
        let largest = max_norm(&step, x.d());
        if !largest.is_finite() || largest < 1e-9 {
            break;
        }
        x = move_along(&x, &step, (0.1 / largest).min(1.0));
    }
    x
}
