//! Unstable manifolds: from every critical point along its unstable directions to the next one, and the graph of who falls into whom.

use super::critical::{CriticalPoint, moved, unrest};
use super::search::Found;
use super::spectrum::{ambient, mass_hessian, rotations};
use crate::attention::{Dynamics, Spec, dynamics};
use crate::error::{Error, Result};
use crate::flow::{Action, Event, Options, Outcome, Solution, solve};
use crate::num::dense;
use crate::num::vector::max_abs;
use crate::sphere::{Tokens, geometry::tangent_basis};

/// Happens when the flow comes to rest.
struct Settles {
    beta: f64,
    level: f64,
}

impl Event for Settles {
    fn name(&self) -> String {
        "settles".into()
    }

    fn value(&self, x: &Tokens) -> f64 {
        self.level - unrest(self.beta, x)
    }
}

/// One end of an unstable direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// The critical point it leaves, as an index into the list.
    pub from: usize,
    /// The critical point it reaches.
    pub to: usize,
    /// Growth rate of the direction (metric and scale of the spectrum).
    pub rate: f64,
    /// Time from a displacement of [`DISPLACEMENT`] to rest at the end.
    pub t: f64,
    /// By how much it differs with a hundred times the tolerance; infinite where that ends elsewhere.
    pub t_error: f64,
}

/// Length of the first step along an unstable direction, in the mass metric.
pub const DISPLACEMENT: f64 = 1e-3;
/// Tolerance of the runs.
const RTOL: f64 = 1e-10;
/// Tokens this close are one cluster on the way.
const MERGE: f64 = 1e-6;

/// Follows both ends of every unstable direction of every point of the list by a dynamics that climbs the energy; points reached that were not known
/// are added to the list and followed too. Directions keep each cluster together.
///
/// **Cost** two runs per end. **Errors** as `solve`; ends that do not come to rest are left out and counted in the second result.
pub fn connections(climbing: &dynamics::NamedDynamics, found: &mut Found) -> Result<(Vec<Connection>, usize)> {
    let (mut edges, mut lost, mut k) = (Vec::new(), 0, 0);
    // Points are kept sorted by energy: new ones are appended during the walk and the list is sorted by the caller's search only.
    while k < found.points.len() {
        let point = found.points[k].clone();
        let flow = climbing.build(&Spec::new(point.beta, point.n()))?;
        for (rate, direction) in unstable_directions(&point)? {
            for sign in [1.0, -1.0] {
                let fall = |rtol: f64| fall(&flow, &point, &direction, sign * DISPLACEMENT, rtol);
                match fall(RTOL)? {
                    Some((end, t)) => {
                        let second = fall(100.0 * RTOL)?.filter(|(other, _)| other.is_same(&end));
                        let t_error = second.map_or(f64::INFINITY, |(_, other)| (t - other).abs());
                        let to = found.points.iter().position(|p| p.is_same(&end)).unwrap_or_else(|| found.append(end));
                        edges.push(Connection { from: k, to, rate, t, t_error });
                    }
                    None => lost += 1,
                }
            }
        }
        k += 1;
    }
    Ok((edges, lost))
}

/// Positive eigenvalues modulo rotations with their unit eigenvectors (mass metric) as ambient rows.
fn unstable_directions(point: &CriticalPoint) -> Result<Vec<(f64, Vec<f64>)>> {
    let x = &point.clusters;
    let size = x.n() * (x.d() - 1);
    let mut h = mass_hessian(point.beta, x);
    let top = max_abs(&h);
    for b in rotations(x) {
        // Rotations are moved to the other end of the spectrum.
        h.iter_mut().enumerate().for_each(|(k, v)| *v -= 2.0 * top * b[k / size] * b[k % size]);
    }
    let failed = || Error::Numerical { what: "the eigenvectors of a Hessian did not converge".into() };
    let (values, vectors) = dense::symmetric_eigen(&h, size).ok_or_else(failed)?;
    let noise = 64.0 * f64::EPSILON * size as f64 * top;
    let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
    let direction = |k: usize| ambient(x, &bases, &vectors[k * size..(k + 1) * size]);
    Ok((0..size).rev().filter(|&k| values[k] > noise).map(|k| (values[k], direction(k))).collect())
}

/// Flows from a displaced critical point to rest.
fn fall(flow: &Dynamics, point: &CriticalPoint, direction: &[f64], step: f64, rtol: f64) -> Result<Option<(CriticalPoint, f64)>> {
    let start = moved(&point.clusters, direction, step);
    // Rest is looked for far below the unrest of the start.
    let level = (1e-4 * unrest(point.beta, &start)).min(1e-7);
    let options = Options {
        merge_radius: MERGE,
        stop_at_one_cluster: true,
        events: vec![(Box::new(Settles { beta: point.beta, level }), Action::Stop)],
        max_steps: 20_000,
        rtol,
        ..Options::default()
    };
    let end: Solution = solve(flow, &start, 1e300, &options, &mut [])?;
    if !end.outcome.is_success() {
        return Ok(None);
    }
    let mut tokens = vec![0; end.clusters.n()];
    end.labels.iter().zip(&point.sizes).for_each(|(l, s)| tokens[*l] += s);
    let t = match &end.outcome {
        Outcome::Event { t, .. } | Outcome::OneCluster { t } => *t,
        _ => end.t,
    };
    Ok(CriticalPoint::near(point.beta, &end.clusters, &tokens).ok().map(|p| (p, t)))
}
