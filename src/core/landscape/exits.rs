//! Exits from the maxima of the energy under noise: the law of Eyring and Kramers with orbits.
//!
//! Tokens of equal masses `1/n` move by `dX = v dt + sqrt(2/kappa) dW`, where v is USA in U1 or the
//! flow of an interaction: the gradient flow of `W = -n E` in the metric `sum_i |u_i|^2`. A
//! maximum of E is a well of W. As `kappa -> inf` it is left over the saddles of index 1 at its
//! boundary, each at the rate
//!
//! ```text
//! (lambda/2 pi) vol(O_s)/vol(O_m) (2 pi/kappa)^{(k_m - k_s)/2}
//!     sqrt(det H_m / |det H_s|) e^{-kappa (W_s - W_m)} (1 + O(1/kappa)),
//! ```
//!
//! where `O_m`, `O_s` are the orbits under rotations, of dimensions `k_m`, `k_s`, `H` the Hessians
//! of W across them, and `-lambda` the negative eigenvalue of `H_s` (mass over capacity; in R^d
//! arXiv:2202.02208).

use super::critical::CriticalPoint;
use super::descent::{follow_to_saddle, modulo_rotations};
use super::interaction::InteractionCriticalPoint;
use super::newton::{merge_coincident, move_along};
use super::search::SearchResult;
use super::searched::{FoundPoint, SearchedEnergy};
use super::spectrum::to_ambient;
use crate::attention::Dynamics;
use crate::error::{Error, Result};
use crate::flow::{Event, EventAction, Options, Outcome, solve};
use crate::num::vector::max_abs;
use crate::num::{dense, stream::Stream, threads::par_map};
use crate::sphere::{
    Tokens,
    geometry::{project, tangent_basis},
};
use statrs::function::factorial::ln_factorial;
use statrs::function::gamma::ln_gamma;
use std::f64::consts::{PI, TAU};

/// A critical point with what the law needs.
pub trait OrbitPoint: FoundPoint {
    /// `W = -n E`.
    fn potential(&self) -> f64;
    /// Its error.
    fn potential_error(&self) -> f64;
    /// Eigenvalues of the Hessian of W, descending, with those of rotations.
    fn curvatures(&self) -> Vec<f64>;
    /// Zero eigenvalues that do not belong to rotations.
    fn nullity(&self) -> usize;
    /// Dimension of the orbit under rotations.
    fn rotations(&self) -> usize;
    /// Number of permutations of clusters that preserve masses and angles.
    fn symmetry(&self) -> usize;

    /// Logarithm of the multiplicity: the number of labelled points up to rotation, mirror images
    /// included.
    fn log_multiplicity(&self) -> f64 {
        let n: usize = self.sizes().iter().sum();
        let within: f64 = self.sizes().iter().map(|s| ln_factorial(*s as u64)).sum();
        let mirror = if rank(&inertia(self)) < self.clusters().d() { 0.0 } else { 2f64.ln() };
        ln_factorial(n as u64) - within - (self.symmetry() as f64).ln() + mirror
    }

    /// Logarithm of the volume of the orbit under rotations, in the metric `sum_i |u_i|^2`.
    ///
    /// `vol(SO(d)) / vol(SO(d - rank)) sqrt(det)`, and the determinant of the metric on rotations
    /// is the product of `s_a + s_b` over pairs of eigenvalues of `sum_i x_i x_i^T` that are not
    /// both 0.
    fn log_orbit_volume(&self) -> f64 {
        let all = inertia(self);
        let (d, rank) = (all.len(), rank(&all));
        let pairs = (0..d).flat_map(|a| (0..a).map(move |b| (b, a)));
        // Ascending: the zero ones come first.
        let metric: f64 = pairs
            .filter(|(_, a)| *a >= d - rank)
            .map(|(b, a)| (all[a] + all[b].max(0.0)).ln())
            .sum();
        log_volume_of_rotations(d) - log_volume_of_rotations(d - rank) + 0.5 * metric
    }
}

impl OrbitPoint for CriticalPoint {
    fn potential(&self) -> f64 {
        -(self.n() as f64) * (self.log_energy + self.beta).exp() / (2.0 * self.beta)
    }

    fn potential_error(&self) -> f64 {
        self.potential().abs() * self.errors.log_energy.exp_m1()
    }

    fn curvatures(&self) -> Vec<f64> {
        let scale = self.beta.abs().exp();
        self.spectrum.values.iter().map(|v| -scale * v).collect()
    }

