//! Connections between critical points: the flow along the unstable directions of each point ends
//! at another one. The connections form a graph.

use super::critical::{CriticalPoint, relative_gradient_norm};
use super::newton::move_along;
use super::search::SearchResult;
use super::spectrum::{mass_hessian, rotations, to_ambient};
use crate::attention::{Dynamics, Spec, dynamics};
use crate::error::{Error, Result};
use crate::flow::{Event, EventAction, Options, Outcome, Solution, solve};
use crate::num::dense;
use crate::num::vector::max_abs;
use crate::sphere::{Tokens, geometry::tangent_basis};

/// The event that the flow comes to rest: the relative gradient norm falls below a threshold.
struct RestEvent {
    beta: f64,
    threshold: f64,
}

impl Event for RestEvent {
    fn name(&self) -> String {
        "steady-state".into()
    }

    fn value(&self, x: &Tokens) -> f64 {
        self.threshold - relative_gradient_norm(self.beta, x)
    }
}

/// One end of an unstable direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// Index of the critical point at which it starts.
    pub from: usize,
    /// Index of the critical point at which it ends.
    pub to: usize,
    /// Growth rate of the direction, in the metric and scale of [`Spectrum`](super::Spectrum).
    pub rate: f64,
    /// Time from a displacement of [`DISPLACEMENT`] to rest at the end.
    pub t: f64,
    /// Change of `t` if the tolerance is a hundred times larger; infinite if that run ends
    /// elsewhere.
    pub t_error: f64,
}

/// Length of the first step along an unstable direction, in the mass metric.
pub const DISPLACEMENT: f64 = 1e-3;
/// Relative tolerance of the runs.
const RTOL: f64 = 1e-10;
/// Merge radius of the runs.
const MERGE_RADIUS: f64 = 1e-6;

/// Follows both ends of every unstable direction of every point in the list, by a dynamics that
/// increases the energy. New points that are reached are appended to the list and followed too.
/// Only directions that do not split a cluster are followed. `proceed` is called before each point
/// and returns false to end it.
///
/// **Cost** two runs per end. **Errors** as `solve`. Ends that do not come to rest are omitted and
/// counted in the second result.
pub fn connections(
    climbing: &dynamics::NamedDynamics,
    found: &mut SearchResult,
    proceed: &mut dyn FnMut() -> bool,
) -> Result<(Vec<Connection>, usize)> {
    let (mut edges, mut without_end, mut k) = (Vec::new(), 0, 0);
    // New points are appended, so that the indices of the edges stay valid.
    while k < found.points.len() && proceed() {
        let point = found.points[k].clone();
        let flow = climbing.build(&Spec::new(point.beta, point.n()))?;
        for (rate, direction) in unstable_directions(&point)? {
            for sign in [1.0, -1.0] {
                let run =
                    |rtol: f64| flow_to_rest(&flow, &point, &direction, sign * DISPLACEMENT, rtol);
                match run(RTOL)? {
                    Some((end, t)) => {
                        let second = run(100.0 * RTOL)?.filter(|(other, _)| other.is_same(&end));
                        let t_error = second.map_or(f64::INFINITY, |(_, other)| (t - other).abs());
                        let to = found
                            .points
                            .iter()
                            .position(|p| p.is_same(&end))
                            .unwrap_or_else(|| found.append(end));
                        edges.push(Connection { from: k, to, rate, t, t_error });
                    }
                    None => without_end += 1,
                }
            }
        }
        k += 1;
    }
    Ok((edges, without_end))
}

/// Positive eigenvalues modulo rotations, with their unit eigenvectors (mass metric) as ambient
/// rows.
fn unstable_directions(point: &CriticalPoint) -> Result<Vec<(f64, Vec<f64>)>> {
    let x = &point.clusters;
    let size = x.n() * (x.d() - 1);
    let mut h = mass_hessian(point.beta, x);
    let top = max_abs(&h);
    for b in rotations(x) {
        // Shift the eigenvalues of rotations to the negative end of the spectrum.
        h.iter_mut().enumerate().for_each(|(k, v)| *v -= 2.0 * top * b[k / size] * b[k % size]);
    }
    let failed =
        || Error::Numerical { what: "the eigenvectors of a Hessian did not converge".into() };
    let (values, vectors) = dense::symmetric_eigen(&h, size).ok_or_else(failed)?;
    let noise = 64.0 * f64::EPSILON * size as f64 * top;
    let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
    let direction = |k: usize| to_ambient(x, &bases, &vectors[k * size..(k + 1) * size]);
    Ok((0..size).rev().filter(|&k| values[k] > noise).map(|k| (values[k], direction(k))).collect())
}

/// Flows from a displaced critical point to rest.
fn flow_to_rest(
    flow: &Dynamics,
    point: &CriticalPoint,
    direction: &[f64],
    step: f64,
    rtol: f64,
) -> Result<Option<(CriticalPoint, f64)>> {
    let start = move_along(&point.clusters, direction, step);
    // Rest means a relative gradient norm far below that of the start.
    let threshold = (1e-4 * relative_gradient_norm(point.beta, &start)).min(1e-7);
    let options = Options {
        merge_radius: MERGE_RADIUS,
        stop_at_one_cluster: true,
        events: vec![(Box::new(RestEvent { beta: point.beta, threshold }), EventAction::Stop)],
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
