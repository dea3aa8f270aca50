//! Saddle search: trust-region minimisation of the squared gradient with deflation, and eigenvector following for a wanted index.

use super::critical::{CriticalPoint, join, moved};
use super::lulls::{Lulls, sizes};
use super::spectrum::{ambient, coordinates, mass_hessian};
use super::starts::{Start, families, random_clusters};
use crate::attention::{Energy, EnergyScale, Spec, dynamics, kernel::Workspace};
use crate::error::{Error, Result};
use crate::flow::{Options, solve};
use crate::num::vector::{axpy, divide, max_abs, max_norm, norm};
use crate::num::{dense, stream::Stream, sum::dot, threads::spread};
use crate::sphere::{
    Tokens,
    geometry::{dist, project, retract, tangent_basis},
    law::Law,
};
use argmin::core::{CostFunction, Executor, Gradient, Hessian};
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use argmin_math::ArgminDot;
use std::cell::RefCell;

/// What to search for.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Inverse temperature.
    pub beta: f64,
    /// Tokens.
    pub n: usize,
    /// Ambient dimension.
    pub d: usize,
    /// Random starts, at least.
    pub starts: usize,
    /// The search goes on beyond `starts` until its second half found no new point, or until it made this number of random starts.
    pub at_most: usize,
    /// Whether the fixed starts are made too: symmetric families ([`families`]), descents of the energy from random tokens, and an ascent.
    pub fixed: bool,
    /// Root of the random streams.
    pub seed: u64,
}

/// Distinct critical points and what the search cost. **Nothing here proves that the points are all.**
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// By descending energy; points of [`Found::append`] at the end.
    pub points: Vec<CriticalPoint>,
    /// For every point the number of random starts that found it; 0 of a point that only a fixed start or a connection led to.
    pub hits: Vec<usize>,
    /// Random starts made.
    pub starts: usize,
    /// Random starts that did not end at a critical point.
    pub failed: usize,
    /// Fixed starts made: symmetric families, descents, an ascent.
    pub fixed_starts: usize,
    /// The last random start (counted from 1) that found a new point; 0 without one.
    pub last_new: usize,
}

impl Found {
    /// Adds a critical point in its place by energy unless it is known; its index, and true if it was new.
    pub fn add(&mut self, point: CriticalPoint) -> (usize, bool) {
        if let Some(known) = self.points.iter().position(|p| p.is_same(&point)) {
            return (known, false);
        }
        let before =
            |p: &CriticalPoint| point.log_energy.total_cmp(&p.log_energy).then(p.spectrum.unstable.cmp(&point.spectrum.unstable)).is_le();
        let place = self.points.iter().take_while(|p| before(p)).count();
        self.points.insert(place, point);
        self.hits.insert(place, 0);
        (place, true)
    }

    /// Adds a critical point at the end, so that no index changes; its index.
    pub fn append(&mut self, point: CriticalPoint) -> usize {
        self.points.push(point);
        self.hits.push(0);
        self.points.len() - 1
    }

    /// How many critical points are missing, estimated by the points that one and that two random starts found:
    /// `f_1 (f_1 - 1) / (2 (f_2 + 1))` less those that are known without a random start (Chao, Scand. J. Statist. 11 (1984) 265, bias-corrected).
    /// A lower estimate: points that no start can reach leave no trace in it.
    pub fn missing(&self) -> f64 {
        let found_by = |k: usize| self.hits.iter().filter(|h| **h == k).count() as f64;
        let (once, twice) = (found_by(1), found_by(2));
        (once * (once - 1.0) / (2.0 * (twice + 1.0)) - found_by(0)).max(0.0)
    }

    /// The number of points that one random start found and no other. Over the number of starts this estimates the probability that a further start finds
    /// a new point (Good, Biometrika 40 (1953) 237).
    pub fn found_once(&self) -> usize {
        self.hits.iter().filter(|h| **h == 1).count()
    }