    fn nullity(&self) -> usize {
        self.spectrum.nullity
    }

    fn rotations(&self) -> usize {
        self.spectrum.rotations
    }

    fn symmetry(&self) -> usize {
        self.symmetry
    }
}

impl OrbitPoint for InteractionCriticalPoint {
    fn potential(&self) -> f64 {
        -(self.sizes.iter().sum::<usize>() as f64) * self.energy
    }

    fn potential_error(&self) -> f64 {
        // Rounding of the sum over pairs of W, by the largest phi.
        let n = self.sizes.iter().sum::<usize>() as f64;
        16.0 * n * (f64::EPSILON * self.energy.abs() + self.spectrum.rounding)
    }

    fn curvatures(&self) -> Vec<f64> {
        self.spectrum.values.iter().map(|v| -v).collect()
    }

    fn nullity(&self) -> usize {
        self.spectrum.nullity
    }

    fn rotations(&self) -> usize {
        self.spectrum.rotations
    }

    fn symmetry(&self) -> usize {
        self.symmetry
    }
}

/// Eigenvalues of `sum_i x_i x_i^T` over tokens, ascending.
fn inertia<P: FoundPoint>(point: &P) -> Vec<f64> {
    let (x, d) = (point.clusters(), point.clusters().d());
    let mut sum = vec![0.0; d * d];
    for (row, size) in x.rows().zip(point.sizes()) {
        for (k, v) in sum.iter_mut().enumerate() {
            *v += *size as f64 * row[k / d] * row[k % d];
        }
    }
    dense::symmetric_eigenvalues(&sum, d).unwrap_or_else(|| vec![f64::NAN; d])
}

/// Number of eigenvalues that are not 0. At a critical point they are 0 within its error, or far
/// above it.
fn rank(inertia: &[f64]) -> usize {
    let top = max_abs(inertia);
    inertia.iter().filter(|v| **v > 1e-10 * top).count()
}

/// Logarithm of the volume of SO(d), where a rotation in a coordinate plane has unit speed: the
/// product of the areas of the spheres `S^1` to `S^{d-1}`.
fn log_volume_of_rotations(d: usize) -> f64 {
    (2..=d)
        .map(|k| {
            let half = 0.5 * k as f64;
            2f64.ln() + half * PI.ln() - ln_gamma(half)
        })
        .sum()
}

/// An exit from a well over one kind of saddle.
#[derive(Clone, Debug, PartialEq)]
pub struct Exit {
    /// Index of the maximum of E that is left.
    pub from: usize,
    /// Index of the saddle.
    pub over: usize,
    /// Index of the critical point on the other side; the same as `from` for a slip, or for a place
    /// with other labels.
    pub to: usize,
    /// Number of saddles of this kind around one well.
    pub saddles: f64,
    /// `W_s - W_m`.
    pub barrier: f64,
    /// The unstable rate `lambda` of the saddle.
    pub unstable_rate: f64,
    /// `k_m - k_s`.
    pub orbit_dimensions: isize,
    /// Logarithm of the factor of `(2 pi/kappa)^{(k_m - k_s)/2} e^{-kappa barrier}` for one saddle.
    pub log_prefactor: f64,
    /// The part of it that is the ratio of the volumes of the orbits.
    pub log_volume_ratio: f64,
    /// Smallest curvature of W across an orbit, of the well and the saddle: the law needs kappa
    /// times it to be large.
    pub least_curvature: f64,
}

impl Exit {
    /// Logarithm of the rate over all saddles of this kind.
    pub fn log_rate(&self, kappa: f64) -> f64 {
        self.saddles.ln() + self.log_rate_of_one(kappa)
    }

    /// Logarithm of the rate over one saddle.
    pub fn log_rate_of_one(&self, kappa: f64) -> f64 {
        let power = 0.5 * self.orbit_dimensions as f64;
        self.log_prefactor + power * (TAU / kappa).ln() - kappa * self.barrier
    }
}

/// The exits of all wells.
#[derive(Clone, Debug, Default)]
pub struct Exits {
    /// The exits, with the lowest barriers first.
    pub all: Vec<Exit>,
    /// Saddles of index 1 that are degenerate, for which the law does not hold.
    pub degenerate: Vec<usize>,
    /// Sides of saddles from which the flow came to no rest.
    pub without_end: usize,
}

