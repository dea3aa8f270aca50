//! Sums on the circle for weights with kinks: tokens in the order of their angles, and moments of
//! arcs from prefix sums.
//!
//! Between two kinks `phi(cos t)` is a trigonometric polynomial, whose sums need the moments
//! `sum m_j e^{-ik theta_j}` of the tokens between two distances. These are the moments of the arc
//! within the larger distance minus those within the smaller one, and an arc of sorted tokens has
//! the difference of two prefix sums. Cost `O(n log n + n K)` for K coefficients in all.

use crate::kernel::algorithm::Kernel;
use crate::kernel::problem::KernelProblem;
use crate::kernel::sums::Sums;
use crate::kernel::weight::Weight;
use crate::kernel::weight_profile::{Arcs, ArcsProfile};
use crate::kernel::workspace::Workspace;
use rayon::prelude::*;

/// Buffers, in the order of the angles.
#[derive(Default)]
pub struct Sorted {
    /// Angles in the order of the tokens.
    unsorted: Vec<f64>,
    order: Vec<u32>,
    angle: Vec<f64>,
    /// Cosines and sines, masses.
    point: Vec<[f64; 2]>,
    mass: Vec<f64>,
    /// `e^{ik theta}`.
    power: Vec<[f64; 2]>,
    /// Sums of `m_j e^{-ik theta_j}` over the first tokens.
    prefix: Vec<[f64; 2]>,
    /// The first token of an arc and the one after its last: token k of turn t is `t n + k`.
    arcs: Vec<[u32; 2]>,
    /// Mass and drift.
    sums: Vec<[f64; 2]>,
}

/// Largest number of tokens: places in three turns are 32-bit numbers.
const MAX_N: usize = 1 << 30;

/// Tokens of a task.
const TASK: usize = 1 << 14;

/// The kernel by arcs.
pub struct SortedArcs;

/// The pieces of a weight.
fn pieces<'a>(problem: &KernelProblem<'a>) -> Option<&'a ArcsProfile> {
    match problem.weight {
        Weight::Exponential { .. } => None,
        Weight::Series { profile, .. } => profile.arcs.as_ref(),
    }
}

impl Kernel for SortedArcs {
    fn name(&self) -> &'static str {
        "arcs"
    }

    fn summary(&self) -> &'static str {
        "d = 2: a Fourier series between any two kinks; O(n log n); chosen for an interaction, never by name"
    }

    fn unsupported_reason(&self, problem: &KernelProblem) -> Option<&'static str> {
        let circle = problem.tokens.d() == 2 && problem.two_sided && !problem.causal;
        (!circle || problem.tokens.n() > MAX_N || pieces(problem).is_none()).then_some(
            "velocities on the circle, d = 2, without a mask, by an interaction with kinks",
        )
    }

    fn cost(&self, problem: &KernelProblem) -> f64 {
        let n = problem.tokens.n() as f64;
        let order = pieces(problem).map_or(f64::INFINITY, |p| p.order());
        4000.0 + n * (5.0 * n.log2() + 40.0 + 12.0 * order)
    }

    fn error_bound(&self, problem: &KernelProblem) -> f64 {
        match (problem.weight, pieces(problem)) {
            // The ends of arcs are rounded, too.
            (Weight::Series { profile, .. }, Some(arcs)) => {
                arcs.error + 4.0 * f64::EPSILON * profile.steepness
            }
            _ => f64::INFINITY,
        }
    }

    fn sums<'a>(
        &self,
        problem: &KernelProblem,
        work: &'a mut Workspace,
        drifts: &mut [f64],
    ) -> Option<&'a mut Sums> {
        let (sorted, row_sums): &mut (Sorted, Sums) = work.buffers();
        row_sums.reset_to_sums(problem, problem.bounds_of_series(self.error_bound(problem)));
        sums(problem, &pieces(problem)?.arcs, sorted, (drifts, &mut row_sums.mass));
        Some(row_sums)
    }
}