    /// True if the second half of the random starts found no new point.
    pub fn is_settled(&self) -> bool {
        2 * self.last_new <= self.starts
    }
}

/// A critical point near given clusters: the one that Newton's method reaches, or, where it fails, the one that the least squared gradient leads to.
///
/// **Errors** as [`CriticalPoint::near`].
pub fn nearby(beta: f64, x: &Tokens, sizes: &[usize]) -> Result<CriticalPoint> {
    CriticalPoint::near(beta, x, sizes).or_else(|_| {
        let (end, sizes, labels) = join(&squared_gradient(beta, x, &[]), sizes);
        let found = CriticalPoint::near(beta, &end, &sizes)?;
        let labels: Vec<usize> = labels.iter().map(|l| found.labels[*l]).collect();
        let moved = x.rows().zip(&labels).map(|(r, l)| dist(r, found.clusters.row(*l))).fold(0.0, f64::max);
        Ok(CriticalPoint { labels, moved, ..found })
    })
}

/// Starts between two looks at what is known: they do not wait for each other.
const BATCH: usize = 32;
/// Fixed starts from random tokens: descents of the energy, and one ascent after them.
const DESCENTS: usize = 4;
/// Coordinates up to which Hessians of single tokens are decomposed at every step.
const DENSE: usize = 120;

/// What one start led to.
struct Led {
    points: Vec<CriticalPoint>,
    failed: bool,
}

impl Search {
    /// Searches from the fixed starts and from random clusters (sizes and positions at random): by the squared gradient with and without deflation,
    /// by eigenvector following, by descents of the energy, and at the lulls of flows.
    ///
    /// **Cost** a few milliseconds per start for ten clusters; the starts share the threads, and the result does not depend on their number.
    /// **Errors** sizes or beta out of range.
    ///
    /// ```
    /// use metastable::landscape::search::Search;
    /// // Four tokens on S^2: one cluster, 3+1, 2+2, 2+1+1, the square, the tetrahedron.
    /// let found = Search { beta: 4.0, n: 4, d: 3, starts: 20, at_most: 20, fixed: true, seed: 1 }.run().unwrap();
    /// assert_eq!(found.points.len(), 6);
    /// ```
    pub fn run(&self) -> Result<Found> {
        self.run_with(&mut |_, _| true)
    }

    /// The same; `go_on` is told the start that begins and what was found so far, and ends the search by saying no.
    pub fn run_with(&self, go_on: &mut dyn FnMut(usize, &Found) -> bool) -> Result<Found> {
        crate::error::in_range("beta", self.beta.abs(), 0.0, 1e4)?;
        if self.n < 2 || self.d < 2 || self.n * (self.d - 1) > 600 {
            return Err(Error::parameter("n, d", format!("{}, {}", self.n, self.d), "n >= 2, d >= 2 and n (d-1) at most 600"));
        }
        let mut found = Found::default();
        let mut fixed = if self.fixed { families(self.n, self.d) } else { Vec::new() };
        for k in 0..if self.fixed { DESCENTS + 1 } else { 0 } {
            let mut stream = Stream::new(self.seed, &["saddles", "energy", &k.to_string()]);
            fixed.push(self.by_energy(&Law::parse("uniform")?.sample(self.n, self.d, &mut stream)?, k < DESCENTS)?);
        }
        for batch in fixed.chunks(BATCH) {
            if !go_on(0, &found) {
                return Ok(found);
            }
            found.fixed_starts += batch.len();
            let led = spread(batch, |_, start| Ok::<_, Error>(self.reached(start)))?;
            for point in led.into_iter().flatten() {
                found.add(point);
            }
        }
        let mut k = 0;
        while k < self.starts || (k < self.at_most && !found.is_settled()) {
            if !go_on(k, &found) {
                break;
            }
            let end = if k < self.starts { self.starts } else { self.at_most };
            let batch: Vec<usize> = (k..end.min(k + BATCH)).collect();
            for led in spread(&batch, |_, k| self.random(*k, &found.points))? {
                found.count(led);
            }
            k += batch.len();
        }
        Ok(found)
    }