/// Searches saddles of index 1 around each maximum in a list and appends them: eigenvectors are
/// followed from random displacements of its tokens of lengths up to 1 per token. Returns the
/// number of new points.
///
/// **Cost** `starts` searches for each maximum. **Errors** as `near`.
pub fn add_saddles<E>(
    energy: &E,
    found: &mut SearchResult<E::Point>,
    starts: usize,
    seed: u64,
) -> Result<usize>
where
    E: SearchedEnergy,
    E::Point: OrbitPoint,
{
    let before = found.points.len();
    let wells: Vec<E::Point> = found.points.iter().filter(|p| p.unstable() == 0).cloned().collect();
    for (k, well) in wells.iter().enumerate() {
        let x = separate(well)?;
        let all: Vec<usize> = (0..starts).collect();
        let ends = par_map(&all, |_, start| {
            let mut stream = Stream::new(seed, &["exits", &k.to_string(), &start.to_string()]);
            let length = (*start + 1) as f64 / starts as f64;
            let step: Vec<f64> = x
                .rows()
                .flat_map(|row| {
                    let mut u: Vec<f64> = row.iter().map(|_| length * stream.normal()).collect();
                    project(row, &mut u);
                    u
                })
                .collect();
            let end = follow_to_saddle(energy, &move_along(&x, &step, 1.0));
            let (end, sizes, _) = merge_coincident(&end, &vec![1; x.n()]);
            Ok::<_, Error>(energy.near(&end, &sizes).ok())
        })?;
        for point in ends.into_iter().flatten().filter(|p| p.unstable() == 1) {
            if found.position(&point).is_none() {
                found.append(point);
            }
        }
    }
    Ok(found.points.len() - before)
}

/// The exits of all wells in a list of critical points, over its saddles of index 1. From each
/// saddle the gradient flow is followed to both sides; where it ends at a point that is not in the
/// list, that is appended.
///
/// Symmetric copies are counted and not followed: of `N_s` labelled saddles with `q` sides to wells
/// of one kind, of which there are `N_m`, `q N_s / N_m` belong to each.
///
/// **Cost** two runs per saddle. **Errors** as `solve`.
///
/// ```
/// use metastable::landscape::{Exponential, exits::exits, search::Search};
/// // Three tokens that repel: two triangles, each with three ways to one cluster.
/// let energy = Exponential { beta: -2.0 };
/// let search = Search { energy, n: 3, d: 2, starts: 20, max_starts: 20, fixed: true, seed: 1 };
/// let mut found = search.run()?;
/// let exits = exits(&energy, &mut found)?;
/// let triangle = exits.all.iter().find(|e| found.points[e.from].sizes.len() == 3).unwrap();
/// assert_eq!(triangle.saddles as usize, 3);
/// assert!((triangle.barrier - 0.2324253929).abs() < 1e-9);
/// assert!((triangle.log_rate(16.0).exp() - 4.059293e-2).abs() < 1e-8);
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn exits<E>(energy: &E, found: &mut SearchResult<E::Point>) -> Result<Exits>
where
    E: SearchedEnergy + 'static,
    E::Point: OrbitPoint,
{
    let mut out = Exits::default();
    let mut over = 0;
    while over < found.points.len() {
        let saddle = found.points[over].clone();
        over += 1;
        if saddle.unstable() != 1 {
            continue;
        }
        let index = over - 1;
        if saddle.nullity() > 0 {
            out.degenerate.push(index);
            continue;
        }
        let mut ends = Vec::new();
        for end in sides(energy, &saddle)? {
            match end {
                Some(end) => ends.push(found.position(&end).unwrap_or_else(|| found.append(end))),
                None => out.without_end += 1,
            }
        }
        for (k, from) in ends.iter().enumerate() {
            let well = &found.points[*from];
            let first = !ends[..k].contains(from);
            if well.unstable() > 0 || well.nullity() > 0 || !first {
                continue;
            }
            let same = ends.iter().filter(|e| *e == from).count();
            let to = ends.iter().copied().find(|e| e != from).unwrap_or(*from);
            out.all.push(exit((*from, index, to), well, &saddle, same)?);
        }
    }
    out.all.sort_by(|a, b| a.barrier.total_cmp(&b.barrier));
    Ok(out)
}

