//! Saddle search: trust-region minimisation of the squared gradient with deflation, and eigenvector
//! following for a wanted index.

use super::critical::{CriticalPoint, merge_coincident, move_along};
use super::slow_states::{SlowStates, cluster_sizes};
use super::spectrum::{mass_hessian, to_ambient, to_coordinates};
use super::starts::{Start, families, random_clusters};
use crate::attention::{Energy, EnergyScale, Spec, dynamics, kernel::Workspace};
use crate::error::{Error, Result};
use crate::flow::{Options, solve};
use crate::num::vector::{axpy, divide, max_abs, max_norm, norm};
use crate::num::{dense, stream::Stream, sum::dot, threads::par_map};
use crate::sphere::{
    Tokens,
    geometry::{dist, project, retract, tangent_basis},
    law::Law,
};
use argmin::core::{CostFunction, Executor, Gradient, Hessian};
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use argmin_math::ArgminDot;
use std::cell::RefCell;

/// Parameters of a search for critical points.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Inverse temperature.
    pub beta: f64,
    /// Number of tokens.
    pub n: usize,
    /// Ambient dimension.
    pub d: usize,
    /// Smallest number of random starts.
    pub starts: usize,
    /// Largest number of random starts. After `starts` the search continues until the second half
    /// of all random starts has found no new point.
    pub max_starts: usize,
    /// Whether to include the fixed starts: symmetric families ([`families`]), descents of the
    /// energy from random tokens, and an ascent.
    pub fixed: bool,
    /// Seed of the random streams.
    pub seed: u64,
}

/// Distinct critical points and statistics of the search. **Nothing proves that the list is
/// complete.**
#[derive(Clone, Debug, Default)]
pub struct SearchResult {
    /// By descending energy; points of [`SearchResult::append`] at the end.
    pub points: Vec<CriticalPoint>,
    /// For every point the number of random starts that found it; 0 for a point found only by a
    /// fixed start or a connection.
    pub hits: Vec<usize>,
    /// Number of random starts.
    pub starts: usize,
    /// Number of random starts that did not end at a critical point.
    pub failed: usize,
    /// Number of fixed starts: symmetric families, descents, an ascent.
    pub fixed_starts: usize,
    /// The last random start (counted from 1) that found a new point; 0 if none did.
    pub last_new: usize,
}

impl SearchResult {
    /// Inserts a critical point in the order of energies, unless it is known. Returns its index,
    /// and whether it is new.
    pub fn add(&mut self, point: CriticalPoint) -> (usize, bool) {
        if let Some(known) = self.points.iter().position(|p| p.is_same(&point)) {
            return (known, false);
        }
        let before = |p: &CriticalPoint| {
            point
                .log_energy
                .total_cmp(&p.log_energy)
                .then(p.spectrum.unstable.cmp(&point.spectrum.unstable))
                .is_le()
        };
        let position = self.points.iter().take_while(|p| before(p)).count();
        self.points.insert(position, point);
        self.hits.insert(position, 0);
        (position, true)
    }

    /// Appends a critical point, so that no index changes, and returns its index.
    pub fn append(&mut self, point: CriticalPoint) -> usize {
        self.points.push(point);
        self.hits.push(0);
        self.points.len() - 1
    }

    /// Estimate of the number of missing critical points, from the numbers f_1 and f_2 of points
    /// found by exactly one and exactly two random starts: `f_1 (f_1 - 1) / (2 (f_2 + 1))`, minus
    /// the points known from other starts only (Chao, Scand. J. Statist. 11 (1984) 265,
    /// bias-corrected). It is a lower estimate: points that no start can reach do not affect it.
    pub fn missing(&self) -> f64 {
        let found_by = |k: usize| self.hits.iter().filter(|h| **h == k).count() as f64;
        let (once, twice) = (found_by(1), found_by(2));
        (once * (once - 1.0) / (2.0 * (twice + 1.0)) - found_by(0)).max(0.0)
    }

    /// The number of points found by exactly one random start. Divided by the number of starts it
    /// estimates the probability that a further start finds a new point (Good, Biometrika 40 (1953)
    /// 237).
    pub fn found_once(&self) -> usize {
        self.hits.iter().filter(|h| **h == 1).count()
    }