    /// One random start.
    fn random(&self, k: usize, known: &[CriticalPoint]) -> Result<Led> {
        let mut stream = Stream::new(self.seed, &["saddles", &k.to_string()]);
        // One start in eight is a flow from random tokens, searched at its lulls.
        if k % 8 == 7 {
            return self.along_a_flow(&mut stream);
        }
        let (x, sizes) = random_clusters(self.n, self.d, &mut stream);
        let end = match stream.index(4) {
            0 => squared_gradient(self.beta, &x, &[]),
            1 => squared_gradient(self.beta, &x, known),
            2 => follow(self.beta, &x, 1 + stream.index(x.n().min(6))),
            _ => follow(self.beta, &x, x.n() * (self.d - 1)),
        };
        let (end, sizes, _) = join(&end, &sizes);
        Ok(match CriticalPoint::near(self.beta, &end, &sizes) {
            Ok(point) => Led { points: vec![point], failed: false },
            Err(_) => Led { points: Vec::new(), failed: true },
        })
    }

    /// The critical point near a symmetric configuration. Clusters in a plane are first moved to the least energy within the plane: forces of unequal
    /// clusters at large beta are too small for Newton's method to go there.
    fn reached(&self, (x, sizes): &Start) -> Option<CriticalPoint> {
        let direct = nearby(self.beta, x, sizes);
        let planar = x.n() > 2 && x.rows().all(|r| r[2..].iter().all(|c| *c == 0.0));
        match direct {
            Ok(p) if !planar || p.clusters.n() == x.n() => Some(p),
            other if planar && self.beta > 0.0 => {
                let flat = x.rows().flat_map(|r| [r[0], r[1]]).collect();
                let flat = follow(self.beta, &Tokens::from_parts(2, flat, x.masses().to_vec()), x.n());
                let mut back = vec![0.0; x.coordinates().len()];
                back.chunks_exact_mut(self.d).zip(flat.rows()).for_each(|(r, f)| r[..2].copy_from_slice(f));
                let back = Tokens::from_parts(self.d, back, x.masses().to_vec());
                nearby(self.beta, &back, sizes).or(other).ok()
            }
            other => other.ok(),
        }
    }

    /// The end of a descent (or an ascent) of the energy: by eigenvectors, or, where the Hessian is too large to be decomposed at every step, by the flow.
    fn by_energy(&self, x: &Tokens, down: bool) -> Result<Start> {
        let all = x.n() * (self.d - 1);
        if all <= DENSE {
            let (end, sizes, _) = join(&follow(self.beta, x, if down { all } else { 0 }), &vec![1; x.n()]);
            return Ok((end, sizes));
        }
        let flow = dynamics::build(if down { "repulsive-sa" } else { "sa" }, false, &Spec::new(self.beta, self.n))?;
        let options = Options { rtol: 1e-6, max_steps: 5000, stop_at_one_cluster: true, ..Options::default() };
        let end = solve(&flow, x, 1e300, &options, &mut [])?;
        let sizes = sizes(&end.labels, end.clusters.n());
        Ok((end.clusters, sizes))
    }

    /// The metastable states that SA meets from uniform tokens.
    fn along_a_flow(&self, stream: &mut Stream) -> Result<Led> {
        let x = Law::parse("uniform")?.sample(self.n, self.d, stream)?;
        let flow = dynamics::build("sa", false, &Spec::new(self.beta, self.n))?;
        let options = Options { merge_radius: 1e-3, rtol: 1e-6, max_steps: 5000, stop_at_one_cluster: true, ..Options::default() };
        let mut lulls = Lulls::new(self.beta);
        solve(&flow, &x, 1e300, &options, &mut [&mut lulls])?;
        let points = lulls.states.iter().filter_map(|(tokens, sizes)| CriticalPoint::near(self.beta, tokens, sizes).ok()).collect();
        Ok(Led { points, failed: false })
    }
}