/// Writes `sum_j m_j w_ij` and the tangent part of `sum_j m_j w_ij x_j`.
fn sums(
    problem: &KernelProblem,
    arcs: &Arcs,
    sorted: &mut Sorted,
    (out, masses): (&mut [f64], &mut [f64]),
) {
    sorted.load(problem);
    sorted.find_arcs(&arcs.ends[..arcs.ends.len() - 1]);
    let n = sorted.angle.len();
    let last = arcs.pieces.iter().map(|p| p.kernel.len()).max().unwrap_or(0);
    for k in 0..last {
        sorted.add_prefixes();
        let Sorted { power, prefix, arcs: places, sums, .. } = &mut *sorted;
        // The moment of the tokens within a distance.
        let moment = |b: usize, i: usize| -> [f64; 2] {
            let turns = |place: u32| {
                let (turn, at) = (place as usize / n, place as usize % n);
                let [re, im] = prefix[at];
                [re + turn as f64 * prefix[n][0], im + turn as f64 * prefix[n][1]]
            };
            match b {
                0 => [0.0; 2],
                _ if b == arcs.ends.len() => prefix[n],
                _ => {
                    let [from, to] = places[(b - 1) * n + i];
                    let (low, high) = (turns(from), turns(to));
                    [high[0] - low[0], high[1] - low[1]]
                }
            }
        };
        let power = &*power;
        let add = |(part, sums): (usize, &mut [[f64; 2]])| {
            for (r, sum) in sums.iter_mut().enumerate() {
                let i = part * TASK + r;
                let [c, s] = power[i];
                let mut before = [0.0; 2];
                for (b, piece) in arcs.pieces.iter().enumerate() {
                    let within = moment(b + 1, i);
                    let [re, im] = [within[0] - before[0], within[1] - before[1]];
                    before = within;
                    let Some((a, b)) = piece.kernel.get(k).zip(piece.primitive.get(k)) else {
                        continue;
                    };
                    sum[0] += a * (re * c - im * s);
                    // sum_j m_j w sin(theta_j - theta_i).
                    sum[1] -= b * (re * s + im * c);
                }
            }
        };
        if problem.parallel() {
            sums.par_chunks_mut(TASK).enumerate().for_each(add);
        } else {
            sums.chunks_mut(TASK).enumerate().for_each(add);
        }
        sorted.raise();
    }
    let rows = sorted.order.iter().zip(&sorted.point).zip(&sorted.sums);
    for ((token, [x, y]), [total, drift]) in rows {
        let i = *token as usize;
        masses[i] = *total;
        (out[2 * i], out[2 * i + 1]) = (-drift * y, drift * x);
    }
}

impl Sorted {
    /// Sorts the tokens by their angles, equal ones by their numbers.
    fn load(&mut self, problem: &KernelProblem) {
        let tokens = problem.tokens;
        let mut angle = std::mem::take(&mut self.unsorted);
        angle.clear();
        angle.extend(tokens.rows().map(|r| r[1].atan2(r[0])));
        self.order.clear();
        self.order.extend(0..angle.len() as u32);
        let by_angle =
            |a: &u32, b: &u32| angle[*a as usize].total_cmp(&angle[*b as usize]).then(a.cmp(b));
        if problem.parallel() {
            self.order.par_sort_unstable_by(by_angle);
        } else {
            self.order.sort_unstable_by(by_angle);
        }
        let all = || self.order.iter().map(|i| *i as usize);
        self.angle.clear();
        self.angle.extend(all().map(|i| angle[i]));
        self.point.clear();
        self.point.extend(all().map(|i| [tokens.row(i)[0], tokens.row(i)[1]]));
        self.mass.clear();
        self.mass.extend(all().map(|i| tokens.masses()[i]));
        self.power.clear();
        self.power.resize(angle.len(), [1.0, 0.0]);
        self.sums.clear();
        self.sums.resize(angle.len(), [0.0; 2]);
        self.unsorted = angle;
    }

    /// The arcs within each distance below pi.
    fn find_arcs(&mut self, distances: &[f64]) {
        let (n, turn) = (self.angle.len(), std::f64::consts::TAU);
        // The angle of a place of the turns before, of and after the sorted one.
        let at = |place: usize| self.angle[place % n] + (place / n) as f64 * turn - turn;
        self.arcs.clear();
        for distance in distances {
            let (mut from, mut to) = (0, 0);
            for own in &self.angle {
                while at(from) < own - distance {
                    from += 1;
                }
                while to < 3 * n && at(to) <= own + distance {
                    to += 1;
                }
                self.arcs.push([from as u32, to as u32]);
            }
        }
    }

    /// Prefix sums of the present power, with a second word for the rounding errors.
    fn add_prefixes(&mut self) {
        self.prefix.clear();
        self.prefix.push([0.0; 2]);
        let (mut sum, mut lost) = ([0.0; 2], [0.0; 2]);
        for (m, [c, s]) in self.mass.iter().zip(&self.power) {
            for (r, term) in [m * c, -m * s].into_iter().enumerate() {
                let term = term - lost[r];
                let next = sum[r] + term;
                lost[r] = (next - sum[r]) - term;
                sum[r] = next;
            }
            self.prefix.push(sum);
        }
    }

    /// Multiplies the powers by `e^{i theta}`.
    fn raise(&mut self) {
        for (power, [x, y]) in self.power.iter_mut().zip(&self.point) {
            let [c, s] = *power;
            *power = [c * x - s * y, c * y + s * x];
        }
    }
}