/// The law for a well and a saddle with `sides` sides to wells of its kind.
fn exit<P: OrbitPoint>(
    (from, over, to): (usize, usize, usize),
    well: &P,
    saddle: &P,
    sides: usize,
) -> Result<Exit> {
    let across = |point: &P| {
        // The zero eigenvalues of rotations are those of the smallest modulus.
        let mut all = point.curvatures();
        all.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        all.split_off(point.rotations().min(all.len()))
    };
    let (of_well, of_saddle) = (across(well), across(saddle));
    let negative = of_saddle.iter().copied().filter(|v| *v < 0.0).collect::<Vec<_>>();
    let ([lambda], false) = (&negative[..], of_well.iter().any(|v| *v <= 0.0)) else {
        return Err(Error::Numerical {
            what: "the signs of the curvatures of a well or a saddle are lost in rounding".into(),
        });
    };
    let log_det = |all: &[f64]| all.iter().map(|v| v.abs().ln()).sum::<f64>();
    let log_volume_ratio = saddle.log_orbit_volume() - well.log_orbit_volume();
    let least = |all: &[f64]| all.iter().fold(f64::INFINITY, |m, v| m.min(v.abs()));
    Ok(Exit {
        from,
        over,
        to,
        saddles: (sides as f64 * (saddle.log_multiplicity() - well.log_multiplicity()).exp())
            .round(),
        barrier: saddle.potential() - well.potential(),
        unstable_rate: -lambda,
        orbit_dimensions: well.rotations() as isize - saddle.rotations() as isize,
        log_prefactor: (-lambda / TAU).ln()
            + log_volume_ratio
            + 0.5 * (log_det(&of_well) - log_det(&of_saddle)),
        log_volume_ratio,
        least_curvature: least(&of_well).min(least(&of_saddle)),
    })
}

/// The flow comes to rest.
struct Rest<E> {
    energy: E,
    threshold: f64,
}

impl<E: SearchedEnergy> Event for Rest<E> {
    fn name(&self) -> String {
        "steady-state".into()
    }

    fn value(&self, x: &Tokens) -> f64 {
        self.threshold - self.energy.relative_gradient_norm(x)
    }
}

/// Length of the first step from a saddle, in the mass metric.
const DISPLACEMENT: f64 = 1e-3;
/// Tolerance and merge radius of the runs.
const RTOL: f64 = 1e-10;
const MERGE_RADIUS: f64 = 1e-6;

/// Where the gradient flow from both sides of a saddle of index 1 ends.
fn sides<E>(energy: &E, saddle: &E::Point) -> Result<[Option<E::Point>; 2]>
where
    E: SearchedEnergy + 'static,
    E::Point: OrbitPoint,
{
    let x = separate(saddle)?;
    let size = x.n() * (x.d() - 1);
    let h = modulo_rotations(energy, &x)?;
    let failed =
        || Error::Numerical { what: "the eigenvectors of a Hessian did not converge".into() };
    let (_, vectors) = dense::symmetric_eigen(&h, size).ok_or_else(failed)?;
    let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
    let direction = to_ambient(&x, &bases, &vectors[(size - 1) * size..]);
    let (flow, duration) = energy.gradient_flow(x.n())?;
    let one = |sign: f64| {
        let start = move_along(&x, &direction, sign * DISPLACEMENT);
        end_of(energy, &flow, &start, duration)
    };
    Ok([one(1.0)?, one(-1.0)?])
}

/// The tokens of a point, one row each: the unstable direction may split a cluster.
fn separate<P: FoundPoint>(point: &P) -> Result<Tokens> {
    let rows = point.clusters().rows().zip(point.sizes());
    let all = rows.flat_map(|(row, size)| row.repeat(*size)).collect();
    Tokens::new(point.clusters().d(), all)
}

fn end_of<E>(energy: &E, flow: &Dynamics, start: &Tokens, duration: f64) -> Result<Option<E::Point>>
where
    E: SearchedEnergy + 'static,
{
    let threshold = (1e-4 * energy.relative_gradient_norm(start)).min(1e-7);
    let rest = Rest { energy: energy.clone(), threshold };
    let options = Options {
        merge_radius: MERGE_RADIUS,
        stop_at_one_cluster: true,
        events: vec![(Box::new(rest), EventAction::Stop)],
        max_steps: 20_000,
        rtol: RTOL,
        ..Options::default()
    };
    let end = solve(flow, start, duration, &options, &mut [])?;
    if !matches!(end.outcome, Outcome::Event { .. } | Outcome::OneCluster { .. }) {
        return Ok(None);
    }
    let mut sizes = vec![0; end.clusters.n()];
    end.labels.iter().for_each(|l| sizes[*l] += 1);
    Ok(energy.near(&end.clusters, &sizes).ok())
}