impl Found {
    /// What a random start led to; each point counts once a start.
    fn count(&mut self, led: Led) {
        self.starts += 1;
        self.failed += usize::from(led.failed);
        let mut own: Vec<CriticalPoint> = Vec::new();
        for point in led.points {
            if own.iter().any(|p| p.is_same(&point)) {
                continue;
            }
            own.push(point.clone());
            let (place, new) = self.add(point);
            self.hits[place] += 1;
            if new {
                self.last_new = self.starts;
            }
        }
    }
}

/// `|grad|^2 / 2` in the mass metric on the chart `x_i + B_i xi_i` about a base, times the deflation of known points.
struct Squared<'a> {
    beta: f64,
    base: &'a Tokens,
    bases: Vec<Vec<f64>>,
    scale: f64,
    known: Vec<[f64; MOMENTS]>,
    /// Buffers of this search.
    work: RefCell<Workspace>,
}

/// Rotation- and permutation-invariant moments `sum_ij m_i m_j G_ij^l` that tell critical points apart.
const MOMENTS: usize = 6;
/// Range of the deflation in the squared distance of moments.
const DEFLATION: f64 = 1e-3;

impl Squared<'_> {
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

    /// Chart directions to tangent rows at the point.
    fn push(&self, x: &Tokens, lengths: &[f64], xi: &[f64]) -> Vec<f64> {
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

    /// Covectors at the point to the chart.
    fn pull(&self, x: &Tokens, lengths: &[f64], u: &[f64]) -> Vec<f64> {
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
        Energy::new(self.beta, EnergyScale::Mean).scaled_grad(x, &mut self.work.borrow_mut(), &mut g);
        over_masses(x, &mut g);
        g
    }

    fn hess_vec(&self, x: &Tokens, u: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; u.len()];
        Energy::new(self.beta, EnergyScale::Mean).scaled_hess_vec(x, u, &mut self.work.borrow_mut(), &mut out);
        out
    }

    /// `sum m_i |v_i|^2 / 2` of the field, scaled.
    fn plain(&self, x: &Tokens, field: &[f64]) -> f64 {
        let square: f64 = field.chunks_exact(x.d()).zip(x.masses()).map(|(v, m)| m * dot(v, v)).sum();
        0.5 * square * self.scale
    }

    /// The deflation factor `prod (1 + sigma / |moments - known|^2)` and its logarithmic gradient (a covector).
    fn deflation(&self, x: &Tokens) -> (f64, Vec<f64>) {
        let own = moments(x);
        let (mut factor, mut by_moment) = (1.0, [0.0; MOMENTS]);
        for known in &self.known {
            let square = own.iter().zip(known).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() + 1e-14;
            factor *= 1.0 + DEFLATION / square;
            let slope = -DEFLATION / (square * (square + DEFLATION));
            by_moment.iter_mut().zip(own.iter().zip(known)).for_each(|(s, (a, b))| *s += slope * 2.0 * (a - b));
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

fn over_masses(x: &Tokens, rows: &mut [f64]) {
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

impl CostFunction for Squared<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    fn cost(&self, xi: &Vec<f64>) -> ArgminResult<f64> {
        let (x, _) = self.point(xi);
        Ok(self.plain(&x, &self.field(&x)) * self.deflation(&x).0)
    }
}

impl Gradient for Squared<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;
    fn gradient(&self, xi: &Vec<f64>) -> ArgminResult<Vec<f64>> {
        let (x, lengths) = self.point(xi);
        let field = self.field(&x);
        let (factor, log_slope) = self.deflation(&x);
        let value = self.plain(&x, &field) * factor;
        let mut u = self.hess_vec(&x, &field);
        u.iter_mut().zip(&log_slope).for_each(|(u, s)| *u = *u * self.scale * factor + value * s);
        Ok(self.pull(&x, &lengths, &u))
    }
}

/// The Gauss-Newton Hessian `H M^{-1} H` in the chart, applied without a matrix.
#[derive(Clone)]
struct GaussNewton<'a> {
    problem: &'a Squared<'a>,
    xi: Vec<f64>,
}