    /// True if the second half of the random starts found no new point.
    pub fn is_settled(&self) -> bool {
        2 * self.last_new <= self.starts
    }
}

/// A critical point near given clusters: by Newton's method, or, if that fails, by minimising the
/// squared gradient first.
///
/// **Errors** as [`CriticalPoint::near`].
pub fn critical_point_near(beta: f64, x: &Tokens, sizes: &[usize]) -> Result<CriticalPoint> {
    CriticalPoint::near(beta, x, sizes).or_else(|_| {
        let (end, sizes, labels) =
            merge_coincident(&minimise_squared_gradient(beta, x, &[]), sizes);
        let found = CriticalPoint::near(beta, &end, &sizes)?;
        let labels: Vec<usize> = labels.iter().map(|l| found.labels[*l]).collect();
        let distance_from_start =
            x.rows().zip(&labels).map(|(r, l)| dist(r, found.clusters.row(*l))).fold(0.0, f64::max);
        Ok(CriticalPoint { labels, distance_from_start, ..found })
    })
}

/// Number of starts that run in parallel with the same list of known points.
const BATCH_SIZE: usize = 32;
/// Number of energy descents from random tokens among the fixed starts; one ascent follows.
const DESCENT_STARTS: usize = 4;
/// Largest number of coordinates for which the Hessian is diagonalised at every step.
const MAX_DENSE_COORDINATES: usize = 120;

/// Result of one start.
struct StartResult {
    points: Vec<CriticalPoint>,
    failed: bool,
}

impl Search {
    /// Searches from the fixed starts and from random clusters (random sizes and positions).
    /// Methods: minimisation of the squared gradient with and without deflation, eigenvector
    /// following, descents of the energy, and slow states of flows.
    ///
    /// **Cost** a few milliseconds per start for ten clusters. Starts run in parallel; the result
    /// does not depend on the number of threads. **Errors** sizes or beta out of range.
    ///
    /// ```
    /// use metastable::landscape::search::Search;
    /// // Four tokens on S^2: one cluster, 3+1, 2+2, 2+1+1, the square, the tetrahedron.
    /// let found = Search { beta: 4.0, n: 4, d: 3, starts: 20, max_starts: 20, fixed: true, seed: 1 }.run().unwrap();
    /// assert_eq!(found.points.len(), 6);
    /// ```
    pub fn run(&self) -> Result<SearchResult> {
        self.run_with_progress(&mut |_, _| true)
    }

    /// [`Search::run`] with a callback: `proceed` gets the index of the next start and the result
    /// so far, and returns false to end the search.
    pub fn run_with_progress(
        &self,
        proceed: &mut dyn FnMut(usize, &SearchResult) -> bool,
    ) -> Result<SearchResult> {
        crate::error::in_range("beta", self.beta.abs(), 0.0, 1e4)?;
        if self.n < 2 || self.d < 2 || self.n * (self.d - 1) > 600 {
            return Err(Error::parameter(
                "n, d",
                format!("{}, {}", self.n, self.d),
                "n >= 2, d >= 2 and n (d-1) at most 600",
            ));
        }
        let mut found = SearchResult::default();
        let mut fixed = if self.fixed { families(self.n, self.d) } else { Vec::new() };
        for k in 0..if self.fixed { DESCENT_STARTS + 1 } else { 0 } {
            let mut stream = Stream::new(self.seed, &["saddles", "energy", &k.to_string()]);
            fixed.push(self.energy_descent(
                &Law::parse("uniform")?.sample(self.n, self.d, &mut stream)?,
                k < DESCENT_STARTS,
            )?);
        }
        for batch in fixed.chunks(BATCH_SIZE) {
            if !proceed(0, &found) {
                return Ok(found);
            }
            found.fixed_starts += batch.len();
            let result =
                par_map(batch, |_, start| Ok::<_, Error>(self.point_from_fixed_start(start)))?;
            for point in result.into_iter().flatten() {
                found.add(point);
            }
        }
        let mut k = 0;
        while k < self.starts || (k < self.max_starts && !found.is_settled()) {
            if !proceed(k, &found) {
                break;
            }
            let end = if k < self.starts { self.starts } else { self.max_starts };
            let batch: Vec<usize> = (k..end.min(k + BATCH_SIZE)).collect();
            for result in par_map(&batch, |_, k| self.random_start(*k, &found.points))? {
                found.record_start(result);
            }
            k += batch.len();
        }
        Ok(found)
    }