impl ArgminDot<Vec<f64>, Vec<f64>> for GaussNewton<'_> {
    fn dot(&self, v: &Vec<f64>) -> Vec<f64> {
        let p = self.problem;
        let (x, lengths) = p.point(&self.xi);
        let mut u = p.hess_vec(&x, &p.push(&x, &lengths, v));
        over_masses(&x, &mut u);
        let (u, factor) = (p.hess_vec(&x, &u), p.scale * p.deflation(&x).0);
        p.pull(&x, &lengths, &u).into_iter().map(|w| w * factor).collect()
    }
}

/// argmin hands out owned Hessians, so the problem is borrowed through this.
struct Problem<'a>(&'a Squared<'a>);

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

/// Minimises the squared gradient from `start` away from known critical points (argmin, trust region with Steihaug's conjugate gradients).
pub fn squared_gradient(beta: f64, start: &Tokens, known: &[CriticalPoint]) -> Tokens {
    let mut x = start.clone();
    let known: Vec<_> = known.iter().map(|p| moments(&p.clusters)).collect();
    // A few charts: the point may travel further than one chart reaches.
    for _ in 0..4 {
        let bases = x.rows().map(tangent_basis).collect();
        let mut squared = Squared { beta, base: &x, bases, scale: 1.0, known: known.clone(), work: RefCell::default() };
        let first = squared.plain(&x, &squared.field(&x));
        if first <= 1e-300 {
            break;
        }
        squared.scale = 1.0 / first;
        let origin = vec![0.0; x.n() * (x.d() - 1)];
        let solver = TrustRegion::new(Steihaug::new().with_max_iters(2 * origin.len() as u64 + 20))
            .with_radius(0.1)
            .and_then(|s| s.with_max_radius(0.5));
        let Ok(solver) = solver else { break };
        let run = Executor::new(Problem(&squared), solver).configure(|s| s.param(origin).max_iters(40).target_cost(1e-18)).run();
        let next = match run {
            Ok(mut result) => match (result.state.get_best_cost(), result.state.take_best_param()) {
                (cost, Some(best)) => (squared.point(&best).0, cost),
                _ => break,
            },
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

/// Eigenvector following: in the eigenbasis of the Hessian, down the energy along the `unstable` highest eigenvalues and up along all others, with
/// Newton lengths capped at 0.1: converges to saddles with that many unstable directions.
pub fn follow(beta: f64, start: &Tokens, unstable: usize) -> Tokens {
    let mut x = start.clone();
    let size = x.n() * (x.d() - 1);
    for _ in 0..150 {
        let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
        let Some((values, vectors)) = dense::symmetric_eigen(&mass_hessian(beta, &x), size) else { break };
        let mut gradient = vec![0.0; x.coordinates().len()];
        Energy::new(beta, EnergyScale::Mean).scaled_grad(&x, &mut Workspace::default(), &mut gradient);
        let g = coordinates(&x, &bases, &gradient);
        let top = max_abs(&values);
        let mut p = vec![0.0; size];
        for (k, value) in values.iter().enumerate() {
            let v = &vectors[k * size..(k + 1) * size];
            let along = dot(v, &g);
            let sign = if k + unstable >= size { -1.0 } else { 1.0 };
            // Rotations have eigenvalue 0 and no gradient.
            let length = sign * along / value.abs().max(1e-10 * top).max(f64::MIN_POSITIVE);
            axpy(length, v, &mut p);
        }
        let step = ambient(&x, &bases, &p);
        let largest = max_norm(&step, x.d());
        if !largest.is_finite() || largest < 1e-9 {
            break;
        }
        x = moved(&x, &step, (0.1 / largest).min(1.0));
    }
    x
}