    /// One random start.
    fn random_start(&self, k: usize, known: &[CriticalPoint]) -> Result<StartResult> {
        let mut stream = Stream::new(self.seed, &["saddles", &k.to_string()]);
        // One start in eight is a flow from random tokens, with its slow states.
        if k % 8 == 7 {
            return self.slow_states_of_flow(&mut stream);
        }
        let (x, sizes) = random_clusters(self.n, self.d, &mut stream);
        let end = match stream.index(4) {
            0 => minimise_squared_gradient(self.beta, &x, &[]),
            1 => minimise_squared_gradient(self.beta, &x, known),
            2 => follow_eigenvectors(self.beta, &x, 1 + stream.index(x.n().min(6))),
            _ => follow_eigenvectors(self.beta, &x, x.n() * (self.d - 1)),
        };
        let (end, sizes, _) = merge_coincident(&end, &sizes);
        Ok(match CriticalPoint::near(self.beta, &end, &sizes) {
            Ok(point) => StartResult { points: vec![point], failed: false },
            Err(_) => StartResult { points: Vec::new(), failed: true },
        })
    }

    /// The critical point near a symmetric configuration. If clusters in a plane merge or fail, the
    /// energy is first minimised within the plane: forces between unequal clusters at large beta
    /// are too small for Newton's method alone.
    fn point_from_fixed_start(&self, (x, sizes): &Start) -> Option<CriticalPoint> {
        let direct = critical_point_near(self.beta, x, sizes);
        let planar = x.n() > 2 && x.rows().all(|r| r[2..].iter().all(|c| *c == 0.0));
        match direct {
            Ok(p) if !planar || p.clusters.n() == x.n() => Some(p),
            other if planar && self.beta > 0.0 => {
                let flat = x.rows().flat_map(|r| [r[0], r[1]]).collect();
                let flat = follow_eigenvectors(
                    self.beta,
                    &Tokens::from_parts(2, flat, x.masses().to_vec()),
                    x.n(),
                );
                let mut back = vec![0.0; x.coordinates().len()];
                back.chunks_exact_mut(self.d)
                    .zip(flat.rows())
                    .for_each(|(r, f)| r[..2].copy_from_slice(f));
                let back = Tokens::from_parts(self.d, back, x.masses().to_vec());
                critical_point_near(self.beta, &back, sizes).or(other).ok()
            }
            other => other.ok(),
        }
    }

    /// The end of a descent (or an ascent) of the energy, by eigenvector following, or by the flow
    /// if the Hessian is too large to diagonalise at every step.
    fn energy_descent(&self, x: &Tokens, down: bool) -> Result<Start> {
        let all = x.n() * (self.d - 1);
        if all <= MAX_DENSE_COORDINATES {
            let (end, sizes, _) = merge_coincident(
                &follow_eigenvectors(self.beta, x, if down { all } else { 0 }),
                &vec![1; x.n()],
            );
            return Ok((end, sizes));
        }
        let flow = dynamics::build(
            if down { "repulsive-sa" } else { "sa" },
            false,
            &Spec::new(self.beta, self.n),
        )?;
        let options = Options {
            rtol: 1e-6,
            max_steps: 5000,
            stop_at_one_cluster: true,
            ..Options::default()
        };
        let end = solve(&flow, x, 1e300, &options, &mut [])?;
        let sizes = cluster_sizes(&end.labels, end.clusters.n());
        Ok((end.clusters, sizes))
    }

    /// The critical points near the slow states of SA from uniform tokens.
    fn slow_states_of_flow(&self, stream: &mut Stream) -> Result<StartResult> {
        let x = Law::parse("uniform")?.sample(self.n, self.d, stream)?;
        let flow = dynamics::build("sa", false, &Spec::new(self.beta, self.n))?;
        let options = Options {
            merge_radius: 1e-3,
            rtol: 1e-6,
            max_steps: 5000,
            stop_at_one_cluster: true,
            ..Options::default()
        };
        let mut slow = SlowStates::new(self.beta);
        solve(&flow, &x, 1e300, &options, &mut [&mut slow])?;
        let points = slow
            .states
            .iter()
            .filter_map(|(tokens, sizes)| CriticalPoint::near(self.beta, tokens, sizes).ok())
            .collect();
        Ok(StartResult { points, failed: false })
    }
}

impl SearchResult {
    /// Adds the result of a random start; each point counts once per start.
    fn record_start(&mut self, result: StartResult) {
        self.starts += 1;
        self.failed += usize::from(result.failed);
        let mut seen: Vec<CriticalPoint> = Vec::new();
        for point in result.points {
            if seen.iter().any(|p| p.is_same(&point)) {
                continue;
            }
            seen.push(point.clone());
            let (index, new) = self.add(point);
            self.hits[index] += 1;
            if new {
                self.last_new = self.starts;
            }
        }
    }
}

/// The objective: `|grad|^2 / 2` in the mass metric on the chart `x_i + B_i xi_i` about a base
/// point, times the deflation factor of known points.
struct SquaredGradient<'a> {
    beta: f64,
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

impl SquaredGradient<'_> {
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
        Energy::new(self.beta, EnergyScale::Mean).scaled_grad(
            x,
            &mut self.work.borrow_mut(),
            &mut g,
        );
        divide_by_masses(x, &mut g);
        g
    }

    fn hess_vec(&self, x: &Tokens, u: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; u.len()];
        Energy::new(self.beta, EnergyScale::Mean).scaled_hess_vec(
            x,
            u,
            &mut self.work.borrow_mut(),
            &mut out,
        );
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

impl CostFunction for SquaredGradient<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    fn cost(&self, xi: &Vec<f64>) -> ArgminResult<f64> {
        let (x, _) = self.point(xi);
        Ok(self.half_square(&x, &self.field(&x)) * self.deflation(&x).0)
    }
}

impl Gradient for SquaredGradient<'_> {
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
#[derive(Clone)]
struct GaussNewton<'a> {
    problem: &'a SquaredGradient<'a>,
    xi: Vec<f64>,
}

impl ArgminDot<Vec<f64>, Vec<f64>> for GaussNewton<'_> {
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
struct Problem<'a>(&'a SquaredGradient<'a>);

impl CostFunction for Problem<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    fn cost(&self, xi: &Vec<f64>) -> ArgminResult<f64> {
        self.0.cost(xi)
    }
}

impl Gradient for Problem<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;
    fn gradient(&self, xi: &Vec<f64>) -> ArgminResult<Vec<f64>> {
        self.0.gradient(xi)
    }
}

impl<'a> Hessian for Problem<'a> {
    type Param = Vec<f64>;
    type Hessian = GaussNewton<'a>;
    fn hessian(&self, xi: &Vec<f64>) -> ArgminResult<GaussNewton<'a>> {
        Ok(GaussNewton { problem: self.0, xi: xi.clone() })
    }
}

/// Minimises the squared gradient from `start` away from known critical points (argmin, trust
/// region with Steihaug's conjugate gradients).
pub fn minimise_squared_gradient(beta: f64, start: &Tokens, known: &[CriticalPoint]) -> Tokens {
    let mut x = start.clone();
    let known: Vec<_> = known.iter().map(|p| moments(&p.clusters)).collect();
    // Several charts: the point may move further than one chart covers.
    for _ in 0..4 {
        let bases = x.rows().map(tangent_basis).collect();
        let mut squared = SquaredGradient {
            beta,
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
pub fn follow_eigenvectors(beta: f64, start: &Tokens, unstable: usize) -> Tokens {
    let mut x = start.clone();
    let size = x.n() * (x.d() - 1);
    for _ in 0..150 {
        let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
        let Some((values, vectors)) = dense::symmetric_eigen(&mass_hessian(beta, &x), size) else {
            break;
        };
        let mut gradient = vec![0.0; x.coordinates().len()];
        Energy::new(beta, EnergyScale::Mean).scaled_grad(
            &x,
            &mut Workspace::default(),
            &mut gradient,
        );
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
